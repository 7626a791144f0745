package dataset

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"millrace/schemas"
)

// BenchmarkWrite is a table of samples from rows to files on disk. ns/token is by
// processor time, which other work on the machine does not take away.
func BenchmarkWrite(b *testing.B) {
	const rows, tokens = 512, 4096
	samples := make([]schemas.Sample, rows)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range samples {
		s := schemas.Sample{
			ID: fmt.Sprint(i), GroupID: fmt.Sprint(i / 8), Weight: 1, Termination: schemas.Finished, GroupMembers: 8, GroupSize: 8,
			Tokens: make([]int32, tokens), LossMask: make([]bool, tokens), LogProbs: make([]float32, tokens), Versions: make([]int32, tokens),
		}
		for k := range tokens {
			s.Tokens[k], s.Versions[k] = random.Int32N(150_000), -1
			if k/256%2 == 1 { // turns of 256 tokens
				s.LossMask[k], s.LogProbs[k], s.Versions[k] = true, -random.Float32(), int32(i/64)
			}
		}
		samples[i] = s
	}
	n, before := 0, used(b)
	for b.Loop() {
		n++
		w := NewWriter(b.TempDir(), "r", schemas.Samples)
		for _, s := range samples {
			if err := w.Add(s, NoDay, 13*tokens); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((used(b)-before)*1e9/float64(n*rows*tokens), "ns/token")
}

// used is the processor time that this process has taken, in seconds.
func used(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

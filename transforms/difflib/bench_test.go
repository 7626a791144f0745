package difflib

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// realistic are pairs of diffs of about n characters: two unrelated changes of a file,
// and one that is edited into another.
func realistic(n int) [][2]string {
	r := rand.New(rand.NewPCG(uint64(n), 5))
	a, b := source(r, n/28), source(r, n/28)
	lines := strings.Split(a, "\n")
	near := strings.Join(edit(r, lines, func() string { return lines[r.IntN(len(lines))] }), "\n")
	return [][2]string{{a, b}, {a, near}}
}

// timedPython is the seconds that CPython takes for a pair on this machine.
const timedPython = ratioPython + `
def timed(g):
    def h(a, b):
        start = time.perf_counter(); g(a, b)
        return time.perf_counter() - start
    return h
f = timed(f)`

// BenchmarkRatio reports how many times faster than CPython the same pair is compared,
// one core each.
func BenchmarkRatio(b *testing.B) {
	for _, n := range []int{1000, 3000, 10000, 30000} {
		for i, name := range []string{"unrelated", "edited"} {
			pair := realistic(n)[i]
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := Ratio(b.Context(), pair[0], pair[1]); err != nil {
						b.Fatal(err)
					}
				}
				ours := b.Elapsed().Seconds() / float64(b.N)
				var theirs []float64
				python(b, timedPython, [][2]string{pair}, &theirs)
				b.ReportMetric(theirs[0]/ours, "x-cpython")
			})
		}
	}
}

// BenchmarkRatioLong compares unrelated diffs that are too long for CPython.
func BenchmarkRatioLong(b *testing.B) {
	for _, n := range []int{100_000, 400_000} {
		for i, name := range []string{"unrelated", "edited"} {
			pair := realistic(n)[i]
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(len(pair[0]) + len(pair[1])))
				for b.Loop() {
					if _, err := Ratio(b.Context(), pair[0], pair[1]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

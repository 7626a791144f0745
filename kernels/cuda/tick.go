package cuda

import (
	"slices"
	"unsafe"

	"millrace/kernels"
)

// tick is one call of mr_tick; its arrays are used again.
type tick struct {
	tokens, starts, lengths, pageTable, sampledRows []int32
	samplings                                       []sampling
	sampled                                         []sampled
	stride                                          int
}

// lay describes the requests, each with its take.
func (t *tick) lay(requests []*request) {
	t.tokens, t.starts, t.lengths, t.pageTable = t.tokens[:0], append(t.starts[:0], 0), t.lengths[:0], t.pageTable[:0]
	t.sampledRows, t.samplings = t.sampledRows[:0], t.samplings[:0]
	t.stride = 1
	for _, r := range requests {
		t.stride = max(t.stride, len(r.session.sequence.pages))
	}
	for _, r := range requests {
		q := &r.session.sequence
		t.tokens = append(t.tokens, q.tokens[q.cached:q.cached+r.take]...)
		t.starts = append(t.starts, int32(len(t.tokens)))
		t.lengths = append(t.lengths, int32(q.cached+r.take))
		t.pageTable = append(t.pageTable, q.pages...)
		for range t.stride - len(q.pages) {
			t.pageTable = append(t.pageTable, 0) // no length reaches it
		}
		if r.take == q.pending() {
			t.sampledRows = append(t.sampledRows, int32(len(t.tokens)-1))
			t.samplings = append(t.samplings, samplingOf(&r.sampling, len(q.tokens)))
		}
	}
	t.sampled = slices.Grow(t.sampled[:0], len(t.samplings))[:len(t.samplings)]
}

// run runs the tick and returns the version of the weights that it ran.
func (t *tick) run(l *library, engine, policy uintptr) (int64, error) {
	c := tickCall{
		engine: engine, policy: policy,
		tokens: unsafe.SliceData(t.tokens), starts: unsafe.SliceData(t.starts), lengths: unsafe.SliceData(t.lengths),
		pageTable: unsafe.SliceData(t.pageTable), sampledRows: unsafe.SliceData(t.sampledRows),
		samplings: unsafe.SliceData(t.samplings), sampled: unsafe.SliceData(t.sampled),
		sequences: int64(len(t.lengths)), tableStride: int64(t.stride), samples: int64(len(t.samplings)),
	}
	err := call(l.tick, &c, &c.report, c.tokens, c.starts, c.lengths, c.pageTable, c.sampledRows, c.samplings, c.sampled)
	return c.version, err
}

// samplingOf are the settings of the token at a position.
func samplingOf(s *kernels.Sampling, position int) sampling {
	return sampling{
		seed: s.Seed, position: int64(position), temperature: float32(s.Temperature),
		topP: float32(s.TopP), minP: float32(s.MinP), topK: int32(min(s.TopK, maxTopK)),
	}
}

// maxTopK is above every vocabulary.
const maxTopK = 1<<31 - 1

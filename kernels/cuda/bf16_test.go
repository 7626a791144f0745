package cuda

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"millrace/kernels/kernelstest"
)

// rounded is what testdata/bf16.py writes: the reference's model in bfloat16 by
// transformers, with one implementation of attention.
type rounded struct {
	LogProbs  [][]float32                     `json:"log_probs"`
	Gradients map[string]map[string][]float32 // by loss and tensor
}

// TestBF16AgainstTransformers: bfloat16 errs no more here than in transformers. The
// error of a tensor is the L2 distance from the reference in float32, relative to the
// reference. Of errors that are random roundings of the same size, one exceeds another
// by luck: twice in a tensor, whose smallest here has 6 elements, and by a quarter in
// all tensors together.
func TestBF16AgainstTransformers(t *testing.T) {
	for _, name := range []string{"tied", "untied"} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			r := kernelstest.Load(t, reference, name)
			theirs := transformers(t, name)
			trainer := newTrainer(t, d, r.Config, r.Tensors(), Options{Precision: BF16})
			logProbs, err := trainer.LogProbs(t.Context(), r.Batch(), r.Temperature)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range r.LogProbs {
				c := comparison{"log-probabilities", want, logProbs[i], theirs["eager"].LogProbs[i], theirs["sdpa"].LogProbs[i]}
				c.check(t, 2)
			}
			for i, kind := range r.Kinds {
				all := comparison{name: kind.Name + "'s gradients"}
				if _, err := trainer.Accumulate(t.Context(), r.Batch(), r.Loss(i)); err != nil {
					t.Fatal(err)
				}
				got, err := trainer.Gradients()
				if err != nil {
					t.Fatal(err)
				}
				for _, g := range got {
					c := comparison{
						kind.Name + "'s gradient of " + g.Name, kind.Gradients[g.Name].Data, g.Data,
						theirs["eager"].Gradients[kind.Name][g.Name], theirs["sdpa"].Gradients[kind.Name][g.Name],
					}
					c.check(t, 2)
					all.add(c)
				}
				all.check(t, 1.25)
				if err := trainer.Restore(r.Tensors(), nil, 0); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func transformers(t *testing.T, name string) map[string]rounded {
	t.Helper()
	data, err := os.ReadFile("testdata/bf16-" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]rounded
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// comparison are values in float32, and in bfloat16 here and by transformers.
type comparison struct {
	name                   string
	want, got, eager, sdpa []float32
}

func (c *comparison) add(o comparison) {
	c.want, c.got = append(c.want, o.want...), append(c.got, o.got...)
	c.eager, c.sdpa = append(c.eager, o.eager...), append(c.sdpa, o.sdpa...)
}

// check fails if the error is more than so many times the larger of theirs.
func (c *comparison) check(t *testing.T, times float64) {
	t.Helper()
	if len(c.got) != len(c.want) || len(c.eager) != len(c.want) || len(c.sdpa) != len(c.want) {
		t.Fatalf("%s: %d, %d, %d and %d elements", c.name, len(c.want), len(c.got), len(c.eager), len(c.sdpa))
	}
	ours, eager, sdpa := distance(c.want, c.got), distance(c.want, c.eager), distance(c.want, c.sdpa)
	t.Logf("%-70s here %.4f, eager %.4f, sdpa %.4f", c.name, ours, eager, sdpa)
	if !(ours <= times*max(eager, sdpa)) {
		t.Errorf("%s: error %.4f, transformers' are %.4f and %.4f", c.name, ours, eager, sdpa)
	}
}

func distance(want, got []float32) float64 {
	var difference, size float64
	for i, w := range want {
		d := float64(got[i]) - float64(w)
		difference += d * d
		size += float64(w) * float64(w)
	}
	return math.Sqrt(difference / size)
}

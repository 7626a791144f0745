package warmstart

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"millrace/kernels"
	"millrace/kernels/cpu"
)

// echo is random tokens out of so many, of which a piece from the middle comes again at the
// end. All of the repeated piece but its first token is trained.
func echo(rng *rand.Rand, vocab, length, piece int) kernels.Sequence {
	q := kernels.Sequence{ID: "echo", Advantage: 1, Tokens: make([]int32, length), Mask: make([]bool, length)}
	for i := range q.Tokens {
		q.Tokens[i] = int32(rng.IntN(vocab))
	}
	copy(q.Tokens[length-piece:], q.Tokens[length/2:length/2+piece])
	for i := length - piece + 1; i < length; i++ {
		q.Mask[i] = true
	}
	return q
}

// echoLoss is the mean cross-entropy of the repeated tokens for a model that
// has not been trained.
func echoLoss(t *testing.T, model kernels.Config, wired bool, words, length int) float64 {
	t.Helper()
	weights, err := cpu.InitWeights(model, 1)
	if err != nil {
		t.Fatal(err)
	}
	if wired {
		if err := wire(model, weights); err != nil {
			t.Fatal(err)
		}
	}
	trainer, err := cpu.NewTrainer(model, weights)
	if err != nil {
		t.Fatal(err)
	}
	defer trainer.Close()
	const piece = 33
	stats, err := trainer.Accumulate(t.Context(), []kernels.Sequence{echo(rand.New(rand.NewPCG(1, 1)), words, length, piece)},
		kernels.Loss{Supervised: true, Divisor: piece - 1})
	if err != nil {
		t.Fatal(err)
	}
	return stats.Loss
}

// TestWiredModelCopies: before any training, a wired model says what came after
// the token at hand the last time, near and far; without the wires it guesses.
func TestWiredModelCopies(t *testing.T) {
	model := Default().Model
	model.VocabSize = Default().VocabSize
	guess := math.Log(float64(model.VocabSize))
	for _, c := range []struct{ words, length int }{
		{model.VocabSize, 128}, {model.VocabSize, 1024}, {model.VocabSize, 2048},
		{80, 1024}, // each word stands there a dozen times: what came before it decides
	} {
		if loss := echoLoss(t, model, true, c.words, c.length); loss > guess-1 {
			t.Errorf("wired, %d tokens of %d: %.2f nats, a guess has %.2f", c.length, c.words, loss, guess)
		}
	}
	if loss := echoLoss(t, model, false, model.VocabSize, 128); loss < guess-0.5 {
		t.Errorf("not wired: %.2f nats, a guess has %.2f", loss, guess)
	}
}

func TestWireNeedsRoom(t *testing.T) {
	for name, change := range map[string]func(*kernels.Config){
		"one layer":    func(c *kernels.Config) { c.NumHiddenLayers = 1 },
		"narrow heads": func(c *kernels.Config) { c.HeadDim = 16 },
		"narrow":       func(c *kernels.Config) { c.HiddenSize = 64 },
		"two heads":    func(c *kernels.Config) { c.NumAttentionHeads = 2 },
		"one group":    func(c *kernels.Config) { c.NumKeyValueHeads = 1 },
	} {
		model := Default().Model
		model.VocabSize = 300
		change(&model)
		weights, err := cpu.InitWeights(model, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := wire(model, weights); err == nil || !strings.Contains(err.Error(), "no room") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

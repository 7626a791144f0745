package kernelstest

import (
	"slices"
	"strings"
	"testing"

	"millrace/kernels"
)

// repeats: the same calls on the same weights give the same bits.
func repeats(t *testing.T, b Backend) {
	r := Load(t, b.Reference, "untied")
	run := func() Trainer {
		trainer := b.New(t, r.Config, r.Tensors())
		advance(t, trainer, r)
		accumulate(t, trainer, r.Batch(), r.Loss(0))
		return trainer
	}
	one, other := run(), run()
	EqualBits(t, gradients(t, one), gradients(t, other))
	EqualBits(t, weights(t, one), weights(t, other))
}

// resumes: a trainer restored from weights and state goes on to the same bits, and a
// nil state starts afresh.
func resumes(t *testing.T, b Backend) {
	r := Load(t, b.Reference, "tied")
	trainer := b.New(t, r.Config, r.Tensors())
	advance(t, trainer, r)
	advance(t, trainer, r)
	live, step, err := trainer.State()
	if err != nil {
		t.Fatal(err)
	}
	if step != 2 {
		t.Errorf("after 2 steps State tells %d", step)
	}
	saved, state := clone(weights(t, trainer)), clone(live)

	other := b.New(t, r.Config, Load(t, b.Reference, "tied").Tensors())
	accumulate(t, other, r.Batch(), r.Loss(1)) // Restore drops it
	if err := other.Restore(saved, state, step); err != nil {
		t.Fatal(err)
	}
	EqualBits(t, saved, weights(t, other))
	advance(t, trainer, r)
	advance(t, other, r)
	EqualBits(t, weights(t, trainer), weights(t, other))

	fresh := b.New(t, r.Config, saved)
	if err := other.Restore(saved, nil, 0); err != nil {
		t.Fatal(err)
	}
	advance(t, fresh, r)
	advance(t, other, r)
	EqualBits(t, weights(t, fresh), weights(t, other))
}

// refuses: a state that does not fit changes nothing.
func refuses(t *testing.T, b Backend) {
	r := Load(t, b.Reference, "tied")
	trainer := b.New(t, r.Config, r.Tensors())
	before := clone(weights(t, trainer))
	other := clone(before)
	for _, x := range other {
		x.Data[0]++
	}
	state, _, err := trainer.State()
	if err != nil {
		t.Fatal(err)
	}
	stranger := append(clone(other), kernels.Tensor{Name: "stranger", Shape: []int{1}, Data: []float32{1}})
	narrow := clone(other)
	narrow[0].Shape = []int{1, len(narrow[0].Data)}
	for want, restore := range map[string]func() error{
		other[0].Name + " is missing":  func() error { return trainer.Restore(other[1:], nil, 0) },
		state[0].Name + " is missing":  func() error { return trainer.Restore(other, state[1:], 1) },
		"stranger is no part":          func() error { return trainer.Restore(stranger, nil, 0) },
		other[1].Name + " given twice": func() error { return trainer.Restore(append(clone(other), other[1]), nil, 0) },
		narrow[0].Name + " has shape":  func() error { return trainer.Restore(narrow, nil, 0) },
		"at step 0":                    func() error { return trainer.Restore(other, state, 0) },
		"0 tensors at step 3":          func() error { return trainer.Restore(other, nil, 3) },
	} {
		if err := restore(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one with %q", err, want)
		}
		EqualBits(t, before, weights(t, trainer))
	}
}

// advance runs one step of the reference's.
func advance(t *testing.T, trainer Trainer, r *Reference) {
	t.Helper()
	accumulate(t, trainer, r.Batch(), r.Loss(0))
	stepped(t, trainer, r.Optimizer())
}

func clone(tensors []kernels.Tensor) []kernels.Tensor {
	tensors = slices.Clone(tensors)
	for i := range tensors {
		tensors[i].Data = slices.Clone(tensors[i].Data)
	}
	return tensors
}

package cuda

import (
	"fmt"
	"slices"
	"unsafe"

	"millrace/kernels"
	"millrace/kernels/checkpoint"
)

// Weights are a trainer's, on its device.
type Weights struct{ trainer *Trainer }

// Weights implements kernels.Trainer.
func (t *Trainer) Weights() kernels.Weights { return Weights{t} }

// Tensors copies the weights to host memory.
func (w Weights) Tensors() ([]kernels.Tensor, error) { return w.trainer.readAll(kindWeight, "") }

// State implements kernels.Trainer. The tensors are copies.
func (t *Trainer) State() ([]kernels.Tensor, int64, error) {
	first, err := t.readAll(kindExpAvg, kernels.FirstMoment)
	if err != nil {
		return nil, 0, err
	}
	second, err := t.readAll(kindExpAvgSq, kernels.SecondMoment)
	if err != nil {
		return nil, 0, err
	}
	var state []kernels.Tensor
	for i := range first {
		state = append(state, first[i], second[i])
	}
	return state, t.steps, nil
}

// Gradients copies the gradients accumulated since the last step to host memory.
func (t *Trainer) Gradients() ([]kernels.Tensor, error) { return t.readAll(kindGradient, "") }

// Restore implements kernels.Trainer. Tensors that do not fit, and memory that does
// not suffice, change nothing.
func (t *Trainer) Restore(weights, state []kernels.Tensor, step int64) error {
	first, second, err := kernels.SplitState(state, step)
	if err != nil {
		return err
	}
	w, err := order(t.layout, "", weights)
	if err != nil {
		return fmt.Errorf("restoring weights: %w", err)
	}
	if state != nil {
		if first, err = order(t.layout, kernels.FirstMoment, first); err == nil {
			second, err = order(t.layout, kernels.SecondMoment, second)
		}
		if err != nil {
			return fmt.Errorf("restoring optimizer: %w", err)
		}
		// The moments are the only ones that may ask for memory, so they go first.
		if err = t.write(kindExpAvg, first); err == nil {
			err = t.write(kindExpAvgSq, second)
		}
		if err != nil {
			return fmt.Errorf("restoring optimizer: %w", err)
		}
	}
	if err := t.write(kindWeight, w); err != nil {
		return fmt.Errorf("restoring weights: %w", err)
	}
	c := restartCall{policy: t.handle, steps: step}
	if err := call(t.device.abi.restart, &c, &c.report); err != nil {
		return fmt.Errorf("restoring optimizer: %w", err)
	}
	t.steps, t.notFinite = step, nil
	return nil
}

// write copies tensors in the order of the layout to the device.
func (t *Trainer) write(kind int32, ordered []kernels.Tensor) error {
	for i, tensor := range ordered {
		if err := t.move(t.device.abi.write, kind, t.layout[i].Name, tensor.Data); err != nil {
			return err
		}
	}
	return nil
}

// readAll returns the tensors of a kind, prefix before their names.
func (t *Trainer) readAll(kind int32, prefix string) ([]kernels.Tensor, error) {
	tensors := make([]kernels.Tensor, len(t.layout))
	for i, s := range t.layout {
		tensors[i] = kernels.Tensor{Name: prefix + s.Name, Shape: s.Shape, Data: make([]float32, elements(s.Shape))}
		if err := t.move(t.device.abi.read, kind, s.Name, tensors[i].Data); err != nil {
			return nil, fmt.Errorf("reading %s%s: %w", prefix, s.Name, err)
		}
	}
	return tensors, nil
}

// move copies one tensor; function says in which direction.
func (t *Trainer) move(function uintptr, kind int32, name string, data []float32) error {
	c := tensorCall{policy: t.handle, kind: kind, data: unsafe.SliceData(data), n: int64(len(data))}
	copy(c.name[:len(c.name)-1], name)
	return call(function, &c, &c.report, c.data)
}

// order returns the tensors in the order of the layout. Each must be there once, with
// its shape, and no other; their names begin with prefix.
func order(layout []checkpoint.Shape, prefix string, tensors []kernels.Tensor) ([]kernels.Tensor, error) {
	byName := make(map[string]kernels.Tensor, len(tensors))
	for _, t := range tensors {
		if _, twice := byName[t.Name]; twice {
			return nil, fmt.Errorf("tensor %s given twice", t.Name)
		}
		byName[t.Name] = t
	}
	ordered := make([]kernels.Tensor, len(layout))
	for i, want := range layout {
		name := prefix + want.Name
		got, ok := byName[name]
		if !ok {
			return nil, fmt.Errorf("tensor %s is missing", name)
		}
		if !slices.Equal(got.Shape, want.Shape) || len(got.Data) != elements(want.Shape) {
			return nil, fmt.Errorf("tensor %s has shape %v and %d elements, the model needs %v", name, got.Shape, len(got.Data), want.Shape)
		}
		ordered[i] = got
		delete(byName, name)
	}
	for _, t := range tensors {
		if _, left := byName[t.Name]; left {
			return nil, fmt.Errorf("tensor %s is no part of the model", t.Name)
		}
	}
	return ordered, nil
}

func elements(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

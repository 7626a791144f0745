package devices

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"millrace/kernels"
	"millrace/kernels/cpu"
	"millrace/kernels/cuda"
)

// TestOpen: who is asked for what, and what it becomes where that is missing.
func TestOpen(t *testing.T) {
	missing := fmt.Errorf("%w: no NVIDIA driver is loaded", cuda.ErrUnavailable)
	broken := errors.New("an ECC error")
	two := cuda.System{Devices: []cuda.DeviceInfo{{Name: "First"}, {Name: "Second"}}}
	for _, c := range []struct {
		name        string
		look        error // of looking for GPUs, where there are two
		open        error
		opened      int // the GPU, -1 the processor
		description string
		err         string
	}{
		{name: "cpu", opened: -1, description: "on the CPU"},
		{name: "auto", opened: 0, description: "cuda:0, First, in bf16"},
		{name: "cuda", opened: 0, description: "cuda:0, First"},
		{name: "cuda:1", opened: 1, description: "cuda:1, Second"},
		{name: "auto", look: missing, opened: -1, description: "on the CPU: no usable GPU: no NVIDIA driver is loaded"},
		{name: "auto", open: missing, opened: -1, description: "on the CPU: no usable GPU: no NVIDIA driver is loaded"},
		{name: "auto", open: broken, err: "device auto: an ECC error"},
		{name: "cuda", look: missing, err: "device cuda: no usable GPU: no NVIDIA driver is loaded"},
		{name: "cuda:1", open: missing, err: "device cuda:1: no usable GPU"},
		{name: "cuda:2", err: "there is no cuda:2, the driver lists 2"},
		{name: "gpu", err: `device is "gpu"`},
		{name: "", err: `device is ""`},
		{name: "cuda:", err: `device is "cuda:"`},
		{name: "cuda:-1", err: `device is "cuda:-1"`},
		{name: "cuda:1x", err: `device is "cuda:1x"`},
	} {
		opened := -1
		d, err := open(c.name, cuda.Options{Precision: cuda.BF16},
			func() (cuda.System, error) { return two, c.look },
			func(n int) (*cuda.Device, error) {
				if c.open != nil {
					return nil, c.open
				}
				opened = n
				return &cuda.Device{}, nil
			})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error is %v, want one with %q", c.name, err, c.err)
			}
			continue
		}
		if err != nil || opened != c.opened || !strings.Contains(d.String(), c.description) || strings.Contains(d.String(), "\n") {
			t.Errorf("%s opens %d: %v, %v; want %d: %s", c.name, opened, d, err, c.opened, c.description)
		}
	}
}

// TestProcessorTrains: the trainer of the processor is package cpu's.
func TestProcessorTrains(t *testing.T) {
	cfg := kernels.Config{
		VocabSize: 9, HiddenSize: 4, IntermediateSize: 6, NumHiddenLayers: 1, NumAttentionHeads: 2, NumKeyValueHeads: 1,
		HeadDim: 2, MaxPositionEmbeddings: 8, RMSNormEps: 1e-6, RopeTheta: 1e4,
	}
	weights, err := cpu.InitWeights(cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(CPU, cuda.Options{})
	if err != nil {
		t.Fatal(err)
	}
	trainer, err := d.NewTrainer(cfg, weights)
	if err != nil {
		t.Fatal(err)
	}
	tensors, err := trainer.Weights().Tensors()
	if err != nil || len(tensors) != len(weights) {
		t.Fatalf("%d tensors, want %d: %v", len(tensors), len(weights), err)
	}
	if err := errors.Join(trainer.Close(), d.Close()); err != nil {
		t.Error(err)
	}
}

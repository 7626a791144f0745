// Package devices chooses what computes the update, and samples: the processor or a GPU.
//
// A name is cpu, cuda (the first GPU), cuda:n, or auto, which is cuda where that
// can be used and cpu elsewhere. Only auto ever takes another device than the first
// it tries, and it says why.
package devices

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"millrace/kernels"
	"millrace/kernels/cpu"
	"millrace/kernels/cuda"
)

// Names of devices. CUDA may be followed by a colon and the GPU's ordinal.
const (
	Auto = "auto"
	CPU  = "cpu"
	CUDA = "cuda"
)

// Device is an open device.
type Device struct {
	gpu         *cuda.Device // nil: the processor
	options     cuda.Options
	description string
}

// Validate reports a name that is none.
func Validate(name string) error {
	_, err := ordinal(name)
	return err
}

// ordinal is the GPU a name asks for, -1 for the processor.
func ordinal(name string) (int, error) {
	switch name {
	case CPU:
		return -1, nil
	case CUDA, Auto:
		return 0, nil
	}
	if digits, ok := strings.CutPrefix(name, CUDA+":"); ok {
		// A GPU's ordinal has two digits at most.
		if n, err := strconv.ParseUint(digits, 10, 8); err == nil {
			return int(n), nil
		}
	}
	return 0, fmt.Errorf("device is %q: want auto, cpu, cuda or cuda:n", name)
}

// Open opens the device of a name. The options are those of a GPU; the processor
// computes in float32. A GPU that is asked for by name and cannot be used is an error
// with cuda.ErrUnavailable.
func Open(name string, o cuda.Options) (*Device, error) {
	return open(name, o, cuda.Look, cuda.Open)
}

func open(name string, o cuda.Options, look func() (cuda.System, error), openGPU func(int) (*cuda.Device, error)) (*Device, error) {
	n, err := ordinal(name)
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return &Device{description: "the update is computed on the CPU"}, nil
	}
	system, err := look()
	if err == nil && n >= len(system.Devices) {
		err = fmt.Errorf("%w: there is no cuda:%d, the driver lists %d", cuda.ErrUnavailable, n, len(system.Devices))
	}
	var gpu *cuda.Device
	if err == nil {
		gpu, err = openGPU(n)
	}
	switch {
	case err == nil:
		return &Device{gpu: gpu, options: o, description: fmt.Sprintf("the update is computed on cuda:%d, %s, in %v", n, system.Devices[n].Name, o.Precision)}, nil
	case name == Auto && errors.Is(err, cuda.ErrUnavailable):
		return &Device{description: fmt.Sprintf("the update is computed on the CPU: %v", err)}, nil
	}
	return nil, fmt.Errorf("device %s: %w", name, err)
}

// String is one line about what was chosen, and where that is not what was tried first,
// why.
func (d *Device) String() string { return d.description }

// NewTrainer returns a trainer on the device with a copy of weights. It must be closed
// before the device.
func (d *Device) NewTrainer(cfg kernels.Config, weights []kernels.Tensor) (kernels.Trainer, error) {
	if d.gpu == nil {
		return cpu.NewTrainer(cfg, weights)
	}
	return d.gpu.NewTrainer(cfg, weights, d.options)
}

// Engine are the settings of a generator; zero values are the device's defaults.
type Engine struct {
	// PrefillTokens bounds the prompt tokens of one tick: 256 on the processor and 4,096
	// on a GPU if 0.
	PrefillTokens int
	// Sequences bounds the calls that take part in a tick of a GPU, 256 if 0. The
	// processor takes all.
	Sequences int
	// CacheBytes bounds a GPU's cache of keys and values: a quarter of the memory that is
	// free if 0. The processor's grows.
	CacheBytes uint64
}

// NewGenerator returns a generator on the device whose policy is weights, under version. A
// GPU samples from the weights of a trainer of this device as they lie; the trainer must be
// closed after the generator.
func (d *Device) NewGenerator(cfg kernels.Config, weights kernels.Weights, version int64, e Engine) (kernels.MeteredGenerator, error) {
	if d.gpu != nil {
		return d.gpu.NewGenerator(cfg, weights, version, cuda.GeneratorOptions{
			Precision: d.options.Precision, PrefillTokens: e.PrefillTokens, Sequences: e.Sequences, CacheBytes: e.CacheBytes,
		})
	}
	tensors, err := weights.Tensors()
	if err != nil {
		return nil, err
	}
	return cpu.NewGenerator(cfg, tensors, version, cpu.Options{PrefillTokens: e.PrefillTokens})
}

// Close closes the device.
func (d *Device) Close() error {
	if d.gpu == nil {
		return nil
	}
	return d.gpu.Close()
}

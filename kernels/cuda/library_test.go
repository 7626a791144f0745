package cuda

import (
	"os"
	"path/filepath"
	"testing"

	"millrace/kernels"
	"millrace/kernels/kernelstest"
)

// emulated is the library compiled for the processor, which the tests run on unless
// MILLRACE_CUDA names another, such as that of the GPU at hand.
var emulated = filepath.Join("build", "host", libraryFile)

func TestMain(m *testing.M) {
	if os.Getenv(libraryEnv) == "" {
		os.Setenv(libraryEnv, emulated)
	}
	os.Exit(m.Run())
}

// open opens the first device. Where there is no library the test is skipped, and
// fails if nothing may be missing.
func open(t testing.TB) *Device {
	t.Helper()
	d, err := Open(0)
	if err != nil {
		if os.Getenv("MILLRACE_REQUIRE_ALL") != "" {
			t.Fatalf("%v; make -C kernels/cuda host builds the emulated one", err)
		}
		t.Skipf("%v; make -C kernels/cuda host builds the emulated one", err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func newTrainer(t testing.TB, d *Device, cfg kernels.Config, weights []kernels.Tensor, o Options) *Trainer {
	t.Helper()
	trainer, err := d.NewTrainer(cfg, weights, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := trainer.Close(); err != nil {
			t.Error(err)
		}
	})
	return trainer
}

const reference = "../cpu/testdata"

// TestContract: float32 has the tolerances of package cpu. bfloat16 is held to
// transformers' bfloat16 by TestBF16AgainstTransformers; here it must be near the
// float32 reference, of whose gradients a tensor's largest element may be a fifth off
// in transformers too.
func TestContract(t *testing.T) {
	for _, c := range []struct {
		precision          Precision
		tolerance, stepped float64
	}{{FP32, 1e-5, 1e-4}, {BF16, 0.2, 0.1}} {
		t.Run(c.precision.String(), func(t *testing.T) {
			d := open(t)
			kernelstest.Contract(t, kernelstest.Backend{
				New: func(t *testing.T, cfg kernels.Config, weights []kernels.Tensor) kernelstest.Trainer {
					return newTrainer(t, d, cfg, weights, Options{Precision: c.precision})
				},
				Reference: reference, Tolerance: c.tolerance, Stepped: c.stepped,
			})
		})
	}
}

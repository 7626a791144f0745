package cuda

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"millrace/kernels"
	"millrace/kernels/kernelstest"
)

// limited runs a test of this binary in a process whose emulated device has so many
// bytes.
func limited(t *testing.T, name string, bytes uint64) {
	t.Helper()
	if os.Getenv(libraryEnv) != emulated {
		t.Skipf("a device's memory is limited in the emulator alone, not by %s", os.Getenv(libraryEnv))
	}
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+name+"$", "-test.v")
	command.Env = append(os.Environ(), fmt.Sprintf("MILLRACE_EMULATOR_BYTES=%d", bytes), "MILLRACE_LIMITED=1")
	out, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+name) {
		t.Errorf("with %d bytes: %v\n%s", bytes, err, out)
	}
}

// TestOutOfMemory: a micro-batch that does not fit is an error that says what was asked,
// what is free and what to change, adds nothing, and leaves the trainer usable.
func TestOutOfMemory(t *testing.T) {
	d := open(t)
	if os.Getenv("MILLRACE_LIMITED") == "" {
		// The library of products takes 32 MiB, the micro-batch below 60 at least.
		limited(t, t.Name(), 64<<20)
		return
	}
	trainer := newTrainer(t, d, model, initial(t, model), Options{})
	r := random(t)
	loss := kernels.Loss{Divisor: 5}
	small, large := batch(r, 5), batch(r, slices.Repeat([]int{100}, 500)...)
	accumulate := func(x *Trainer) {
		t.Helper()
		if _, err := x.Accumulate(t.Context(), small, loss); err != nil {
			t.Fatal(err)
		}
	}
	accumulate(trainer)
	_, err := trainer.Accumulate(t.Context(), large, loss)
	if !errors.Is(err, ErrOutOfMemory) {
		t.Fatalf("a micro-batch that does not fit: %v", err)
	}
	for _, part := range []string{"asked", "free", "learn.micro_tokens", "50000 tokens"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not tell %q", err, part)
		}
	}
	accumulate(trainer)
	other := newTrainer(t, d, model, initial(t, model), Options{})
	accumulate(other)
	accumulate(other)
	want, err := other.Gradients()
	if err != nil {
		t.Fatal(err)
	}
	got, err := trainer.Gradients()
	if err != nil {
		t.Fatal(err)
	}
	kernelstest.EqualBits(t, want, got)
}

// TestAutomaticRecomputation: with memory for one choice and not for the one before it,
// that one is taken.
func TestAutomaticRecomputation(t *testing.T) {
	d := open(t)
	pass := func(o Options) *Trainer {
		t.Helper()
		trainer := newTrainer(t, d, model, initial(t, model), o)
		// The same sequences in both processes take the same memory.
		sequences := batch(rand.New(rand.NewPCG(1, 1)), 60)
		if _, err := trainer.Accumulate(t.Context(), sequences, kernels.Loss{Divisor: 5}); err != nil {
			t.Fatal(err)
		}
		return trainer
	}
	if want := os.Getenv("MILLRACE_WANT"); want != "" {
		if got := pass(Options{}).Used().Recompute; got.String() != want {
			t.Errorf("%v is computed again, want %s", got, want)
		}
		return
	}
	none := pass(Options{Recompute: None})
	free, total, err := d.Memory()
	if err != nil {
		t.Fatal(err)
	}
	besides := total - free - none.Used().Bytes
	cheap, block := pass(Options{Recompute: Cheap}).Used().Bytes, pass(Options{Recompute: Block}).Used().Bytes
	for want, activations := range map[string]uint64{
		"none": none.Used().Bytes, "cheap": (none.Used().Bytes + cheap) / 2, "block": (cheap + block) / 2,
	} {
		t.Setenv("MILLRACE_WANT", want)
		// A 256th of the device is left to the libraries.
		limited(t, t.Name(), (besides+activations)*256/255+1)
	}
}

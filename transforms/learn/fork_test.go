package learn

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestForkGoesOnAsTheRunDid: a learner over the fork of a step knows what the run had
// consumed, and on the whole log, read again from its beginning under another topic,
// takes the steps that the run took, to the same weights. The run stays as it was.
func TestForkGoesOnAsTheRunDid(t *testing.T) {
	log := testLog(t, 4)
	config := tinyConfig(t, t.TempDir())
	config.Keep = Keep{Last: 1, Every: 2}
	want := newOutcome()
	if err := want.play(t, config, Parts{Trainer: tinyTrainer(t)}, log, never); err != nil {
		t.Fatal(err)
	}
	steps, err := KeptSteps(config.Dir)
	if err != nil || !slices.Equal(steps, []int64{0, 2, 4}) {
		t.Fatalf("kept steps %v, %v", steps, err)
	}
	ledger, err := os.ReadFile(filepath.Join(config.Dir, ledgerFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		forked := config
		forked.Dir, forked.Run = t.TempDir(), "other"
		if err := Fork(config.Dir, step, forked.Dir, "other"); err != nil {
			t.Fatal(err)
		}
		got := newOutcome()
		if err := got.play(t, forked, Parts{Trainer: tinyTrainer(t)}, log, never); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.weights, want.weights) {
			t.Errorf("from step %d: the weights differ from those of the run", step)
		}
		for i, u := range got.updates {
			if i > step && !sameUpdate(u, want.updates[i]) {
				t.Errorf("from step %d: step %d differs", step, i)
			}
		}
		committed, err := ReadCommitted(forked.Dir)
		if err != nil || len(committed.Updates) != 4 {
			t.Errorf("from step %d: the ledger has %d steps, %v", step, len(committed.Updates), err)
		}
		if err := Fork(config.Dir, step, forked.Dir, "other"); err == nil || !strings.Contains(err.Error(), "holds checkpoints already") {
			t.Errorf("a second fork into the directory: %v", err)
		}
	}
	if again, err := os.ReadFile(filepath.Join(config.Dir, ledgerFile)); err != nil || !bytes.Equal(again, ledger) {
		t.Errorf("the run's ledger has changed: %v", err)
	}
}

func TestForkRefuses(t *testing.T) {
	config := tinyConfig(t, t.TempDir())
	config.Keep = Keep{Last: 2}
	if err := newOutcome().play(t, config, Parts{Trainer: tinyTrainer(t)}, testLog(t, 3), never); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if err := Fork(config.Dir, 1, to, "other"); err == nil || !strings.Contains(err.Error(), "step-000001") {
		t.Errorf("a step that was not kept: %v", err)
	}
	weights := filepath.Join(config.Dir, stepDir(2), weightsFile)
	data, err := os.ReadFile(weights)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(weights, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Fork(config.Dir, 2, to, "other"); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged checkpoint: %v", err)
	}
	if left, _ := os.ReadDir(to); len(left) != 0 {
		t.Errorf("refused forks left %v", left)
	}
	if steps, err := KeptSteps(filepath.Join(to, "none")); err != nil || len(steps) != 0 {
		t.Errorf("kept steps of no directory: %v, %v", steps, err)
	}
}

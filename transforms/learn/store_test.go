package learn

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"millrace/kernels/cpu"
	"millrace/schemas"
)

// trainedDir plays a log of two iterations into a new directory.
func trainedDir(t *testing.T) (Config, *outcome) {
	t.Helper()
	config := tinyConfig(t, t.TempDir())
	o := newOutcome()
	if err := o.play(t, config, Parts{Trainer: tinyTrainer(t)}, testLog(t, 2), never); err != nil {
		t.Fatal(err)
	}
	return config, o
}

func reopen(t *testing.T, config Config) (*Learner, error) {
	t.Helper()
	return Open(config, Parts{Trainer: tinyTrainer(t)})
}

func TestCheckpointLayout(t *testing.T) {
	config, o := trainedDir(t)
	var names []string
	entries, err := os.ReadDir(o.learner.Checkpoint())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{"config.json", "dead_letters.frame", "generation_config.json", "model.safetensors",
		"optimizer.safetensors", "state.json", "tokenizer.json"}
	if !slices.Equal(names, want) {
		t.Errorf("the checkpoint holds %v, want %v", names, want)
	}
	if got := filepath.Base(o.learner.Checkpoint()); got != "step-000002" {
		t.Errorf("the checkpoint of step 2 is %s", got)
	}
	data, err := os.ReadFile(filepath.Join(config.Dir, ledgerFile))
	if err != nil {
		t.Fatal(err)
	}
	updates, err := ParseLedger(data)
	if err != nil || len(updates) != 2 || !sameUpdate(updates[1], o.updates[2]) {
		t.Errorf("the ledger holds %d updates, error %v", len(updates), err)
	}
}

// TestDamagedStoreIsRefused: each damage is told by an error of one line that
// names the file, and nothing in the directory changes.
func TestDamagedStoreIsRefused(t *testing.T) {
	config, _ := trainedDir(t)
	path := func(elem ...string) string { return filepath.Join(append([]string{config.Dir}, elem...)...) }
	flip := func(name string) func() error {
		return func() error {
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			b[len(b)-1] ^= 1
			return os.WriteFile(name, b, 0o644)
		}
	}
	replace := func(name, old, new string) func() error {
		return func() error {
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			if !bytes.Contains(b, []byte(old)) {
				return errors.New(name + " lacks " + old)
			}
			return os.WriteFile(name, bytes.Replace(b, []byte(old), []byte(new), 1), 0o644)
		}
	}
	for _, c := range []struct {
		damage string
		do     func() error
		want   string
	}{
		{"weights", flip(path("step-000002", weightsFile)), "model.safetensors is damaged"},
		{"optimizer", flip(path("step-000002", optimizerFile)), "optimizer.safetensors is damaged"},
		{"dead letters", flip(path("step-000002", deadLettersFile)), "checksum"},
		{"ledger cut", func() error { return os.Truncate(path(ledgerFile), 100) }, "ledger.frames has 100 bytes"},
		{"ledger bit", flip(path(ledgerFile)), "ledger.frames: behind step 1"},
		{"ledger missing", func() error { return os.Remove(path(ledgerFile)) }, "ledger.frames has 0 bytes"},
		{"CURRENT foreign", func() error { return os.WriteFile(path(currentFile), []byte("../etc"), 0o644) }, `CURRENT says "../etc"`},
		{"CURRENT dangling", func() error { return os.WriteFile(path(currentFile), []byte("step-000009\n"), 0o644) }, "step-000009"},
		{"CURRENT missing", func() error { return os.Remove(path(currentFile)) }, "no file CURRENT"},
		{"state key", replace(path("step-000002", stateFile), `"run"`, `"ruin"`), `unknown field "ruin"`},
		{"state format", replace(path("step-000002", stateFile), `"format": 1`, `"format": 2`), "format 2, this build reads 1"},
		{"state step", replace(path("step-000002", stateFile), `"step": 2`, `"step": 1`), "state.json is of step 1"},
		{"another run", replace(path("step-000002", stateFile), `"run": "run"`, `"run": "walk"`), `of run "walk", not of "run"`},
		{"architecture", replace(path("step-000002", "config.json"), `"intermediate_size": 16`, `"intermediate_size": 24`),
			"another architecture; intermediate_size is 24 there and 16 in the configuration"},
	} {
		t.Run(c.damage, func(t *testing.T) {
			whole := t.TempDir()
			if err := os.CopyFS(whole, os.DirFS(config.Dir)); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := errors.Join(os.RemoveAll(config.Dir), os.CopyFS(config.Dir, os.DirFS(whole))); err != nil {
					t.Fatal(err)
				}
			}()
			if err := c.do(); err != nil {
				t.Fatal(err)
			}
			before := listing(t, config.Dir)
			_, err := reopen(t, config)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error is %v\nwant one line with %q", err, c.want)
			}
			if after := listing(t, config.Dir); before != after {
				t.Errorf("the directory changed from\n%s\nto\n%s", before, after)
			}
		})
	}
	if _, err := reopen(t, config); err != nil {
		t.Errorf("the undamaged store: %v", err)
	}
}

// listing is every file with its content's digest.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		digest, err := fileDigest(path)
		b.WriteString(path + " " + digest + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOtherArchitectureIsRefused loads a checkpoint into a wider model.
func TestOtherArchitectureIsRefused(t *testing.T) {
	config, _ := trainedDir(t)
	wide := tiny
	wide.IntermediateSize, wide.NumHiddenLayers = 32, 2
	weights, err := cpu.InitWeights(wide, 7)
	if err != nil {
		t.Fatal(err)
	}
	trainer, err := cpu.NewTrainer(wide, weights)
	if err != nil {
		t.Fatal(err)
	}
	defer trainer.Close()
	_, err = Open(config, Parts{Trainer: trainer})
	want := "intermediate_size is 16 there and 32 in the configuration; num_hidden_layers is 1 there and 2 in the configuration"
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error is %v\nwant it to end with %s", err, want)
	}
}

// TestFullDiskKeepsTheOldCheckpoint fails each write of step 2 as a full disk
// does. The learner stops with one line, and the store is that of step 1.
func TestFullDiskKeepsTheOldCheckpoint(t *testing.T) {
	log := testLog(t, 2)
	for _, point := range []string{"directory", "weights", "optimizer", "tokenizer", "dead letters", "state", "sync", "ledger", "rename"} {
		t.Run(point, func(t *testing.T) {
			config := tinyConfig(t, t.TempDir())
			seen := 0
			full := func(at string) error {
				if at == point {
					if seen++; seen == 3 {
						return &os.PathError{Op: "write", Path: config.Dir, Err: syscall.ENOSPC}
					}
				}
				return nil
			}
			o := newOutcome()
			err := o.play(t, config, Parts{Trainer: tinyTrainer(t)}, log, full)
			if !errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error is %v", err)
			}
			if _, _, again := o.learner.Consume(t.Context(), nil, nil, schemas.Position{Topic: "samples"}); !errors.Is(again, err) {
				t.Errorf("the next record: %v", again)
			}
			entries, err := os.ReadDir(config.Dir)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, e := range entries {
				names = append(names, e.Name())
			}
			if !slices.Equal(names, []string{currentFile, ledgerFile, "step-000001"}) {
				t.Errorf("the store holds %v", names)
			}
			l, err := reopen(t, config)
			if err != nil || l.Version() != 1 {
				t.Errorf("reopening: %v", err)
			}
		})
	}
}

func TestKeep(t *testing.T) {
	config := tinyConfig(t, t.TempDir())
	config.Keep = Keep{Last: 2, Every: 3}
	o := newOutcome()
	if err := o.play(t, config, Parts{Trainer: tinyTrainer(t)}, testLog(t, 6), never); err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob(filepath.Join(config.Dir, "step-*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range kept {
		kept[i] = filepath.Base(kept[i])
	}
	// 0, 3, 6 by Every; 5 and 6 by Last
	if want := []string{"step-000000", "step-000003", "step-000005", "step-000006"}; !slices.Equal(kept, want) {
		t.Errorf("kept %v, want %v", kept, want)
	}
}

// TestTornLedgerTailIsCut: a process killed in the middle of an append leaves
// half a frame, which belongs to no step.
func TestTornLedgerTailIsCut(t *testing.T) {
	config, o := trainedDir(t)
	path := filepath.Join(config.Dir, ledgerFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(whole, whole[:77]...), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := reopen(t, config)
	if err != nil || l.Version() != 2 {
		t.Fatalf("reopening: %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, whole) {
		t.Errorf("the ledger has %d bytes, %d were committed (error %v)", len(now), len(whole), err)
	}
	if updates, letters := l.Pending(); len(updates) != 2 || len(letters) != len(o.letters) {
		t.Errorf("%d updates and %d dead letters are given out again, want 2 and %d", len(updates), len(letters), len(o.letters))
	}
}

// FuzzParseLedger: no content of a ledger file makes the reader panic, and what
// it accepts it accepts whole.
func FuzzParseLedger(f *testing.F) {
	frame, err := schemas.Updates.Encode(schemas.Update{Step: 1, SampleIDs: []string{"a"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(nil))
	f.Add(frame)
	f.Add(append(bytes.Clone(frame), frame[:40]...))
	f.Fuzz(func(t *testing.T, data []byte) {
		updates, err := ParseLedger(data)
		if err == nil && len(data) > 0 && len(updates) == 0 {
			t.Error("bytes were read as no update")
		}
	})
}

// FuzzReadState: no state.json makes the reader panic or accept a negative count.
func FuzzReadState(f *testing.F) {
	f.Add([]byte(`{"format":1,"run":"r","step":2,"optimizer_step":2,"positions":[{"Topic":"t","Partition":0,"Offset":3}]}`))
	f.Add([]byte(`{"format":1,"step":-1}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), stateFile)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := readState(path)
		if err == nil && (s.Format != stateFormat || s.Step < 0 || s.LedgerBytes < 0) {
			t.Errorf("accepted %+v", s)
		}
	})
}

package learn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"
)

// KeptSteps are the steps whose checkpoints a directory still holds, up to the
// current one, ascending. None is no error.
func KeptSteps(dir string) ([]int64, error) {
	committed, err := ReadCommitted(dir)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for checkpoints: %w", err)
	}
	last := int64(0)
	if n := len(committed.Updates); n > 0 {
		last = committed.Updates[n-1].Step
	}
	var steps []int64
	for _, e := range entries {
		if step, ok := parseStepDir(e.Name()); ok && step <= last {
			steps = append(steps, step)
		}
	}
	slices.Sort(steps)
	return steps, nil
}

// Fork makes the state after a step of one run the beginning of another: weights,
// optimizer and ledger up to the step, in a directory of checkpoints that has none yet.
// The samples of those steps stay consumed. Positions are left out, since the new run
// has topics of its own, and so are dead letters, which the first run has delivered.
// The checkpoint of the step must have been kept, and is checked.
func Fork(from string, step int64, to, run string) error {
	source := filepath.Join(from, stepDir(step))
	refuse := func(err error) error {
		return fmt.Errorf("forking checkpoint %s for run %s: %w", source, run, err)
	}
	st, err := readState(filepath.Join(source, stateFile))
	if err != nil {
		return refuse(err)
	}
	if err := checkDigest(filepath.Join(source, weightsFile), st.WeightsDigest); err != nil {
		return refuse(err)
	}
	if st.OptimizerStep > 0 {
		if err := checkDigest(filepath.Join(source, optimizerFile), st.OptimizerDigest); err != nil {
			return refuse(err)
		}
	}
	ledger, err := os.ReadFile(filepath.Join(from, ledgerFile))
	if err != nil && (st.LedgerBytes > 0 || !errors.Is(err, fs.ErrNotExist)) {
		return refuse(err)
	}
	if int64(len(ledger)) < st.LedgerBytes {
		return refuse(fmt.Errorf("the ledger has %d bytes, %d are of the checkpoint", len(ledger), st.LedgerBytes))
	}
	if _, err := os.Stat(filepath.Join(to, currentFile)); err == nil {
		return refuse(fmt.Errorf("%s holds checkpoints already", to))
	}
	target := filepath.Join(to, stepDir(step))
	if err := copyCheckpoint(source, target); err != nil {
		return refuse(err)
	}
	st.Run, st.Positions = run, nil
	data, err := json.MarshalIndent(st, "", "  ")
	if err != nil {
		return refuse(err)
	}
	for _, write := range []func() error{
		func() error { return writeSynced(filepath.Join(target, stateFile), append(data, '\n')) },
		func() error { return writeSynced(filepath.Join(to, ledgerFile), ledger[:st.LedgerBytes]) },
		func() error { return syncDir(target) },
		// As in a commit, only this makes the checkpoint exist.
		func() error {
			return renameio.WriteFile(filepath.Join(to, currentFile), []byte(stepDir(step)+"\n"), 0o644)
		},
	} {
		if err := write(); err != nil {
			return refuse(err)
		}
	}
	return nil
}

// copyCheckpoint copies what a checkpoint holds beside its state and its dead letters.
func copyCheckpoint(source, target string) error {
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(source)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == stateFile || e.Name() == deadLettersFile {
			continue
		}
		data, err := os.ReadFile(filepath.Join(source, e.Name()))
		if err != nil {
			return err
		}
		if err := writeSynced(filepath.Join(target, e.Name()), data); err != nil {
			return err
		}
	}
	return nil
}

package learn

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"millrace/kernels"
	"millrace/kernels/checkpoint"
	"millrace/schemas"
)

// restored is what Load found.
type restored struct {
	dir       string
	state     state
	weights   []kernels.Tensor
	optimizer []kernels.Tensor
	ledger    *Ledger
	// updates and deadLetters are the outputs of the last steps. The process may
	// have died before they were written to their topics.
	updates     []schemas.Update
	deadLetters []schemas.DeadLetter
}

// Load reads the current checkpoint, cuts the ledger to what belongs to it, and
// removes what a crash left. It returns false if nothing was ever committed. A
// checkpoint that is torn, of another run or of another architecture than want
// is an error that says so, and nothing is changed.
func (s *Store) Load(want kernels.Config) (restored, bool, error) {
	data, err := readBounded(filepath.Join(s.dir, currentFile), 256)
	if errors.Is(err, fs.ErrNotExist) {
		return restored{}, false, s.startOver()
	}
	if err != nil {
		return restored{}, false, fmt.Errorf("finding the current checkpoint: %w", err)
	}
	name := strings.TrimSpace(string(data))
	step, ok := parseStepDir(name)
	if !ok {
		return restored{}, false, fmt.Errorf("%s says %q, which is not the name of a checkpoint",
			filepath.Join(s.dir, currentFile), name)
	}
	r := restored{dir: filepath.Join(s.dir, name)}
	if err := s.read(&r, step, want); err != nil {
		return restored{}, false, fmt.Errorf("loading checkpoint %s: %w", r.dir, err)
	}
	s.ledgerBytes = r.state.LedgerBytes
	if err := s.cutLedger(); err != nil && (r.state.LedgerBytes > 0 || !errors.Is(err, fs.ErrNotExist)) {
		return restored{}, false, fmt.Errorf("cutting the ledger to its committed length: %w", err)
	}
	return r, true, s.removeLeftovers(step)
}

func (s *Store) read(r *restored, step int64, want kernels.Config) (err error) {
	if r.state, err = readState(filepath.Join(r.dir, stateFile)); err != nil {
		return err
	}
	if r.state.Step != step {
		return fmt.Errorf("%s is of step %d", stateFile, r.state.Step)
	}
	if r.state.Run != s.run {
		return fmt.Errorf("it is of run %q, not of %q", r.state.Run, s.run)
	}
	found, err := checkpoint.ReadConfig(r.dir)
	if err != nil {
		return err
	}
	if err := checkArchitecture(r.dir, found, want); err != nil {
		return err
	}
	if err := checkDigest(filepath.Join(r.dir, weightsFile), r.state.WeightsDigest); err != nil {
		return err
	}
	if _, r.weights, err = checkpoint.Load(r.dir); err != nil {
		return err
	}
	if r.state.OptimizerStep > 0 {
		path := filepath.Join(r.dir, optimizerFile)
		if err := checkDigest(path, r.state.OptimizerDigest); err != nil {
			return err
		}
		if r.optimizer, _, err = checkpoint.ReadTensors(path); err != nil {
			return err
		}
	}
	if err := s.readLedger(r); err != nil {
		return err
	}
	frame, err := os.ReadFile(filepath.Join(r.dir, deadLettersFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	r.deadLetters, err = schemas.DeadLetters.Decode(frame)
	return err
}

func checkDigest(path, want string) error {
	got, err := fileDigest(path)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%s is damaged: its SHA-256 is %s, %s was written", path, got, want)
	}
	return nil
}

// readLedger reads the committed part of the ledger.
func (s *Store) readLedger(r *restored) error {
	r.ledger = newLedger()
	path := filepath.Join(s.dir, ledgerFile)
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if int64(len(data)) < r.state.LedgerBytes {
		return fmt.Errorf("%s has %d bytes, %d were committed", path, len(data), r.state.LedgerBytes)
	}
	updates, err := ParseLedger(data[:r.state.LedgerBytes])
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	for i := range updates {
		if err := r.ledger.add(updates[i]); err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
	}
	if r.ledger.Step() != r.state.Step {
		return fmt.Errorf("%s ends at step %d", path, r.ledger.Step())
	}
	if n := len(updates); n > 0 && updates[n-1].WeightsDigest != r.state.WeightsDigest {
		return fmt.Errorf("%s tells other weights for step %d", path, r.state.Step)
	}
	r.updates = updates[max(0, len(updates)-carriedSteps):]
	return nil
}

// ParseLedger cuts the content of a ledger file into its updates.
func ParseLedger(data []byte) ([]schemas.Update, error) {
	var out []schemas.Update
	for at := int64(0); at < int64(len(data)); {
		n, err := schemas.FrameLength(data[at:])
		if err == nil && n > int64(len(data))-at {
			err = schemas.ErrCorrupt
		}
		if err != nil {
			return nil, fmt.Errorf("behind step %d, byte %d: %w", len(out), at, err)
		}
		rows, err := schemas.Updates.Decode(data[at : at+n])
		if err != nil {
			return nil, fmt.Errorf("behind step %d, byte %d: %w", len(out), at, err)
		}
		out = append(out, rows...)
		at += n
	}
	return out, nil
}

// startOver removes what a crash before the first commit left. Later checkpoints
// without CURRENT are not ours to remove.
func (s *Store) startOver() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if step, ok := parseStepDir(e.Name()); ok && step > 0 {
			return fmt.Errorf("%s holds %s but no file %s; write the name of the checkpoint to resume from into it",
				s.dir, e.Name(), currentFile)
		}
	}
	return s.removeLeftovers(-1)
}

// removeLeftovers removes incomplete checkpoints and those behind the current
// step: a process died before it had made them current.
func (s *Store) removeLeftovers(current int64) error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		step, ok := parseStepDir(strings.TrimPrefix(e.Name(), temporary))
		if !ok || (step <= current && !strings.HasPrefix(e.Name(), temporary)) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(s.dir, e.Name())); err != nil {
			return fmt.Errorf("removing a checkpoint that was never committed: %w", err)
		}
	}
	return nil
}

package learn

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"millrace/kernels"
	"millrace/kernels/checkpoint"
	"millrace/schemas"
)

// Store is a directory of checkpoints:
//
//	CURRENT              the name of the checkpoint to resume from
//	ledger.frames        every Update since step 1, one frame each
//	step-000012/         a checkpoint: a model directory in Hugging Face layout
//	    config.json, generation_config.json, model.safetensors, tokenizer.json
//	    optimizer.safetensors   Adam's moments
//	    dead_letters.frame      dead letters of the last steps, see carried.go
//	    state.json              step, positions, length of the ledger, digests
//
// Commit writes step-N under another name, makes it durable, appends to the
// ledger, renames the directory and then replaces CURRENT. Only the last of
// these makes the step exist: before it, Load finds the checkpoint before, whose
// state.json tells how much of the ledger is its own.
//
// One process may use a store at a time.
type Store struct {
	dir   string
	run   string
	keep  Keep
	extra Extra
	// ledgerBytes is the committed length of ledger.frames.
	ledgerBytes int64
	// reached is called behind every write, see [Parts].
	reached func(point string) error
}

// WritePoints are the places of a commit at which a process may die or a disk
// fail, in their order. Behind "current" the checkpoint is the one to resume
// from; "prune" comes once for each checkpoint that is removed.
var WritePoints = []string{
	"directory", "weights", "optimizer", "tokenizer", "dead letters", "state", "sync", "ledger", "rename", "current", "prune",
}

// Keep says which checkpoints survive: the last Last, at least 1, and every step
// that Every divides, if Every is not 0.
type Keep struct {
	Last  int
	Every int64
}

// Extra is what goes into a checkpoint beside the model.
type Extra struct {
	// Tokenizer is the path of the tokenizer.json to copy, empty for none.
	Tokenizer string
	// Stop and Pad go to generation_config.json.
	Stop []int32
	Pad  int32
}

// names of the files.
const (
	currentFile     = "CURRENT"
	ledgerFile      = "ledger.frames"
	weightsFile     = "model.safetensors"
	optimizerFile   = "optimizer.safetensors"
	tokenizerFile   = "tokenizer.json"
	deadLettersFile = "dead_letters.frame"
	stateFile       = "state.json"
	temporary       = "incomplete-" // before the name of a checkpoint being written
)

// newStore opens a directory of checkpoints of a run, which is made if absent.
func newStore(dir, run string, keep Keep, extra Extra) (*Store, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the checkpoint directory: %w", err)
	}
	return &Store{dir: dir, run: run, keep: keep, extra: extra, reached: func(string) error { return nil }}, nil
}

// snapshot is what a commit makes durable.
type snapshot struct {
	config        kernels.Config
	weights       []kernels.Tensor
	optimizer     []kernels.Tensor
	optimizerStep int64
	positions     []schemas.Position
	configHash    string
	// update is the ledger's new line, nil for step 0. Its WeightsDigest is set by
	// the commit.
	update *schemas.Update
	// finish is called when the weights are written, to complete the update.
	finish      func(u *schemas.Update)
	deadLetters []schemas.DeadLetter
	open        []openIteration
}

func (s *snapshot) step() int64 {
	if s.update == nil {
		return 0
	}
	return s.update.Step
}

// Commit makes the snapshot the current checkpoint and returns its directory.
// After an error the checkpoint before it is still current and intact.
func (s *Store) Commit(snap snapshot) (dir string, err error) {
	step := snap.step()
	dir = filepath.Join(s.dir, stepDir(step))
	temp := filepath.Join(s.dir, temporary+stepDir(step))
	ledger, err := s.write(temp, &snap)
	if err == nil {
		err = s.appendLedger(ledger)
	}
	if err == nil {
		err = s.install(temp, dir)
	}
	if err != nil {
		// Room for the next try; the error that counts is the first.
		_ = os.RemoveAll(temp)
		_ = os.RemoveAll(dir)
		_ = s.cutLedger()
		return "", fmt.Errorf("writing checkpoint %s: %w", dir, err)
	}
	// The checkpoint is current from here on, whatever fails.
	if err := errors.Join(s.reached("current"), syncDir(s.dir)); err != nil {
		return "", fmt.Errorf("making checkpoint %s durable: %w", dir, err)
	}
	s.ledgerBytes += int64(len(ledger))
	if err := s.prune(step); err != nil {
		return "", fmt.Errorf("removing checkpoints before %s: %w", dir, err)
	}
	return dir, nil
}

// write fills the directory temp and returns the frame for the ledger.
func (s *Store) write(temp string, snap *snapshot) (ledger []byte, err error) {
	if err := os.RemoveAll(temp); err != nil {
		return nil, err
	}
	if err := os.Mkdir(temp, 0o755); err != nil {
		return nil, err
	}
	if err := s.reached("directory"); err != nil {
		return nil, err
	}
	st := state{
		Format: stateFormat, Run: s.run, Step: snap.step(), OptimizerStep: snap.optimizerStep,
		Positions: snap.positions, ConfigHash: snap.configHash, Open: snap.open,
	}
	options := checkpoint.Options{DType: checkpoint.F32, Stop: s.extra.Stop, Pad: s.extra.Pad}
	if st.WeightsDigest, err = checkpoint.Save(temp, snap.config, snap.weights, options); err != nil {
		return nil, err
	}
	if err := s.reached("weights"); err != nil {
		return nil, err
	}
	if snap.optimizerStep > 0 {
		st.OptimizerDigest, err = checkpoint.WriteTensors(filepath.Join(temp, optimizerFile), snap.optimizer, checkpoint.F32, nil)
		if err != nil {
			return nil, err
		}
	}
	if err := s.reached("optimizer"); err != nil {
		return nil, err
	}
	if s.extra.Tokenizer != "" {
		data, err := os.ReadFile(s.extra.Tokenizer)
		if err != nil {
			return nil, fmt.Errorf("copying the tokenizer: %w", err)
		}
		if err := writeSynced(filepath.Join(temp, tokenizerFile), data); err != nil {
			return nil, err
		}
	}
	if err := s.reached("tokenizer"); err != nil {
		return nil, err
	}
	if len(snap.deadLetters) > 0 {
		frame, err := schemas.DeadLetters.Encode(snap.deadLetters...)
		if err != nil {
			return nil, err
		}
		if err := writeSynced(filepath.Join(temp, deadLettersFile), frame); err != nil {
			return nil, err
		}
	}
	if err := s.reached("dead letters"); err != nil {
		return nil, err
	}
	if snap.update != nil {
		snap.update.WeightsDigest = st.WeightsDigest
		if snap.finish != nil {
			snap.finish(snap.update)
		}
		if ledger, err = schemas.Updates.Encode(*snap.update); err != nil {
			return nil, err
		}
	}
	st.LedgerBytes = s.ledgerBytes + int64(len(ledger))
	data, err := json.MarshalIndent(st, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := writeSynced(filepath.Join(temp, stateFile), append(data, '\n')); err != nil {
		return nil, err
	}
	if err := s.reached("state"); err != nil {
		return nil, err
	}
	if err := syncDir(temp); err != nil {
		return nil, err
	}
	return ledger, s.reached("sync")
}

// appendLedger writes a frame behind the committed part of the ledger, over
// whatever a crash left there.
func (s *Store) appendLedger(frame []byte) error {
	f, err := os.OpenFile(filepath.Join(s.dir, ledgerFile), os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	err = f.Truncate(s.ledgerBytes)
	if err == nil {
		_, err = f.WriteAt(frame, s.ledgerBytes)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return s.reached("ledger")
}

func (s *Store) cutLedger() error {
	return os.Truncate(filepath.Join(s.dir, ledgerFile), s.ledgerBytes)
}

// install renames temp to dir and makes it the current checkpoint. After an error
// the one before is still current.
func (s *Store) install(temp, dir string) error {
	// dir cannot be there: Load removes what lies behind the current step.
	if err := os.Rename(temp, dir); err != nil {
		return err
	}
	if err := syncDir(s.dir); err != nil {
		return err
	}
	if err := s.reached("rename"); err != nil {
		return err
	}
	return renameio.WriteFile(filepath.Join(s.dir, currentFile), []byte(filepath.Base(dir)+"\n"), 0o644)
}

// prune removes the checkpoints that are not to be kept.
func (s *Store) prune(newest int64) error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		step, ok := parseStepDir(e.Name())
		if !ok || step > newest-int64(s.keep.Last) || (s.keep.Every > 0 && step%s.keep.Every == 0) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(s.dir, e.Name())); err != nil {
			return err
		}
		if err := s.reached("prune"); err != nil {
			return err
		}
	}
	return nil
}

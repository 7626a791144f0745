package learn

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"millrace/kernels"
	"millrace/schemas"
)

// stateFormat is the format of state.json and of the directory around it.
const stateFormat = 1

// state is state.json: what a checkpoint knows besides weights and optimizer.
type state struct {
	Format int    `json:"format"`
	Run    string `json:"run"`
	// Step is the policy version of the weights.
	Step int64 `json:"step"`
	// OptimizerStep counts the steps of the optimizer: one a minibatch, none where
	// there was nothing to train on or the gradient was not finite.
	OptimizerStep int64 `json:"optimizer_step"`
	// Positions is where reading goes on.
	Positions []schemas.Position `json:"positions"`
	// LedgerBytes is the length of the ledger that belongs to this checkpoint;
	// what the file holds behind it was never committed.
	LedgerBytes int64 `json:"ledger_bytes"`
	// Open are the iterations that have not filled their places, see places.
	Open       []openIteration `json:"open_iterations,omitempty"`
	ConfigHash string          `json:"config_hash"`
	// SHA-256 of model.safetensors and optimizer.safetensors; the second is empty
	// while OptimizerStep is 0.
	WeightsDigest   string `json:"weights_digest"`
	OptimizerDigest string `json:"optimizer_digest"`
}

// stateMax bounds state.json; a position takes about 100 bytes.
const stateMax = 16 << 20

func readState(path string) (state, error) {
	data, err := readBounded(path, stateMax)
	if err != nil {
		return state{}, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var s state
	if err := d.Decode(&s); err != nil {
		return state{}, fmt.Errorf("reading %s: %w", path, err)
	}
	if s.Format != stateFormat {
		return state{}, fmt.Errorf("%s has format %d, this build reads %d", path, s.Format, stateFormat)
	}
	if s.Step < 0 || s.OptimizerStep < 0 || s.LedgerBytes < 0 {
		return state{}, fmt.Errorf("%s tells step %d, optimizer step %d, ledger of %d bytes", path, s.Step, s.OptimizerStep, s.LedgerBytes)
	}
	for i, p := range s.Positions {
		if p.Topic == "" || p.Partition < 0 || p.Offset < 0 {
			return state{}, fmt.Errorf("%s: position %d is %+v", path, i, p)
		}
	}
	for _, o := range s.Open {
		if o.Iteration < 0 || o.Filled < 0 || o.Replaced < 0 {
			return state{}, fmt.Errorf("%s: open iteration %+v has a negative number", path, o)
		}
	}
	return s, nil
}

// readBounded reads a regular file of at most limit bytes.
func readBounded(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is longer than %d bytes", path, limit)
	}
	return data, nil
}

// fileDigest is the SHA-256 of a file, in hexadecimal.
func fileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// checkArchitecture tells every field in which two models differ.
func checkArchitecture(dir string, found, want kernels.Config) error {
	if found == want {
		return nil
	}
	fields := func(c kernels.Config) (values map[string]json.RawMessage, err error) {
		data, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		err = json.Unmarshal(data, &values)
		return values, err
	}
	a, err := fields(found)
	if err != nil {
		return err
	}
	b, err := fields(want)
	if err != nil {
		return err
	}
	differences := ""
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if !bytes.Equal(a[name], b[name]) {
			differences += fmt.Sprintf("; %s is %s there and %s in the configuration", name, a[name], b[name])
		}
	}
	return fmt.Errorf("checkpoint %s holds a model of another architecture%s", dir, differences)
}

// syncDir makes the entries of a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// writeSynced writes a new file and makes its content durable.
func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

func stepDir(step int64) string { return fmt.Sprintf("step-%06d", step) }

// parseStepDir is the inverse of stepDir.
func parseStepDir(name string) (int64, bool) {
	var step int64
	if _, err := fmt.Sscanf(name, "step-%d", &step); err != nil || step < 0 || stepDir(step) != name {
		return 0, false
	}
	return step, true
}

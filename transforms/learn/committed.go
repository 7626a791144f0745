package learn

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"millrace/schemas"
)

// Committed is what a directory of checkpoints holds for good.
type Committed struct {
	// Updates are the steps of the ledger, in order. They are as they were
	// written, unchecked: what is wrong with them is for the reader to find.
	Updates []schemas.Update
	// Positions is where the learner would go on reading.
	Positions []schemas.Position
}

// ReadCommitted returns the committed steps of a directory of checkpoints and
// changes nothing in it: unlike [Store.Load] it may be used beside a running
// learner. A directory without a checkpoint has none.
func ReadCommitted(dir string) (Committed, error) {
	current, err := readBounded(filepath.Join(dir, currentFile), 256)
	if errors.Is(err, fs.ErrNotExist) {
		return Committed{}, nil
	}
	if err != nil {
		return Committed{}, fmt.Errorf("finding the current checkpoint: %w", err)
	}
	name := strings.TrimSpace(string(current))
	if _, ok := parseStepDir(name); !ok {
		return Committed{}, fmt.Errorf("%s says %q, which is not the name of a checkpoint", filepath.Join(dir, currentFile), name)
	}
	s, err := readState(filepath.Join(dir, name, stateFile))
	if err != nil {
		return Committed{}, fmt.Errorf("reading checkpoint %s: %w", name, err)
	}
	path := filepath.Join(dir, ledgerFile)
	data, err := os.ReadFile(path)
	if err != nil && (s.LedgerBytes > 0 || !errors.Is(err, fs.ErrNotExist)) {
		return Committed{}, fmt.Errorf("reading the ledger: %w", err)
	}
	if int64(len(data)) < s.LedgerBytes {
		return Committed{}, fmt.Errorf("%s has %d bytes, of which checkpoint %s says %d are its own", path, len(data), name, s.LedgerBytes)
	}
	updates, err := ParseLedger(data[:s.LedgerBytes])
	if err != nil {
		return Committed{}, fmt.Errorf("reading %s: %w", path, err)
	}
	return Committed{Updates: updates, Positions: s.Positions}, nil
}

package local

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"millrace/runners/embedded"
)

// TestRunThatIsGoingOnIsLeftAlone: what reads or writes a run's topics says which
// process has them.
func TestRunThatIsGoingOnIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, configFile), []byte("seed: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lock, err := embedded.LockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	for name, err := range map[string]error{
		"audit":   LedgerAudit(t.Context(), dir, tableOutput, &bytes.Buffer{}),
		"redrive": Redrive(t.Context(), dir, []string{"x"}, false, false, &bytes.Buffer{}),
	} {
		if err == nil || !strings.Contains(err.Error(), "must not be going on") || !strings.Contains(err.Error(), "in use by process") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "broker")); err == nil {
		t.Error("a broker was started over the run's log")
	}
}

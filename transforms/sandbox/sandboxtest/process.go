package sandboxtest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"millrace/transforms/sandbox"
)

// Process returns a process sandbox over the build cache of whoever runs the tests,
// in a directory of its own. It skips where there is no go command, and outside of CI
// where the kernel refuses namespaces.
func Process(t testing.TB, limits sandbox.Limits) *sandbox.Process {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Skip("no go command: ", err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := sandbox.NewProcess(sandbox.ProcessConfig{Dir: dir, Cache: strings.TrimSpace(string(cache)), Limits: limits})
	if err != nil && os.Getenv("CI") == "" && strings.Contains(err.Error(), "operation not permitted") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

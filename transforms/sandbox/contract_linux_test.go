//go:build amd64 || arm64

package sandbox_test

import (
	"os"
	"strings"
	"testing"

	"millrace/schemas"
	"millrace/transforms/sandbox"
	"millrace/transforms/sandbox/sandboxtest"
)

func TestContract(t *testing.T) {
	p, err := sandbox.NewProcess(sandbox.ProcessConfig{Dir: private(t)})
	if err != nil && os.Getenv("CI") == "" && strings.Contains(err.Error(), "operation not permitted") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	sandboxtest.Contract(t, p, func(files ...schemas.File) sandbox.Spec { return sandbox.Spec{Files: files} })
}

// private is a directory that nobody else can write to.
func private(t *testing.T) string {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

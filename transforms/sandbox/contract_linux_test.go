//go:build amd64 || arm64

package sandbox_test

import (
	"testing"

	"millrace/schemas"
	"millrace/transforms/sandbox"
	"millrace/transforms/sandbox/sandboxtest"
)

func TestContract(t *testing.T) {
	p := sandboxtest.Process(t, sandbox.Limits{})
	sandboxtest.Contract(t, p, func(files ...schemas.File) sandbox.Spec { return sandbox.Spec{Files: files} })
}

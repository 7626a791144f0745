//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"fmt"
	"runtime"
)

// Process is the process sandbox, which only Linux on amd64 and arm64 has.
type Process struct{ Provider }

// NewProcess refuses: without namespaces a command would run with the user's
// rights on the bare host.
func NewProcess(ProcessConfig) (*Process, error) {
	return nil, fmt.Errorf("process sandbox needs Linux on amd64 or arm64, this is %s/%s: run in a Linux virtual machine", runtime.GOOS, runtime.GOARCH)
}

// Stats returns nothing: there is no process sandbox here.
func (p *Process) Stats() Stats { return Stats{} }

//go:build unix

package mine

import (
	"os/exec"
	"syscall"
)

// killTogether makes cmd's context end all processes that cmd started: the test
// binary outlives a go command that is killed alone.
func killTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

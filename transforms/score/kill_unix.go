//go:build unix

package score

import (
	"os/exec"
	"syscall"
	"time"
)

// killWithChildren makes the end of the command's context kill its whole process group.
func killWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	// A child that left the group may hold the pipes open; it is not waited for.
	cmd.WaitDelay = time.Second
}

package local

import "syscall"

// withParent makes a process that is killed when its parent is, and that an
// interrupt from the terminal reaches through its parent alone.
func withParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

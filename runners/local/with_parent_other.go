//go:build !linux

package local

import "syscall"

// withParent is what this system has: nothing ties a process to its parent's death.
// One that is left running holds its run's lock, and a second start is refused.
func withParent() *syscall.SysProcAttr { return nil }

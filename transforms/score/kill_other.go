//go:build !unix

package score

import (
	"os/exec"
	"time"
)

// killWithChildren leaves it at the command itself: there are no process groups here.
func killWithChildren(cmd *exec.Cmd) { cmd.WaitDelay = time.Second }

package sandbox

import (
	"os"

	"millrace/transforms/sandbox/inside"
)

// MaybeInit is the first call of main. In a program started as usual it does
// nothing. The sandbox's own processes are this program under a name that marks
// them, and never get as far as main; where they do, because the system has no
// process sandbox, they must not run it.
func MaybeInit() {
	if name := os.Args[0]; name == inside.LauncherName || name == inside.InitName {
		os.Exit(2)
	}
}

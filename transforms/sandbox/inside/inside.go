// Package inside is the code of the process sandbox that runs in processes of
// its own: the launcher, which stays outside and starts sandboxes, and init,
// which is process 1 of one sandbox.
//
// Both are this program's own executable, started again with a marker as
// argument 0. They are entered from this package's initialisation, and the
// package imports next to nothing, because the language initialises packages in
// the order of their import paths as soon as their imports are ready: a
// re-execution never pays for initialising the rest of the program (45 ms of
// CPU time when it links Beam, against 3 ms). The marker is not a valid name
// for a program, so nobody enters this by accident.
package inside

// The markers that take the place of the program's name.
const (
	LauncherName = "[millrace sandbox launcher]"
	InitName     = "[millrace sandbox init]"
)

// Job is what one sandbox is to do. All paths are of the host.
type Job struct {
	// Root is an empty directory, mounted over in the sandbox only.
	Root string
	// Workspace becomes /testbed.
	Workspace string
	// Command is run by sh -c.
	Command string
	// Env is the whole environment of the command.
	Env []string
	// ReadOnly are directories bound at their own path, read-only.
	ReadOnly []string
	// Cache is the lower layer of CacheDir, empty for none. Files written there
	// are gone with the sandbox.
	Cache string
	// Overlay is false where the kernel refuses overlay mounts: then CacheDir
	// starts empty.
	Overlay bool
	// SwitchUser makes the command run as user and group Nobody. It needs a
	// launcher that is root.
	SwitchUser bool
	Limits     Limits
}

// Limits of one sandbox: of each process, but Processes and TmpBytes of all of
// them. Sizes are in bytes.
type Limits struct {
	AddressSpace, Data, CPUSeconds, FileBytes, OpenFiles, Processes, TmpBytes uint64
}

const (
	// Testbed is where the workspace is mounted.
	Testbed = "/testbed"
	// CacheDir is where the Go build cache is mounted.
	CacheDir = "/cache"
	// Home is the home directory of the command, fresh for each.
	Home = "/tmp/home"
	// Nobody is the user and group id of commands under SwitchUser.
	Nobody = 65534
)

// What is written to the status pipe: one letter and, up to a newline, its text.
const (
	StatusStarted = 'S' // the command is about to run: what happens from here on is its doing
	StatusExited  = 'X' // exit status of the command, in decimal
	StatusError   = 'E' // the sandbox could not be set up: the text says why
	StatusGone    = 'G' // every process of the sandbox is dead
)

// The messages to the launcher: whether the sandbox's ids are the caller's own
// or, besides, Nobody.
const (
	AsCaller = 'c'
	AsNobody = 'n'
)

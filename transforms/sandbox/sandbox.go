// Package sandbox runs commands that a model wrote.
//
// What holds of every [Sandbox]:
//   - a command sees the workspace at [Root], a toolchain it cannot write to,
//     and nothing else of the machine: no network, no home directories, no
//     environment of this process;
//   - when Exec returns, no process that the command started is left;
//   - what a command prints, writes, allocates and starts is bounded;
//   - the file methods never follow a link out of the workspace;
//   - an error of this package is always about the infrastructure, never about
//     the command: a command that fails, hangs or is cut is a [Result].
package sandbox

import (
	"context"
	"io/fs"
	"time"

	"millrace/schemas"
)

// Root is where a command finds its workspace.
const Root = "/testbed"

// Result is what became of one command.
type Result struct {
	// Output is standard output and standard error in the order they were
	// written. When it was longer than the limit, the middle is replaced by one
	// line that says so.
	Output string
	// ExitCode is the shell's exit status, 128+n after signal n, -1 when
	// TimedOut.
	ExitCode int
	// TimedOut is true when the deadline passed and everything was killed.
	TimedOut bool
	// Truncated is true when a part of the output was dropped.
	Truncated bool
	// Duration is the wall time of the run that made this result.
	Duration time.Duration
	// Cached is true when the result was recorded from an earlier equal run.
	Cached bool
	// OutOfMemory is true when the kernel killed a process of the command because
	// the sandbox's memory limit was reached, DiskFull when everything was killed
	// because its disk limit was. Where a sandbox cannot tell, both are false.
	OutOfMemory, DiskFull bool
}

// Sandbox is one workspace and the means to run commands in it. Its methods
// are not safe for concurrent use; different sandboxes are independent.
//
// A path is relative to the workspace root or absolute below [Root]. A path
// that leaves the workspace, by ".." or by a link, is an error that satisfies
// errors.Is(err, [ErrOutside]).
type Sandbox interface {
	// Exec runs "sh -c command" in the workspace root and waits at most timeout
	// for it and everything it started. An error is a *[Failure] or the end of ctx.
	Exec(ctx context.Context, command string, timeout time.Duration) (Result, error)
	// ReadFile returns the content of a regular file.
	ReadFile(path string) ([]byte, error)
	// WriteFile replaces the content of a file, with the missing directories
	// above it.
	WriteFile(path string, data []byte) error
	// Remove removes a file or an empty directory.
	Remove(path string) error
	// ReadDir lists a directory, sorted by name.
	ReadDir(path string) ([]fs.DirEntry, error)
	// Snapshot returns all regular files, sorted by path. Links and special
	// files are left out. A workspace over the limits of count or size is an
	// error that satisfies errors.Is(err, [ErrTooLarge]).
	Snapshot() ([]schemas.File, error)
	// Patch returns the unified diff, in git's form, that turns the workspace as it
	// was opened into what it is now. A workspace over the limits is an error that
	// satisfies errors.Is(err, [ErrTooLarge]).
	Patch(ctx context.Context) (string, error)
	// ImageDigest identifies the content of the image that the workspace came
	// from; it is empty without one.
	ImageDigest() string
	// Close removes the workspace.
	Close() error
}

// Preparer is a provider that can do work ahead: pull an image, run its setup,
// start containers. It returns at once; what fails is told by Open.
type Preparer interface {
	// Prepare says that n sandboxes of the spec will be opened soon.
	Prepare(spec Spec, n int)
}

// Searcher is a sandbox that finds text faster than its files can be read one by
// one.
type Searcher interface {
	// Search returns the lines that hold the literal term, in the regular files
	// below dir, without hidden names and binary files; it may stop after limit
	// files.
	Search(ctx context.Context, dir, term string, limit int) ([]Match, error)
}

// Match is a line that was searched for; lines count from 1.
type Match struct {
	Path string
	Line int
	Text string
}

// Provider makes sandboxes. It is safe for concurrent use.
type Provider interface {
	// Open makes a workspace of the spec. The label (a trajectory id) names the
	// sandbox in errors. A spec that this provider can never open, such as one with
	// an image where there are no containers, is an error that satisfies
	// errors.Is(err, [ErrUnsupported]).
	Open(ctx context.Context, label string, spec Spec) (Sandbox, error)
	// Describe says in one line which protections are active.
	Describe() string
	// Close removes everything the provider made.
	Close() error
}

package sandbox

import (
	"slices"

	"millrace/schemas"
)

// Spec is what a sandbox holds when it is opened.
//
// With an image, the workspace is the image's Workdir after Setup, and Files are
// written over it; without one, Files are the workspace, in whatever image the
// provider takes for such.
type Spec struct {
	Files []schemas.File
	// Image is a container image's reference.
	Image string
	// Workdir is the workspace's directory in the image; empty means [Root].
	Workdir string
	// Setup is a shell script that is run in Workdir before anything else.
	Setup string
	// Withheld are absolute paths that are removed after Setup.
	Withheld []string
	// Scrub takes out of a git repository in Workdir what is not an ancestor of
	// its commit: later commits, other branches, the reflog. They may hold the fix.
	Scrub bool
	// Env are variables of every command, "KEY=value".
	Env []string
	// Network is true when the commands need one.
	Network bool
}

// ForAgent is what the agent of a task works in: without what only the scorer
// may see, and without a network, through which it could fetch the fix
// (invariant 4).
func ForAgent(t schemas.Task) Spec {
	s := ForScorer(t)
	s.Files, s.Withheld, s.Scrub, s.Network = t.Files, slices.Clone(t.Withheld), true, false
	return s
}

// ForScorer is what the tests of a task run in, before the agent's patch. Its
// Files are empty where there is an image: the caller brings the workspace of a
// task that is given by its files.
func ForScorer(t schemas.Task) Spec {
	return Spec{Image: t.Image, Workdir: t.Workdir, Setup: t.Setup, Env: t.Env, Network: t.Network}
}

package score

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strings"

	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// setting is a scoring sandbox as the tests find it (invariant 4): the task's
// snapshot, the agent's patch without what belongs to the tests, and the tests.
//
// A task that is given by its files has all of it in spec.Files. In one that is
// an image, the patches and files are put in place one after the other.
type setting struct {
	spec      sandbox.Spec
	patch     string
	testPatch string
	hidden    []schemas.File
}

// settingOf makes the setting that decides a patch. An error means that the
// patch does not apply to the snapshot it was made from, or cannot be read. That
// is our defect, not the agent's.
func settingOf(task schemas.Task, patch string) (setting, error) {
	if task.Image == "" {
		files, err := Workspace(task, patch)
		return setting{spec: sandbox.Spec{Files: files, Env: task.Env, Network: task.Network}}, err
	}
	own, err := withoutTests(task, patch)
	if err != nil {
		return setting{}, fmt.Errorf("reading the agent's patch for task %s: %w", task.ID, err)
	}
	spec := sandbox.ForScorer(task)
	spec.Files = task.Files
	return setting{spec: spec, patch: own, testPatch: task.TestPatch, hidden: task.HiddenTests}, nil
}

// arrange puts the patches and hidden tests of an image's setting in place.
func (e setting) arrange(ctx context.Context, sb sandbox.Sandbox) error {
	if err := apply(ctx, sb, e.patch); err != nil {
		return fmt.Errorf("applying the agent's patch: %w", err)
	}
	if err := apply(ctx, sb, e.testPatch); err != nil {
		return fmt.Errorf("applying the hidden tests: %w", err)
	}
	for _, f := range e.hidden {
		if err := sb.WriteFile(f.Path, []byte(f.Content)); err != nil {
			return fmt.Errorf("writing hidden test %s: %w", f.Path, err)
		}
	}
	return nil
}

// key identifies the verdicts of a test run by everything they depend on: the
// environment (what the provider says of itself and Config.Environment), the
// image with its content's digest, the command, its output's format and time
// limit, and the setting. The snapshot of a task given by its files and the
// task's id are not part of it, so two tasks whose agents arrive at the same end
// state share one run. Each field goes in with its length.
func (e setting) key(environment, digest string, task schemas.Task) string {
	h := sha256.New()
	// The first field is the version of this layout and of the parsers.
	fields(h, "score 2", environment, e.spec.Image, digest, e.spec.Workdir, e.spec.Setup, strings.Join(e.spec.Env, "\n"),
		fmt.Sprint(e.spec.Network, task.TestSeconds), task.TestCommand, task.TestFormat, e.patch, e.testPatch)
	for _, list := range [][]schemas.File{e.spec.Files, e.hidden} {
		fields(h, fmt.Sprint(len(list)))
		for _, f := range list {
			fields(h, f.Path, f.Content)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func fields(h hash.Hash, values ...string) {
	for _, s := range values {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		io.WriteString(h, s)
	}
}

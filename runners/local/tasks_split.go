package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"millrace/pipelines/taskset"
	"millrace/runners/display"
	"millrace/schemas"
)

// SplitOptions are the flags of "millrace tasks split".
type SplitOptions struct {
	File, OutFile string
	// Parts are splits with their shares; Repos are repositories with the split of all
	// their tasks.
	Parts  map[string]float64
	ByRepo bool
	Repos  map[string]string
	Seed   uint64
	Out    *os.File
}

// SplitTasks runs "millrace tasks split". The parts are drawn in the order of their
// names. A bad row is an error, and then nothing is written: a set must not lose
// tasks by being split.
func SplitTasks(ctx context.Context, o SplitOptions) error {
	splitter := taskset.Splitter{ByRepo: o.ByRepo, Seed: o.Seed, Repos: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(o.Parts)) {
		splitter.Parts = append(splitter.Parts, taskset.Part{Name: name, Share: o.Parts[name]})
	}
	for repo, split := range o.Repos {
		splitter.Repos[strings.ToLower(taskset.CanonicalRepo(repo))] = split
	}
	if err := splitter.Validate(); err != nil {
		return fmt.Errorf("splitting %s: %w", o.File, err)
	}
	out, err := renameio.NewPendingFile(o.OutFile, renameio.WithPermissions(0o644))
	if err != nil {
		return fmt.Errorf("writing the task set: %w", err)
	}
	defer out.Cleanup()
	tasks := newTaskWriter(out)
	counts := map[string]int64{}
	err = eachTask(ctx, o.File, func(t schemas.Task) error {
		t.Split = splitter.Split(t)
		counts[t.Split]++
		return tasks.write(t)
	})
	if err = errors.Join(err, tasks.flush()); err != nil {
		return err
	}
	if err := out.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("writing the task set: %w", err)
	}
	table := display.NewTable(o.Out)
	err = table.Head([]string{"split", "tasks"})
	for _, split := range slices.Sorted(maps.Keys(counts)) {
		err = errors.Join(err, table.Row([]any{split, counts[split]}))
	}
	return errors.Join(err, table.Close())
}

package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"millrace/pipelines/settings"
	"millrace/pipelines/soundness"
	"millrace/pipelines/train"
	"millrace/runners/display"
	"millrace/schemas"
	"millrace/transforms/score"
)

// CheckOptions are the flags of "millrace tasks check".
type CheckOptions struct {
	// Tasks is the task set; "" is the shipped one. Split keeps one split of it.
	Tasks, Split string
	// Times is how often each patch is scored, Concurrency the tasks at once.
	Times, Concurrency int
	// ConfigFile and Set are those of train, for the settings of sandbox and score.
	ConfigFile string
	Set        []string
	// Compat reads logs as the datasets' original parsers do.
	Compat bool
	// Sound is a file for the tasks that are sound; "" is none.
	Sound string
	Out   *os.File
}

// CheckTasks runs "millrace tasks check". That a task is not sound is an error, behind
// the list of all such.
func CheckTasks(ctx context.Context, o CheckOptions) (err error) {
	config := train.Default()
	if err := settings.Load(o.ConfigFile, o.Set, &config); err != nil {
		return err
	}
	var tasks []schemas.Task
	if err := eachTask(ctx, o.Tasks, func(t schemas.Task) error {
		if o.Split == "" || o.Split == t.Split {
			tasks = append(tasks, t)
		}
		return nil
	}); err != nil {
		return err
	}
	if len(tasks) == 0 {
		return errors.New("there is no task to check")
	}
	screen := display.Open(o.Out)
	defer screen.Close()
	cache, err := warmCache(ctx, screen)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "millrace-check-")
	if err != nil {
		return fmt.Errorf("making a directory for caches: %w", err)
	}
	defer os.RemoveAll(dir)
	boxes, err := train.OpenSandboxes(config, dir, cache)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, boxes.Close()) }()
	if err := boxes.ReadyFor(ctx, tasks); err != nil {
		return err
	}
	scoring := score.DefaultConfig()
	scoring.TestTimeout, scoring.Attempts, scoring.Compat = config.Score.TestTimeout, config.Score.Attempts, o.Compat
	screen.Phase("checking", len(tasks))
	counts := map[soundness.Verdict]int{}
	var sound []schemas.Task
	done := 0
	err = soundness.Check(ctx, tasks, boxes.Sandboxes(), soundness.Config{Times: o.Times, Concurrency: o.Concurrency, Score: scoring},
		func(outcome soundness.Outcome) error {
			counts[outcome.Verdict]++
			if outcome.Verdict == soundness.Sound {
				sound = append(sound, outcome.Task)
			} else {
				screen.Note(strings.TrimSpace(fmt.Sprintf("%s: %s (empty %v, gold %v) %s", outcome.Task.ID, outcome.Verdict, outcome.Empty, outcome.Gold, outcome.Detail)))
			}
			done++
			screen.Progress(done)
			return nil
		})
	screen.Close()
	if err != nil {
		return err
	}
	if err := writeTasks(o.Sound, sound); err != nil {
		return err
	}
	return tellVerdicts(o.Out, counts, len(tasks))
}

// writeTasks writes a task set, sorted by id, to a file that appears whole or not at
// all; none where path is "".
func writeTasks(path string, tasks []schemas.Task) error {
	if path == "" {
		return nil
	}
	out, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o644))
	if err != nil {
		return fmt.Errorf("writing the task set: %w", err)
	}
	defer out.Cleanup()
	slices.SortFunc(tasks, func(a, b schemas.Task) int { return cmp.Compare(a.ID, b.ID) })
	to := newTaskWriter(out)
	for _, t := range tasks {
		if err := to.write(t); err != nil {
			return err
		}
	}
	if err := to.flush(); err != nil {
		return err
	}
	if err := out.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("writing the task set: %w", err)
	}
	return nil
}

// tellVerdicts prints how many tasks there are of each verdict.
func tellVerdicts(out io.Writer, counts map[soundness.Verdict]int, of int) error {
	parts := []string{}
	for _, verdict := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[verdict], verdict))
	}
	if _, err := fmt.Fprintf(out, "%d tasks: %s\n", of, strings.Join(parts, ", ")); err != nil {
		return err
	}
	if bad := of - counts[soundness.Sound]; bad > 0 {
		return fmt.Errorf("%d of %d tasks are not sound", bad, of)
	}
	return nil
}

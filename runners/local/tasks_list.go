package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"millrace/pipelines/mine"
	"millrace/pipelines/taskset"
	"millrace/schemas"
)

// eachTask visits the tasks of a set, of the shipped one where file is "". Bad rows
// are an error, behind the good ones.
func eachTask(ctx context.Context, file string, visit func(schemas.Task) error) error {
	if file == "" {
		tasks, err := mine.Default()
		for _, t := range tasks {
			if err == nil {
				err = visit(t)
			}
		}
		return err
	}
	var bad error
	more := 0
	_, err := taskset.Import{
		Kind: taskset.Native, Task: visit,
		Bad: func(e *taskset.RowError) {
			if bad == nil {
				bad = e
			} else {
				more++
			}
		},
		Dropped: func(d taskset.Drop) {
			bad = errors.Join(bad, fmt.Errorf("%s:%d: id: %q is also the id of %s", d.File, d.Row, d.ID, d.Of))
		},
	}.Run(ctx, file)
	if more > 0 {
		bad = fmt.Errorf("%w (and %d more bad rows)", bad, more)
	}
	return errors.Join(err, bad)
}

// ListTasks runs "millrace tasks list". An empty repo or split is any.
func ListTasks(ctx context.Context, file, repo, split, output string, out io.Writer) error {
	sink, err := sinkOf(output, out)
	if err != nil {
		return err
	}
	if err := sink.Head([]string{"task", "repo", "split", "format", "rule", "fail to pass", "pass to pass", "expected", "image"}); err != nil {
		return err
	}
	err = eachTask(ctx, file, func(t schemas.Task) error {
		if repo != "" && !strings.EqualFold(taskset.CanonicalRepo(repo), taskset.CanonicalRepo(t.Repo)) || split != "" && split != t.Split {
			return nil
		}
		return sink.Row([]any{
			t.ID, t.Repo, t.Split, t.TestFormat, t.Rule, int64(len(t.FailToPass)), int64(len(t.PassToPass)), int64(len(t.Expected)), t.Image,
		})
	})
	return errors.Join(err, sink.Close())
}

package local

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/google/renameio/v2"

	"millrace/pipelines/mine"
)

// DefaultTasks runs "millrace tasks default": it injects faults into the corpus,
// runs the tests of each, and writes the task set to path.
func DefaultTasks(ctx context.Context, path string, out io.Writer) error {
	programs, err := mine.Corpus()
	if err != nil {
		return err
	}
	tasks, stats, err := mine.Build(ctx, mine.DefaultBuildConfig(), programs)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := mine.Write(&text, tasks); err != nil {
		return err
	}
	if err := renameio.WriteFile(path, text.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the task set: %w", err)
	}
	_, err = fmt.Fprintf(out, "%s: %d tasks\n%+v\n", path, len(tasks), stats)
	return err
}

package local

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/google/renameio/v2"

	"millrace/pipelines/mine"
	"millrace/pipelines/taskset"
	"millrace/runners/display"
	"millrace/schemas"
)

// ImportOptions are the flags of "millrace tasks import".
type ImportOptions struct {
	Files []string
	Kind  string
	// OutFile is the task set to write, which appears whole or not at all.
	OutFile string
	Split   string
	// Decontaminate leaves out taskset.Benchmark.
	Decontaminate              bool
	ExcludeRepos, ExcludeLists []string
	// Rejects is a file for the rows that became no task; "" is none.
	Rejects string
	RowMiB  int
	Out     *os.File
}

// shownBad is how many bad rows are shown one by one; all are in the rejects.
const shownBad = 20

// reject is a bad row in the file of rejects; one that was dropped is a taskset.Drop.
type reject struct {
	File  string `json:"file"`
	Row   int64  `json:"row"`
	Field string `json:"field,omitempty"`
	Error string `json:"error"`
}

// ImportTasks runs "millrace tasks import". Bad rows are shown and counted, and do
// not keep the others from being imported; an import without a task is an error.
func ImportTasks(ctx context.Context, o ImportOptions) error {
	exclude, err := exclusions(ctx, o)
	if err != nil {
		return err
	}
	if o.RowMiB < 1 {
		return fmt.Errorf("row limit of %d MiB: want at least 1", o.RowMiB)
	}
	out, err := renameio.NewPendingFile(o.OutFile, renameio.WithPermissions(0o644))
	if err != nil {
		return fmt.Errorf("writing the task set: %w", err)
	}
	defer out.Cleanup()
	rejects, closeRejects, err := openRejects(o.Rejects)
	if err != nil {
		return err
	}
	screen := display.Open(o.Out)
	defer screen.Close()
	progress, err := fileProgress(screen, o.Files)
	if err != nil {
		return errors.Join(err, closeRejects())
	}
	shown := 0
	tasks := newTaskWriter(out)
	counts, err := taskset.Import{
		Kind: taskset.Kind(o.Kind), Split: o.Split, Exclude: exclude, RowBytes: o.RowMiB << 20, Progress: progress,
		Task: tasks.write,
		Bad: func(e *taskset.RowError) {
			if shown++; shown <= shownBad {
				screen.Note(e.Error())
			}
			rejects(reject{File: e.File, Row: e.Row, Field: e.Field, Error: e.Err.Error()})
		},
		Dropped: func(d taskset.Drop) { rejects(d) },
	}.Run(ctx, o.Files...)
	if err = errors.Join(err, tasks.flush(), closeRejects()); err != nil {
		return err
	}
	screen.Close()
	if err := tellCounts(o.Out, counts, shown); err != nil {
		return err
	}
	if counts.Tasks == 0 {
		return errors.New("no row became a task; nothing is written")
	}
	if err := out.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("writing the task set: %w", err)
	}
	_, err = fmt.Fprintf(o.Out, "%s: %d tasks\n", o.OutFile, counts.Tasks)
	return err
}

func exclusions(ctx context.Context, o ImportOptions) (*taskset.Exclusions, error) {
	repos := slices.Clone(o.ExcludeRepos)
	if o.Decontaminate {
		repos = append(repos, taskset.Benchmark...)
	}
	exclude, err := taskset.NewExclusions(repos...)
	for _, list := range o.ExcludeLists {
		if err == nil {
			err = exclude.AddFile(ctx, list)
		}
	}
	return exclude, err
}

// openRejects returns what writes a row of the rejects, and what ends and tells
// whether all could be written. A file that is there is replaced.
func openRejects(path string) (func(any), func() error, error) {
	if path == "" {
		return func(any) {}, func() error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, nil, fmt.Errorf("writing the rejects: %w", err)
	}
	enc := json.NewEncoder(f)
	enc.SetEscapeHTML(false)
	var failed error
	write := func(row any) {
		if failed == nil {
			failed = enc.Encode(row)
		}
	}
	return write, func() error {
		if err := errors.Join(failed, f.Close()); err != nil {
			return fmt.Errorf("writing the rejects: %w", err)
		}
		return nil
	}, nil
}

// fileProgress begins a phase in MiB of all files, and returns what tells how far it
// is. Small files together make one.
func fileProgress(screen *display.Display, files []string) (func(int, float64), error) {
	before, size := make([]int64, len(files)), make([]int64, len(files))
	total := int64(0)
	for i, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return nil, fmt.Errorf("importing: %w", err)
		}
		before[i], size[i] = total, info.Size()
		total += info.Size()
	}
	screen.Phase("import (MiB)", int(max(total>>20, 1)))
	last := -1
	return func(file int, share float64) {
		if done := int((before[file] + int64(share*float64(size[file]))) >> 20); done != last {
			last = done
			screen.Progress(done)
		}
	}, nil
}

// tellCounts writes what became of the rows.
func tellCounts(w io.Writer, c taskset.Counts, bad int) error {
	table := display.NewTable(w)
	rows := [][]any{{c.Rows, "rows"}, {c.Tasks, "tasks"}, {c.Bad, "bad rows"}}
	for _, reason := range slices.Sorted(maps.Keys(c.Dropped)) {
		rows = append(rows, []any{c.Dropped[reason], "dropped: excluded " + string(reason)})
		if reason == taskset.Duplicate {
			rows[len(rows)-1][1] = "dropped: id of an earlier row"
		}
		if reason != taskset.OfRepository {
			continue
		}
		for _, repo := range slices.SortedFunc(maps.Keys(c.ByRepo), func(a, b string) int {
			return cmp.Or(cmp.Compare(c.ByRepo[b], c.ByRepo[a]), cmp.Compare(a, b))
		}) {
			rows = append(rows, []any{c.ByRepo[repo], "  of " + repo})
		}
	}
	err := table.Head([]string{"rows", "what became of them"})
	for _, row := range rows {
		err = errors.Join(err, table.Row(row))
	}
	if err = errors.Join(err, table.Close()); err == nil && bad > shownBad {
		_, err = fmt.Fprintf(w, "%d of %d bad rows are shown; --rejects writes all\n", shownBad, bad)
	}
	return err
}

// taskWriter writes a task set task by task.
type taskWriter struct{ out *bufio.Writer }

func newTaskWriter(w io.Writer) *taskWriter { return &taskWriter{bufio.NewWriterSize(w, 1<<20)} }

func (w *taskWriter) write(t schemas.Task) error { return mine.Write(w.out, []schemas.Task{t}) }

func (w *taskWriter) flush() error {
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("writing the task set: %w", err)
	}
	return nil
}

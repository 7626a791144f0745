package taskset

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"millrace/pipelines/mine"
	"millrace/schemas"
	"millrace/transforms/testlog"
)

// DefaultRowBytes is the limit of a row's size: R2E-Gym's longest take some ten
// megabytes, since they hold every file of a commit before and after.
const DefaultRowBytes = 64 << 20

// Import reads datasets.
type Import struct {
	// Kind is that of all files; Auto finds that of each.
	Kind Kind
	// Split is that of all tasks. Where it is empty, a row's own counts, then the one
	// that the file's name begins with ("test-00000-of-00001.parquet"), then "train".
	Split string
	// Exclude is what is kept out; nil keeps all.
	Exclude *Exclusions
	// RowBytes is the limit of a row's size in bytes; 0 is DefaultRowBytes.
	RowBytes int

	// Task is given each task. Its error ends the import.
	Task func(schemas.Task) error
	// Bad is told of each bad row, and Dropped of each that was dropped; each may be
	// nil.
	Bad     func(*RowError)
	Dropped func(Drop)
	// Progress is told the share of the file under way that is read, after each row;
	// it may be nil.
	Progress func(file int, share float64)
}

// Drop is a sound row that does not become a task.
type Drop struct {
	File   string `json:"file"`
	Row    int64  `json:"row"`
	ID     string `json:"id"`
	Reason Reason `json:"reason"`
	// Of is what excludes it: the repository, id or commit, or the place of the row
	// that a duplicate repeats.
	Of string `json:"of"`
}

// Counts are what became of the rows: Rows = Tasks + Bad + all of Dropped.
type Counts struct {
	Rows, Tasks, Bad int64
	Dropped          map[Reason]int64
	// ByRepo are the rows dropped as OfRepository, by excluded repository.
	ByRepo map[string]int64
}

// Run reads files in order. A file that cannot be read, or be read on, ends the
// import with an error that names it; what came before is in the counts.
func (im Import) Run(ctx context.Context, files ...string) (Counts, error) {
	run := &importRun{
		Import: im, counts: Counts{Dropped: map[Reason]int64{}, ByRepo: map[string]int64{}}, first: map[string]string{},
	}
	for i, file := range files {
		if err := run.file(ctx, i, file); err != nil {
			return run.counts, fmt.Errorf("importing %s: %w", file, err)
		}
	}
	return run.counts, nil
}

// importRun is an import under way.
type importRun struct {
	Import
	counts Counts
	first  map[string]string // id -> place of its first row
}

func (im *importRun) file(ctx context.Context, index int, file string) error {
	var how format
	choose := func(columns []string) ([]string, error) {
		var err error
		if how, err = formatOf(cmp.Or(im.Kind, Auto), columns); err != nil {
			return nil, err
		}
		if how.columns == nil {
			return columns, nil
		}
		return how.columns, nil
	}
	split := cmp.Or(splitOfFile(file), mine.Train)
	return readRows(ctx, file, cmp.Or(im.RowBytes, DefaultRowBytes), choose, func(n int64, share float64, r *row, bad error) error {
		im.counts.Rows++
		if im.Progress != nil {
			im.Progress(index, share)
		}
		var task schemas.Task
		if bad == nil {
			task, bad = taskOf(how, r, im.Split, split)
		}
		if bad != nil {
			im.counts.Bad++
			if im.Bad != nil {
				im.Bad(at(file, n, bad))
			}
			return nil
		}
		return im.keep(file, n, task)
	})
}

// taskOf is the task of a row, in the split set, or else the row's own, or else
// another.
func taskOf(how format, r *row, set, other string) (schemas.Task, error) {
	task := how.task(r)
	if r.err != nil {
		return schemas.Task{}, r.err
	}
	task.Split = cmp.Or(set, task.Split, other)
	if err := runnable(task); err != nil {
		return schemas.Task{}, err
	}
	return task, mine.Check(task)
}

// runnable checks what a scorer would stumble over.
func runnable(t schemas.Task) error {
	for _, c := range []struct{ field, command string }{{"setup", t.Setup}, {"test_command", t.TestCommand}} {
		if len(c.command) > commandBytes {
			return &fieldError{c.field, fmt.Errorf("takes %d bytes, and a command line at most %d", len(c.command), commandBytes)}
		}
		if strings.ContainsRune(c.command, 0) {
			return &fieldError{c.field, fmt.Errorf("holds a zero byte, which no command line can")}
		}
	}
	if err := testlog.CheckFormat(t.TestFormat); err != nil {
		return &fieldError{"test_format", err}
	}
	if err := testlog.CheckRule(t.Rule); err != nil {
		return &fieldError{"rule", err}
	}
	return nil
}

// keep passes a task on, unless it is excluded or was there before.
func (im *importRun) keep(file string, n int64, task schemas.Task) error {
	place := fmt.Sprintf("%s:%d", file, n)
	reason, of := im.Exclude.of(task)
	if first, twice := im.first[task.ID]; twice && reason == "" {
		reason, of = Duplicate, first
	}
	if reason != "" {
		im.counts.Dropped[reason]++
		if reason == OfRepository {
			im.counts.ByRepo[of]++
		}
		if im.Dropped != nil {
			im.Dropped(Drop{File: file, Row: n, ID: task.ID, Reason: reason, Of: of})
		}
		return nil
	}
	im.first[strings.Clone(task.ID)] = place
	im.counts.Tasks++
	return im.Task(task)
}

// shard is how Hugging Face names the files of a split.
var shard = regexp.MustCompile(`^([A-Za-z][\w.]*?)(?:-\d{5}-of-\d{5}(?:-[0-9a-f]+)?)?\.`)

// splitNames are the splits that a file's name alone stands for.
var splitNames = map[string]bool{"train": true, "test": true, "dev": true, "validation": true}

// splitOfFile is the split that a file's name tells, or "".
func splitOfFile(path string) string {
	m := shard.FindStringSubmatch(filepath.Base(path))
	if m == nil || !splitNames[m[1]] && !strings.Contains(m[0], "-of-") {
		return ""
	}
	return m[1]
}

package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Writer writes one table of one run: a file for each day. Nothing of it is seen
// before Commit.
//
// Memory is bounded by groupBytes of frames over all days together.
type Writer[T any] struct {
	dir   string // of the table
	run   string
	part  string // name of the file in each partition
	codec Codec[T]
	files map[string]*part[T] // by day
	bytes int                 // of all files' rows that wait
}

// NewWriter writes to the directory of a table, which is made if it is missing.
func NewWriter[T any](dir, run string, codec Codec[T]) *Writer[T] {
	return NewPartWriter(dir, run, 0, codec)
}

// NewPartWriter is NewWriter for one of several writers of a table and run, which
// have the parts 0, 1, ... of each partition.
func NewPartWriter[T any](dir, run string, number int, codec Codec[T]) *Writer[T] {
	return &Writer[T]{dir: dir, run: run, part: fmt.Sprintf("part-%04d.parquet", number), codec: codec, files: map[string]*part[T]{}}
}

// Empty tells that no row was added.
func (w *Writer[T]) Empty() bool { return len(w.files) == 0 }

// Add adds a row of a day (see [DayOf]) whose frame took the given number of
// bytes. The rows of a day keep their order.
func (w *Writer[T]) Add(row T, day string, bytes int) error {
	f, err := w.open(day)
	if err != nil {
		return err
	}
	w.bytes -= f.bytes
	if err := f.add(row, bytes); err != nil {
		return fmt.Errorf("writing %s: %w", w.path(day), err)
	}
	w.bytes += f.bytes
	if w.bytes < groupBytes {
		return nil
	}
	for day, f := range w.files {
		if err := f.flush(); err != nil {
			return fmt.Errorf("writing %s: %w", w.path(day), err)
		}
	}
	w.bytes = 0
	return nil
}

func (w *Writer[T]) open(day string) (*part[T], error) {
	if f := w.files[day]; f != nil {
		return f, nil
	}
	path := w.path(day)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("making a partition: %w", err)
	}
	f, err := create(path, w.codec)
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", path, err)
	}
	w.files[day] = f
	return f, nil
}

func (w *Writer[T]) path(day string) string {
	return filepath.Join(w.dir, filepath.FromSlash(Partition{Run: w.run, Day: day}.Dir()), w.part)
}

// Commit gives the files their names, the days in order, and removes those of the
// run that an earlier writing left and this one has not. A table without rows
// becomes one file without rows, of [NoDay]: a reader finds its columns, and no
// pattern of files matches nothing.
func (w *Writer[T]) Commit() error {
	if len(w.files) == 0 {
		if _, err := w.open(NoDay); err != nil {
			return err
		}
	}
	for _, day := range slices.Sorted(maps.Keys(w.files)) {
		if err := w.files[day].commit(); err != nil {
			return fmt.Errorf("finishing %s: %w", w.path(day), err)
		}
	}
	return w.removeOthers()
}

func (w *Writer[T]) removeOthers() error {
	run := filepath.Join(w.dir, runDir(w.run))
	days, err := os.ReadDir(run)
	if err != nil {
		return fmt.Errorf("looking for days of an earlier writing: %w", err)
	}
	for _, d := range days {
		p, err := ParsePath(runDir(w.run) + "/" + d.Name() + "/" + w.part)
		if err != nil || w.files[p.Day] != nil {
			continue
		}
		path := w.path(p.Day)
		if err := os.Remove(path); errors.Is(err, fs.ErrNotExist) {
			continue // another part's day
		} else if err != nil {
			return fmt.Errorf("removing a day of an earlier writing: %w", err)
		}
		// Somebody else's file may be beside it.
		_ = os.Remove(filepath.Dir(path))
	}
	return nil
}

// Abandon removes what was written, unless it was committed. It may always be
// called.
func (w *Writer[T]) Abandon() {
	for _, f := range w.files {
		f.abandon()
	}
}

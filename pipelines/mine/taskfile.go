package mine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"unicode/utf8"

	"millrace/schemas"
)

// A task file holds one task a line, as a JSON object with these keys, in this
// order when Write makes it. Keys with an empty value may be left out; an unknown
// key is an error. The keys of imageRow are for tasks with a container image.
type row struct {
	ID          string    `json:"id"`
	Repo        string    `json:"repo"`
	Split       string    `json:"split"`
	Statement   string    `json:"statement"`
	Image       string    `json:"image,omitempty"`
	Files       []fileRow `json:"files,omitempty"`
	HiddenTests []fileRow `json:"hidden_tests,omitempty"`
	TestCommand string    `json:"test_command"`
	TestFormat  string    `json:"test_format"`
	FailToPass  []string  `json:"fail_to_pass"`
	PassToPass  []string  `json:"pass_to_pass"`
	GoldPatch   string    `json:"gold_patch,omitempty"`
	imageRow
	// Environment and Parameters stand here because task records in Parquet have them.
	// They must be empty: sets of text environments are drawn, not listed.
	Environment string `json:"environment,omitempty"`
	Parameters  string `json:"parameters,omitempty"`
}

type fileRow struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// maxRowBytes bounds the memory for one task: far above a snapshot given file
// by file, below what a mistaken input (a disk image) would take.
const maxRowBytes = 16 << 20

// RowError says what is wrong with one row of a task file.
type RowError struct {
	// File is the file's name as it was given, Line counts from 1.
	File string
	Line int
	// Field is the key of the field at fault; empty when it is the whole row.
	Field string
	Err   error
}

func (e *RowError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
	}
	return fmt.Sprintf("%s:%d: %s: %v", e.File, e.Line, e.Field, e.Err)
}

func (e *RowError) Unwrap() error { return e.Err }

// Read returns the tasks of a task file. A row that is not a sound task is
// reported in bad and left out; the others go through, in order. Blank lines are
// skipped. The error is that of r, and then tasks and bad hold what came before.
// Name is the file's name for messages.
func Read(name string, r io.Reader) (tasks []schemas.Task, bad []*RowError, err error) {
	lines := bufio.NewReader(r)
	first := map[string]int{} // id -> line
	for n := 1; ; n++ {
		line, readErr := readLine(lines)
		if readErr != nil && !errors.Is(readErr, errLong) && !errors.Is(readErr, io.EOF) {
			return tasks, bad, fmt.Errorf("reading task file %s, line %d: %w", name, n, readErr)
		}
		switch {
		case errors.Is(readErr, errLong):
			bad = append(bad, &RowError{File: name, Line: n, Err: readErr})
		case len(bytes.TrimSpace(line)) > 0:
			task, rowErr := parseRow(line)
			if rowErr == nil && first[task.ID] > 0 {
				rowErr = &RowError{Field: "id", Err: fmt.Errorf("%q is also the id of line %d", task.ID, first[task.ID])}
			}
			if rowErr != nil {
				rowErr.File, rowErr.Line = name, n
				bad = append(bad, rowErr)
				break
			}
			first[task.ID] = n
			tasks = append(tasks, task)
		}
		if errors.Is(readErr, io.EOF) {
			return tasks, bad, nil
		}
	}
}

var errLong = fmt.Errorf("row is longer than %d MiB", maxRowBytes>>20)

// readLine returns the next line without its line break. It returns errLong, at
// the start of the next line, when the line is too long to keep, and io.EOF with
// the last line.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxRowBytes; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && err == nil:
			return nil, errLong
		case long && errors.Is(err, io.EOF):
			// The end is found again by the next call.
			return nil, errLong
		default:
			return bytes.TrimSuffix(line, []byte("\n")), err
		}
	}
}

// ParseRow returns the task of one row of a task file. Its error is a *RowError
// that has no File and no Line.
func ParseRow(text []byte) (schemas.Task, error) {
	task, err := parseRow(text)
	if err != nil {
		return schemas.Task{}, err
	}
	return task, nil
}

// parseRow is ParseRow with the error's own type.
func parseRow(line []byte) (schemas.Task, *RowError) {
	if !utf8.Valid(line) {
		return schemas.Task{}, &RowError{Err: errors.New("row is not UTF-8")}
	}
	var in row
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		var mismatch *json.UnmarshalTypeError
		if errors.As(err, &mismatch) {
			return schemas.Task{}, &RowError{Field: mismatch.Field, Err: fmt.Errorf("want %s, found %s", jsonType(mismatch.Type), mismatch.Value)}
		}
		return schemas.Task{}, &RowError{Err: fmt.Errorf("parsing JSON: %w", err)}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return schemas.Task{}, &RowError{Err: errors.New("text after the JSON object")}
	}
	task := in.task()
	if err := check(task); err != nil {
		return schemas.Task{}, err
	}
	return task, nil
}

// jsonType names what a Go type of a row is in JSON.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		return "a JSON object"
	case reflect.Slice:
		return "a list"
	default:
		return "a " + t.String()
	}
}

// Write writes a task file. Iteration and Rollouts, which a task in a set does
// not have, are not written.
func Write(w io.Writer, tasks []schemas.Task) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, t := range tasks {
		if err := enc.Encode(rowOf(t)); err != nil {
			return fmt.Errorf("writing task %s: %w", t.ID, err)
		}
	}
	return nil
}

func (r row) task() schemas.Task {
	task := schemas.Task{
		ID: r.ID, Repo: r.Repo, Split: r.Split, Statement: r.Statement, Image: r.Image,
		Files: filesOf(r.Files), HiddenTests: filesOf(r.HiddenTests),
		TestCommand: r.TestCommand, TestFormat: r.TestFormat,
		FailToPass: r.FailToPass, PassToPass: r.PassToPass, GoldPatch: r.GoldPatch,
		Environment: r.Environment, Parameters: r.Parameters,
	}
	r.imageRow.put(&task)
	return task
}

func rowOf(t schemas.Task) row {
	return row{
		ID: t.ID, Repo: t.Repo, Split: t.Split, Statement: t.Statement, Image: t.Image,
		Files: fileRowsOf(t.Files), HiddenTests: fileRowsOf(t.HiddenTests),
		TestCommand: t.TestCommand, TestFormat: t.TestFormat,
		FailToPass: t.FailToPass, PassToPass: t.PassToPass, GoldPatch: t.GoldPatch,
		imageRow: imageRowOf(t), Environment: t.Environment, Parameters: t.Parameters,
	}
}

func filesOf(rows []fileRow) []schemas.File {
	var out []schemas.File
	for _, r := range rows {
		out = append(out, schemas.File(r))
	}
	return out
}

func fileRowsOf(files []schemas.File) []fileRow {
	var out []fileRow
	for _, f := range files {
		out = append(out, fileRow(f))
	}
	return out
}

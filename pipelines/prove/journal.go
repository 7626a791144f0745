package prove

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/google/renameio/v2"

	"millrace/pipelines/mine"
	"millrace/schemas"
)

// A journal is a file of JSON lines: a header, then a decision a line, each written
// and synchronised before it counts. A kill can leave half a line at the end, which
// is cut off when the journal is opened again; anything else that cannot be read is
// an error that names the line.
//
//	{"journal":1,"input":"<what the candidates depend on>"}
//	{"id":"...","origin":"op_swap","compiled":true,"task":{a row of a task set}}
//	{"id":"...","origin":"op_swap","reason":"does not compile","detail":"..."}
type header struct {
	Version int    `json:"journal"`
	Input   string `json:"input"`
}

const journalVersion = 1

// record is a decision as it is in the file.
type record struct {
	Decision
	Row json.RawMessage `json:"task,omitempty"`
}

// entry is what is kept in memory of a decision.
type entry struct {
	Decision
	at, size int64 // of its line, where there is a task
}

// Journal is the decisions of one run, over all its starts. It is safe for concurrent
// use.
type Journal struct {
	mu      sync.Mutex // guards all below
	file    *os.File
	end     int64 // of the last whole line
	entries []entry
	index   map[string]int // id -> place in entries
}

// OpenJournal opens or begins the journal in a file. One that was begun with other
// input is an error: its decisions are about something else.
func OpenJournal(path, input string) (_ *Journal, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	j := &Journal{file: f, index: map[string]int{}}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("opening the journal %s: %w", path, err), f.Close())
		}
	}()
	if err := j.read(input); err != nil {
		return nil, err
	}
	if err := f.Truncate(j.end); err != nil {
		return nil, err
	}
	if j.end == 0 {
		return j, j.line(header{journalVersion, input})
	}
	return j, nil
}

// read takes in what is there up to the last whole line.
func (j *Journal) read(input string) error {
	lines := bufio.NewReaderSize(j.file, 1<<20)
	for n := 1; ; n++ {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // what stands behind the last newline was being written
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if n == 1 {
			var h header
			if err := json.Unmarshal(text, &h); err != nil || h.Version != journalVersion {
				return fmt.Errorf("line 1 is no header of version %d: %w", journalVersion, errors.Join(err, errors.ErrUnsupported))
			}
			if h.Input != input {
				return errors.New("it was begun with other input or settings: choose another output directory, or remove it")
			}
		} else if err := j.take(text); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		j.end += int64(len(text))
	}
}

func (j *Journal) take(text []byte) error {
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	switch {
	case r.ID == "":
		return errors.New("no id")
	case (r.Reason == None) != (len(r.Row) > 0):
		return fmt.Errorf("%s: want a reason or a task", r.ID)
	}
	if _, known := j.index[r.ID]; known {
		return fmt.Errorf("%s is decided twice", r.ID)
	}
	j.index[r.ID] = len(j.entries)
	j.entries = append(j.entries, entry{r.Decision, j.end, int64(len(text))})
	return nil
}

// Known reports whether a candidate has been decided.
func (j *Journal) Known(id string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, known := j.index[id]
	return known
}

// Record makes a decision durable. A second one on the same candidate, which a bundle
// that is run again brings, changes nothing.
func (j *Journal) Record(d Decision) error {
	r := record{Decision: d}
	if d.Reason == None {
		var row bytes.Buffer
		if err := mine.Write(&row, []schemas.Task{*d.Task}); err != nil {
			return err
		}
		r.Row = bytes.TrimSpace(row.Bytes())
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, known := j.index[d.ID]; known {
		return nil
	}
	at := j.end
	if err := j.line(r); err != nil {
		return fmt.Errorf("recording the decision on %s: %w", d.ID, err)
	}
	d.Task = nil
	j.index[d.ID] = len(j.entries)
	j.entries = append(j.entries, entry{d, at, j.end - at})
	return nil
}

func (j *Journal) line(v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	if _, err := j.file.WriteAt(text.Bytes(), j.end); err != nil {
		return err
	}
	if err := j.file.Sync(); err != nil {
		return err
	}
	j.end += int64(text.Len())
	return nil
}

// Decisions returns what has been decided, without the tasks, in the order in which
// it was.
func (j *Journal) Decisions() []Decision {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := make([]Decision, len(j.entries))
	for i, e := range j.entries {
		out[i] = e.Decision
	}
	return out
}

// WriteTasks writes the tasks, sorted by id, to a task set, which appears whole or not
// at all. It returns how many they are.
func (j *Journal) WriteTasks(path string) (n int, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var tasks []entry
	for _, e := range j.entries {
		if e.Reason == None {
			tasks = append(tasks, e)
		}
	}
	slices.SortFunc(tasks, func(a, b entry) int { return strings.Compare(a.ID, b.ID) })
	out, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o644))
	if err != nil {
		return 0, fmt.Errorf("writing the task set: %w", err)
	}
	defer out.Cleanup()
	for _, e := range tasks {
		text := make([]byte, e.size)
		if _, err := j.file.ReadAt(text, e.at); err != nil {
			return 0, fmt.Errorf("reading task %s of the journal: %w", e.ID, err)
		}
		var r record
		if err := json.Unmarshal(text, &r); err != nil {
			return 0, fmt.Errorf("reading task %s of the journal: %w", e.ID, err)
		}
		if _, err := out.Write(append(r.Row, '\n')); err != nil {
			return 0, fmt.Errorf("writing the task set: %w", err)
		}
	}
	if err := out.CloseAtomicallyReplace(); err != nil {
		return 0, fmt.Errorf("writing the task set: %w", err)
	}
	return len(tasks), nil
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }

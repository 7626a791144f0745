package jobs

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"
)

// The names in a job's directory.
const (
	configFile = "config.yaml"
	statusFile = "status.json"
	logFile    = "log"
)

// Directory is a directory of jobs.
type Directory string

// DefaultDirectory is below the user's directory of state.
func DefaultDirectory() (Directory, error) {
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return Directory(filepath.Join(state, "millrace", "jobs")), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding a place for jobs: %w; give --jobs-dir", err)
	}
	return Directory(filepath.Join(home, ".local", "state", "millrace", "jobs")), nil
}

// Job is the directory of one job.
type Job struct {
	ID  string
	Dir string
}

// jobID is also a prefix of topics, and the name of a partition.
var jobID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// NewID makes an id that sorts by time.
func NewID(now time.Time) string {
	var random [3]byte
	rand.Read(random[:]) // never fails
	return now.UTC().Format("20060102-150405-") + hex.EncodeToString(random[:])
}

// Create makes the directory of a new job with its configuration. It is there with
// both its files or not at all.
func (d Directory) Create(s Status, config string) (Job, error) {
	if !jobID.MatchString(s.ID) {
		return Job{}, fmt.Errorf("job id %q: want up to 100 letters, digits, '.', '_' and '-', and a letter or digit first", s.ID)
	}
	j := Job{ID: s.ID, Dir: filepath.Join(string(d), s.ID)}
	fail := func(err error) (Job, error) { return Job{}, fmt.Errorf("making job %s: %w", s.ID, err) }
	if err := os.MkdirAll(string(d), 0o755); err != nil {
		return fail(err)
	}
	made, err := os.MkdirTemp(string(d), ".new-*")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(made)
	unnamed := Job{ID: s.ID, Dir: made}
	err = errors.Join(os.Chmod(made, 0o755), os.WriteFile(unnamed.path(configFile), []byte(config), 0o644), unnamed.Write(s))
	if err != nil {
		return fail(err)
	}
	if err := os.Rename(made, j.Dir); errors.Is(err, fs.ErrExist) {
		return Job{}, fmt.Errorf("job %s exists in %s: choose another --id, or go on with it by --resume %s", s.ID, d, s.ID)
	} else if err != nil {
		return fail(err)
	}
	return j, nil
}

// Open finds a job.
func (d Directory) Open(id string) (Job, error) {
	j := Job{ID: id, Dir: filepath.Join(string(d), id)}
	if !jobID.MatchString(id) {
		return j, fmt.Errorf("%q is not a job's id", id)
	}
	if _, err := os.Stat(j.path(statusFile)); errors.Is(err, fs.ErrNotExist) {
		return j, fmt.Errorf("there is no job %s in %s; millrace jobs list shows those there are", id, d)
	} else if err != nil {
		return j, fmt.Errorf("looking for job %s: %w", id, err)
	}
	return j, nil
}

// List returns how all jobs stand, the last submitted first. A directory of jobs
// that is not there has none.
func (d Directory) List() ([]Status, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing jobs: %w", err)
	}
	var all []Status
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue // one that is being made
		}
		s, err := Job{ID: e.Name(), Dir: filepath.Join(string(d), e.Name())}.Status()
		if errors.Is(err, fs.ErrNotExist) {
			continue // not a job, or just removed
		}
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b Status) int { return b.Submitted.Compare(a.Submitted) })
	return all, nil
}

// Status is how the job stands. One that says it runs, and whose process does not,
// is lost.
func (j Job) Status() (Status, error) {
	s, err := j.read()
	if err != nil || s.State != Running || s.Process.Alive() {
		return s, err
	}
	// It may have ended between the two looks.
	if s, err = j.read(); err == nil && s.State == Running && !s.Process.Alive() {
		s.State = Lost
	}
	return s, err
}

func (j Job) read() (Status, error) {
	var s Status
	text, err := os.ReadFile(j.path(statusFile))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, fmt.Errorf("reading how job %s stands: %w", j.ID, err)
	}
	if s.ID != j.ID {
		return s, fmt.Errorf("reading how job %s stands: %s is about job %q", j.ID, j.path(statusFile), s.ID)
	}
	return s, nil
}

// Write replaces the status. Only the process that holds the job's lock may, and
// the one that makes the job.
func (j Job) Write(s Status) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = renameio.WriteFile(j.path(statusFile), append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("writing how job %s stands: %w", j.ID, err)
	}
	return nil
}

// ConfigFile is the path of the job's configuration.
func (j Job) ConfigFile() string { return j.path(configFile) }

// LogFile is the path of the job's log.
func (j Job) LogFile() string { return j.path(logFile) }

func (j Job) path(name string) string { return filepath.Join(j.Dir, name) }

// OpenLog opens the job's log for appending.
func (j Job) OpenLog() (*os.File, error) {
	f, err := os.OpenFile(j.LogFile(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the log of job %s: %w", j.ID, err)
	}
	return f, nil
}

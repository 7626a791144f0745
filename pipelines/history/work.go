package history

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"millrace/pipelines/gomodule"
	"millrace/pipelines/prove"
)

// Config are the settings of tasks from history.
type Config struct {
	// Revision is where the log begins; the repository's HEAD by default.
	Revision string
	// Commits bounds the commits of the log that are looked at; 0 is all.
	Commits int
	// Runs is how often the tests run after the change (> 0), to leave out flaky ones.
	Runs int
	// Name is the name of the repository in tasks; empty takes the module's path.
	Name string
	// Split is the split of the tasks.
	Split string
}

// DefaultConfig returns two runs after the change, and the split "train".
func DefaultConfig() Config { return Config{Revision: "HEAD", Runs: 2, Split: "train"} }

// Validate reports everything that is wrong with the settings.
func (c Config) Validate() error {
	var errs []error
	if c.Runs <= 0 {
		errs = append(errs, fmt.Errorf("mining the history: %d runs; want at least 1", c.Runs))
	}
	if c.Commits < 0 {
		errs = append(errs, fmt.Errorf("mining the history: at most %d commits; want 0 or more", c.Commits))
	}
	if c.Revision == "" || c.Split == "" {
		errs = append(errs, errors.New("mining the history: revision and split have to be named"))
	}
	if strings.ContainsFunc(c.Name, func(r rune) bool { return r <= ' ' }) {
		errs = append(errs, fmt.Errorf("mining the history: the name %q holds a space", c.Name))
	}
	return errors.Join(errs...)
}

// Work is the mining of one repository.
type Work struct {
	config Config
	repo   Repo
	head   string
	issues map[int]Issue
	suite  prove.Suite
}

// New resolves the revision. Issues may be nil.
func New(ctx context.Context, c Config, r Repo, issues map[int]Issue, s prove.Suite) (*Work, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	w := &Work{config: c, repo: r, issues: issues, suite: s}
	var err error
	if w.head, err = r.Resolve(ctx, c.Revision); err != nil {
		return nil, err
	}
	if w.config.Name != "" {
		return w, nil
	}
	files, _, err := r.Files(ctx, w.head)
	if err != nil {
		return nil, err
	}
	if w.config.Name, err = gomodule.Path(files); err != nil {
		return nil, fmt.Errorf("commit %s of %s: %w", w.head, r.Dir, err)
	}
	return w, nil
}

// Input identifies all that candidates and decisions depend on, but for the toolchain.
func (w *Work) Input() (string, error) {
	config := w.config
	config.Revision = w.head
	settings, err := json.Marshal(config)
	if err == nil {
		var issues []byte
		if issues, err = json.Marshal(w.issues); err == nil {
			return fmt.Sprintf("mine %s %x %s", settings, sha256.Sum256(issues), w.suite.Limit), nil
		}
	}
	return "", fmt.Errorf("identifying the input: %w", err)
}

// Units implements prove.Work: the log is one.
func (w *Work) Units(context.Context) ([]string, error) { return []string{"log"}, nil }

// origin is what candidates from here are called in a summary.
const origin = "commit"

// List implements prove.Work: the commits. Those that the rules leave out are decided
// on here.
func (w *Work) List(ctx context.Context, _ string, known func(string) bool, found func(prove.Candidate) error, decided func(prove.Decision) error) error {
	commits, err := w.repo.Log(ctx, w.head, w.config.Commits)
	if err != nil {
		return err
	}
	for _, commit := range commits {
		spec, err := json.Marshal(commit)
		if err != nil {
			return fmt.Errorf("describing commit %s: %w", commit.Hash, err)
		}
		c := prove.Candidate{ID: fmt.Sprintf("%s/%s/%s", w.config.Name, origin, commit.Hash[:idDigits]), Origin: origin, Spec: spec}
		if known(c.ID) {
			continue
		}
		if reason, detail := Reject(commit, Statement(commit.Message, w.issues)); reason != prove.None {
			err = decided(c.Reject(reason, detail))
		} else {
			err = found(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// idDigits is the length of a commit's hash in an id, git's own for large
// repositories.
const idDigits = 12

// Decide implements prove.Work.
func (w *Work) Decide(ctx context.Context, c prove.Candidate) (prove.Decision, error) {
	var commit Commit
	if err := json.Unmarshal(c.Spec, &commit); err != nil {
		return prove.Decision{}, fmt.Errorf("reading candidate %s: %w", c.ID, err)
	}
	s, reason, detail, err := w.states(ctx, commit)
	if err != nil || reason != prove.None {
		return c.Reject(reason, detail), err
	}
	sel := prove.Selection{Dirs: s.after.Dependents(changedDirs(commit)...)}
	if len(sel.Dirs) == 0 {
		return c.Reject(prove.NoFailToPass, "no test reaches the change"), nil
	}
	reference, err := prove.NewReference(ctx, w.suite, c.ID+", after", s.after, sel, w.config.Runs)
	var unfit *prove.UnfitError
	if errors.As(err, &unfit) {
		return c.Reject(unfit.Reason, "after the change: "+unfit.Detail), nil
	}
	if err != nil {
		return prove.Decision{}, err
	}
	o, err := w.suite.Run(ctx, c.ID+", before", s.tested, sel)
	if err != nil {
		return prove.Decision{}, err
	}
	v, err := w.suite.Judge(ctx, c.ID, reference, s.after, sel, o)
	if err != nil || v.Reason != prove.None {
		d := c.Reject(v.Reason, v.Detail)
		d.Compiled = true
		return d, err
	}
	task := w.task(c, commit, s, v)
	return prove.Decision{ID: c.ID, Origin: c.Origin, Compiled: true, Task: &task}, nil
}

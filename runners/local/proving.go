package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"millrace/pipelines/gomodule"
	"millrace/pipelines/prove"
	"millrace/runners/display"
	"millrace/runners/embedded"
	"millrace/transforms/sandbox"
)

// ProveOptions are the flags that "millrace tasks inject" and "millrace tasks mine"
// share.
type ProveOptions struct {
	// Dir is where journal, tasks and summary go. A second start with the same
	// directory goes on where the first one stopped.
	Dir     string
	Workers int
	// TestTimeout is the time limit of the tests of one package.
	TestTimeout time.Duration
	// Limit bounds the candidates whose tests run in this start; 0 is no bound.
	Limit int
	Out   *os.File
}

// The files in the directory of a job that makes tasks.
const (
	proveJournal = "journal.jsonl"
	proveTasks   = "tasks.jsonl"
	proveSummary = "summary.json"
)

// proving is a job that makes tasks, with what it runs on.
type proving struct {
	ProveOptions
	screen *display.Display
	suite  prove.Suite
	cache  string // of builds, for the sandboxes
	close  []func() error
}

// openProving locks the directory and opens the sandboxes.
func openProving(ctx context.Context, o ProveOptions) (_ *proving, err error) {
	lock, err := embedded.LockDir(o.Dir)
	if err != nil {
		return nil, err
	}
	p := &proving{ProveOptions: o, screen: display.Open(o.Out), close: []func() error{lock.Unlock}}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	base, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("finding a place for the sandboxes' build cache: %w", err)
	}
	p.cache = filepath.Join(base, "millrace", "go-build-tasks")
	config := sandbox.ProcessConfig{Cache: p.cache, Concurrency: o.Workers, Limits: sandbox.Limits{OutputBytes: prove.OutputBytes}}
	p.screen.Phase("building the standard library for the sandboxes (once)", 0)
	if err := config.Warm(ctx); err != nil {
		return nil, err
	}
	sandboxes, err := sandbox.NewProcess(config)
	if err != nil {
		return nil, err
	}
	p.close = append(p.close, sandboxes.Close)
	p.screen.Note(sandboxes.Describe())
	p.suite = prove.Suite{Sandboxes: sandboxes, Limit: o.TestTimeout}
	return p, nil
}

// Close ends what was opened, last things first.
func (p *proving) Close() error {
	p.screen.Close()
	var errs []error
	for _, end := range slices.Backward(p.close) {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

// warm builds what the module needs of the standard library beyond what is always
// there, so that not every sandbox builds it. No code of the module runs.
func (p *proving) warm(ctx context.Context, m gomodule.Module) error {
	temporary, err := os.MkdirTemp("", "millrace-warm-")
	if err != nil {
		return fmt.Errorf("warming the build cache: %w", err)
	}
	defer os.RemoveAll(temporary)
	dir := filepath.Join(temporary, "module") // the go command ignores a module in TMPDIR itself
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("warming the build cache: %w", err)
	}
	if err := m.WriteTo(dir); err != nil {
		return err
	}
	command := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), sandbox.DefaultEnv()...)
		cmd.Env = append(cmd.Env, "GOWORK=off", "GOCACHE="+p.cache, "HOME="+temporary, "TMPDIR="+temporary, "GOPATH="+filepath.Join(temporary, "go"),
			"GOGC=100", fmt.Sprintf("GOMAXPROCS=%d", runtime.NumCPU()))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("warming the build cache: go %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
		}
		return out, nil
	}
	listed, err := command("list", "-e", "-deps", "-test", "-f", "{{if .Standard}}{{.ImportPath}}{{end}}", "./...")
	if err != nil {
		return err
	}
	var standard []string
	for name := range strings.Lines(string(listed)) {
		if name = strings.TrimSpace(name); name != "" && name != "unsafe" && !strings.Contains(name, " ") && !strings.HasPrefix(name, "vendor/") {
			standard = append(standard, name)
		}
	}
	if len(standard) == 0 {
		return nil
	}
	_, err = command(append([]string{"build"}, standard...)...)
	return err
}

// run decides on the candidates of the work and writes what came of it, also when the
// job ends early: the tasks so far are sound.
func (p *proving) run(ctx context.Context, name, input string, work prove.Work) (err error) {
	journal, err := prove.OpenJournal(filepath.Join(p.Dir, proveJournal), input)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, journal.Close()) }()
	before := prove.Summarize(journal.Decisions())
	if before.Candidates > 0 {
		p.screen.Note(fmt.Sprintf("going on: %d candidates are decided already, %d of them tasks", before.Candidates, before.Tasks))
	}
	began := time.Now()
	config := prove.Config{Name: name, Workers: p.Workers, Limit: p.Limit}
	runErr := prove.Run(ctx, config, work, journal, start, p.screen)
	took := time.Since(began)
	p.screen.Close()
	summary := prove.Summarize(journal.Decisions())
	path := filepath.Join(p.Dir, proveTasks)
	n, err := journal.WriteTasks(path)
	if err != nil {
		return errors.Join(runErr, err)
	}
	text, err := json.MarshalIndent(summary, "", "  ")
	if err == nil {
		err = renameio.WriteFile(filepath.Join(p.Dir, proveSummary), append(text, '\n'), 0o644)
	}
	if err != nil {
		return errors.Join(runErr, fmt.Errorf("writing the summary: %w", err))
	}
	err = tellSummary(p.Out, summary)
	if err == nil {
		_, err = fmt.Fprintf(p.Out, "%s: %d tasks, yield %.1f %%; this start: %d candidates and %d tasks in %s, %.1f tasks a minute\n",
			path, n, 100*summary.Yield(), summary.Candidates-before.Candidates, summary.Tasks-before.Tasks,
			took.Round(time.Second), float64(summary.Tasks-before.Tasks)/took.Minutes())
	}
	return errors.Join(runErr, err)
}

// tellSummary writes a table of origins, and one of reasons.
func tellSummary(out *os.File, s prove.Summary) error {
	table := display.NewTable(out)
	err := table.Head([]string{"origin", "candidates", "compiled", "tasks", "yield %"})
	row := func(name string, c *prove.Count) {
		err = errors.Join(err, table.Row([]any{name, c.Candidates, c.Compiled, c.Tasks, fmt.Sprintf("%.1f", 100*c.Yield())}))
	}
	for _, origin := range slices.Sorted(maps.Keys(s.ByOrigin)) {
		row(origin, s.ByOrigin[origin])
	}
	row("all", &s.Count)
	if err = errors.Join(err, table.Close()); err != nil || len(s.Rejected) == 0 {
		return err
	}
	table = display.NewTable(out)
	err = table.Head([]string{"rejected", "reason"})
	for _, reason := range s.Reasons() {
		err = errors.Join(err, table.Row([]any{s.Rejected[reason], string(reason)}))
	}
	return errors.Join(err, table.Close())
}

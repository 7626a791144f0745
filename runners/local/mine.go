package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"millrace/pipelines/history"
)

// MineOptions are the flags of "millrace tasks mine".
type MineOptions struct {
	ProveOptions
	// Repo is the directory of a clone.
	Repo string
	// Issues is a file of issues, one a line, as JSON; "" is none.
	Issues string
	history.Config
}

// MineTasks runs "millrace tasks mine": it makes a task of each commit of a clone that
// changed source and tests, where the tests tell the difference. An interrupt ends it;
// the next start goes on.
func MineTasks(ctx context.Context, o MineOptions) (err error) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	p, err := openProving(ctx, o.ProveOptions)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	issues, err := readIssues(o.Issues, p.screen.Note)
	if err != nil {
		return err
	}
	work, err := history.New(ctx, o.Config, history.Repo{Dir: o.Repo}, issues, p.suite)
	if err != nil {
		return err
	}
	input, err := work.Input()
	if err != nil {
		return err
	}
	return p.run(ctx, "mine", input, work)
}

// readIssues reads a file of issues; what is wrong with single ones is noted.
func readIssues(name string, note func(string)) (map[int]history.Issue, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("opening the issues: %w", err)
	}
	defer f.Close()
	issues, bad, err := history.ReadIssues(name, f)
	for _, b := range bad {
		note(b.Error())
	}
	note(fmt.Sprintf("%s: %d issues", name, len(issues)))
	return issues, err
}

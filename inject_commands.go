package main

import (
	"context"
	"os"
	"time"

	"millrace/pipelines/faults"
	"millrace/pipelines/history"
	"millrace/runners/local"
	"millrace/transforms/inject/procedural"
)

// proveFlags are what commands share that make tasks by running tests.
type proveFlags struct {
	Out         string        `help:"Directory for journal, tasks.jsonl and summary; a second start with it goes on where the first one stopped." required:"" type:"path"`
	Workers     int           `help:"Candidates whose tests run at the same time." default:"2"`
	TestTimeout time.Duration `help:"Time limit of the tests of one package." default:"20s"`
	Limit       int           `help:"Run the tests of so many candidates in this start; 0: of all."`
	Split       string        `help:"Split of the tasks." default:"train"`
}

func (f proveFlags) options() local.ProveOptions {
	return local.ProveOptions{Dir: f.Out, Workers: f.Workers, TestTimeout: f.TestTimeout, Limit: f.Limit, Out: os.Stdout}
}

type injectCommand struct {
	Module   string   `arg:"" help:"Directory of a Go module whose tests pass." type:"existingdir"`
	Packages []string `help:"Packages to break, as the go command takes them; may be repeated. Default: all." placeholder:"./..." sep:"none"`
	Modifier []string `help:"Use only this modifier; may be repeated." placeholder:"NAME"`
	Seed     uint64   `help:"Seed of the draws." default:"24"`
	Attempts int      `help:"Draws of each modifier for each function." default:"5"`
	Runs     int      `help:"Runs of the tests without a fault; a test that does not pass in all is flaky." default:"3"`
	proveFlags
}

func (c injectCommand) Run(ctx context.Context) error {
	return local.InjectTasks(ctx, local.InjectOptions{
		ProveOptions: c.options(), Module: c.Module,
		Config: faults.Config{
			Patterns: c.Packages, ReferenceRuns: c.Runs, Split: c.Split,
			Draw: procedural.Config{Seed: c.Seed, Attempts: c.Attempts, Kinds: local.Modifiers(c.Modifier)},
		},
	})
}

type mineCommand struct {
	Repo     string `arg:"" help:"Directory of a git clone with a Go module at its root." type:"existingdir"`
	Revision string `help:"Where the log begins." default:"HEAD"`
	Commits  int    `help:"Look at so many commits, the newest first; 0: at all."`
	Issues   string `help:"Issues as JSONL {number, title, body}: what a commit closes takes the place of its message." type:"existingfile" placeholder:"FILE"`
	Runs     int    `help:"Runs of the tests after each commit; a test that does not pass in all is flaky." default:"2"`
	Name     string `help:"Name of the repository in the tasks; default: the module's path." placeholder:"OWNER/NAME"`
	proveFlags
}

func (c mineCommand) Run(ctx context.Context) error {
	return local.MineTasks(ctx, local.MineOptions{
		ProveOptions: c.options(), Repo: c.Repo, Issues: c.Issues,
		Config: history.Config{Revision: c.Revision, Commits: c.Commits, Runs: c.Runs, Name: c.Name, Split: c.Split},
	})
}

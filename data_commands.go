package main

import (
	"context"
	"os"

	"millrace/runners/local"
)

// runArgument is the run that a command is about.
type runArgument struct {
	Dir string `arg:"" help:"Run directory." type:"existingdir"`
}

// answerFlags say how an answer is written.
type answerFlags struct {
	Output string `help:"Form of the answer: table, csv or json." enum:"table,csv,json" default:"table"`
}

type queryCommand struct {
	SQL string   `arg:"" optional:"" name:"sql" help:"SELECT over the tables that --schema lists."`
	Dir []string `help:"Run directory, or a directory of run directories; may be repeated." default:"runs" type:"path" sep:"none"`
	answerFlags
	Schema bool `help:"List tables and columns and stop."`
}

func (c queryCommand) Run(ctx context.Context) error {
	if c.Schema {
		return local.QuerySchema(c.Output, os.Stdout)
	}
	return local.Query(ctx, c.Dir, c.SQL, c.Output, os.Stdout)
}

type ledgerCommand struct {
	Show  ledgerShowCommand  `cmd:"" help:"List the steps, or the trajectories that made one."`
	Trace ledgerTraceCommand `cmd:"" help:"Tell which step a trajectory entered, or why none."`
	Audit ledgerAuditCommand `cmd:"" help:"Check that nothing vanished and each sample entered one step."`
}

type ledgerShowCommand struct {
	runArgument
	Step int64 `help:"The step whose trajectories to list." placeholder:"N"`
	answerFlags
}

func (c ledgerShowCommand) Run(ctx context.Context) error {
	if c.Step == 0 {
		return local.LedgerSteps(ctx, c.Dir, c.Output, os.Stdout)
	}
	return local.LedgerStep(ctx, c.Dir, c.Step, c.Output, os.Stdout)
}

type ledgerTraceCommand struct {
	runArgument
	Trajectory string `arg:"" help:"Id of the trajectory."`
	answerFlags
}

func (c ledgerTraceCommand) Run(ctx context.Context) error {
	return local.LedgerTrace(ctx, c.Dir, c.Trajectory, c.Output, os.Stdout)
}

type ledgerAuditCommand struct {
	runArgument
	answerFlags
}

func (c ledgerAuditCommand) Run(ctx context.Context) error {
	return local.LedgerAudit(ctx, c.Dir, c.Output, os.Stdout)
}

type deadletterCommand struct {
	List    deadletterListCommand    `cmd:"" help:"List the dead letters of a run."`
	Show    deadletterShowCommand    `cmd:"" help:"Show one with its record."`
	Redrive deadletterRedriveCommand `cmd:"" help:"Put records back on the topics they came from, for the next --resume."`
}

type deadletterListCommand struct {
	runArgument
	answerFlags
}

func (c deadletterListCommand) Run(ctx context.Context) error {
	return local.DeadLetters(ctx, c.Dir, c.Output, os.Stdout)
}

type deadletterShowCommand struct {
	runArgument
	ID string `arg:"" help:"Id of the dead letter."`
}

func (c deadletterShowCommand) Run(ctx context.Context) error {
	return local.DeadLetter(ctx, c.Dir, c.ID, os.Stdout)
}

type deadletterRedriveCommand struct {
	runArgument
	IDs   []string `arg:"" optional:"" name:"id" help:"Ids of dead letters."`
	All   bool     `help:"Every dead letter that was not re-driven before."`
	Again bool     `help:"Also those that were re-driven before."`
}

func (c deadletterRedriveCommand) Run(ctx context.Context) error {
	return local.Redrive(ctx, c.Dir, c.IDs, c.All, c.Again, os.Stdout)
}

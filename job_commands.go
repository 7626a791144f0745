package main

import (
	"context"
	"fmt"
	"os"

	"millrace/runners/local"
)

// jobsFlags say where jobs are kept.
type jobsFlags struct {
	JobsDir string `help:"Directory of jobs; default: millrace/jobs in the user's directory of state." type:"path" placeholder:"DIR"`
}

type submitCommand struct {
	jobsFlags
	ID     string   `help:"Name of the job, and of its topics; default: a new one." placeholder:"ID"`
	Config string   `help:"YAML file over the defaults." type:"path" placeholder:"FILE"`
	Set    []string `help:"Set one value, such as score.test_timeout=30s; may be repeated." placeholder:"KEY=VALUE" sep:"none"`
	Stages string   `help:"Set stages: a stretch of rollout,score,filter,advantage." placeholder:"STAGE,..."`
	Tasks  string   `help:"Set tasks.file: a task set, not the shipped one." type:"path" placeholder:"FILE"`
	Split  string   `help:"Set tasks.split." placeholder:"SPLIT"`
	From   string   `help:"Set input.parquet: the data directory that a job without rollout begins with." type:"path" placeholder:"DIR"`
	To     string   `help:"Set output.parquet: the data directory to write to, not the job's own." type:"path" placeholder:"DIR"`
	Kafka  string   `help:"Set kafka.brokers: use this Kafka, not the embedded broker." placeholder:"HOST:PORT"`
	Detach bool     `help:"Print the job's id and leave the job to a process of its own."`
	Resume string   `help:"Go on with a job that did not end." placeholder:"ID"`
	DryRun bool     `help:"Print the resolved configuration and stop."`
}

func (c submitCommand) Run(ctx context.Context) error {
	set := c.Set
	if c.Stages != "" {
		set = append(set, fmt.Sprintf("stages=[%s]", c.Stages))
	}
	for _, flag := range []struct{ key, value string }{
		{"tasks.file", c.Tasks}, {"tasks.split", c.Split}, {"input.parquet", c.From}, {"output.parquet", c.To}, {"kafka.brokers", c.Kafka},
	} {
		if flag.value != "" {
			set = append(set, fmt.Sprintf("%s=%q", flag.key, flag.value))
		}
	}
	return local.Submit(ctx, local.SubmitOptions{
		JobsDir: c.JobsDir, ID: c.ID, ConfigFile: c.Config, Set: set, Resume: c.Resume, Detach: c.Detach, DryRun: c.DryRun, Out: os.Stdout,
	})
}

type jobsCommand struct {
	List   jobsListCommand   `cmd:"" help:"List the jobs, the last submitted first."`
	Show   jobsShowCommand   `cmd:"" help:"Show how a job stands, what it made, and the balance of its stages."`
	Logs   jobsLogsCommand   `cmd:"" help:"Print the log of a job."`
	Cancel jobsCancelCommand `cmd:"" help:"Stop a job now; returns when it has ended."`
	Drain  jobsDrainCommand  `cmd:"" help:"Let a job finish the groups it has begun and write its outputs; returns when it has ended."`
}

// jobArgument is the job that a command is about.
type jobArgument struct {
	jobsFlags
	ID string `arg:"" help:"Id of the job."`
}

type jobsListCommand struct {
	jobsFlags
	answerFlags
}

func (c jobsListCommand) Run(context.Context) error {
	return local.JobsList(c.JobsDir, c.Output, os.Stdout)
}

type jobsShowCommand struct {
	jobArgument
	Output string `help:"table or json." enum:"table,json" default:"table"`
}

func (c jobsShowCommand) Run(context.Context) error {
	return local.JobsShow(c.JobsDir, c.ID, c.Output == "json", os.Stdout)
}

type jobsLogsCommand struct {
	jobArgument
	Follow bool `short:"f" help:"Go on until the job has ended."`
}

func (c jobsLogsCommand) Run(ctx context.Context) error {
	return local.JobsLogs(ctx, c.JobsDir, c.ID, c.Follow, os.Stdout)
}

type jobsCancelCommand struct{ jobArgument }

func (c jobsCancelCommand) Run(context.Context) error {
	return local.JobsCancel(c.JobsDir, c.ID, os.Stdout)
}

type jobsDrainCommand struct{ jobArgument }

func (c jobsDrainCommand) Run(ctx context.Context) error {
	return local.JobsDrain(ctx, c.JobsDir, c.ID, os.Stdout)
}

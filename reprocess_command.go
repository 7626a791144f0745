package main

import (
	"context"
	"os"
	"time"

	"millrace/runners/local"
)

type reprocessCommand struct {
	From    string `arg:"" optional:"" help:"Run directory, or directory of data sets; without it, topics of the configuration's Kafka." type:"path"`
	Parquet bool   `help:"Read the data sets of the run directory, not its topics."`
	Name    string `name:"run" help:"Run that is read; default: the one of the run directory." placeholder:"NAME"`
	Out     string `help:"Directory of the new run." required:"" type:"path" placeholder:"DIR"`
	As      string `help:"Name of the new run; default: that of its directory." placeholder:"NAME"`
	Topics  bool   `help:"Write topics, not Parquet files."`

	Config    string        `help:"YAML file over the configuration of the run that is read." type:"path" placeholder:"FILE"`
	Set       []string      `help:"Set one value, such as learn.learning_rate=1e-4; may be repeated." placeholder:"KEY=VALUE" sep:"none"`
	Recipe    string        `help:"Set recipe: grpo++, deepswe, grpo, dapo, dr-grpo, swe-rl, rloo, gspo or cispo."`
	Filter    string        `help:"Filter, stronger than the recipe's: compact, compact-published or none."`
	Advantage string        `help:"Estimator, stronger than the recipe's: leave-one-out, leave-one-out-published, leave-one-out-standardized, centered or standardized."`
	Reward    string        `help:"Where rewards come from: recorded (test results graded again), tests, similarity or command; default: as they are."`
	Command   string        `help:"Command of --reward command: the trajectory as JSON on standard input, one number on standard output." placeholder:"LINE"`
	Deadline  time.Duration `help:"Deadline of the command for one trajectory." default:"1m"`
	InFlight  int           `help:"Trajectories graded at once by each core." default:"4"`

	Offsets []string  `help:"Read these records of a partition alone, such as 0:100-200; may be repeated." placeholder:"PARTITION:FROM-TO" sep:"none"`
	Since   time.Time `help:"Only rollouts that ended then or later, such as 2026-11-21T08:00:00Z." placeholder:"TIME"`
	Until   time.Time `help:"Only rollouts that ended before." placeholder:"TIME"`

	Train      bool   `help:"Take the samples through the learner, into the new run."`
	Checkpoint string `help:"Begin --train at this Hugging Face directory; default: where the run began." type:"existingdir" placeholder:"DIR"`
	FromStep   *int64 `help:"Train from the state after this step of the run, with the rest of its log." placeholder:"N"`
	Output     string `help:"Form of the report: table, csv or json." enum:"table,csv,json" default:"table"`
}

func (c reprocessCommand) Run(ctx context.Context) error {
	return local.Reprocess(ctx, local.ReprocessOptions{
		From: c.From, Parquet: c.Parquet, Run: c.Name, Out: c.Out, Name: c.As, Topics: c.Topics,
		ConfigFile: c.Config, Set: c.Set, Recipe: c.Recipe, Filter: c.Filter, Advantage: c.Advantage,
		Reward:  local.RewardOptions{Kind: c.Reward, Command: c.Command, Timeout: c.Deadline, InFlight: c.InFlight},
		Offsets: c.Offsets, Since: c.Since, Until: c.Until,
		Train: c.Train, Checkpoint: c.Checkpoint, FromStep: c.FromStep, Output: c.Output, Answer: os.Stdout, Screen: os.Stderr,
	})
}

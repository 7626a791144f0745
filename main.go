// Millrace trains software-engineering agents by reinforcement learning as a
// dataflow. This package is the command line and nothing else.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"millrace/runners/flink"
	"millrace/runners/local"
	"millrace/transforms/sandbox"
)

type commands struct {
	Train      trainCommand      `cmd:"" help:"Train an agent: rollouts, rewards, advantages and updates, with an evaluation before and after."`
	Submit     submitCommand     `cmd:"" help:"Run a bounded job: tasks, or records of an earlier job, through some of the stages."`
	Jobs       jobsCommand       `cmd:"" help:"List, show, cancel and drain submitted jobs."`
	Topics     topicsCommand     `cmd:"" help:"Look at the topics of a run: what they hold, how they are kept, how far the stages have read."`
	Reprocess  reprocessCommand  `cmd:"" help:"Take the trajectories of a run through filter and advantage again, with other settings or rewards, and tell what changes."`
	Ablate     ablateCommand     `cmd:"" help:"Compare recipes: a matrix of arms and seeds, each a training run, and one report."`
	Report     reportCommand     `cmd:"" help:"Write the report and the data files of a run again."`
	Query      queryCommand      `cmd:"" help:"Ask the data of runs by SQL."`
	Ledger     ledgerCommand     `cmd:"" help:"What made each step, what became of a trajectory, and whether all balances."`
	Deadletter deadletterCommand `cmd:"" help:"List, show and re-drive records that could not be processed."`
	Flink      flinkCommand      `cmd:"" help:"A Flink cluster on this machine, for development."`
	Worker     workerCommand     `cmd:"" help:"Start worker processes for the task managers beside which this runs."`
	Tasks      tasksCommand      `cmd:"" help:"Import, list, show and split task sets; make the default one again."`
	Reward     rewardCommand     `cmd:"" help:"What a test log says, and how alike two diffs are."`
	Warmstart  warmstartCommand  `cmd:"" help:"Make the shipped policy again, from nothing."`
}

type trainCommand struct {
	Dir     string   `help:"Run directory." default:"runs/default" type:"path"`
	Config  string   `help:"YAML file over the defaults." type:"path" placeholder:"FILE"`
	Set     []string `help:"Set one value, such as learn.learning_rate=1e-4; may be repeated." placeholder:"KEY=VALUE" sep:"none"`
	Seed    *uint64  `help:"Set seed."`
	Steps   *int64   `help:"Set steps."`
	Recipe  string   `help:"Set recipe: grpo++, deepswe, grpo, dapo, dr-grpo, swe-rl, rloo, gspo or cispo."`
	Device  string   `help:"Set device, where the update is computed: auto, cpu, cuda or cuda:n."`
	Kafka   string   `help:"Set kafka.brokers: use this Kafka, not the embedded broker." placeholder:"HOST:PORT"`
	Resume  bool     `help:"Go on with the run in the directory."`
	DryRun  bool     `help:"Print the resolved configuration and stop."`
	Metrics string   `help:"Serve Prometheus metrics there, on loopback unless the address says otherwise." placeholder:"[HOST]:PORT"`
}

func (c trainCommand) Run(ctx context.Context) error {
	set := c.Set
	if c.Seed != nil {
		set = append(set, fmt.Sprintf("seed=%d", *c.Seed))
	}
	if c.Steps != nil {
		set = append(set, fmt.Sprintf("steps=%d", *c.Steps))
	}
	if c.Recipe != "" {
		set = append(set, fmt.Sprintf("recipe=%q", c.Recipe))
	}
	if c.Device != "" {
		set = append(set, fmt.Sprintf("device=%q", c.Device))
	}
	if c.Kafka != "" {
		set = append(set, fmt.Sprintf("kafka.brokers=%q", c.Kafka))
	}
	return local.Train(ctx, local.TrainOptions{
		Dir: c.Dir, ConfigFile: c.Config, Set: set, Resume: c.Resume, DryRun: c.DryRun, MetricsAddr: c.Metrics, Out: os.Stdout,
	})
}

type reportCommand struct{ runArgument }

func (c reportCommand) Run(ctx context.Context) error {
	return local.Report(ctx, local.TrainOptions{Dir: c.Dir, Out: os.Stdout})
}

type topicsCommand struct {
	List     topicsList     `cmd:"" help:"List topics: partitions, replicas, records, and settings that differ from Kafka's defaults."`
	Describe topicsDescribe `cmd:"" help:"Describe one topic: offsets, settings, and what consumer groups have committed."`
	Lag      topicsLag      `cmd:"" help:"Show how far each stage of a run has read."`
}

type topicsFlags struct {
	Kafka  string `help:"Brokers, stronger than the configuration's." placeholder:"HOST:PORT"`
	Config string `help:"YAML file of train, for brokers and security." type:"path" placeholder:"FILE"`
	Dir    string `help:"Run directory; one with an embedded broker must not be under way." type:"existingdir"`
	Output string `help:"table or json." enum:"table,json" default:"table"`
}

func (f topicsFlags) options(run string) local.TopicsOptions {
	return local.TopicsOptions{Brokers: f.Kafka, ConfigFile: f.Config, Dir: f.Dir, Run: run, JSON: f.Output == "json", Out: os.Stdout}
}

type topicsList struct {
	topicsFlags
	Name string `name:"run" help:"Name of a run; default: all topics." placeholder:"NAME"`
}

func (c topicsList) Run(ctx context.Context) error {
	return local.ListTopics(ctx, c.options(c.Name))
}

type topicsDescribe struct {
	topicsFlags
	Topic string `arg:"" help:"Name of the topic."`
}

func (c topicsDescribe) Run(ctx context.Context) error {
	return local.DescribeTopic(ctx, c.options(""), c.Topic)
}

type topicsLag struct {
	topicsFlags
	Name string `name:"run" help:"Name of the run; default: the one of --dir or --config." placeholder:"NAME"`
}

func (c topicsLag) Run(ctx context.Context) error {
	return local.TopicsLag(ctx, c.options(c.Name))
}

type warmstartCommand struct {
	Out    string   `help:"Directory to write the policy to." required:"" type:"path"`
	Config string   `help:"YAML file over the defaults." type:"path" placeholder:"FILE"`
	Set    []string `help:"Set one value, such as schedule.tokens=2000000; may be repeated." placeholder:"KEY=VALUE" sep:"none"`
}

func (c warmstartCommand) Run(ctx context.Context) error {
	return local.Warmstart(ctx, c.Out, c.Config, c.Set, os.Stdout)
}

func main() {
	sandbox.MaybeInit() // a sandbox's first process is this binary
	if flink.IsWorker() {
		if err := local.Worker(context.Background(), os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "millrace:", err)
			os.Exit(1)
		}
		return
	}
	var c commands
	parsed := kong.Parse(&c, kong.Name("millrace"), kong.ShortUsageOnError(),
		kong.Description("Trains software-engineering agents by reinforcement learning as a dataflow."),
		kong.BindTo(context.Background(), (*context.Context)(nil)))
	if err := parsed.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "millrace:", err)
		var ended interface{ ExitCode() int }
		if errors.As(err, &ended) {
			os.Exit(ended.ExitCode())
		}
		os.Exit(1)
	}
}

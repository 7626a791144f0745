package main

import (
	"context"
	"os"

	"millrace/runners/local"
)

type tasksCommand struct {
	Import  tasksImportCommand  `cmd:"" help:"Turn the rows of datasets into tasks: R2E-Gym, SWE-bench, SWE-smith, SWE-rebench V2, or task sets."`
	List    tasksListCommand    `cmd:"" help:"List the tasks of a set."`
	Show    tasksShowCommand    `cmd:"" help:"Show one task."`
	Check   tasksCheckCommand   `cmd:"" help:"Run the tests of every task with no patch and with the gold patch, and tell which do not decide it."`
	Inject  injectCommand       `cmd:"" help:"Break the functions of a Go module and keep the faults that its tests notice, as tasks."`
	Mine    mineCommand         `cmd:"" help:"Make tasks of the commits of a clone that change source and tests."`
	Split   tasksSplitCommand   `cmd:"" help:"Write a task set again with other splits."`
	Default tasksDefaultCommand `cmd:"" help:"Make the default task set again, from the corpus."`
}

type tasksImportCommand struct {
	Files         []string `arg:"" name:"file" help:"Parquet, JSON or JSONL file (the latter two also .gz)." type:"existingfile"`
	Kind          string   `help:"Kind of the rows: auto, native, r2e-gym, swe-bench, swe-smith or swe-rebench." enum:"auto,native,r2e-gym,swe-bench,swe-smith,swe-rebench" default:"auto"`
	Out           string   `help:"Task set to write." default:"tasks.jsonl" type:"path"`
	Split         string   `help:"Split of all tasks; default: the row's own, or that of the file's name, or train." placeholder:"SPLIT"`
	Decontaminate bool     `help:"Leave out the twelve repositories of SWE-bench Verified." default:"true" negatable:""`
	ExcludeRepo   []string `help:"Leave out a repository too; may be repeated." placeholder:"OWNER/NAME" sep:"none"`
	ExcludeList   []string `help:"Leave out the ids and commits of a list, or of a dataset; may be repeated." placeholder:"FILE" type:"existingfile" sep:"none"`
	Rejects       string   `help:"Write every row that became no task there, with the reason, as JSONL." type:"path" placeholder:"FILE"`
	RowLimit      int      `help:"Limit of a row's size, in MiB." default:"64" placeholder:"MIB"`
}

func (c tasksImportCommand) Run(ctx context.Context) error {
	return local.ImportTasks(ctx, local.ImportOptions{
		Files: c.Files, Kind: c.Kind, OutFile: c.Out, Split: c.Split, Decontaminate: c.Decontaminate,
		ExcludeRepos: c.ExcludeRepo, ExcludeLists: c.ExcludeList, Rejects: c.Rejects, RowMiB: c.RowLimit, Out: os.Stdout,
	})
}

// taskSetFlag is the task set that a command is about.
type taskSetFlag struct {
	Tasks string `help:"Task set; default: the shipped one." type:"existingfile" placeholder:"FILE"`
}

type tasksListCommand struct {
	taskSetFlag
	Repo  string `help:"Only tasks of this repository." placeholder:"OWNER/NAME"`
	Split string `help:"Only tasks of this split." placeholder:"SPLIT"`
	answerFlags
}

func (c tasksListCommand) Run(ctx context.Context) error {
	return local.ListTasks(ctx, c.Tasks, c.Repo, c.Split, c.Output, os.Stdout)
}

type tasksShowCommand struct {
	taskSetFlag
	ID     string `arg:"" help:"Id of the task."`
	Output string `help:"text or json." enum:"text,json" default:"text"`
}

func (c tasksShowCommand) Run(ctx context.Context) error {
	return local.ShowTask(ctx, c.Tasks, c.ID, c.Output == "json", os.Stdout)
}

type tasksCheckCommand struct {
	taskSetFlag
	Only        string   `name:"split" help:"Only tasks of this split." placeholder:"SPLIT"`
	Times       int      `help:"How often each of the two patches is scored." default:"3"`
	Concurrency int      `help:"Tasks that are checked at once." default:"2"`
	Config      string   `help:"YAML file of train, for the settings of sandbox and score." type:"path" placeholder:"FILE"`
	Set         []string `help:"Set one value of it, such as score.test_timeout=5m; may be repeated." placeholder:"KEY=VALUE" sep:"none"`
	Compat      bool     `help:"Read logs as the datasets' original parsers do."`
	Sound       string   `help:"Task set of the sound ones to write." type:"path" placeholder:"FILE"`
}

func (c tasksCheckCommand) Run(ctx context.Context) error {
	return local.CheckTasks(ctx, local.CheckOptions{
		Tasks: c.Tasks, Split: c.Only, Times: c.Times, Concurrency: c.Concurrency, ConfigFile: c.Config, Set: c.Set,
		Compat: c.Compat, Sound: c.Sound, Out: os.Stdout,
	})
}

type tasksSplitCommand struct {
	File string             `arg:"" help:"Task set to read." type:"existingfile"`
	Out  string             `help:"Task set to write." required:"" type:"path"`
	Part map[string]float64 `help:"A split and its share of all; the shares add up to 1. May be repeated." placeholder:"SPLIT=SHARE" mapsep:"none"`
	By   string             `help:"What a share counts: task, or repo, which keeps a repository together." enum:"task,repo" default:"task"`
	Repo map[string]string  `help:"A repository and the split of all its tasks; may be repeated." placeholder:"OWNER/NAME=SPLIT" mapsep:"none"`
	Seed uint64             `help:"Seed of the draw."`
}

func (c tasksSplitCommand) Run(ctx context.Context) error {
	return local.SplitTasks(ctx, local.SplitOptions{
		File: c.File, OutFile: c.Out, Parts: c.Part, ByRepo: c.By == "repo", Repos: c.Repo, Seed: c.Seed, Out: os.Stdout,
	})
}

type tasksDefaultCommand struct {
	Out string `help:"File to write." default:"pipelines/mine/tasks.jsonl" type:"path"`
}

func (c tasksDefaultCommand) Run(ctx context.Context) error {
	return local.DefaultTasks(ctx, c.Out, os.Stdout)
}

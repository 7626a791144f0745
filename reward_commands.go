package main

import (
	"os"

	"millrace/runners/local"
)

type rewardCommand struct {
	Parse      rewardParse      `cmd:"" help:"Read a test log: print the status of each test as a JSON object."`
	Similarity rewardSimilarity `cmd:"" help:"Print how alike two diffs are: SWE-RL's ratio, from 0 to 1."`
}

type rewardParse struct {
	Repo     string `help:"Repository of SWE-bench whose format the log has, read as the harness of the published verdicts did." placeholder:"OWNER/NAME"`
	Instance string `help:"Id of the instance, for repositories whose instances differ." placeholder:"ID"`
	Format   string `help:"Format of the log, or a dataset's log_parser." placeholder:"NAME"`
	Compat   bool   `help:"Read as the dataset's original parser does: of equal names the last wins."`
	Log      string `arg:"" help:"File to read; - is standard input."`
}

func (c rewardParse) Run() error {
	return local.ParseLog(local.ParseLogOptions{
		Repo: c.Repo, Instance: c.Instance, Format: c.Format, Compat: c.Compat, Log: c.Log, In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
	})
}

type rewardSimilarity struct {
	Oracle    string `arg:"" help:"File of the diff that solves the task." type:"existingfile"`
	Predicted string `arg:"" help:"File of the diff to compare." type:"existingfile"`
}

func (c rewardSimilarity) Run() error {
	return local.DiffSimilarity(c.Oracle, c.Predicted, os.Stdout)
}

package main

import (
	"context"
	"os"

	"millrace/runners/flink"
	"millrace/runners/local"
)

type flinkCommand struct {
	Up     flinkUp     `cmd:"" help:"Start a JobManager, task managers and Beam's job server on this machine; needs Java, and Maven the first time."`
	Down   flinkDown   `cmd:"" help:"End them."`
	Status flinkStatus `cmd:"" help:"Show what runs."`
	Fetch  flinkFetch  `cmd:"" help:"Fetch Apache Flink by Maven into the user's cache, and no more."`
}

type flinkDirectory struct {
	Dir string `help:"Directory of the cluster." default:"runs/flink" type:"path"`
}

type flinkUp struct {
	flinkDirectory
	TaskManagers int `help:"Number of task managers." default:"2"`
	Slots        int `help:"Slots of each; a stage takes as many as its parallelism." default:"4"`
	JobServer    int `help:"Port of the job server." default:"8099"`
	Web          int `help:"Port of Flink's web interface." default:"8081"`
	RPC          int `name:"rpc" help:"Port of the JobManager." default:"6123"`
}

func (c flinkUp) Run(ctx context.Context) error {
	return local.FlinkUp(ctx, flink.ClusterConfig{
		Dir: c.Dir, TaskManagers: c.TaskManagers, Slots: c.Slots, JobServer: c.JobServer, REST: c.Web, RPC: c.RPC,
	}, os.Stdout)
}

type flinkDown struct{ flinkDirectory }

func (c flinkDown) Run() error { return local.FlinkDown(c.Dir) }

type flinkStatus struct{ flinkDirectory }

func (c flinkStatus) Run(ctx context.Context) error {
	return local.FlinkStatus(ctx, c.Dir, os.Stdout)
}

type flinkFetch struct{}

func (c flinkFetch) Run(ctx context.Context) error { return flink.Fetch(ctx) }

type workerCommand struct {
	Listen string `help:"Where task managers ask for workers; it has no authentication, so keep it on loopback or within a pod." default:"127.0.0.1:50000" placeholder:"HOST:PORT"`
}

func (c workerCommand) Run(ctx context.Context) error { return flink.ServePool(ctx, c.Listen) }

package main

import (
	"context"
	"os"

	"millrace/runners/local"
)

type ablateCommand struct {
	Matrix   string `arg:"" help:"YAML file of the matrix: arms, seeds and what they share." type:"existingfile"`
	Dir      string `help:"Directory of the runs and the report." required:"" type:"path"`
	Threads  int    `help:"Threads of one run." default:"1"`
	Parallel int    `help:"Runs at once; 0 takes as many as the processor has room for." default:"0"`
}

func (c ablateCommand) Run(ctx context.Context) error {
	return local.Ablate(ctx, local.AblateOptions{Matrix: c.Matrix, Dir: c.Dir, Threads: c.Threads, Parallel: c.Parallel, Out: os.Stdout})
}

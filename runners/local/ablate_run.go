package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"millrace/pipelines/ablate"
	"millrace/pipelines/train"
)

// runLog is what a run of a matrix prints.
const runLog = "train.log"

// cell is a run of a matrix with its resolved settings.
type cell struct {
	ablate.Run
	dir    string
	config train.Config
}

// cellsOf resolves the settings of every run before any is begun, so that a wrong
// one is told at once.
func cellsOf(dir string, m ablate.Matrix) ([]cell, error) {
	var cells []cell
	for _, run := range m.Runs() {
		c := cell{Run: run, dir: m.Dir(dir, run)}
		var err error
		if c.config, err = resolve(TrainOptions{ConfigFile: m.Config, Set: m.Settings(run)}); err != nil {
			return nil, fmt.Errorf("arm %s: %w", m.Arms[run.Arm].Name, err)
		}
		if !evaluates(c.config, m.Split) {
			return nil, fmt.Errorf("arm %s: evaluate.sets has no split %q, which decides", m.Arms[run.Arm].Name, m.Split)
		}
		cells = append(cells, c)
	}
	return cells, nil
}

func evaluates(c train.Config, split string) bool {
	for _, s := range c.Evaluate.Sets {
		if s.Split == split {
			return true
		}
	}
	return false
}

// steps is how many steps the journal of a cell's run holds, and whether the run has
// been evaluated after its last.
func (c cell) steps() (taken int64, done bool, err error) {
	record, err := ablate.Record(c.dir)
	if err != nil {
		return 0, false, err
	}
	for _, s := range record.Steps {
		taken = max(taken, s.Number)
	}
	evaluated := 0
	for _, e := range record.Evaluations {
		if e.Step == c.config.Steps {
			evaluated++
		}
	}
	return taken, taken >= c.config.Steps && evaluated == len(c.config.Evaluate.Sets), nil
}

// drainTime is how long a run that was asked to stop may take to finish what it has
// begun.
const drainTime = 10 * time.Minute

// run makes the cell's run, unless it is done, and returns when its process has
// ended. A process whose parent is killed is killed too.
func (c cell) run(ctx context.Context, m ablate.Matrix, threads int, drain <-chan struct{}) error {
	if _, done, err := c.steps(); err != nil || done {
		return err
	}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return fmt.Errorf("making the run's directory: %w", err)
	}
	log, err := os.OpenFile(filepath.Join(c.dir, runLog), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("opening the run's log: %w", err)
	}
	defer log.Close()
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	args := []string{"train", "--dir", c.dir}
	if _, err := os.Stat(filepath.Join(c.dir, configFile)); err == nil {
		args = append(args, "--resume")
	} else {
		if m.Config != "" {
			args = append(args, "--config", m.Config)
		}
		for _, s := range m.Settings(c.Run) {
			args = append(args, "--set", s)
		}
	}
	// The signal that a parent's death sends goes by thread, so this goroutine keeps
	// its own.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(threads))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = withParent()
	cmd.WaitDelay = drainTime
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the run: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		select {
		case <-drain:
			_ = cmd.Process.Signal(os.Interrupt)
		case <-ended:
		}
	}()
	err = cmd.Wait()
	close(ended)
	if err != nil {
		return fmt.Errorf("%w: see %s", err, log.Name())
	}
	return nil
}

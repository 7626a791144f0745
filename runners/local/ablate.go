package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/renameio/v2"

	"millrace/pipelines/ablate"
	"millrace/pipelines/settings"
	"millrace/runners/display"
	"millrace/runners/embedded"
)

// AblateOptions are what the command line of "millrace ablate" says.
type AblateOptions struct {
	// Matrix is the YAML file of the matrix, Dir where its runs and the report go.
	Matrix, Dir string
	// Threads is the number of threads of one run, Parallel of runs at once; 0 takes
	// one run for each Threads of the processor's.
	Threads, Parallel int
	Out               *os.File
}

// matrixFile is the matrix beside its runs.
const matrixFile = "matrix.yaml"

// Ablate makes the runs of a matrix that are not done, each a "millrace train" in a
// process of its own, and writes the report. What was begun is gone on with: a
// matrix that was stopped or killed is taken up by the same command.
func Ablate(ctx context.Context, o AblateOptions) (err error) {
	matrix, err := ablate.Load(o.Matrix)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return fmt.Errorf("making a place for the runs: %w", err)
	}
	lock, err := embedded.LockDir(o.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	text, err := takeUp(o.Dir, matrix)
	if err != nil {
		return err
	}
	cells, err := cellsOf(o.Dir, matrix)
	if err != nil {
		return err
	}
	screen := display.Open(o.Out)
	ctx, drain, stop := signals(ctx)
	defer stop()
	err = runAll(ctx, o, matrix, cells, drain, screen)
	if err == nil {
		screen.Phase("writing the report", 0)
	}
	err = errors.Join(err, writeComparison(o.Dir, matrix, text))
	screen.Close()
	if err != nil {
		return err
	}
	return showComparison(o.Out, o.Dir, matrix)
}

// takeUp saves the matrix in its directory, and refuses one whose results could not
// stand beside those that are there.
func takeUp(dir string, m ablate.Matrix) (string, error) {
	path := filepath.Join(dir, matrixFile)
	if _, err := os.Stat(path); err == nil {
		var old ablate.Matrix
		if err := settings.Load(path, nil, &old); err != nil {
			return "", err
		}
		if err := m.Extends(old); err != nil {
			return "", fmt.Errorf("%s holds another matrix: %w; choose another --dir", dir, err)
		}
	}
	text, err := settings.Print(m)
	if err != nil {
		return "", err
	}
	if err := renameio.WriteFile(path, []byte(text), 0o644); err != nil {
		return "", fmt.Errorf("saving the matrix: %w", err)
	}
	return text, nil
}

// runAll makes the runs that are not done, some at a time.
func runAll(ctx context.Context, o AblateOptions, m ablate.Matrix, cells []cell, drain <-chan struct{}, screen *display.Display) error {
	threads, parallel := max(1, o.Threads), o.Parallel
	if parallel <= 0 {
		parallel = max(1, runtime.NumCPU()/threads)
	}
	var total int64
	for _, c := range cells {
		total += c.config.Steps
	}
	screen.Phase(fmt.Sprintf("%d runs, %d at once", len(cells), parallel), int(total))
	watching, stopWatching := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { progress(watching, cells, screen) })
	defer func() { stopWatching(); watch.Wait() }()

	var (
		next   atomic.Int64
		wg     sync.WaitGroup
		mu     sync.Mutex
		failed []error
	)
	for range parallel {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(cells) || closed(drain) || ctx.Err() != nil {
					return
				}
				name := fmt.Sprintf("%s seed %d", m.Arms[cells[i].Arm].Name, cells[i].Seed)
				if err := cells[i].run(ctx, m, threads, drain); err != nil {
					screen.Note(name + ": " + oneLine(err))
					mu.Lock()
					failed = append(failed, fmt.Errorf("%s: %w", name, err))
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if closed(drain) && len(failed) == 0 {
		return errors.New("stopped; the same command goes on")
	}
	return errors.Join(append(failed, context.Cause(ctx))...)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// progressEvery is how often the journals are looked at.
const progressEvery = 2 * time.Second

// progress tells how many steps all runs have taken, until ctx ends.
func progress(ctx context.Context, cells []cell, screen *display.Display) {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		var taken int64
		for _, c := range cells {
			if n, _, err := c.steps(); err == nil { // a line may just be being written
				taken += n
			}
		}
		screen.Progress(int(taken))
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"millrace/pipelines/settings"
	"millrace/pipelines/submit"
	"millrace/runners/display"
	"millrace/runners/embedded"
	"millrace/runners/jobs"
)

// SubmitOptions are what the command line says beside the configuration.
type SubmitOptions struct {
	// JobsDir is the directory of jobs; empty is the user's.
	JobsDir string
	// ID names a new job; empty makes an id.
	ID string
	// ConfigFile and Set are the layers over the defaults, in this order.
	ConfigFile string
	Set        []string
	// Resume goes on with the job of this id, as it was submitted.
	Resume string
	// Detach leaves the job to a process of its own.
	Detach bool
	// DryRun prints the resolved configuration and does nothing.
	DryRun bool
	Out    *os.File
}

// takeOver bounds how long a detached process may take to begin.
const takeOver = 30 * time.Second

// Submit runs "millrace submit". A job that ends without having done all, drained,
// cancelled or failed, is a [JobEnded].
func Submit(ctx context.Context, o SubmitOptions) error {
	directory, err := jobsDirectory(o.JobsDir)
	if err != nil {
		return err
	}
	job, err := o.job(directory)
	if err != nil || o.DryRun {
		return err
	}
	if !o.Detach {
		return runJob(ctx, job, o)
	}
	ctx, cancel := context.WithTimeout(ctx, takeOver)
	defer cancel()
	if err := job.Detach(ctx, "submit", "--jobs-dir", string(directory), "--resume", job.ID); err != nil {
		return err
	}
	_, err = fmt.Fprintln(o.Out, job.ID)
	return err
}

func jobsDirectory(dir string) (jobs.Directory, error) {
	if dir == "" {
		return jobs.DefaultDirectory()
	}
	dir, err := filepath.Abs(dir)
	return jobs.Directory(dir), err
}

// job makes the job, or finds the one to go on with. A dry run prints instead.
func (o SubmitOptions) job(directory jobs.Directory) (jobs.Job, error) {
	if o.Resume != "" {
		if o.ID != "" || o.ConfigFile != "" || len(o.Set) > 0 || o.DryRun {
			return jobs.Job{}, errors.New("a job is gone on with as it was submitted: give --resume without settings")
		}
		return directory.Open(o.Resume)
	}
	config := submit.Default()
	if err := settings.Load(o.ConfigFile, o.Set, &config); err != nil {
		return jobs.Job{}, err
	}
	if err := config.Validate(); err != nil {
		return jobs.Job{}, err
	}
	if config.Input.Parquet != "" {
		if _, err := os.Stat(config.Input.Parquet); err != nil {
			return jobs.Job{}, fmt.Errorf("input.parquet: %w", err)
		}
	}
	for _, path := range config.Paths() { // the job may be gone on with from elsewhere
		if *path == "" {
			continue
		}
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return jobs.Job{}, fmt.Errorf("finding %s: %w", *path, err)
		}
		*path = absolute
	}
	if o.DryRun {
		text, err := settings.Print(config.Resolved())
		if err != nil {
			return jobs.Job{}, err
		}
		_, err = io.WriteString(o.Out, text)
		return jobs.Job{}, err
	}
	text, err := settings.Print(config)
	if err != nil {
		return jobs.Job{}, err
	}
	now := time.Now()
	status := jobs.Status{ID: o.ID, State: jobs.Running, Stages: config.Stages, Submitted: now}
	if status.ID == "" {
		status.ID = jobs.NewID(now)
	}
	// Until a process takes it over, the job is of the one that submits it.
	if status.Process, err = jobs.Self(); err != nil {
		return jobs.Job{}, err
	}
	return directory.Create(status, text)
}

// runJob does a job in this process and shows it.
func runJob(ctx context.Context, job jobs.Job, o SubmitOptions) error {
	lock, err := embedded.LockDir(job.Dir)
	if err != nil {
		return fmt.Errorf("job %s must not be going on: %w", job.ID, err)
	}
	defer lock.Unlock()
	// From here signals are for the job: whoever finds the process in the status may
	// send one.
	ctx, drain, stop := jobSignals(ctx)
	defer stop()
	record, err := newRecorder(job)
	if err != nil {
		return err
	}
	log, err := job.OpenLog()
	if err != nil {
		return err
	}
	defer log.Close()
	screen := display.Open(o.Out)
	shown := screens{displays: []*display.Display{screen, display.New(display.Config{Out: log, Now: time.Now})}, recorder: record}
	slog.SetDefault(slog.New(slog.NewTextHandler(shown, &slog.HandlerOptions{Level: slog.LevelWarn})))
	shown.Note(fmt.Sprintf("job %s in %s", job.ID, job.Dir))

	result, err := doJob(ctx, job, drain, shown)
	status, err := record.end(ctx, result, err)
	for _, line := range countLines(status.Result) {
		shown.Note(line)
	}
	last := jobLine(status, o.JobsDir)
	for _, d := range shown.displays[1:] {
		d.Note(last)
	}
	for _, d := range shown.displays {
		d.Close()
	}
	if status.State != jobs.Done {
		return errors.Join(&JobEnded{State: status.State, Line: last}, err)
	}
	fmt.Fprintln(o.Out, last)
	return err
}

// doJob opens what the job needs in this process.
func doJob(ctx context.Context, job jobs.Job, drain <-chan struct{}, shown screens) (result submit.Result, err error) {
	var config submit.Config
	if err := settings.Load(job.ConfigFile(), nil, &config); err != nil {
		return result, err
	}
	if err := config.Validate(); err != nil {
		return result, err
	}
	cache, err := warmCache(ctx, shown)
	if err != nil {
		return result, err
	}
	brokers, closeBroker, err := openBrokers(job.Dir, config.Kafka)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, closeBroker()) }()
	return submit.Run(ctx, job.ID, config, submit.Environment{
		Dir: job.Dir, GoCache: cache, Brokers: brokers, Start: start, Cluster: onCluster(config.Runner, config.Flink), Observer: shown, Drain: drain,
	})
}

// JobEnded is the error of a job that has not done all.
type JobEnded struct {
	State jobs.State
	// Line says what became of it and how to go on.
	Line string
}

func (e *JobEnded) Error() string { return e.Line }

// ExitCode is what the process ends with.
func (e *JobEnded) ExitCode() int {
	switch e.State {
	case jobs.Drained:
		return 3
	case jobs.Cancelled:
		return 4
	}
	return 1
}

// errCancelled is the cause of the context of a job that was told to stop.
var errCancelled = errors.New("cancelled")

// jobSignals tells a job to drain at the first interrupt or at SIGUSR1, which may
// come as often as somebody likes, and ends ctx at the second interrupt or at
// SIGTERM.
func jobSignals(ctx context.Context) (_ context.Context, drain <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	drained := make(chan struct{})
	caught := make(chan os.Signal, 4)
	signal.Notify(caught, os.Interrupt, drainSignal, cancelSignal)
	go func() {
		draining := false
		for {
			var s os.Signal
			select {
			case <-ctx.Done():
				return
			case s = <-caught:
			}
			switch {
			case s == cancelSignal, s == os.Interrupt && draining:
				cancel(errCancelled)
				return
			case !draining:
				draining = true
				close(drained)
			}
		}
	}()
	return ctx, drained, func() {
		signal.Stop(caught)
		cancel(nil)
	}
}

// What "millrace jobs drain" and "millrace jobs cancel" send.
const (
	drainSignal  = syscall.SIGUSR1
	cancelSignal = syscall.SIGTERM
)

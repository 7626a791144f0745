// Package local runs whole pipelines in this process: it owns the run directory,
// the broker, the Beam runner, signals and what a person sees.
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

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/prometheus/client_golang/prometheus"

	"millrace/pipelines/journal"
	"millrace/pipelines/settings"
	"millrace/pipelines/stage"
	"millrace/pipelines/train"
	"millrace/runners/display"
	"millrace/runners/embedded"
	"millrace/runners/flink"
	"millrace/runners/metrics"
	"millrace/transforms/kafkaio"
	"millrace/transforms/rollout"
	"millrace/transforms/sandbox"
)

// TrainOptions are what the command line says beside the configuration.
type TrainOptions struct {
	// Dir is the run directory.
	Dir string
	// ConfigFile and Set are the layers over the defaults, in this order.
	ConfigFile string
	Set        []string
	// Resume goes on with the run in Dir, with its own configuration.
	Resume bool
	// DryRun prints the resolved configuration and does nothing.
	DryRun bool
	// MetricsAddr is where Prometheus may scrape; empty serves nothing.
	MetricsAddr string
	Out         *os.File
}

const configFile = "config.yaml"

// Train runs "millrace train".
func Train(ctx context.Context, o TrainOptions) error {
	config, err := resolve(o)
	if err != nil {
		return err
	}
	if o.DryRun {
		text, err := settings.Print(config.Resolved())
		if err != nil {
			return err
		}
		_, err = io.WriteString(o.Out, text)
		return err
	}
	lock, err := claim(o)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	screen := display.Open(o.Out)
	slog.SetDefault(slog.New(slog.NewTextHandler(screen, &slog.HandlerOptions{Level: slog.LevelWarn})))
	result, err := runTrain(ctx, o, config, screen)
	screen.Close()
	if errors.Is(err, train.ErrDrained) {
		fmt.Fprintf(o.Out, "stopped after step %d; go on with: millrace train --dir %s --resume\n", result.Steps, o.Dir)
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(o.Out, result.Summary())
	return nil
}

// resolve layers the configuration: defaults, or the run's own when it is
// resumed; the file; single values.
func resolve(o TrainOptions) (train.Config, error) {
	config := train.Default()
	if o.Resume {
		saved := filepath.Join(o.Dir, configFile)
		if err := settings.Load(saved, nil, &config); err != nil {
			return config, fmt.Errorf("nothing to resume in %s: %w", o.Dir, err)
		}
	}
	if err := settings.Load(o.ConfigFile, o.Set, &config); err != nil {
		return config, err
	}
	return config, config.Validate()
}

// claim locks the run directory. A directory that holds a run is only taken to
// resume it.
func claim(o TrainOptions) (*embedded.Lock, error) {
	lock, err := embedded.LockDir(o.Dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(o.Dir, configFile)); err == nil && !o.Resume {
		return nil, errors.Join(fmt.Errorf("%s holds a run: go on with it by --resume, or choose another --dir", o.Dir), lock.Unlock())
	}
	return lock, nil
}

func save(dir string, c train.Config) error {
	text, err := settings.Print(c)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, configFile), []byte(text), 0o644); err != nil {
		return fmt.Errorf("saving the configuration: %w", err)
	}
	return nil
}

func runTrain(ctx context.Context, o TrainOptions, config train.Config, screen *display.Display) (result train.Result, err error) {
	ctx, drain, stop := signals(ctx)
	defer stop()
	cache := ""
	if config.Tasks.InSandboxes() {
		if cache, err = warmCache(ctx, screen); err != nil {
			return result, err
		}
	}
	brokers, closeBroker, err := openBrokers(o.Dir, config.Kafka)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, closeBroker()) }()
	if o.MetricsAddr != "" {
		server, err := serveMetrics(o.MetricsAddr)
		if err != nil {
			return result, err
		}
		defer server.Close()
	}
	log, err := journal.Open(o.Dir)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	recorded, err := journal.Read(o.Dir)
	if err != nil {
		return result, err
	}
	result, err = train.Run(ctx, config, train.Environment{
		Dir: o.Dir, GoCache: cache, Brokers: brokers, Start: start, Cluster: onCluster(config.Runner, config.Flink),
		Observer: observer{screen}, Journal: log, Recorded: recorded, Drain: drain,
		// Only now is there a run: one that named a file that is not there may be
		// corrected and started again in the same directory.
		Begin: func() error { return save(o.Dir, config) },
	})
	if err != nil && !errors.Is(err, train.ErrDrained) {
		return result, err
	}
	screen.Phase("writing report and data", 0)
	return result, errors.Join(err, writeOutputs(ctx, o.Dir, config, brokers, screen))
}

// start runs a pipeline on the process's own Prism.
func start(ctx context.Context, name string, p *beam.Pipeline) (stage.Job, error) {
	job, err := embedded.RunJob(ctx, name, p)
	if err != nil {
		return nil, err
	}
	return job, nil
}

// onCluster runs pipelines on the cluster that the configuration names, if it
// does.
func onCluster(runner string, c stage.FlinkConfig) stage.Start {
	if runner != train.Flink {
		return nil
	}
	return flink.Start(c)
}

// signals turns the first interrupt into a drain and the second into the end of
// ctx.
func signals(ctx context.Context) (_ context.Context, drain <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	drained := make(chan struct{})
	caught := make(chan os.Signal, 2)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-caught:
			}
			if n > 0 {
				cancel(errors.New("stopped by a second interrupt; the run can be resumed"))
				return
			}
			close(drained)
		}
	}()
	return ctx, drained, func() {
		signal.Stop(caught)
		cancel(nil)
	}
}

// warmCache fills the Go build cache that all sandboxes of this user share.
func warmCache(ctx context.Context, screen interface{ Phase(name string, total int) }) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding a place for the sandboxes' build cache: %w", err)
	}
	cache := filepath.Join(base, "millrace", "go-build")
	screen.Phase("building the standard library for the sandboxes (once)", 0)
	return cache, sandbox.ProcessConfig{Cache: cache}.Warm(ctx)
}

func serveMetrics(addr string) (*metrics.Server, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(kafkaio.Collector())
	registry.MustRegister(rollout.Collectors()...)
	return metrics.Serve(addr, registry)
}

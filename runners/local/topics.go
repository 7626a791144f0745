package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"millrace/pipelines/settings"
	"millrace/pipelines/topics"
	"millrace/pipelines/train"
	"millrace/runners/embedded"
)

// TopicsOptions say which topics are looked at, and where they are: on the
// brokers given, on those of a configuration, or with a run directory.
type TopicsOptions struct {
	// Brokers is "host:port[,host:port...]"; it is stronger than the configuration.
	Brokers string
	// ConfigFile is a configuration of train; its kafka section says how the
	// brokers are reached.
	ConfigFile string
	// Dir is the directory of a run that is not under way, or of one whose topics
	// are on a Kafka of its own.
	Dir string
	// Run names the run; empty takes the one of the directory or configuration.
	Run string
	// JSON writes for machines.
	JSON bool
	Out  io.Writer
}

// view is something to show.
type view interface {
	WriteTable(out io.Writer) error
}

// ListTopics runs "millrace topics list": the topics of one run, or all.
func ListTopics(ctx context.Context, o TopicsOptions) error {
	return o.show(func(brokers string, _ train.Config) (view, error) { return topics.OfRun(ctx, brokers, o.Run) })
}

// DescribeTopic runs "millrace topics describe".
func DescribeTopic(ctx context.Context, o TopicsOptions, topic string) error {
	return o.show(func(brokers string, _ train.Config) (view, error) { return topics.Describe(ctx, brokers, topic) })
}

// TopicsLag runs "millrace topics lag": how far each stage of a run has read.
func TopicsLag(ctx context.Context, o TopicsOptions) error {
	return o.show(func(brokers string, c train.Config) (view, error) {
		run := o.Run
		if run == "" && o.Dir == "" && o.ConfigFile == "" {
			return nil, errors.New("which run: give --run, --dir or --config")
		}
		if run == "" {
			run = c.RunName()
		}
		return topics.Lag(ctx, brokers, run)
	})
}

// show opens the brokers, looks, and writes what was seen.
func (o TopicsOptions) show(look func(brokers string, c train.Config) (view, error)) (err error) {
	config, err := o.config()
	if err != nil {
		return err
	}
	if config.Kafka.Brokers == "" {
		// The run's own lock comes first: its message names the process to stop.
		lock, err := embedded.LockDir(o.Dir)
		if err != nil {
			return err
		}
		defer lock.Unlock()
	}
	brokers, closeBroker, err := openBrokers(o.Dir, config.Kafka)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeBroker()) }()
	seen, err := look(brokers, config)
	if err != nil {
		return err
	}
	if !o.JSON {
		return seen.WriteTable(o.Out)
	}
	encoder := json.NewEncoder(o.Out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(seen)
}

// config layers what says where the topics are.
func (o TopicsOptions) config() (train.Config, error) {
	config := train.Default()
	if o.Dir != "" {
		saved := filepath.Join(o.Dir, configFile)
		if _, err := os.Stat(saved); err != nil {
			return config, fmt.Errorf("%s holds no run: %w", o.Dir, err)
		}
		if err := settings.Load(saved, nil, &config); err != nil {
			return config, err
		}
	}
	if err := settings.Load(o.ConfigFile, nil, &config); err != nil {
		return config, err
	}
	if o.Brokers != "" {
		config.Kafka.Brokers = o.Brokers
	}
	if config.Kafka.Brokers == "" && o.Dir == "" {
		return config, errors.New("which topics: give --kafka, a --config that names kafka.brokers, or the --dir of a run")
	}
	return config, config.Validate()
}

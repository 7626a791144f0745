package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"millrace/pipelines/settings"
	"millrace/pipelines/train"
	"millrace/runners/flink"
)

// workerConfig is the environment variable that names a worker's YAML file, in
// train's form, of which kafka alone is used. A job names brokers; how this
// machine reaches them is its own affair.
const workerConfig = "MILLRACE_WORKER_CONFIG"

// Worker is the life of a worker process that a task manager or a pool started.
func Worker(ctx context.Context, args []string) (err error) {
	if file := os.Getenv(workerConfig); file != "" {
		config := train.Default()
		if err := settings.Load(file, nil, &config); err != nil {
			return err
		}
		if err := config.Kafka.Validate(); err != nil {
			return fmt.Errorf("%s: kafka.%w", file, err)
		}
		if config.Kafka.Brokers == "" {
			return fmt.Errorf("%s: kafka.brokers is empty", file)
		}
		_, closeBroker, openErr := openBrokers("", config.Kafka)
		if openErr != nil {
			return fmt.Errorf("%s: %w", file, openErr)
		}
		defer func() { err = errors.Join(err, closeBroker()) }()
	}
	return flink.Work(ctx, args)
}

// FlinkUp runs "millrace flink up".
func FlinkUp(ctx context.Context, c flink.ClusterConfig, out io.Writer) error {
	if err := flinkFetch(ctx, out); err != nil {
		return err
	}
	cluster, err := flink.Up(ctx, c)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("naming the worker: %w", err)
	}
	fmt.Fprintf(out, "Flink is up: http://%s\nrun stages on it with:\n  --set runner=flink --set flink.job_server=%s --set flink.rest=http://%s --set flink.worker=%s\n", cluster.REST, cluster.JobServer, cluster.REST, self)
	return nil
}

func flinkFetch(ctx context.Context, out io.Writer) error {
	if _, err := flink.Fetched(); err == nil {
		return nil
	}
	fmt.Fprintln(out, "fetching Apache Flink by Maven (once)")
	return flink.Fetch(ctx)
}

// FlinkDown runs "millrace flink down".
func FlinkDown(dir string) error {
	cluster, err := flink.Find(dir)
	if err != nil {
		return err
	}
	return cluster.Down()
}

// FlinkStatus runs "millrace flink status".
func FlinkStatus(ctx context.Context, dir string, out io.Writer) error {
	cluster, err := flink.Find(dir)
	if err != nil {
		return err
	}
	running := map[string]bool{}
	for _, p := range cluster.Running() {
		running[p.Name] = true
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, p := range cluster.Processes {
		state := "ended"
		if running[p.Name] {
			state = "runs"
		}
		fmt.Fprintf(table, "%s\t%d\t%s\n", p.Name, p.PID, state)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	o, err := cluster.Overview(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d task managers, %d of %d slots free, %d jobs running; http://%s, jobs to %s\n",
		o.TaskManagers, o.Free, o.Slots, o.Running, cluster.REST, cluster.JobServer)
	return nil
}

package flink

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness/init" // registers the harness's coders and hooks
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"

	"millrace/runners/jobserver"
)

// workerVariable is the environment variable by which this program knows that a
// task manager has started it: Beam's process environment passes arguments of
// its own and takes none of ours.
const workerVariable = "MILLRACE_WORKER"

// provisionTimeout bounds the first question to the task manager.
const provisionTimeout = 30 * time.Second

// IsWorker says that this process was started as a worker.
func IsWorker() bool { return os.Getenv(workerVariable) != "" }

// Work is the life of a worker: it runs the bundles that the task manager with
// the given arguments sends, and returns when that closes the connection or
// dies. The process must end then, and with it everything it had begun: a
// successor may already be reading the same partitions.
func Work(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("worker", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	id := flags.String("id", "", "")
	provision := flags.String("provision_endpoint", "", "")
	logging := flags.String("logging_endpoint", "", "")
	control := flags.String("control_endpoint", "", "")
	for _, unused := range []string{"artifact_endpoint", "semi_persist_dir", "options"} {
		flags.String(unused, "", "")
	}
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("worker: arguments of the task manager: %w", err)
	}
	ctx = grpcx.WriteWorkerID(ctx, *id)
	var options harness.Options
	if *provision != "" {
		ask, cancel := context.WithTimeout(ctx, provisionTimeout)
		defer cancel()
		info, err := tools.ProvisionInfo(ask, *provision)
		if err != nil {
			return fmt.Errorf("worker %s: asking %s what to do: %w", *id, *provision, jobserver.OneLine(err))
		}
		*logging, *control = first(*logging, info.GetLoggingEndpoint().GetUrl()), first(*control, info.GetControlEndpoint().GetUrl())
		options.RunnerCapabilities = info.GetRunnerCapabilities()
		options.StatusEndpoint = info.GetStatusEndpoint().GetUrl()
	}
	if *control == "" || *logging == "" {
		return errors.New("worker: the task manager names no control_endpoint and logging_endpoint: this is started by Flink, not by hand")
	}
	if !beam.Initialized() {
		beam.Init()
	}
	if err := harness.MainWithOptions(ctx, *logging, *control, options); err != nil {
		return fmt.Errorf("worker %s: %w", *id, jobserver.OneLine(err))
	}
	return nil
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

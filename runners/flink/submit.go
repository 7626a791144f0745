package flink

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"

	"millrace/pipelines/stage"
	"millrace/runners/jobserver"
	"millrace/transforms/kafkaio"
)

const (
	// bundleTime is how long Flink collects elements into one bundle. A source is
	// asked again only when its bundle has ended, so this is the latency of each
	// stage; a bundle costs a round trip to the worker.
	bundleTime = 50 * time.Millisecond
	// bundleSize bounds the elements of a bundle: the worker's connection takes
	// twenty messages before one slow bundle holds up the others.
	bundleSize = 1000
	// longest is longer than any job runs.
	longest = 100 * 365 * 24 * time.Hour
	// cancelTimeout bounds the request to cancel, and the wait for its effect.
	cancelTimeout = 2 * time.Minute
	// leftPatience is how long an earlier start is looked for, startPatience how long
	// one that was submitted: a busy JobManager does not list all jobs.
	leftPatience  = 300 * time.Millisecond
	startPatience = 10 * time.Second
)

// Start returns the function that submits pipelines to the cluster of c.
// Pipelines must not need anything of this process: an asynchronous stage has to
// carry the settings of its work.
func Start(c stage.FlinkConfig) stage.Start {
	return func(ctx context.Context, name string, p *beam.Pipeline) (stage.Job, error) {
		// Building the pipeline made a job of that name in this process, in which
		// nothing will run.
		defer kafkaio.Stop(name)
		job, err := cluster(c).submit(ctx, name, p)
		if err != nil {
			return nil, fmt.Errorf("flink %s: job %s: %w", c.JobServer, name, err)
		}
		return job, nil
	}
}

// cluster is where pipelines are submitted.
type cluster stage.FlinkConfig

func (c cluster) submit(ctx context.Context, name string, p *beam.Pipeline) (*Job, error) {
	if err := stage.FlinkConfig(c).Validate(); err != nil {
		return nil, err
	}
	if !beam.Initialized() {
		beam.Init()
	}
	edges, _, err := p.Build()
	if err != nil {
		return nil, fmt.Errorf("building the pipeline: %w", err)
	}
	pipeline, err := c.marshal(ctx, edges)
	if err != nil {
		return nil, err
	}
	connection, err := grpc.NewClient(c.JobServer, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	manager := rest(strings.TrimRight(c.REST, "/"))
	// What an earlier process left running would read and commit beside this one.
	if err := manager.end(ctx, startsOf(name), leftPatience); err != nil {
		_ = connection.Close() // nothing was made of it
		return nil, err
	}
	job := &Job{name: name, start: newStart(name), server: c.JobServer, manager: manager, connection: connection, service: jobpb.NewJobServiceClient(connection), done: make(chan struct{})}
	if job.id, err = jobserver.Run(ctx, job.service, job.start, pipeline, c.options(kafkaio.Endless(edges))); err != nil {
		_ = connection.Close() // nothing was made of it
		return nil, err
	}
	go job.watch()
	return job, nil
}

// newStart is what the cluster calls a job: its name and a mark of this start, so
// that it is not taken for an earlier one.
func newStart(name string) string { return fmt.Sprintf("%s~%08x", name, rand.Uint32()) }

// startsOf matches every start of a job.
func startsOf(name string) func(string) bool {
	return func(start string) bool { return strings.HasPrefix(start, name+"~") }
}

// marshal serialises the pipeline and says which worker runs it.
func (c cluster) marshal(ctx context.Context, edges []*graph.MultiEdge) (*pipepb.Pipeline, error) {
	urn, payload := graphx.URNEnvExternal, c.Pool
	if c.Worker != "" {
		urn = graphx.URNEnvProcess
		process, err := protojson.Marshal(&pipepb.ProcessPayload{Command: c.Worker, Env: map[string]string{workerVariable: "beam"}})
		if err != nil {
			return nil, fmt.Errorf("describing the worker: %w", err)
		}
		payload = string(process)
	}
	environment, err := graphx.CreateEnvironment(ctx, urn, func(context.Context) string { return payload })
	if err != nil {
		return nil, fmt.Errorf("describing the worker: %w", err)
	}
	pipeline, err := graphx.Marshal(edges, &graphx.Options{Environment: environment})
	if err != nil {
		return nil, fmt.Errorf("serialising the pipeline: %w", err)
	}
	return pipeline, nil
}

// options are the runner's options.
//
// Every job is a streaming one, a bounded job too: its source then waits for
// the commits downstream, which in a batch job begin only when it has ended.
func (c cluster) options(endless bool) map[string]any {
	values := map[string]any{
		"streaming":   true,
		"experiments": []any{"beam_fn_api"},
		"parallelism": c.Parallelism,
		// Flink keeps a table of state for each of so many ranges of keys, and Beam
		// before 2.76 makes a new set of tables each time a source hands back.
		"max_parallelism":       c.Parallelism,
		"max_bundle_size":       bundleSize,
		"max_bundle_time_mills": bundleTime.Milliseconds(),
		"execution_retry_delay": c.RetryDelay.Milliseconds(),
		// The number of attempts, of which the first is no retry.
		"number_of_execution_retries": c.Retries,
		// Behind an impulse that has ended Beam looks at a source in a loop, whatever
		// pause it asks for: a whole core, and more than 1 MB/s of a task manager's
		// memory. So the impulse of a job without an end stays open.
		"shutdown_sources_after_idle_ms": 0,
	}
	if endless {
		values["shutdown_sources_after_idle_ms"] = longest.Milliseconds()
	}
	if c.Checkpoint > 0 {
		values["checkpointing_interval"] = c.Checkpoint.Milliseconds()
	}
	return values
}

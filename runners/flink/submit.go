package flink

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"millrace/pipelines/stage"
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
	// cancelTimeout bounds the request to cancel, and the wait for its effect.
	cancelTimeout = time.Minute
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
	pipeline, err := c.marshal(ctx, p)
	if err != nil {
		return nil, err
	}
	options, err := c.options(name)
	if err != nil {
		return nil, err
	}
	connection, err := grpc.NewClient(c.JobServer, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	manager := rest(strings.TrimRight(c.REST, "/"))
	// What an earlier process left running would read and commit beside this one.
	if err := manager.end(ctx, name); err != nil {
		_ = connection.Close() // nothing was made of it
		return nil, err
	}
	job := &Job{name: name, server: c.JobServer, manager: manager, connection: connection, service: jobpb.NewJobServiceClient(connection), done: make(chan struct{})}
	if job.id, err = c.run(ctx, job.service, name, pipeline, options); err != nil {
		_ = connection.Close() // nothing was made of it
		return nil, oneLine(err)
	}
	go job.watch()
	return job, nil
}

// marshal serialises the pipeline and says which worker runs it.
func (c cluster) marshal(ctx context.Context, p *beam.Pipeline) (*pipepb.Pipeline, error) {
	if !beam.Initialized() {
		beam.Init()
	}
	edges, _, err := p.Build()
	if err != nil {
		return nil, fmt.Errorf("building the pipeline: %w", err)
	}
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

// options are the runner's options; Beam's own Go client sends only two of them.
//
// Every job is a streaming one, a bounded job too: its source then waits for
// the commits downstream, which in a batch job begin only when it has ended.
func (c cluster) options(name string) (*structpb.Struct, error) {
	values := map[string]any{
		"beam:option:app_name:v1":    name,
		"beam:option:job_name:v1":    name,
		"beam:option:streaming:v1":   true,
		"beam:option:experiments:v1": []any{"beam_fn_api"},
		"beam:option:parallelism:v1": c.Parallelism,
		// Flink keeps a table of state for each of so many ranges of keys, and Beam
		// before 2.76 makes a new set of tables each time a source hands back.
		"beam:option:max_parallelism:v1":       c.Parallelism,
		"beam:option:max_bundle_size:v1":       bundleSize,
		"beam:option:max_bundle_time_mills:v1": bundleTime.Milliseconds(),
		"beam:option:execution_retry_delay:v1": c.RetryDelay.Milliseconds(),
		// The number of attempts, of which the first is no retry.
		"beam:option:number_of_execution_retries:v1": c.Retries,
	}
	if c.Checkpoint > 0 {
		values["beam:option:checkpointing_interval:v1"] = c.Checkpoint.Milliseconds()
	}
	options, err := structpb.NewStruct(values)
	if err != nil {
		return nil, fmt.Errorf("describing the options: %w", err)
	}
	return options, nil
}

// run hands the job over. The protocol wants a worker binary to be staged; ours
// is where the task managers are, so an empty file stands for it.
func (c cluster) run(ctx context.Context, service jobpb.JobServiceClient, name string, pipeline *pipepb.Pipeline, options *structpb.Struct) (string, error) {
	binary, err := os.CreateTemp("", "millrace-worker-*")
	if err != nil {
		return "", fmt.Errorf("making the worker's placeholder: %w", err)
	}
	defer os.Remove(binary.Name())
	if err := binary.Close(); err != nil {
		return "", fmt.Errorf("making the worker's placeholder: %w", err)
	}
	if err := runnerlib.UpdateGoEnvironmentWorker(binary.Name(), pipeline); err != nil {
		return "", fmt.Errorf("describing the worker: %w", err)
	}
	prepared, err := service.Prepare(ctx, &jobpb.PrepareJobRequest{Pipeline: pipeline, PipelineOptions: options, JobName: name})
	if err != nil {
		return "", fmt.Errorf("preparing: %w", err)
	}
	token, err := runnerlib.Stage(ctx, prepared.GetPreparationId(), prepared.GetArtifactStagingEndpoint().GetUrl(), binary.Name(), prepared.GetStagingSessionToken())
	if err != nil {
		return "", fmt.Errorf("staging: %w", err)
	}
	return runnerlib.Submit(ctx, service, prepared.GetPreparationId(), token)
}

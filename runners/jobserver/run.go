package jobserver

import (
	"context"
	"fmt"
	"os"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
	"google.golang.org/protobuf/types/known/structpb"
)

// Run hands a pipeline over under the given name and returns what the service
// calls the job. options are added to those that every job has, by the part of
// their names between "beam:option:" and ":v1".
func Run(ctx context.Context, service jobpb.JobServiceClient, name string, pipeline *pipepb.Pipeline, options map[string]any) (id string, err error) {
	values := map[string]any{
		"beam:option:app_name:v1": name,
		"beam:option:job_name:v1": name,
	}
	for key, value := range options {
		values["beam:option:"+key+":v1"] = value
	}
	described, err := structpb.NewStruct(values)
	if err != nil {
		return "", fmt.Errorf("describing the options: %w", err)
	}
	// The protocol wants a worker binary to be staged; ours is where the work is
	// done, so an empty file stands for it.
	binary, err := os.CreateTemp("", "millrace-worker-*")
	if err != nil {
		return "", fmt.Errorf("making the worker's stand-in: %w", err)
	}
	defer os.Remove(binary.Name())
	if err := binary.Close(); err != nil {
		return "", fmt.Errorf("making the worker's stand-in: %w", err)
	}
	if err := runnerlib.UpdateGoEnvironmentWorker(binary.Name(), pipeline); err != nil {
		return "", fmt.Errorf("describing the worker: %w", err)
	}
	prepared, err := service.Prepare(ctx, &jobpb.PrepareJobRequest{Pipeline: pipeline, PipelineOptions: described, JobName: name})
	if err != nil {
		return "", fmt.Errorf("preparing: %w", OneLine(err))
	}
	token, err := runnerlib.Stage(ctx, prepared.GetPreparationId(), prepared.GetArtifactStagingEndpoint().GetUrl(), binary.Name(), prepared.GetStagingSessionToken())
	if err != nil {
		return "", fmt.Errorf("staging: %w", OneLine(err))
	}
	id, err = runnerlib.Submit(ctx, service, prepared.GetPreparationId(), token)
	if err != nil {
		return "", OneLine(err)
	}
	return id, nil
}

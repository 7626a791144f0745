package embedded

import (
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// TestLateDemandForWorkers asks, as Prism does for a job that ended before it
// came to ask: any other answer than yes would end the process.
func TestLateDemandForWorkers(t *testing.T) {
	pool, err := startWorkers()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient(pool.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client := fnpb.NewBeamFnExternalWorkerPoolClient(conn)
	nowhere := &pipepb.ApiServiceDescriptor{Url: "127.0.0.1:1"}
	for _, dismissed := range []bool{false, true} {
		crew := pool.hire()
		if dismissed {
			crew.dismiss()
		}
		answer, err := client.StartWorker(t.Context(), &fnpb.StartWorkerRequest{
			WorkerId: "job_go", ControlEndpoint: nowhere, LoggingEndpoint: nowhere, ProvisionEndpoint: nowhere,
			Params: map[string]string{crewParam: crew.name},
		})
		if err != nil || answer.GetError() != "" {
			t.Errorf("dismissed %v: %v, %q", dismissed, err, answer.GetError())
		}
		if started := len(crew.one) == 1; started == dismissed {
			t.Errorf("dismissed %v: worker started %v", dismissed, started)
		}
		if answer, err := client.StopWorker(t.Context(), &fnpb.StopWorkerRequest{WorkerId: "job_go"}); err != nil || answer.GetError() != "" {
			t.Errorf("dismissed %v: stopping: %v, %q", dismissed, err, answer.GetError())
		}
		crew.dismiss()
		if err := crew.ctx.Err(); err == nil {
			t.Error("a dismissed crew works on")
		}
	}
}

// TestShortJobs runs jobs that are over almost before Prism has asked for their
// workers.
func TestShortJobs(t *testing.T) {
	for range 20 {
		p, s := beam.NewPipelineWithRoot()
		beam.Create(s, 1)
		job, err := RunJob(t.Context(), t.Name(), p)
		if err != nil {
			t.Fatal(err)
		}
		if err := job.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

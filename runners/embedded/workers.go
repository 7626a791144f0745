package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/protox"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
)

// crewParam names the crew in the parameters of a pipeline's environment.
const crewParam = "crew"

// workers starts the SDK's harnesses inside this process when Prism asks for
// them. There is one for the process and it never stops listening: Prism asks
// for a job's workers from goroutines of their own, so that a short job may have
// ended before it asks, and a refusal, or nobody there, is a panic of Prism that
// ends the process. Who asks too late is told yes and gets no worker. (Beam's own
// extworker.Loopback is one listener a job and refuses.)
type workers struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer

	addr string

	mu    sync.Mutex
	hired int              // crews so far, for their names
	crews map[string]*crew // of the running jobs, by name
}

// crew is the workers of one job.
type crew struct {
	pool *workers
	name string
	ctx  context.Context // ends when the crew is dismissed; without a deadline, which Beam would die of
	end  context.CancelFunc
	one  map[string]context.CancelFunc // by the worker's id
}

// startWorkers listens on the loopback interface.
func startWorkers() (*workers, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the runner's demands for workers: %w", err)
	}
	w := &workers{addr: listener.Addr().String(), crews: make(map[string]*crew)}
	server := grpc.NewServer()
	fnpb.RegisterBeamFnExternalWorkerPoolServer(server, w)
	go func() { _ = server.Serve(listener) }() // ends with the process
	return w, nil
}

// hire opens a crew for a job.
func (w *workers) hire() *crew {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hired++
	c := &crew{pool: w, name: strconv.Itoa(w.hired), one: make(map[string]context.CancelFunc)}
	c.ctx, c.end = context.WithCancel(context.Background())
	w.crews[c.name] = c
	return c
}

// dismiss ends the crew's workers; none starts from now on.
func (c *crew) dismiss() {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	delete(c.pool.crews, c.name)
	c.end()
}

// environment describes the crew to a runner.
func (c *crew) environment(ctx context.Context) (*pipepb.Environment, error) {
	environment, err := graphx.CreateEnvironment(ctx, graphx.URNEnvExternal, func(context.Context) string { return c.pool.addr })
	if err != nil {
		return nil, err
	}
	environment.Payload = protox.MustEncode(&pipepb.ExternalPayload{
		Endpoint: &pipepb.ApiServiceDescriptor{Url: c.pool.addr},
		Params:   map[string]string{crewParam: c.name},
	})
	return environment, nil
}

// StartWorker is a demand of Prism. It fails only where the demand is not one of
// Prism's.
func (w *workers) StartWorker(_ context.Context, demand *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	logging, control := demand.GetLoggingEndpoint(), demand.GetControlEndpoint()
	if logging == nil || control == nil {
		return nil, errors.New("a worker needs a logging and a control endpoint")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.crews[demand.GetParams()[crewParam]]
	if c == nil {
		return &fnpb.StartWorkerResponse{}, nil
	}
	ctx, end := context.WithCancel(withMarks(grpcx.WriteWorkerID(c.ctx, demand.GetWorkerId())))
	c.one[demand.GetWorkerId()] = end
	go func() {
		var options harness.Options
		if info, err := tools.ProvisionInfo(ctx, demand.GetProvisionEndpoint().GetUrl()); err == nil {
			options.RunnerCapabilities = info.GetRunnerCapabilities()
		}
		// What went wrong, Prism sees from its end of the connection.
		_ = harness.MainWithOptions(ctx, logging.GetUrl(), control.GetUrl(), options)
	}()
	return &fnpb.StartWorkerResponse{}, nil
}

// StopWorker ends one worker, if it runs.
func (w *workers) StopWorker(_ context.Context, demand *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.crews {
		if end, ok := c.one[demand.GetWorkerId()]; ok {
			end()
			delete(c.one, demand.GetWorkerId())
		}
	}
	return &fnpb.StopWorkerResponse{}, nil
}

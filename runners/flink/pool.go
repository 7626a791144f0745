package flink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"google.golang.org/grpc"
)

// ServePool starts a worker process, of this program, for each request of the
// task manager beside it, until ctx ends or the process is told to. It is Beam's
// external environment: for task managers in containers that hold Java alone.
func ServePool(ctx context.Context, address string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("worker pool: naming this program: %w", err)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("worker pool: %w", err)
	}
	server := grpc.NewServer()
	p := &pool{ctx: ctx, self: self, workers: make(map[string]*exec.Cmd)}
	fnpb.RegisterBeamFnExternalWorkerPoolServer(server, p)
	defer context.AfterFunc(ctx, server.Stop)()
	slog.Info("worker pool listens", "address", listener.Addr())
	err = server.Serve(listener)
	stop()
	p.running.Wait()
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("worker pool: %w", err)
	}
	return nil
}

// pool keeps the worker processes of one machine. A worker has a process of its
// own, because it ends with the job and takes with it what it had begun.
type pool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer
	ctx  context.Context
	self string

	running sync.WaitGroup
	mu      sync.Mutex // guards workers
	workers map[string]*exec.Cmd
}

// StartWorker is called by a task manager.
func (p *pool) StartWorker(_ context.Context, r *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	if err := p.start(r); err != nil {
		return &fnpb.StartWorkerResponse{Error: err.Error()}, nil
	}
	return &fnpb.StartWorkerResponse{}, nil
}

func (p *pool) start(r *fnpb.StartWorkerRequest) error {
	id := r.GetWorkerId()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.workers[id] != nil {
		return fmt.Errorf("worker %s runs already", id)
	}
	worker := exec.CommandContext(p.ctx, p.self,
		"--id="+id,
		"--provision_endpoint="+r.GetProvisionEndpoint().GetUrl(),
		"--control_endpoint="+r.GetControlEndpoint().GetUrl(),
		"--logging_endpoint="+r.GetLoggingEndpoint().GetUrl())
	worker.Env = append(os.Environ(), workerVariable+"=beam")
	worker.Stdout, worker.Stderr = os.Stdout, os.Stderr
	if err := worker.Start(); err != nil {
		return fmt.Errorf("starting worker %s: %w", id, err)
	}
	p.workers[id] = worker
	p.running.Go(func() {
		if err := worker.Wait(); err != nil {
			slog.Warn("worker ended", "id", id, "error", err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.workers, id)
	})
	return nil
}

// StopWorker is called by a task manager; a worker that has ended is no error.
func (p *pool) StopWorker(_ context.Context, r *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if worker := p.workers[r.GetWorkerId()]; worker != nil {
		if err := worker.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return &fnpb.StopWorkerResponse{Error: err.Error()}, nil
		}
	}
	return &fnpb.StopWorkerResponse{}, nil
}

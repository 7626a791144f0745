package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness/init" // lets workers run in this process
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
)

// prismStart bounds how long Prism may take to listen.
const prismStart = 10 * time.Second

// server is a running Prism and what it asks for workers.
type server struct {
	jobs    jobpb.JobServiceClient
	workers *workers
}

// startPrism returns the process's one Prism, which the first job starts. Prism
// offers no choice of the interface and listens on all of them, without
// authentication, for whoever wants to run a pipeline; so its socket is bound to
// the loopback device right after it was made. The port is taken from the kernel
// first, since Prism tells nobody which one it got.
var startPrism = sync.OnceValues(func() (*server, error) {
	initBeam()
	workers, err := startWorkers()
	if err != nil {
		return nil, fmt.Errorf("starting the embedded runner: %w", err)
	}
	// Between asking for a free port and Prism's listening somebody else may
	// take it, so a few are tried.
	for range 5 {
		var port int
		if port, err = freePort(); err != nil {
			continue
		}
		var jobs jobpb.JobServiceClient
		if jobs, err = createPrism(port); err != nil {
			continue
		}
		if err = toLoopback(port); err != nil {
			break
		}
		return &server{jobs: jobs, workers: workers}, nil
	}
	return nil, fmt.Errorf("starting the embedded runner: %w", err)
})

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// createPrism turns Prism's panic at a busy port into an error.
func createPrism(port int) (client jobpb.JobServiceClient, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New(fmt.Sprint(p))
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), prismStart)
	defer cancel()
	return prism.CreateJobServer(ctx, prism.Options{Port: port})
}

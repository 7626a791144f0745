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

// server is the process's one Prism, started by the first job.
var server struct {
	once sync.Once
	jobs jobpb.JobServiceClient
	addr string
	err  error
}

// startPrism returns the job service of the process's Prism. Prism offers no
// choice of the interface and listens on all of them, without authentication,
// for whoever wants to run a pipeline; so its socket is bound to the loopback
// device right after it was made. The port is taken from the kernel first,
// since Prism tells nobody which one it got.
func startPrism() (jobpb.JobServiceClient, string, error) {
	server.once.Do(func() {
		initBeam()
		// Between asking for a free port and Prism's listening somebody else may
		// take it, so a few are tried.
		for range 5 {
			var port int
			if port, server.err = freePort(); server.err != nil {
				continue
			}
			if server.jobs, server.err = createPrism(port); server.err == nil {
				server.addr = fmt.Sprintf("localhost:%d", port)
				server.err = toLoopback(port)
				return
			}
		}
	})
	if server.err != nil {
		return nil, "", fmt.Errorf("starting the embedded runner: %w", server.err)
	}
	return server.jobs, server.addr, nil
}

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

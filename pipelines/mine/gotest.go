package mine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"millrace/schemas"
	"millrace/transforms/testlog"
)

const (
	// runDeadline bounds one "go test" with its build. A build takes a third of
	// a second; two minutes are reached only by a machine in trouble.
	runDeadline = 2 * time.Minute
	// runMemoryKiB bounds the address space of the go command and each of its
	// children, since a fault may allocate without end.
	runMemoryKiB = 3 << 20
)

// runEnv makes a fresh build of a tiny package cheap (about 0.3 CPU seconds)
// and independent of the user's settings. The memory limit is for compilers
// that find an empty build cache: without it they would never collect.
var runEnv = []string{
	"GOGC=off", "GOMEMLIMIT=1GiB", "GOMAXPROCS=1", "CGO_ENABLED=0",
	"GOFLAGS=-vet=off", "GOPROXY=off", "GOTOOLCHAIN=local", "GOWORK=off", "GOENV=off",
}

// testRun is what one "go test -json" came to.
type testRun struct {
	testlog.Results
	// Output is all that the command wrote; Results.Text keeps the end only.
	Output string
}

// goTest runs "go test -json" on files in a new directory, with a time limit
// for the tests. It is for the corpus, whose code is ours; what a model wrote is
// run in a sandbox only. The error is about the run, never about tests that
// fail.
func goTest(ctx context.Context, files []schemas.File, limit time.Duration) (testRun, error) {
	dir, err := os.MkdirTemp("", "millrace-mine-")
	if err != nil {
		return testRun{}, fmt.Errorf("making a workspace: %w", err)
	}
	defer os.RemoveAll(dir)
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Path), []byte(f.Content), 0o600); err != nil {
			return testRun{}, fmt.Errorf("writing a workspace: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, runDeadline)
	defer cancel()
	// Where the shell knows no such limit, the time limit has to do.
	const script = `ulimit -v "$0" 2>/dev/null; exec go test -json -count=1 -timeout "$1" .`
	cmd := exec.CommandContext(ctx, "sh", "-c", script, strconv.Itoa(runMemoryKiB), limit.String())
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), runEnv...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	killTogether(cmd)
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if ctx.Err() != nil {
		return testRun{}, fmt.Errorf("running go test: %w", context.Cause(ctx))
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return testRun{}, fmt.Errorf("running go test: %w", err)
	}
	results, err := testlog.Parse(testlog.GoTestJSON, out.String(), testlog.Options{})
	if err != nil {
		return testRun{}, fmt.Errorf("running go test: %w", err)
	}
	r := testRun{Results: results, Output: out.String()}
	if r.Trouble != "" {
		return r, fmt.Errorf("running go test: %s", r.Trouble)
	}
	if len(r.Verdicts) == 0 {
		return r, fmt.Errorf("running go test: no test ran: %s", strings.TrimSpace(r.Text))
	}
	return r, nil
}

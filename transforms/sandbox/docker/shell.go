package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/pkg/stdcopy"

	"millrace/transforms/sandbox"
)

// shell is the first process of a container: a POSIX shell that reads its
// script from the pipe that we write to, one command after the other.
//
// Being process 1 it cannot be killed from inside the container, it inherits
// and reaps what commands leave behind, and "kill -9 -1" of its own spares it
// alone. A command is a child of it, so signals are as in any shell, and its
// standard input is empty, so that it cannot read our script.
//
// A process that ran in the container as the shell's own user may still trace it or
// write to its pipes. It then answers for what it says in its own name; the
// worst it gains is a container that must be started again.
type shell struct {
	conn   types.HijackedResponse
	gone   chan struct{} // closed when the stream has ended
	errors *sandbox.Output

	mu      sync.Mutex // guards current
	current *call
}

// call is one command under way.
type call struct {
	marks *marks
	total int64
	ended chan struct{}
}

// errShellGone is the end of the stream: the container died.
var errShellGone = errors.New("the container's shell is gone")

// keptErrors bounds what is kept of the shell's own complaints.
const keptErrors = 4 << 10

func openShell(conn types.HijackedResponse) *shell {
	s := &shell{conn: conn, gone: make(chan struct{}), errors: sandbox.NewOutput(keptErrors)}
	go s.read()
	return s
}

// read takes the stream apart until it ends.
func (s *shell) read() {
	defer close(s.gone)
	// The end of the stream and a broken one are the same to everybody who waits.
	_, _ = stdcopy.StdCopy(writer(s.stdout), writer(s.complain), s.conn.Reader)
}

type writer func([]byte) error

func (w writer) Write(p []byte) (int, error) { return len(p), w(p) }

func (s *shell) complain(p []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.errors.Write(p)
	return err
}

// A command that prints for ever then mostly waits on its full pipe, and costs
// neither the daemon nor us a core until its deadline.
const (
	freeOutput = 32 << 20 // bytes that are read at full speed
	// slowRead bounds the rate afterwards: a pause for each frame of at most 16 KiB.
	slowRead = time.Millisecond
)

func (s *shell) stdout(p []byte) error {
	s.mu.Lock()
	c := s.current
	if c == nil {
		s.mu.Unlock()
		return nil
	}
	_, err := c.marks.Write(p)
	c.total += int64(len(p))
	if c.marks.done {
		s.current = nil
		close(c.ended)
	}
	s.mu.Unlock()
	if c.total > freeOutput {
		time.Sleep(slowRead)
	}
	return err
}

// begin has the shell run a script, whose output goes to the writer until the
// call has ended.
func (s *shell) begin(script string, to io.Writer) (*call, error) {
	nonce := rand.Text()
	c := &call{marks: newMarks(nonce, to), ended: make(chan struct{})}
	s.mu.Lock()
	s.current = c
	s.mu.Unlock()
	text := fmt.Sprintf("printf '\\036%s+\\036'\n%s\nC=$?; kill -9 -1 2>/dev/null; printf '\\036%s-%%d\\036' \"$C\"\n", nonce, script, nonce)
	if _, err := io.WriteString(s.conn.Conn, text); err != nil {
		return nil, fmt.Errorf("%w: %w", errShellGone, err)
	}
	return c, nil
}

// wait waits for the end of a call. After the error of ctx the call is still
// under way.
func (s *shell) wait(ctx context.Context, c *call) (status int, err error) {
	select {
	case <-c.ended:
		return c.marks.status, nil
	case <-s.gone:
		return 0, fmt.Errorf("%w: %s", errShellGone, s.said())
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// run is begin and wait.
func (s *shell) run(ctx context.Context, script string, to io.Writer) (int, error) {
	c, err := s.begin(script, to)
	if err != nil {
		return 0, err
	}
	return s.wait(ctx, c)
}

// said is what the shell complained of.
func (s *shell) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, _ := s.errors.Text()
	return strings.TrimSpace(text)
}

func (s *shell) close() { s.conn.Close() }

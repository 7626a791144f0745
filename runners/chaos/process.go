package chaos

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// restartAfter is the pause before a process that ended is started again.
const restartAfter = 100 * time.Millisecond

// process keeps one role running: whenever its process ends, whoever ended it, a
// new one is started.
type process struct {
	role, campaign string

	mu      sync.Mutex // guards the fields below
	cmd     *exec.Cmd
	stopped bool
	// ends counts how the processes ended: killed, or by themselves.
	killed, failed int
	// last is what the last process that failed said.
	last string
	// onStart, if set, is called before the next process is started.
	onStart func()

	over chan struct{} // closed when no process runs and none will
}

// keep starts a role.
func keep(campaign, role string) (*process, error) {
	p := &process{role: role, campaign: campaign, over: make(chan struct{})}
	if err := os.MkdirAll(roleDir(campaign, role), 0o755); err != nil {
		return nil, err
	}
	ended, err := p.start()
	if err != nil {
		return nil, err
	}
	go p.watch(ended)
	return p, nil
}

// watch starts the role again until it is stopped.
func (p *process) watch(ended <-chan error) {
	defer close(p.over)
	for {
		err := <-ended
		p.mu.Lock()
		stopped := p.stopped
		var exit *exec.ExitError
		switch {
		case stopped:
		case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
			p.killed++
		case err != nil:
			p.failed++
			p.last = p.lastWords()
		}
		before := p.onStart
		p.onStart = nil
		p.mu.Unlock()
		if stopped {
			return
		}
		if before != nil {
			before()
		}
		for {
			time.Sleep(restartAfter)
			if ended, err = p.start(); err == nil {
				break
			}
			if errors.Is(err, errStopped) {
				return
			}
		}
	}
}

var errStopped = errors.New("the role is stopped")

// start starts one process, whose output goes to the role's log.
func (p *process) start() (<-chan error, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil, errStopped
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(p.log(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	p.cmd = exec.Command(self)
	p.cmd.Env = append(os.Environ(), roleVariable+"="+p.role, dirVariable+"="+p.campaign)
	// Through a pipe: what the role says must not run into its own full disk.
	words := struct{ io.Writer }{log}
	p.cmd.Stdout, p.cmd.Stderr = words, words
	// It must not outlive the campaign, however that ends.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		log.Close()
		return nil, fmt.Errorf("starting %s: %w", p.role, err)
	}
	ended := make(chan error, 1)
	cmd := p.cmd
	go func() {
		err := cmd.Wait()
		log.Close()
		ended <- err
	}()
	return ended, nil
}

func (p *process) log() string { return filepath.Join(p.campaign, p.role+".log") }

// lastWords is the last line of the role's log.
func (p *process) lastWords() string {
	text, err := os.ReadFile(p.log())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// signal sends a signal to the process that runs now.
func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil && p.cmd.Process != nil {
		_ = p.cmd.Process.Signal(s) // it may have ended by itself
	}
}

func (p *process) pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd.Process.Pid
}

// beforeStart has f called once, between the end of this process and the start of
// the next.
func (p *process) beforeStart(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.onStart = f
}

// deaths are the processes that were killed so far.
func (p *process) deaths() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// failures are the processes that ended by themselves, and what the last one said.
func (p *process) failures() (n int, last string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed, p.last
}

// stop ends the role for good.
func (p *process) stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.signal(syscall.SIGCONT)
	p.signal(syscall.SIGTERM)
	select {
	case <-p.over:
	case <-time.After(stopTimeout):
		p.signal(syscall.SIGKILL)
		<-p.over
	}
}

// stopTimeout bounds how long a role may take to stop.
const stopTimeout = 20 * time.Second

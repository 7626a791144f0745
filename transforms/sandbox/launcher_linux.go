package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"millrace/transforms/sandbox/inside"
)

// launcher is this side of the launcher process; see package inside.
type launcher struct {
	cmd    *exec.Cmd
	mu     sync.Mutex // held while sending: messages are whole
	socket *os.File
}

func startLauncher() (*launcher, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("making a socket pair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "launcher"), os.NewFile(uintptr(pair[1]), "launcher")
	defer theirs.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{inside.LauncherName}
	cmd.Env = []string{"GOMAXPROCS=2"}
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr // a panic of the launcher should be seen
	cmd.ExtraFiles = []*os.File{theirs}
	// A terminal sends its interrupt to the whole process group. This process may
	// take it for the wish to finish what it has begun, for which it needs sandboxes.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, fmt.Errorf("starting the launcher: %w", err)
	}
	return &launcher{cmd: cmd, socket: ours}, nil
}

// close ends the launcher, and with it every sandbox that still runs.
func (l *launcher) close() error {
	l.socket.Close()
	return l.cmd.Wait()
}

// outcome is what became of a job.
type outcome struct {
	started bool // the command ran
	code    int  // its exit status, -1 if it did not exit
	killed  bool // by the deadline or the context
	elapsed time.Duration
}

// run starts a sandbox for job, copies what it prints to out, and returns when
// all its processes are dead. It kills them when ctx ends or timeout passes.
func (l *launcher) run(ctx context.Context, job *inside.Job, timeout time.Duration, out *Output) (outcome, error) {
	result := outcome{code: -1}
	start := time.Now()
	work, err := memfile(job.Marshal())
	if err != nil {
		return result, err
	}
	defer work.Close()
	outputR, outputW, err := os.Pipe()
	if err != nil {
		return result, err
	}
	defer outputR.Close()
	statusR, statusW, err := os.Pipe()
	if err != nil {
		outputW.Close()
		return result, err
	}
	defer statusR.Close()
	lifeR, lifeW, err := os.Pipe()
	if err != nil {
		outputW.Close()
		statusW.Close()
		return result, err
	}
	err = l.send(job.SwitchUser, work, outputW, statusW, lifeR)
	outputW.Close()
	statusW.Close()
	lifeR.Close()
	if err != nil {
		lifeW.Close()
		return result, fmt.Errorf("asking the launcher: %w", err)
	}

	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	// The end of ctx closes life, which kills the sandbox, which ends both
	// pipes: there is nothing else to wait for.
	var kill sync.Once
	stop := context.AfterFunc(ctx, func() { kill.Do(func() { lifeW.Close() }) })
	drained := make(chan error, 1)
	go func() { drained <- drain(outputR, out) }()
	gone, err := result.follow(statusR)
	result.killed = !stop() && result.code < 0
	kill.Do(func() { lifeW.Close() })
	result.elapsed = time.Since(start)
	if drainErr := <-drained; err == nil && drainErr != nil {
		err = fmt.Errorf("reading output: %w", drainErr)
	}
	if err == nil && !gone {
		err = errors.New("the launcher died")
	}
	return result, err
}

// follow reads the status pipe to its end.
func (o *outcome) follow(status io.Reader) (gone bool, err error) {
	data, err := io.ReadAll(status)
	if err != nil {
		return false, fmt.Errorf("reading status: %w", err)
	}
	for _, line := range splitLines(string(data)) {
		text := line[1:]
		switch line[0] {
		case inside.StatusStarted:
			o.started = true
		case inside.StatusExited:
			if o.code, err = strconv.Atoi(text); err != nil {
				return gone, fmt.Errorf("reading exit status: %w", err)
			}
		case inside.StatusError:
			err = errors.New(text)
		case inside.StatusGone:
			gone = true
		}
	}
	return gone, err
}

func (l *launcher) send(switchUser bool, files ...*os.File) error {
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	message := []byte{inside.AsCaller}
	if switchUser {
		message[0] = inside.AsNobody
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return unix.Sendmsg(int(l.socket.Fd()), message, unix.UnixRights(fds...), nil, 0)
}

// memfile returns an anonymous file that holds data, positioned at its start.
func memfile(data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("job", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making the job file: %w", err)
	}
	f := os.NewFile(uintptr(fd), "job")
	if _, err = f.Write(data); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("writing the job file: %w", err)
	}
	return f, nil
}

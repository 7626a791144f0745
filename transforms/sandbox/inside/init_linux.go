package inside

import (
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// sandboxInit is process 1: it builds the sandbox around itself, runs the
// command and ends. With it ends every process of its pid namespace.
func sandboxInit() {
	// The command may run under init's own user id and may signal it; a signal
	// that is caught cannot end it. (Ignoring them would be inherited. SIGKILL
	// from inside has no effect on process 1, and tracing it needs capabilities
	// that the command lacks.)
	signal.Notify(make(chan os.Signal, 1))
	runtime.LockOSThread() // what follows is set for this thread, the one that forks
	unix.CloseOnExec(jobFD)
	unix.CloseOnExec(statusFD)
	pid, err := start()
	if err != nil {
		writeStatus(statusFD, StatusError, err.Error())
		os.Exit(1)
	}
	for {
		var ws unix.WaitStatus
		got, err := unix.Wait4(-1, &ws, 0, nil) // also reaps orphans
		switch {
		case err == unix.EINTR:
		case err != nil:
			writeExit(statusFD, 128+int(unix.SIGKILL))
			os.Exit(1)
		case got == pid && ws.Exited():
			writeExit(statusFD, ws.ExitStatus())
			os.Exit(0)
		case got == pid && ws.Signaled():
			writeExit(statusFD, 128+int(ws.Signal()))
			os.Exit(0)
		}
	}
}

func start() (pid int, err error) {
	data, err := io.ReadAll(os.NewFile(jobFD, "job"))
	if err != nil {
		return 0, step("reading the job", err)
	}
	job, err := UnmarshalJob(string(data))
	if err != nil {
		return 0, step("decoding the job", err)
	}
	null, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, step("opening /dev/null", err)
	}
	if err := buildRoot(job); err != nil {
		return 0, err
	}
	if err := unix.Sethostname([]byte("sandbox")); err != nil {
		return 0, step("setting the host name", err)
	}
	if err := loopback(); err != nil {
		return 0, step("bringing up loopback", err)
	}
	if err := confine(job.Limits); err != nil {
		return 0, err
	}
	sys := &syscall.SysProcAttr{Setsid: true}
	if job.SwitchUser {
		sys.Credential = &syscall.Credential{Uid: Nobody, Gid: Nobody}
	}
	writeStatus(statusFD, StatusStarted, "")
	pid, err = syscall.ForkExec("/bin/sh", []string{"sh", "-c", job.Command}, &syscall.ProcAttr{
		Dir:   Testbed,
		Env:   job.Env,
		Files: []uintptr{uintptr(null), 1, 2},
		Sys:   sys,
	})
	return pid, step("starting /bin/sh", err)
}

// stepError says at which step the set-up failed. (Package fmt would be the
// largest import here.)
type stepError struct {
	step string
	err  error
}

func (e *stepError) Error() string { return e.step + ": " + e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

func step(name string, err error) error {
	if err == nil {
		return nil
	}
	return &stepError{name, err}
}

// loopback lets programs in the sandbox talk to themselves; the network
// namespace has no other interface.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

package inside

import (
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

func init() {
	switch os.Args[0] {
	case LauncherName:
		launcher()
	case InitName:
		sandboxInit()
	}
}

// Descriptors of the launcher and of init.
const (
	socketFD = 3 // launcher: one message a job
	jobFD    = 3 // init: the job
	statusFD = 4 // init: the status pipe
)

// launcher starts one init for each job that arrives on its socket, and ends
// with it. A message is one byte, [AsCaller] or [AsNobody]; its rights are four
// descriptors: the job, output, status, and life, a pipe whose closing kills
// the sandbox.
//
// It exists because a clone with a new user namespace copies the page tables of
// the process that asks, and makes it take a fault on each page it writes
// afterwards: cheap for this small process, tens of milliseconds for a
// training process of some hundred MiB.
//
// All clones are made by one locked thread, because the death signal that ties
// a sandbox to the launcher is sent when the thread that cloned it ends.
func launcher() {
	runtime.LockOSThread()
	message := make([]byte, 1)
	rights := make([]byte, unix.CmsgSpace(4*4))
	for {
		n, nrights, _, _, err := unix.Recvmsg(socketFD, message, rights, unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			os.Exit(0) // the program that owned the socket is gone
		}
		fds, err := parseRights(rights[:nrights])
		if err != nil || len(fds) != 4 {
			for _, fd := range fds {
				unix.Close(fd)
			}
			continue
		}
		launch(fds[0], fds[1], fds[2], fds[3], message[0] == AsNobody)
	}
}

func parseRights(b []byte) ([]int, error) {
	messages, err := unix.ParseSocketControlMessage(b)
	if err != nil {
		return nil, err
	}
	var all []int
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return all, err
		}
		all = append(all, fds...)
	}
	return all, nil
}

func launch(job, output, status, life int, switchUser bool) {
	attr := &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{"GOGC=off", "GOMAXPROCS=1"},
		Files: []uintptr{uintptr(job), uintptr(output), uintptr(output), uintptr(job), uintptr(status)},
		Sys:   namespaces(switchUser),
	}
	process := -1 // a descriptor, since a number may be another process by the time it is used
	attr.Sys.PidFD = &process
	pid, err := syscall.ForkExec("/proc/self/exe", []string{InitName}, attr)
	unix.Close(job)
	unix.Close(output)
	if err != nil {
		unix.Close(life)
		writeStatus(status, StatusError, "creating namespaces: "+err.Error())
		writeStatus(status, StatusGone, "")
		unix.Close(status)
		return
	}
	go func() { // ends when the owner closes its end of life
		var b [1]byte
		for {
			if n, err := unix.Read(life, b[:]); err != unix.EINTR && n <= 0 {
				break
			}
		}
		unix.PidfdSendSignal(process, unix.SIGKILL, nil, 0)
		unix.Close(process)
		unix.Close(life)
	}()
	go func() { // ends with init
		// A wait for process 1 of a pid namespace returns when every process
		// in the namespace is dead.
		for {
			if _, err := unix.Wait4(pid, nil, 0, nil); err != unix.EINTR {
				break
			}
		}
		writeStatus(status, StatusGone, "")
		unix.Close(status)
	}()
}

// namespaces returns the attributes of init: new namespaces of every kind that
// isolates, and the ids visible in them.
func namespaces(switchUser bool) *syscall.SysProcAttr {
	ids := func(own int) []syscall.SysProcIDMap {
		m := []syscall.SysProcIDMap{{ContainerID: 0, HostID: own, Size: 1}}
		if switchUser {
			m = append(m, syscall.SysProcIDMap{ContainerID: Nobody, HostID: Nobody, Size: 1})
		}
		return m
	}
	return &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
			unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP,
		UidMappings:                ids(os.Getuid()),
		GidMappings:                ids(os.Getgid()),
		GidMappingsEnableSetgroups: switchUser,
		Pdeathsig:                  syscall.SIGKILL,
		Setsid:                     true,
	}
}

func writeStatus(fd int, kind byte, text string) {
	line := make([]byte, 0, len(text)+2)
	line = append(line, kind)
	for i := range len(text) {
		if text[i] != '\n' {
			line = append(line, text[i])
		}
	}
	line = append(line, '\n')
	for {
		// A reader that is gone is no concern of the sandbox.
		if _, err := unix.Write(fd, line); err != unix.EINTR {
			return
		}
	}
}

func writeExit(fd, code int) { writeStatus(fd, StatusExited, strconv.Itoa(code)) }

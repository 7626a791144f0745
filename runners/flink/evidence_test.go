package flink

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// workerLogs is the variable that tells workers in which directory to leave what they
// write to standard error, each in a file named by its process id. Beam throws it away.
const workerLogs = "MILLRACE_TEST_WORKER_LOGS"

// keepLog makes a file of the directory in workerLogs this worker's standard error.
func keepLog() error {
	log, err := os.Create(filepath.Join(os.Getenv(workerLogs), strconv.Itoa(os.Getpid())))
	if err != nil {
		return err
	}
	return unix.Dup2(int(log.Fd()), int(os.Stderr.Fd()))
}

var (
	// task is a thread of a task manager that runs a task, with the top of its stack;
	// stack is those of its lines that tell.
	task  = regexp.MustCompile(`(?m)^"\[.*\n.*\n(\s+at .*\n|\s+- .*\n){1,14}`)
	stack = regexp.MustCompile(`(?m)^("\[.*\n|\s+at org\.apache\..*\n)`)
	// ours is a goroutine that runs code of this project, but for the main one; calls
	// are those of its lines that tell.
	ours  = regexp.MustCompile(`(?m)^goroutine \d{2,} .*\n(.+\n)*?millrace/.*\n`)
	calls = regexp.MustCompile(`(?m)^(goroutine|millrace|github.com/apache/beam|github.com/segmentio).*\n`)
)

// evidence prints once what the threads of the task managers and the goroutines of the
// workers are at. It ends the workers, so it is for tests that have failed.
func (h bench) evidence(t testing.TB) {
	h.evident.Do(func() { h.look(t) })
}

func (h bench) look(t testing.TB) {
	for _, p := range h.cluster.Running() {
		if strings.HasPrefix(p.Name, "taskmanager") {
			dump(t, p.PID, h.cluster.logFile(p.Name), task, stack)
		}
	}
	workers, err := os.ReadDir(os.Getenv(workerLogs))
	if err != nil {
		t.Error(err)
	}
	for _, w := range workers {
		if pid, err := strconv.Atoi(w.Name()); err == nil {
			dump(t, pid, filepath.Join(os.Getenv(workerLogs), w.Name()), ours, calls)
		}
	}
}

// dump tells a process to write its stacks to its log and prints what there is in them
// of each of the patterns, the next one's in what the one before has found.
func dump(t testing.TB, pid int, log string, patterns ...*regexp.Regexp) {
	const most = 1500
	before, _ := os.ReadFile(log) // what is missing is not shown
	if err := syscall.Kill(pid, syscall.SIGQUIT); err != nil {
		return // it has ended
	}
	<-time.After(2 * time.Second) // nothing tells when it has written all
	after, _ := os.ReadFile(log)
	found := string(after[len(before):])
	for _, p := range patterns {
		found = strings.Join(p.FindAllString(found, -1), "")
	}
	t.Logf("process %d, of %s, is at:\n%s", pid, filepath.Base(log), found[:min(len(found), most)])
}

// troubles are the last lines of a log of Flink's that tell of an error, without the
// stacks: whoever reads of a failed test sees its errors beside them.
func troubles(log string) string {
	const lines, width = 6, 250
	var told []string
	for line := range strings.SplitSeq(log, "\n") {
		if strings.Contains(line, " ERROR ") || strings.Contains(line, "Exception") || strings.Contains(line, "rror: ") || strings.Contains(line, " to FAILED") {
			told = append(told, line[:min(len(line), width)])
		}
	}
	return strings.Join(told[max(0, len(told)-lines):], "\n")
}

//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"millrace/schemas"
)

// newProcess returns a provider with its own directory, or skips where there is
// nothing to test.
func newProcess(t testing.TB, cfg ProcessConfig) *Process {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	if err := os.Chmod(cfg.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := NewProcess(cfg)
	if err != nil && os.Getenv("CI") == "" && strings.Contains(err.Error(), "operation not permitted") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// TestInterruptOfATerminalIsNotForSandboxes: it goes to the process group of whom
// it is for, who may want to finish what runs in them.
func TestInterruptOfATerminalIsNotForSandboxes(t *testing.T) {
	p := newProcess(t, ProcessConfig{})
	group, err := syscall.Getpgid(p.launcher.cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if group == syscall.Getpgrp() {
		t.Error("the launcher is in the process group of this process")
	}
}

// TestIsolation: each command must not find, reach or change what it tries.
func TestIsolation(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("host"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MILLRACE_TEST_SECRET", "token")
	s := open(t, newProcess(t, ProcessConfig{}))
	for name, command := range map[string]string{
		"host file":          "cat " + secret,
		"home directories":   "ls /home || ls /root",
		"docker socket":      "ls /var/run/docker.sock || ls /run/docker.sock",
		"host accounts":      "grep -q . /etc/shadow || ls /etc/ssh",
		"write to the root":  "echo x > /x",
		"write to /usr":      "echo x > /usr/x",
		"write to /etc":      "echo x > /etc/passwd",
		"write to /dev":      "echo x > /dev/x",
		"write to /proc/sys": "echo 1 > /proc/sys/kernel/panic",
		"remount":            "mount -o remount,rw /",
		"new user namespace": "unshare -U true",
		"device node":        "mknod /tmp/d c 1 3",
		"set-user-id":        "cp /bin/sh /tmp/sh && chmod 4755 /tmp/sh && grep -q 'CapEff:.*[1-9a-f]' /proc/self/status",
		"capabilities":       "grep -q 'Cap[A-Z][a-z]*:.*[1-9a-f]' /proc/self/status",
		"new privileges":     "grep -q 'NoNewPrivs:.*0' /proc/self/status",
		"host processes":     "test $(ls -d /proc/[0-9]* | wc -l) -gt 5",
		"this environment":   "env | grep MILLRACE_TEST_SECRET",
		"init's environment": "tr '\\0' '\\n' < /proc/1/environ | grep MILLRACE_TEST_SECRET",
		"other interfaces":   "tail -n +3 /proc/net/dev | grep -v ' lo:'",
		"a route":            "tail -n +2 /proc/net/route | grep .",
		"other workspaces":   "ls / | grep -v -x -e bin -e sbin -e lib -e 'lib.*' -e usr -e etc -e dev -e proc -e tmp -e cache -e testbed",
	} {
		if r := run(t, s, command); r.ExitCode == 0 {
			t.Errorf("%s: %q succeeded: %s", name, command, r.Output)
		}
	}
	if r := run(t, s, "echo x > /tmp/x && echo x > x && echo x > $HOME/x && echo x > $GOCACHE/x"); r.ExitCode != 0 {
		t.Errorf("writing where it is allowed: %+v", r)
	}
	if r := run(t, s, "ls /tmp/x"); r.ExitCode == 0 {
		t.Error("/tmp outlives a command")
	}
}

func TestNoNetwork(t *testing.T) {
	p := newProcess(t, ProcessConfig{})
	needGo(t, p)
	s := open(t, p,
		schemas.File{Path: "go.mod", Content: "module dial\n\ngo 1.24\n"},
		schemas.File{Path: "main.go", Content: `package main

import (
	"fmt"
	"net"
	"time"
)

func main() {
	for _, a := range []string{"1.1.1.1:53", "169.254.169.254:80", "[2606:4700:4700::1111]:53"} {
		if c, err := net.DialTimeout("tcp", a, time.Second); err == nil {
			fmt.Println("reached", c.RemoteAddr())
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go l.Accept()
	if _, err := net.Dial("tcp", l.Addr().String()); err != nil {
		panic(err)
	}
	fmt.Println("done")
}
`})
	if r := run(t, s, "go run ."); r.Output != "done\n" {
		t.Errorf("dialling from the sandbox: %+v", r)
	}
}

func needGo(t testing.TB, p *Process) {
	t.Helper()
	if p.cfg.GOROOT == "" {
		t.Skip("no go command")
	}
	p.cfg.Cache = warmCache(t)
	if err := p.cfg.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// warmCache is shared by the tests of this package and kept between runs.
func warmCache(t testing.TB) string {
	t.Helper()
	base, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	return filepath.Join(base, "millrace-test", "go-build")
}

func TestGoTest(t *testing.T) {
	p := newProcess(t, ProcessConfig{})
	needGo(t, p)
	s := open(t, p, goPackage("if v < lo {\n\t\treturn lo\n\t}")...)
	r := run(t, s, "go test ./...")
	if r.ExitCode != 0 || !strings.HasPrefix(r.Output, "ok  \tclamp\t") || strings.Contains(r.Output, "cached") {
		t.Fatalf("go test on good code: %+v", r)
	}
	// What a first command put into the build cache is gone for the second.
	if r := run(t, s, "go test ./..."); strings.Contains(r.Output, "cached") {
		t.Errorf("second go test: %+v", r)
	}
	s = open(t, p, goPackage("if v > lo {\n\t\treturn lo\n\t}")...)
	if r := run(t, s, "go test ./..."); r.ExitCode != 1 || !strings.Contains(r.Output, "--- FAIL: TestClamp") {
		t.Errorf("go test on bad code: %+v", r)
	}
	s = open(t, p, goPackage("for v > lo {\n\t}")...)
	r, err := s.Exec(t.Context(), "go test ./...", 3*time.Second)
	if err != nil || !r.TimedOut || r.ExitCode != -1 {
		t.Errorf("go test on an endless loop: %+v, %v", r, err)
	}
}

// goPackage is a module of one function; statement handles v < lo.
func goPackage(statement string) []schemas.File {
	return []schemas.File{
		{Path: "go.mod", Content: "module clamp\n\ngo 1.24\n"},
		{Path: "clamp.go", Content: "package clamp\n\nfunc Clamp(v, lo, hi int) int {\n\t" + statement + "\n\treturn min(v, hi)\n}\n"},
		{Path: "clamp_test.go", Content: "package clamp\n\nimport \"testing\"\n\nfunc TestClamp(t *testing.T) {\n\tif got := Clamp(5, 1, 3); got != 3 {\n\t\tt.Errorf(\"Clamp(5, 1, 3) = %d, want 3\", got)\n\t}\n}\n"},
	}
}

// processes returns how many processes of the host have the mark in their
// command line.
func processes(t *testing.T, mark string) int {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, path := range lines {
		// A process may end between the listing and the reading.
		if line, err := os.ReadFile(path); err == nil && strings.Contains(string(line), mark) {
			n++
		}
	}
	return n
}

func TestNoProcessIsLeft(t *testing.T) {
	s := open(t, newProcess(t, ProcessConfig{}))
	const mark = "90071.99254740993" // seconds to sleep
	tree := "(setsid sleep " + mark + " &) ; sleep " + mark + " & nohup sh -c 'sleep " + mark + "' >/dev/null 2>&1 & "
	if r := run(t, s, tree+"exit 3"); r.ExitCode != 3 {
		t.Errorf("leaving background processes: %+v", r)
	}
	if n := processes(t, mark); n != 0 {
		t.Errorf("%d processes left after return", n)
	}
	r, err := s.Exec(t.Context(), tree+"trap '' TERM; echo before; sleep "+mark, 500*time.Millisecond)
	if err != nil || !r.TimedOut || r.ExitCode != -1 || r.Output != "before\n" {
		t.Errorf("at the deadline: %+v, %v", r, err)
	}
	if n := processes(t, mark); n != 0 {
		t.Errorf("%d processes left after the deadline", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	if _, err := s.Exec(ctx, tree+"sleep "+mark, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if n := processes(t, mark); n != 0 {
		t.Errorf("%d processes left after cancelling", n)
	}
}

func TestBounds(t *testing.T) {
	s := open(t, newProcess(t, ProcessConfig{Limits: Limits{
		OutputBytes: 1000, Data: 256 << 20, CPUSeconds: 1, FileBytes: 1 << 20, Processes: 30, TmpBytes: 4 << 20,
	}}))
	t.Run("output", func(t *testing.T) {
		r := run(t, s, "echo first; head -c 1000000000 /dev/zero | tr '\\0' x; echo; echo last")
		if r.ExitCode != 0 || !r.Truncated || len(r.Output) > 1100 ||
			!strings.HasPrefix(r.Output, "first\n") || !strings.HasSuffix(r.Output, "\nlast\n") {
			t.Errorf("a gigabyte: code %d, %d bytes", r.ExitCode, len(r.Output))
		}
		r, err := s.Exec(t.Context(), "yes", time.Second)
		if err != nil || !r.TimedOut || !r.Truncated {
			t.Errorf("yes: %+v, %v", r, err)
		}
	})
	t.Run("processes", func(t *testing.T) {
		r, err := s.Exec(t.Context(), "bomb() { bomb | bomb & }; bomb; sleep 1; ls -d /proc/[0-9]* | wc -l", 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("fork bomb: code %d", r.ExitCode)
		r = run(t, s, "i=0; while [ $i -lt 100 ]; do sleep 100 & i=$((i+1)); done; echo all")
		if r.ExitCode == 0 || strings.Contains(r.Output, "all") {
			t.Errorf("100 processes under a limit of 30: %+v", r)
		}
	})
	t.Run("cpu", func(t *testing.T) {
		if r := run(t, s, "while :; do :; done"); r.ExitCode != 137 && r.ExitCode != 152 {
			t.Errorf("endless loop under a limit of 1 s: %+v", r)
		}
	})
	t.Run("memory", func(t *testing.T) {
		if r := run(t, s, "head -c 600m /dev/zero | tail -c 500m | wc -c"); strings.Contains(r.Output, "524288000") {
			t.Errorf("500 MiB under a limit of 256 MiB: %+v", r)
		}
	})
	t.Run("files", func(t *testing.T) {
		if r := run(t, s, "head -c 2m /dev/zero > big"); r.ExitCode == 0 {
			t.Errorf("2 MiB under a limit of 1 MiB: %+v", r)
		}
		if r := run(t, s, "for i in 1 2 3 4 5 6 7 8; do head -c 900k /dev/zero > /tmp/$i || exit 1; done"); r.ExitCode == 0 {
			t.Errorf("7 MiB in a /tmp of 4 MiB: %+v", r)
		}
	})
}

func TestFailuresAreTyped(t *testing.T) {
	p := newProcess(t, ProcessConfig{})
	s := open(t, p)
	if err := p.launcher.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var failure *Failure
	if _, err := s.Exec(t.Context(), "true", time.Minute); !errors.As(err, &failure) || failure.Label != t.Name() {
		t.Errorf("Exec with a dead launcher: %v", err)
	}
	p.launcher.cmd.Wait() // so that Close has nothing to complain about
	p.launcher.cmd = exec.Command("true")
	if err := p.launcher.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(dir, runPrefix+"dead")
	if err := os.MkdirAll(filepath.Join(dead, "workspaces", "1", "closed"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dead, "workspaces", "1", "closed"), 0); err != nil {
		t.Fatal(err)
	}
	first := newProcess(t, ProcessConfig{Dir: dir})
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("directory of a dead run: %v", err)
	}
	newProcess(t, ProcessConfig{Dir: dir})
	if _, err := os.Stat(first.run.path); err != nil {
		t.Errorf("directory of a live run was swept: %v", err)
	}
}

func TestConcurrency(t *testing.T) {
	p := newProcess(t, ProcessConfig{Concurrency: 4})
	errs := make(chan error)
	const n = 24
	for i := range n {
		s := open(t, p, schemas.File{Path: "n", Content: fmt.Sprint(i)})
		go func() {
			r, err := s.Exec(t.Context(), "cat n", time.Minute)
			if err == nil && r.Output != fmt.Sprint(i) {
				err = fmt.Errorf("sandbox %d read %q", i, r.Output)
			}
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if got := p.Stats(); got.Execs != n || got.Busy == 0 || got.Failures != 0 {
		t.Errorf("Stats() = %+v", got)
	}
}

func BenchmarkExec(b *testing.B) {
	s := open(b, newProcess(b, ProcessConfig{}))
	for b.Loop() {
		run(b, s, "true")
	}
}

func BenchmarkGoTest(b *testing.B) {
	p := newProcess(b, ProcessConfig{})
	needGo(b, p)
	s := open(b, p, goPackage("if v < lo {\n\t\treturn lo\n\t}")...)
	for b.Loop() {
		if r := run(b, s, "go test ./..."); r.ExitCode != 0 {
			b.Fatal(r)
		}
	}
}

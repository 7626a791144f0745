package docker

import (
	"strings"
	"testing"
	"time"

	"millrace/schemas"
	"millrace/transforms/sandbox"
	"millrace/transforms/sandbox/docker/dockertest"
	"millrace/transforms/sandbox/sandboxtest"
)

// TestHarm: whatever a command does, it ends with the right result, within its
// bounds, and the next command finds the container in order.
func TestHarm(t *testing.T) {
	dockertest.Need(t, dockertest.Python)
	p := provider(t, Config{Limits: Limits{
		MemoryBytes: 256 << 20, Processes: 64, DiskBytes: 64 << 20, FileBytes: 32 << 20, OutputBytes: 1 << 20,
	}})
	secret := "the-hidden-test"
	s := sandboxtest.Open(t, p, sandbox.Spec{
		Image: dockertest.Python, Scrub: true,
		Setup: "echo " + secret + " > /r2e_tests; echo " + secret + " > t.py; git init -q; git config user.email a@b; git config user.name n; " +
			"git add .gitignore 2>/dev/null; git commit -q --allow-empty -m base; git add -A; git commit -qm fix-" + secret + "; git tag fix; git branch later; git reset -q --hard HEAD~1",
		Withheld: []string{"/r2e_tests"},
	})
	minute := func(r sandbox.Result) bool { return !r.TimedOut && !r.OutOfMemory && !r.DiskFull }
	for _, c := range []struct {
		name, command string
		timeout       time.Duration
		ok            func(sandbox.Result) bool
	}{
		{"fork bomb", "b() { b | b & b; }; b; sleep 60", 3 * time.Second, func(r sandbox.Result) bool { return r.TimedOut || r.ExitCode != 0 }},
		{"fork bomb that ignores signals", "python3 -c 'import os, signal\nfor i in range(1, 65):\n  try: signal.signal(i, signal.SIG_IGN)\n  except Exception: pass\nwhile True:\n  try: os.fork()\n  except OSError: pass'", 3 * time.Second, func(r sandbox.Result) bool { return r.TimedOut }},
		{"disk filler", "i=0; while :; do head -c 20m /dev/zero > fill$i; i=$((i+1)); done", time.Minute, func(r sandbox.Result) bool { return r.DiskFull && r.ExitCode != 0 }},
		{"cleaning up", "rm -f fill*", time.Minute, func(r sandbox.Result) bool { return r.ExitCode == 0 }},
		{"a large file", "head -c 40m /dev/zero > large; s=$?; rm large; exit $s", time.Minute, func(r sandbox.Result) bool { return minute(r) && r.ExitCode != 0 }},
		{"endless output", "yes", time.Second, func(r sandbox.Result) bool { return r.TimedOut && len(r.Output) < 2<<20 }},
		{"endless line", "cat /dev/zero", time.Second, func(r sandbox.Result) bool { return r.TimedOut && len(r.Output) < 8<<20 }},
		{"memory", "python3 -c 'x = bytearray(1 << 30)'", time.Minute, func(r sandbox.Result) bool { return r.OutOfMemory && r.ExitCode == 137 }},
		{"memory in a file system", "head -c 300m /dev/zero > /dev/shm/x; s=$?; rm -f /dev/shm/x; exit $s", time.Minute, func(r sandbox.Result) bool { return r.ExitCode != 0 }},
		{"killing the shell", "kill -9 1; kill -TERM 1; kill -STOP 1; kill -HUP 1; echo tried", time.Minute, func(r sandbox.Result) bool { return r.Output == "tried\n" }},
		{"killing everything", "kill -9 -1", time.Minute, minute},
		{"reading the shell's script", "head -c 1 < /proc/1/fd/0 > /dev/null & sleep 1", time.Minute, minute},
		{"forging an end", "printf '\\036x-0\\036' > /proc/1/fd/1; echo real", time.Minute, func(r sandbox.Result) bool { return strings.HasSuffix(r.Output, "real\n") && r.ExitCode == 0 }},
		{"network", "python3 -c 'import socket; socket.create_connection((\"1.1.1.1\", 53), 2)'", time.Minute, func(r sandbox.Result) bool { return strings.Contains(r.Output, "unreachable") }},
		{"capabilities", "grep -h 'Cap[A-Z][a-z]*:.*[1-9a-f]' /proc/self/status", time.Minute, func(r sandbox.Result) bool { return r.ExitCode == 1 }},
		{"new privileges", "grep -c 'NoNewPrivs:.1' /proc/self/status", time.Minute, func(r sandbox.Result) bool { return r.Output == "1\n" }},
		{"mounting", "mount -t tmpfs none /mnt", time.Minute, func(r sandbox.Result) bool { return r.ExitCode != 0 }},
		{"the host's memory", "head -c 1 /dev/mem || head -c 1 /dev/sda || head -c 1 /proc/kcore", time.Minute, func(r sandbox.Result) bool { return r.ExitCode != 0 }},
		{"the kernel's settings", "echo 1 > /proc/sys/kernel/panic", time.Minute, func(r sandbox.Result) bool { return r.ExitCode != 0 }},
		{"the daemon's socket", "ls /var/run/docker.sock /run/docker.sock", time.Minute, func(r sandbox.Result) bool { return r.ExitCode != 0 }},
		{"what is withheld", "cat /r2e_tests", time.Minute, func(r sandbox.Result) bool { return r.ExitCode != 0 }},
		{"later commits", "git log --all --oneline; git cat-file --batch-all-objects --batch < /dev/null; git reflog; git show fix; git show later", time.Minute, func(r sandbox.Result) bool { return !strings.Contains(r.Output, secret) }},
		{"any copy of it", "grep -rls '" + secret[:10] + "'" + "'" + secret[10:] + "' / --include='*' --exclude-dir=proc --exclude-dir=sys", time.Minute, func(r sandbox.Result) bool { return r.ExitCode != 0 && r.Output == "" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := s.Exec(t.Context(), c.command, c.timeout)
			if err != nil || !c.ok(r) {
				r.Output = r.Output[:min(len(r.Output), 500)]
				t.Errorf("%+v, %v", r, err)
			}
			if r := sandboxtest.Run(t, s, "echo after"); r.Output != "after\n" || r.ExitCode != 0 {
				t.Errorf("the next command: %+v", r)
			}
		})
	}
}

// TestRuin: an agent that destroys what its container lives on harms nobody
// else, and what it left can be read.
func TestRuin(t *testing.T) {
	dockertest.Need(t, dockertest.Python)
	p := provider(t, Config{})
	for name, command := range map[string]string{
		"everything":     "rm -rf --no-preserve-root / 2>/dev/null",
		"the shell":      "rm -f /bin/sh /bin/dash /bin/bash; : > /bin/cat",
		"the repository": "cd /; rm -rf /testbed",
		"its type":       "cd /; rm -rf /testbed; echo x > /testbed",
		"by a link":      "cd /; rm -rf /testbed; ln -s /etc /testbed",
	} {
		t.Run(name, func(t *testing.T) {
			s := sandboxtest.Open(t, p, sandbox.Spec{Image: dockertest.Python, Setup: "echo a > a.py"})
			sandboxtest.Run(t, s, command)
			patch, err := s.Patch(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			after, err := sandbox.Apply([]schemas.File{{Path: "a.py", Content: "a\n"}}, patch)
			if want := name == "the shell"; err != nil || (len(after) == 1) != want {
				t.Errorf("patch %q leaves %v, %v", patch, after, err)
			}
			if _, err := s.ReadFile("a.py"); (err == nil) != (name == "the shell") {
				t.Errorf("ReadFile: %v", err)
			}
		})
	}
}

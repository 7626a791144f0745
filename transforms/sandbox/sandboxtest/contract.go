// Package sandboxtest is what every [sandbox.Provider] must do: one suite, run by
// each of them.
package sandboxtest

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// Contract runs the suite on workspaces that spec makes of files.
func Contract(t *testing.T, p sandbox.Provider, spec func(files ...schemas.File) sandbox.Spec) {
	open := func(t *testing.T, files ...schemas.File) sandbox.Sandbox { return Open(t, p, spec(files...)) }
	t.Run("commands", func(t *testing.T) { commands(t, open(t, schemas.File{Path: "a/b.txt", Content: "hello\n"})) })
	t.Run("no process is left", func(t *testing.T) { noProcessIsLeft(t, open(t)) })
	t.Run("output is bounded", func(t *testing.T) { outputIsBounded(t, open(t)) })
	t.Run("files", func(t *testing.T) { files(t, open(t, schemas.File{Path: "d/e.txt", Content: "e"})) })
	t.Run("links do not lead out", func(t *testing.T) { linksDoNotLeadOut(t, open(t)) })
	t.Run("patch", func(t *testing.T) {
		before := []schemas.File{{Path: "changed.go", Content: "a\nb\nc\n"}, {Path: "gone.go", Content: "x\n"}, {Path: "same.go", Content: "s\n"}}
		patch(t, open(t, before...), before)
	})
}

// Open opens a sandbox for the length of a test.
func Open(t testing.TB, p sandbox.Provider, spec sandbox.Spec) sandbox.Sandbox {
	t.Helper()
	s, err := p.Open(t.Context(), t.Name(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Run runs a command that may take a minute.
func Run(t testing.TB, s sandbox.Sandbox, command string) sandbox.Result {
	t.Helper()
	r, err := s.Exec(t.Context(), command, time.Minute)
	if err != nil {
		t.Fatalf("Exec(%q): %v", command, err)
	}
	return r
}

func commands(t *testing.T, s sandbox.Sandbox) {
	for _, c := range []struct {
		command, output string
		code            int
	}{
		{"cat a/b.txt", "hello\n", 0},
		{"pwd", sandbox.Root + "\n", 0},
		{"exit 7", "", 7},
		{"echo out; echo err >&2; echo out", "out\nerr\nout\n", 0},
		{"kill -9 $$", "", 137},
		{"for s in TERM KILL SEGV; do kill -$s 1 2>/dev/null; done; echo alive", "alive\n", 0},
		{"cat", "", 0}, // standard input is empty
		{"echo x > new && cat new", "x\n", 0},
		{"cat new", "x\n", 0},
		{"hostname", "sandbox\n", 0},
		{"echo 'it'\"'\"'s'; echo \"$((1 + 1))\"; printf %s '\\n'", "it's\n2\n\\n", 0},
		{"printf 'no newline'", "no newline", 0},
		{"cd a; rm -rf ../new; true", "", 0},
		{"pwd", sandbox.Root + "\n", 0}, // where a command went, the next does not start
		{"# nothing but a comment", "", 0},
		{"echo 'unfinished", "", 2},
	} {
		r := Run(t, s, c.command)
		if c.code == 2 {
			r.Output = "" // the shell's own words
		}
		if r.Output != c.output || r.ExitCode != c.code || r.TimedOut || r.Truncated {
			t.Errorf("Exec(%q) = %+v, want output %q and code %d", c.command, r, c.output, c.code)
		}
	}
	if r := Run(t, s, "echo \x00 x"); r.ExitCode != 127 {
		t.Errorf("a NUL byte: %+v", r)
	}
}

func noProcessIsLeft(t *testing.T, s sandbox.Sandbox) {
	left := func(when string) {
		t.Helper()
		if r := Run(t, s, "ls -d /proc/[0-9]* | while read p; do tr '\\0' ' ' 2>/dev/null < $p/cmdline; echo; done 2>/dev/null | grep '^sleep'"); r.Output != "" {
			t.Errorf("%s these are left:\n%s", when, r.Output)
		}
	}
	const tree = "(setsid sleep 999 &) ; sleep 999 & nohup sh -c 'sleep 999' >/dev/null 2>&1 & "
	if r := Run(t, s, tree+"exit 3"); r.ExitCode != 3 {
		t.Errorf("leaving background processes: %+v", r)
	}
	left("after return")
	r, err := s.Exec(t.Context(), tree+"trap '' TERM; echo before; sleep 999", 500*time.Millisecond)
	if err != nil || !r.TimedOut || r.ExitCode != -1 || r.Output != "before\n" {
		t.Errorf("at the deadline: %+v, %v", r, err)
	}
	left("after the deadline")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	if _, err := s.Exec(ctx, tree+"sleep 999", time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	left("after cancelling")
}

func outputIsBounded(t *testing.T, s sandbox.Sandbox) {
	r := Run(t, s, "echo first; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo last")
	if r.ExitCode != 0 || !r.Truncated || len(r.Output) > 50_000_000 ||
		!strings.HasPrefix(r.Output, "first\n") || !strings.HasSuffix(r.Output, "\nlast\n") {
		t.Errorf("a hundred megabytes: code %d, truncated %t, %d bytes", r.ExitCode, r.Truncated, len(r.Output))
	}
	for _, command := range []string{"yes", "cat /dev/urandom"} {
		r, err := s.Exec(t.Context(), command, time.Second)
		if err != nil || !r.TimedOut || r.Output == "" {
			t.Errorf("%s: code %d, timed out %t, %d bytes, %v", command, r.ExitCode, r.TimedOut, len(r.Output), err)
		}
	}
	if r := Run(t, s, "echo after"); r.Output != "after\n" {
		t.Errorf("the command after it: %q", r.Output)
	}
}

func files(t *testing.T, s sandbox.Sandbox) {
	odd := "quote ' and \" and $HOME and `x` and \\ and \r\n\x01 \xff end"
	for name, content := range map[string]string{"a b/c'd.txt": odd, "empty": "", "nul": "a\x00b", "large": strings.Repeat("0123456789abcdef", 1<<16), "-dash": "-n"} {
		if err := s.WriteFile(name, []byte(content)); err != nil {
			t.Errorf("WriteFile(%q): %v", name, err)
		}
		if got, err := s.ReadFile(sandbox.Root + "/" + name); err != nil || string(got) != content {
			t.Errorf("ReadFile(%q) = %d bytes, %v; want %d", name, len(got), err, len(content))
		}
	}
	if r := Run(t, s, "wc -c < large; chmod +x empty; ln -s d/e.txt inside; mkfifo pipe; mkdir -p void"); r.Output != "1048576\n" {
		t.Errorf("wc: %+v", r)
	}
	if err := s.WriteFile("empty", []byte("#!/bin/sh\necho run\n")); err != nil {
		t.Error(err)
	}
	if r := Run(t, s, "./empty"); r.Output != "run\n" {
		t.Errorf("a file that was executable: %+v", r)
	}
	if err := s.WriteFile("inside", []byte("through")); err != nil {
		t.Errorf("over a link that stays inside: %v", err)
	}
	if got, err := s.ReadFile("d/e.txt"); err != nil || string(got) != "through" {
		t.Errorf("behind the link: %q, %v", got, err)
	}
	for _, name := range []string{"pipe", "d", ".", "d/e.txt/x"} {
		if _, err := s.ReadFile(name); err == nil {
			t.Errorf("ReadFile(%q) succeeded", name)
		}
		if err := s.WriteFile(name, []byte("x")); err == nil {
			t.Errorf("WriteFile(%q) succeeded", name)
		}
	}
	if _, err := s.ReadFile("no/such"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadFile of nothing: %v", err)
	}
	entries, err := s.ReadDir("")
	var names []string
	for _, e := range entries {
		names = append(names, e.Name()+" "+e.Type().String())
	}
	if err == nil {
		slices.Sort(names)
		want := []string{"-dash ----------", "a b d---------", "d d---------", "empty ----------", "inside L---------", "large ----------", "nul ----------", "pipe p---------", "void d---------"}
		for i, n := range names { // the one may tell more of special files than the other
			names[i] = strings.Replace(n, "pipe ?", "pipe p", 1)
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("ReadDir: %s", diff)
		}
	} else {
		t.Error(err)
	}
	for name, want := range map[string]error{"d/e.txt": nil, "void": nil, "inside": nil, "absent": fs.ErrNotExist} {
		if err := s.Remove(name); !errors.Is(err, want) {
			t.Errorf("Remove(%q): %v", name, err)
		}
	}
	if err := s.Remove("a b"); err == nil {
		t.Error("Remove of a directory that is not empty succeeded")
	}
}

func linksDoNotLeadOut(t *testing.T, s sandbox.Sandbox) {
	Run(t, s, "ln -s /etc/passwd file; ln -s /etc dir; ln -s .. up; ln -s /tmp/new new; ln -s loop loop")
	for _, name := range []string{"file", "dir/passwd", "up/x", "new", "dir/sub/x", "../x", "/etc/passwd", sandbox.Root + "/../x", "up"} {
		if data, err := s.ReadFile(name); !errors.Is(err, sandbox.ErrOutside) {
			t.Errorf("ReadFile(%q) = %q, %v", name, data, err)
		}
		if err := s.WriteFile(name, []byte("x")); !errors.Is(err, sandbox.ErrOutside) {
			t.Errorf("WriteFile(%q): %v", name, err)
		}
	}
	for _, name := range []string{"dir", "up", "..", "/"} {
		if entries, err := s.ReadDir(name); !errors.Is(err, sandbox.ErrOutside) {
			t.Errorf("ReadDir(%q) = %v, %v", name, entries, err)
		}
	}
	if err := s.Remove("dir/passwd"); !errors.Is(err, sandbox.ErrOutside) {
		t.Errorf("Remove through a link: %v", err)
	}
	if _, err := s.ReadFile("loop"); err == nil {
		t.Error("ReadFile of a link to itself succeeded")
	}
	if r := Run(t, s, "grep -c root /etc/passwd"); r.ExitCode != 0 {
		t.Errorf("the file outside: %+v", r)
	}
}

func patch(t *testing.T, s sandbox.Sandbox, before []schemas.File) {
	if p, err := s.Patch(t.Context()); err != nil || p != "" {
		t.Errorf("of an untouched workspace: %q, %v", p, err)
	}
	Run(t, s, "echo B >> changed.go; rm gone.go; mkdir -p new/deep; printf 'no newline' > new/deep/file; touch same.go; ln -s same.go link")
	p, err := s.Patch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	after, err := sandbox.Apply(before, p)
	if err != nil {
		t.Fatal(err)
	}
	want := []schemas.File{{Path: "changed.go", Content: "a\nb\nc\nB\n"}, {Path: "new/deep/file", Content: "no newline"}, {Path: "same.go", Content: "s\n"}}
	if diff := cmp.Diff(want, after); diff != "" {
		t.Errorf("the patch\n%s gives another workspace: %s", p, diff)
	}
	snapshot, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, snapshot); diff != "" {
		t.Errorf("snapshot: %s", diff)
	}
}

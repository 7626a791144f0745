package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// broken is a provider whose sandboxes do not start.
type broken struct{}

func (broken) Open(context.Context, string, sandbox.Spec) (sandbox.Sandbox, error) {
	return nil, &sandbox.Failure{Op: "starting sandbox", Err: errors.New("as told")}
}
func (broken) Describe() string { return "broken" }
func (broken) Close() error     { return nil }

// newToolbox returns tools on a workspace in memory.
func newToolbox(t *testing.T, limits Limits, files ...schemas.File) *Toolbox {
	t.Helper()
	store, err := sandbox.NewStore("", 1)
	if err != nil {
		t.Fatal(err)
	}
	p := sandbox.NewMemo(broken{}, store, func(string) bool { return true })
	sb, err := p.Open(t.Context(), t.Name(), sandbox.Spec{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	return New(sb, limits)
}

func do(t *testing.T, box *Toolbox, name string, args ...string) Observation {
	t.Helper()
	call := Call{Name: name, Args: map[string]string{}}
	for i := 0; i < len(args); i += 2 {
		call.Args[args[i]] = args[i+1]
	}
	o, err := box.Do(t.Context(), call)
	if err != nil {
		t.Fatalf("%v: %v", call, err)
	}
	return o
}

const source = "package a\n\nfunc F() int {\n\treturn 1\n}\n\nfunc G() int {\n\treturn 1\n}\n"

func TestEditor(t *testing.T) {
	box := newToolbox(t, Limits{Style: Brief}, schemas.File{Path: "a.go", Content: source}, schemas.File{Path: "d/e/f/g.txt", Content: "x"},
		schemas.File{Path: ".hidden", Content: ""})
	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"command", "view", "path", "."}, "a.go\nd/\nd/e/", 0},
		{[]string{"command", "view", "path", "/testbed/a.go", "view_range", "[3, 4]"}, "     3\tfunc F() int {\n     4\t\treturn 1", 0},
		{[]string{"command", "view", "path", "a.go", "view_range", "[8, -1]"}, "     8\t\treturn 1\n     9\t}", 0},
		{[]string{"command", "view", "path", "a.go", "view_range", "[0, 4]"}, "ERROR: view_range must be within 1..9, first before last", 1},
		{[]string{"command", "view", "path", "a.go", "view_range", "all"}, "ERROR: view_range must be [first, last]", 1},
		{[]string{"command", "view", "path", "b.go"}, "ERROR: b.go does not exist; view . to see the files", 1},
		{[]string{"command", "view", "path", "../etc"}, "ERROR: ../etc is outside of /testbed", 1},
		{[]string{"command", "view", "path", "d", "view_range", "[1, 2]"}, "ERROR: d is a directory; leave out view_range", 1},
		{[]string{"command", "view"}, "ERROR: file_editor needs parameter path", 1},
		{[]string{"command", "look", "path", "a.go"}, `ERROR: unknown command "look"; the commands are view, create, str_replace, insert, undo_edit`, 1},
		{[]string{"command", "str_replace", "path", "a.go", "old_str", "return 1", "new_str", "return 2"}, "ERROR: old_str is in a.go more than once (lines 4, 8); add lines around it", 1},
		{[]string{"command", "str_replace", "path", "a.go", "old_str", "return 3", "new_str", ""}, "ERROR: old_str is not in a.go; copy it exactly from a view", 1},
		{[]string{"command", "str_replace", "path", "a.go", "old_str", "x", "new_str", "x"}, "ERROR: old_str and new_str are equal", 1},
		{[]string{"command", "str_replace", "path", "d", "old_str", "x", "new_str", "y"}, "ERROR: d is not a regular file", 1},
		{[]string{"command", "undo_edit", "path", "a.go"}, "ERROR: there is no edit of a.go to undo", 1},
		{[]string{"command", "insert", "path", "a.go", "insert_line", "10", "new_str", ""}, "ERROR: insert_line 10 is not in 0..9", 1},
		{[]string{"command", "insert", "path", "a.go", "insert_line", "end", "new_str", ""}, "ERROR: insert needs parameter insert_line, a number", 1},
		{[]string{"command", "create", "path", "a.go", "file_text", ""}, "ERROR: a.go exists; use str_replace to change it", 1},
		{[]string{"command", "create", "path", "a.go/b", "file_text", ""}, "ERROR: a.go/b is not a regular file", 1},
		{[]string{"command", "view", "path", "a.go", "colour", "red"}, `ERROR: file_editor has no parameter "colour"; it has command, path, view_range, file_text, old_str, new_str, insert_line, concise, enable_linting`, 1},
	} {
		if o := do(t, box, "file_editor", c.args...); o.Text != c.want || o.ExitCode != c.code || o.Done {
			t.Errorf("%v = %+v, want %q", c.args, o, c.want)
		}
	}
	if text := content(t, box, "a.go"); text != source {
		t.Errorf("refused calls changed the file to %q", text)
	}
}

func content(t *testing.T, box *Toolbox, path string) string {
	t.Helper()
	data, err := box.sandbox.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestEditAndUndo(t *testing.T) {
	box := newToolbox(t, Limits{Style: Brief}, schemas.File{Path: "a.go", Content: source}, schemas.File{Path: "n", Content: "no newline"})
	steps := []struct {
		path string
		args []string
		want string // content afterwards
	}{
		{"a.go", []string{"command", "str_replace", "old_str", "F() int {\n\treturn 1", "new_str", "F() int {\n\treturn 2"}, strings.Replace(source, "1", "2", 1)},
		{"a.go", []string{"command", "insert", "insert_line", "0", "new_str", "// A."}, "// A.\n" + strings.Replace(source, "1", "2", 1)},
		{"n", []string{"command", "insert", "insert_line", "1", "new_str", "more"}, "no newline\nmore"},
		{"new/f", []string{"command", "create", "file_text", " x \n"}, " x \n"},
		{"n", []string{"command", "str_replace", "old_str", "\nmore"}, "no newline"},
	}
	for _, s := range steps {
		if o := do(t, box, "file_editor", append(s.args, "path", s.path)...); o.Text != "edited "+s.path || o.ExitCode != 0 {
			t.Errorf("%v: %+v", s.args, o)
		}
		if got := content(t, box, s.path); got != s.want {
			t.Errorf("%v: content %q, want %q", s.args, got, s.want)
		}
	}
	for _, u := range []struct{ path, want string }{
		{"a.go", strings.Replace(source, "1", "2", 1)}, {"a.go", source}, {"n", "no newline\nmore"}, {"n", "no newline"},
	} {
		if o := do(t, box, "file_editor", "command", "undo_edit", "path", u.path); o.Text != "undone "+u.path {
			t.Errorf("undo_edit: %+v", o)
		}
		if got := content(t, box, u.path); got != u.want {
			t.Errorf("undo_edit of %s: content %q, want %q", u.path, got, u.want)
		}
	}
	do(t, box, "file_editor", "command", "undo_edit", "path", "new/f")
	if _, err := box.sandbox.ReadFile("new/f"); err == nil {
		t.Error("undo_edit of create left the file")
	}
}

func TestOtherTools(t *testing.T) {
	for _, c := range []struct {
		style Style
		name  string
		args  []string
		want  Observation
	}{
		{Brief, "search", []string{"search_term", "return"}, Observation{Text: "a.go:4:\treturn 1\na.go:8:\treturn 1"}},
		{Brief, "search", []string{"search_term", "func G", "path", "a.go"}, Observation{Text: "7:func G() int {"}},
		{Brief, "search", []string{"search_term", "nothing"}, Observation{Text: `No matches found for "nothing" in .`, ExitCode: 1}},
		{Brief, "search", []string{"search_term", "x", "path", "/etc"}, Observation{Text: "ERROR: /etc is outside of /testbed", ExitCode: 1, Refused: true}},
		{Brief, "finish", nil, Observation{Text: "<<< Finished >>>", Done: true}},
		{DeepSWE, "submit", []string{"result", "done"}, Observation{Text: "<<< Finished >>>", Done: true}},
		{DeepSWE, "search", []string{"search_term", "return"}, Observation{Text: "Execution output of [search]:\n./a.go (2 matches)\n"}},
		{DeepSWE, "grep", nil, Observation{Text: "Execution output of [grep]:\nERROR: unknown tool \"grep\"; the tools are execute_bash, file_editor, finish, search, submit", ExitCode: 1, Refused: true}},
		{DeepSWE, "execute_bash", []string{"cmd", "git log"}, Observation{Text: "Exit code: Error: Exit code 1\nExecution output of [execute_bash]:\nERROR: git is not allowed here; use another command or tool", ExitCode: 1, Refused: true}},
		{Brief, "execute_bash", nil, Observation{Text: "ERROR: execute_bash needs parameter cmd", ExitCode: 1, Refused: true}},
		{DeepSWE, "file_editor", []string{"command", "view", "path", "a.go", "view_range", "[1, 1]"}, Observation{Text: "Execution output of [file_editor]:\nHere's the result of running `cat -n` on a.go:\n     1\tpackage a\n"}},
	} {
		box := newToolbox(t, Limits{Style: c.style}, schemas.File{Path: "a.go", Content: source}, schemas.File{Path: ".git/x", Content: "return"})
		if o := do(t, box, c.name, c.args...); o != c.want {
			t.Errorf("%s %v = %+v, want %+v", c.name, c.args, o, c.want)
		}
	}
	box := newToolbox(t, Limits{})
	var failure *sandbox.Failure
	if _, err := box.Do(t.Context(), Call{Name: "execute_bash", Args: map[string]string{"cmd": "true"}}); !errors.As(err, &failure) {
		t.Errorf("a sandbox that does not start: %v, want a *Failure", err)
	}
}

// fixed is a sandbox whose commands all end in result.
type fixed struct {
	sandbox.Sandbox
	result sandbox.Result
}

func (f fixed) Exec(context.Context, string, time.Duration) (sandbox.Result, error) {
	return f.result, nil
}

func TestBash(t *testing.T) {
	const failed = "--- FAIL: TestF (0.12s)\n    --- FAIL: TestF/a_(1.5s) (0.00s)\n        took (0.3s)\nFAIL\nexit status 1\nFAIL\tm/a\t0.003s\n"
	const same = "--- FAIL: TestF\n    --- FAIL: TestF/a_(1.5s)\n        took (0.3s)\nFAIL\nexit status 1\nFAIL\tm/a"
	const panicked = "panic: boom [recovered, repanicked]\n\ngoroutine 7 [running]:\nmain.f({0x55a740, 0x6c})\n\n\t/m/a.go:3 +0x232\nexit status 2\nFAIL\tm"
	const exhausted = "fatal error: runtime: out of memory\n\nruntime stack:\nruntime.throw({0x58ab6f?})\n\tpanic.go:1 +0x48\n\ngoroutine 1 gp=0x2 m=nil [finalizer wait]:\n\tx.go:1\n"
	many := strings.Repeat("l\n", 20)
	for _, c := range []struct {
		style  Style
		result sandbox.Result
		text   string
		code   int
	}{
		{Brief, sandbox.Result{Output: "ok  \tm\t1.003s\nok  \tn\t(cached)\n?   \tp\t[no test files]\n"}, "ok  \tm\nok  \tn\n?   \tp\t[no test files]", 0},
		{Brief, sandbox.Result{Output: failed, ExitCode: 1}, "exit code 1\n" + same, 1},
		{Brief, sandbox.Result{Output: "so far\n", ExitCode: -1, TimedOut: true}, "The command took too long to execute (>2s)\nso far", -1},
		{Brief, sandbox.Result{Output: panicked, ExitCode: 1}, "exit code 1\npanic: boom [recovered, repanicked]\nexit status 2\nFAIL\tm", 1},
		{Brief, sandbox.Result{Output: exhausted, ExitCode: 1}, "exit code 1\nfatal error: runtime: out of memory", 1},
		{DeepSWE, sandbox.Result{Output: panicked}, "Exit code: 0\nExecution output of [execute_bash]:\n[STDOUT]\n\n" + panicked + " \n\n[STDERR]\n\n", 0},
		{DeepSWE, sandbox.Result{Output: "hi\n"}, "Exit code: 0\nExecution output of [execute_bash]:\n[STDOUT]\n\nhi\n \n\n[STDERR]\n\n", 0},
		{DeepSWE, sandbox.Result{ExitCode: 2}, "Exit code: Error: Exit code 2\nExecution output of [execute_bash]:\nError executing command:\n\n[STDOUT]\n\n \n\n[STDERR]\n\n", 2},
		{DeepSWE, sandbox.Result{ExitCode: -1, TimedOut: true}, "Exit code: -1\nExecution output of [execute_bash]:\nThe command took too long to execute (>2s)", -1},
		{Brief, sandbox.Result{Output: many}, strings.Repeat("l\n", 7) + strings.Repeat("-", 50) + "\n6 lines left out\n" + strings.Repeat("-", 50) + "\nl\nl\nl\nl\nl\nl\nl", 0},
		{Brief, sandbox.Result{Output: strings.Repeat("é", 200)}, strings.Repeat("é", 75) + "\n<100 characters left out>\n" + strings.Repeat("é", 75), 0},
	} {
		box := New(fixed{result: c.result}, Limits{Style: c.style, Action: 2 * time.Second, Lines: 14, Characters: 300})
		if o := do(t, box, "execute_bash", "cmd", "x"); o.Text != c.text || o.ExitCode != c.code {
			t.Errorf("%s, %+v:\n%q, code %d; want\n%q, code %d", c.style, c.result, o.Text, o.ExitCode, c.text, c.code)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text, thought string
		call          *Call
		err           string
	}{
		{"just words", "just words", nil, ""},
		{"I look.\n<function=file_editor>\n<parameter=command>view</parameter>\n<parameter=path>a.go</parameter>\n</function> and more", "I look.\n",
			&Call{"file_editor", map[string]string{"command": "view", "path": "a.go"}}, ""},
		{"<think>maybe <function=finish></function></think><function=search><parameter=search_term> x </parameter></function>",
			"<think>maybe <function=finish></function></think>", &Call{"search", map[string]string{"search_term": " x "}}, ""},
		{"<think>maybe <function=finish></function>", "<think>maybe <function=finish></function>", nil, ""},
		{"<function=finish>\n</function><function=submit></function>", "", &Call{"finish", map[string]string{}}, ""},
		{"<function=f><parameter=a>\n\n\tx\n\n</parameter></function>", "", &Call{"f", map[string]string{"a": "\n\tx\n"}}, ""},
		{"<function=f><parameter=a>s</parameter>t</parameter></function>", "", &Call{"f", map[string]string{"a": "s</parameter>t"}}, ""},
		{"<function=f><parameter=a>1</parameter><parameter=a>2</parameter></function>", "", nil, "malformed call of f: parameter a is given twice"},
		{"<function=f><parameter=a>1</parameter>", "", nil, "malformed call of f: close parameter a with </parameter> and the call with </function>"},
		{"<function=f>a=1</function>", "", nil, "malformed call of f: expected <parameter=NAME> or </function>"},
		{"<function=", "", nil, "malformed call: write <function=NAME>"},
		{"<function=f><parameter=a b></parameter></function>", "", nil, "malformed call: write <parameter=NAME>"},
	} {
		thought, call, ok, err := Parse(c.text)
		if thought != c.thought || ok != (c.call != nil) || fmt.Sprint(err) != errText(c.err) || c.call != nil && fmt.Sprint(call) != fmt.Sprint(*c.call) {
			t.Errorf("Parse(%q) = %q, %+v, %v, %v", c.text, thought, call, ok, err)
		}
	}
}

func errText(s string) string {
	if s == "" {
		return "<nil>"
	}
	return s
}

func TestFormat(t *testing.T) {
	call := Call{"file_editor", map[string]string{"path": "a.go", "new_str": "\tx\n", "old_str": "", "command": "str_replace", "zoo": "1"}}
	const want = "<function=file_editor>\n<parameter=command>str_replace</parameter>\n<parameter=path>a.go</parameter>\n" +
		"<parameter=old_str></parameter>\n<parameter=new_str>\n\tx\n\n</parameter>\n<parameter=zoo>1</parameter>\n</function>"
	if got := Format(call); got != want {
		t.Errorf("Format:\n%s\nwant:\n%s", got, want)
	}
}

// FuzzParse: no text panics, the thought is a prefix, an error comes without a
// call, and what was parsed is parsed again from its canonical text.
func FuzzParse(f *testing.F) {
	f.Add("a<think>b</think>c<function=f>\n<parameter=k>\nv\n</parameter>\n</function>")
	f.Add("<function=f><parameter=k></parameter>x</parameter> </function>")
	f.Add("<function=file_editor><parameter=path>\n\n</parameter><parameter=command>\n</parameter></function>")
	f.Fuzz(func(t *testing.T, text string) {
		thought, call, ok, err := Parse(text)
		if !strings.HasPrefix(text, thought) || ok && err != nil {
			t.Fatalf("%q, %v, %v, %v", thought, call, ok, err)
		}
		if !ok {
			return
		}
		_, again, ok, err := Parse(Format(call))
		if err != nil || !ok || fmt.Sprintf("%q", again) != fmt.Sprintf("%q", call) {
			t.Errorf("%q became %q: %v, %v", call, again, ok, err)
		}
	})
}

// FuzzFormat: Parse(Format(c)) is c for every value that holds no end of
// thinking and no end of a parameter.
func FuzzFormat(f *testing.F) {
	f.Add("view", "\n a\t\r\n")
	f.Add("", "</function><parameter=x>")
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.Contains(a+b, thinkClose) || strings.Contains(a+b, thinkOpen) || strings.Contains(a+b, parameterClose) {
			t.Skip()
		}
		call := Call{"file_editor", map[string]string{"command": a, "old_str": b}}
		_, again, ok, err := Parse(Format(call))
		if err != nil || !ok || fmt.Sprintf("%q", again) != fmt.Sprintf("%q", call) {
			t.Errorf("%q became %q: %v, %v", call, again, ok, err)
		}
	})
}

// finder is a workspace that searches by itself.
type finder struct {
	sandbox.Sandbox
	matches []sandbox.Match
	err     error
}

func (f finder) Search(_ context.Context, dir, term string, limit int) ([]sandbox.Match, error) {
	return f.matches, f.err
}

func TestSearchInTheSandbox(t *testing.T) {
	many := make([]sandbox.Match, searchFiles+1)
	for i := range many {
		many[i] = sandbox.Match{Path: fmt.Sprint(i), Line: 1}
	}
	for _, c := range []struct {
		name   string
		finder finder
		want   string
	}{
		{"matches", finder{matches: []sandbox.Match{{Path: "b.py", Line: 3, Text: "x"}, {Path: "a.py", Line: 1, Text: "x y"}, {Path: "a.py", Line: 9, Text: "x"}}},
			"Execution output of [search]:\n./a.py (2 matches)\n./b.py (1 matches)\n"},
		{"none", finder{}, "Execution output of [search]:\nNo matches found for \"x\" in ."},
		{"too many", finder{matches: many}, "Execution output of [search]:\nERROR: more than 100 files hold \"x\"; narrow your search"},
		{"too much", finder{err: sandbox.ErrTooLarge}, "Execution output of [search]:\nERROR: more than 100 files hold \"x\"; narrow your search"},
	} {
		c.finder.Sandbox = newToolbox(t, Limits{}).sandbox
		if got := do(t, New(c.finder, Limits{}), "search", "search_term", "x").Text; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// limited is a workspace in which every command reaches a limit.
type limited struct {
	sandbox.Sandbox
	result sandbox.Result
}

func (l limited) Exec(context.Context, string, time.Duration) (sandbox.Result, error) {
	return l.result, nil
}

func TestBashTellsOfLimits(t *testing.T) {
	for want, result := range map[string]sandbox.Result{
		"memory limit was reached": {OutOfMemory: true, ExitCode: 137}, "disk limit was reached": {DiskFull: true, ExitCode: 137},
	} {
		box := limited{newToolbox(t, Limits{}).sandbox, result}
		if o := do(t, New(box, Limits{}), "execute_bash", "cmd", "x"); !strings.Contains(o.Text, want) || o.ExitCode != 137 {
			t.Errorf("%+v, want %q", o, want)
		}
	}
}

package mine

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// sound is a row without fault, with the given replacements of its text.
func sound(replace ...string) string {
	return strings.NewReplacer(replace...).Replace(`{"id":"a/b/1","repo":"a","split":"train","statement":"A fails.",` +
		`"files":[{"path":"a.go","content":"package a\n"}],"hidden_tests":[{"path":"a_test.go","content":"package a // test\n"}],` +
		`"test_command":"go test","test_format":"go-test-json","fail_to_pass":["TestA"],"pass_to_pass":["TestB"]}`)
}

func TestReadReportsBadRows(t *testing.T) {
	cases := []struct{ name, row, want string }{
		{"no JSON", `{"id":`, "set.jsonl:2: parsing JSON: unexpected EOF"},
		{"not an object", `[]`, "set.jsonl:2: want a JSON object, found array"},
		{"text behind", sound() + " x", "set.jsonl:2: text after the JSON object"},
		{"not UTF-8", sound("A fails", "\xff"), "set.jsonl:2: row is not UTF-8"},
		{"unknown key", sound(`"split"`, `"spilt"`), `set.jsonl:2: parsing JSON: json: unknown field "spilt"`},
		{"wrong type", sound(`"package a\n"`, "7"), "set.jsonl:2: files.content: want a string, found number"},
		{"no list", sound(`["TestA"]`, `"TestA"`), "set.jsonl:2: fail_to_pass: want a list, found string"},
		{"no id", sound("a/b/1", ""), "set.jsonl:2: id: missing or blank"},
		{"space in id", sound("a/b/1", "a b"), `set.jsonl:2: id: "a b" holds a space or control character`},
		{"id twice", sound("a/b/1", "first"), `set.jsonl:2: id: "first" is also the id of line 1`},
		{"no statement", sound("A fails.", " "), "set.jsonl:2: statement: missing or blank"},
		{"no files", sound(`"files":[{"path":"a.go","content":"package a\n"}],`, ""), "set.jsonl:2: files: no files and no image: the agent has nothing to work on"},
		{"text environment", sound(`"files":[`, `"environment":"frozenlake","parameters":"{}","files":[`), `set.jsonl:2: environment: is "frozenlake": tasks of a text environment come from the section tasks.environment of a configuration`},
		{"path that leaves", sound(`"a.go"`, `"../a.go"`), `set.jsonl:2: files[0].path: "../a.go" is not a slash-separated path in the workspace`},
		{"absolute path", sound(`"a_test.go"`, `"/a_test.go"`), `set.jsonl:2: hidden_tests[0].path: "/a_test.go" is not a slash-separated path in the workspace`},
		{"path twice", sound(`"files":[`, `"files":[{"path":"a.go","content":""},`), `set.jsonl:2: files[1].path: "a.go" occurs twice`},
		{"no hidden tests", sound(`[{"path":"a_test.go","content":"package a // test\n"}]`, "[]"), "set.jsonl:2: hidden_tests: missing or empty"},
		{"hidden test shown", sound(" // test", ""), "set.jsonl:2: files[0]: a.go is the hidden test a_test.go: the agent would see it"},
		{"nothing to repair", sound(`["TestA"]`, "[]"), "set.jsonl:2: fail_to_pass: missing or empty"},
		{"blank test", sound("TestB", ""), "set.jsonl:2: pass_to_pass[0]: blank test name"},
		{"test in both lists", sound("TestB", "TestA"), `set.jsonl:2: pass_to_pass[0]: "TestA" is also in fail_to_pass`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			file := sound("a/b/1", "first") + "\n" + c.row + "\n\n" + sound("a/b/1", "last")
			tasks, bad, err := Read("set.jsonl", strings.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			if len(tasks) != 2 || tasks[0].ID != "first" || tasks[1].ID != "last" {
				t.Errorf("good rows read: %d tasks, want first and last", len(tasks))
			}
			if len(bad) != 1 || bad[0].Error() != c.want {
				t.Errorf("bad rows %v, want %q", bad, c.want)
			}
		})
	}
}

func TestReadSkipsLongRow(t *testing.T) {
	long := bytes.Repeat([]byte("x"), maxRowBytes+1)
	for _, end := range []string{"", "\n", "\n" + sound()} {
		file := append(append([]byte(sound("a/b/1", "first")+"\n"), long...), end...)
		tasks, bad, err := Read("set.jsonl", bytes.NewReader(file))
		want := 1
		if strings.Contains(end, "{") {
			want = 2
		}
		if err != nil || len(tasks) != want || len(bad) != 1 || bad[0].Error() != "set.jsonl:2: row is longer than 16 MiB" {
			t.Errorf("end %.5q: %d tasks, bad %v, error %v", end, len(tasks), bad, err)
		}
	}
}

func TestReadFails(t *testing.T) {
	broken := errors.New("disk is gone")
	tasks, _, err := Read("set.jsonl", io.MultiReader(strings.NewReader(sound()+"\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "set.jsonl, line 2") || len(tasks) != 1 {
		t.Errorf("%d tasks, error %v; want the first task and an error with file and line", len(tasks), err)
	}
}

// TestWriteIsStable pins the order of the keys and the text of one row.
func TestWriteIsStable(t *testing.T) {
	tasks, bad, err := Read("set.jsonl", strings.NewReader(sound("A fails.", "A(1) < 2 & fails.")))
	if err != nil || len(bad) != 0 {
		t.Fatal(err, bad)
	}
	var out bytes.Buffer
	if err := Write(&out, tasks); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sound("A fails.", "A(1) < 2 & fails.")+"\n", out.String()); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
}

// FuzzRead holds for any input: no panic; every line is a task, a bad row or
// blank; the tasks can be written and read again to the same tasks.
func FuzzRead(f *testing.F) {
	f.Add([]byte(sound()))
	f.Add([]byte(sound() + "\n\n{}\n" + sound("a/b/1", "x")))
	f.Add([]byte(sound("A fails.", `\ud800 \u0000`)))
	f.Add([]byte("null\n\"\"\n[1]\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tasks, bad, err := Read("set.jsonl", bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			if len(bytes.TrimSpace(line)) > 0 {
				rows++
			}
		}
		if len(tasks)+len(bad) != rows {
			t.Fatalf("%d tasks and %d bad rows of %d rows", len(tasks), len(bad), rows)
		}
		var out bytes.Buffer
		if err := Write(&out, tasks); err != nil {
			t.Fatal(err)
		}
		again, bad, err := Read("set.jsonl", &out)
		if diff := cmp.Diff(tasks, again); diff != "" || len(bad) > 0 || err != nil {
			t.Fatalf("read again: %v %v\n%s", bad, err, diff)
		}
	})
}

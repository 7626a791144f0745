package testlog

import (
	"slices"
	"testing"
	"unicode/utf8"

	"millrace/schemas"
)

// FuzzParse: whatever the bytes and the format, nothing panics; verdicts are sorted,
// distinct, of a known status and named in valid UTF-8 of bounded length; the text is
// bounded; a log read twice is as the first time; compat makes one verdict a name;
// and every rule gives 0 or 1, with lists that agree with it and are graded alike
// from what was recorded.
func FuzzParse(f *testing.F) {
	formats := Formats()
	logs(f, func(format, _, log string) {
		i := slices.Index(formats, format)
		f.Add(uint8(i), []byte(log))
		f.Add(uint8(i), []byte(log[:len(log)/2])) // cut
		f.Add(uint8(i), []byte("+ : '>>>>> Start Test Output'\r\n\x1b[31m"+log+"\x1b[0m\xff\r+ : '>>>>> End Test Output'\n>>>>> Test Exit Code: 1"))
	})
	f.Add(uint8(slices.Index(formats, GoTestJSON)), []byte(stream(f, "fail.jsonl")))
	f.Fuzz(func(t *testing.T, which uint8, log []byte) {
		format := formats[int(which)%len(formats)]
		r := check(t, parse(t, format, string(log), Options{}))
		if again := parse(t, format, string(log), Options{}); !slices.Equal(r.Verdicts, again.Verdicts) {
			t.Fatalf("read again: %v, then %v", r.Verdicts, again.Verdicts)
		}
		compat := check(t, parse(t, format, string(log), Options{Compat: true}))
		if n := len(compat.Statuses()); n != len(compat.Verdicts) {
			t.Fatalf("compat has %d verdicts of %d names", len(compat.Verdicts), n)
		}
		judged(t, r)
		judged(t, compat)
	})
}

// check checks what holds of all results.
func check(t *testing.T, r Results) Results {
	t.Helper()
	if len(r.Text) > tailBytes || !utf8.ValidString(r.Text) {
		t.Fatalf("text of %d bytes, valid %v", len(r.Text), utf8.ValidString(r.Text))
	}
	for i, v := range r.Verdicts {
		if !slices.Contains(severity, v.Status) {
			t.Fatalf("verdict %+v", v)
		}
		// A byte that is no UTF-8 becomes three.
		if !utf8.ValidString(v.Test+v.Name) || len(v.Test) > 3*maxName || len(v.Name) > 3*maxName {
			t.Fatalf("names of %d and %d bytes: %.100q", len(v.Test), len(v.Name), v)
		}
		if i > 0 {
			u := r.Verdicts[i-1]
			if u.Test > v.Test || u.Test == v.Test && u.Name >= v.Name {
				t.Fatalf("verdicts %+v before %+v", u, v)
			}
		}
	}
	return r
}

// judged grades results by every rule, as a task that expects some of the tests.
func judged(t *testing.T, r Results) {
	t.Helper()
	for _, rule := range Rules() {
		task := schemas.Task{Rule: rule, FailToPass: []string{"a::test_gone"}}
		for i, v := range r.Verdicts {
			if i%2 == 0 {
				task.FailToPass = []string{v.Test}
			} else {
				task.PassToPass = append(task.PassToPass, v.Test)
			}
			task.Expected = append(task.Expected, schemas.Expectation{Test: v.Test, Status: string(v.Status)})
		}
		g, err := Judge(task, r)
		if err != nil {
			t.Fatal(err)
		}
		if (g.Value == 1) != (len(g.Failed) == 0 && len(g.Passed) > 0) || g.Value != 0 && g.Value != 1 {
			t.Fatalf("rule %q: %+v", rule, g)
		}
		if again, err := Again(task, g.Passed, g.Failed); err != nil || again.Value != g.Value || !slices.Equal(again.Passed, g.Passed) {
			t.Fatalf("rule %q: %+v, from the record %+v, %v", rule, g, again, err)
		}
	}
}

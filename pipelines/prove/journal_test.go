package prove_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"millrace/pipelines/prove"
)

func TestOpenJournalRefuses(t *testing.T) {
	const head = `{"journal":1,"input":"input"}` + "\n"
	cases := []struct{ name, text, want string }{
		{"another input", `{"journal":1,"input":"other"}` + "\n", "other input"},
		{"another version", `{"journal":2,"input":"input"}` + "\n", "line 1"},
		{"no header", "tasks\n", "line 1"},
		{"damage in the middle", head + "{\"id\":\n" + `{"id":"a","origin":"o","reason":"r"}` + "\n", "line 2"},
		{"no id", head + `{"origin":"o","reason":"r"}` + "\n", "line 2: no id"},
		{"neither task nor reason", head + `{"id":"a","origin":"o"}` + "\n", "line 2: a: want a reason or a task"},
		{"decided twice", head + strings.Repeat(`{"id":"a","origin":"o","reason":"r"}`+"\n", 2), "line 3: a is decided twice"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			j, err := prove.OpenJournal(path, "input")
			if err == nil {
				j.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %q does not hold %q and the path", err, c.want)
			}
		})
	}
}

// FuzzOpenJournal holds for any text: no panic; what was opened is opened again with
// the same decisions, and takes one more.
func FuzzOpenJournal(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte(`{"journal":1,"input":"input"}` + "\n" + `{"id":"a","origin":"o","reason":"r","detail":"é"}` + "\n{\"id\":\"b"))
	f.Add([]byte(`{"journal":1,"input":"input"}` + "\n" + `{"id":"a","origin":"o","task":{"id":"a"}}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "journal")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := prove.OpenJournal(path, "input")
		if err != nil {
			return
		}
		before := j.Decisions()
		d := prove.Candidate{ID: "a new one", Origin: "o"}.Reject(prove.Unbounded, "")
		if err := j.Record(d); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := prove.OpenJournal(path, "input")
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		after := again.Decisions()
		if len(after) < len(before) || !again.Known(d.ID) {
			t.Fatalf("%d decisions became %d, and the new one is known: %v", len(before), len(after), again.Known(d.ID))
		}
		for i, b := range before {
			if after[i] != b {
				t.Fatalf("decision %d was %+v and is %+v", i, b, after[i])
			}
		}
	})
}

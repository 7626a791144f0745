package swerl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// say is an answer whose solution is given.
func say(solution string) string {
	return "<think>\nlet me see\n</think>\n<solution>\n" + solution + "\n</solution>"
}

// edit is an edit as it is written.
func edit(path, search, replace string) string {
	return fmt.Sprintf("```python\n### %s\n<<<<<<< SEARCH\n%s\n=======\n%s\n>>>>>>> REPLACE\n```", path, search, replace)
}

func TestAnswer(t *testing.T) {
	one := []Edit{{"a.py", "x", "y"}}
	for _, c := range []struct {
		name, output string
		want         []Edit
	}{
		{"one edit", say(edit("a.py", "x", "y")), one},
		{"two files", say(edit("a.py", "x", "y") + "\nand\n" + edit("b.py", "1\n2", "")), []Edit{one[0], {"b.py", "1\n2", ""}}},
		{"text around", "so\n" + say("this:\n\n"+edit("a.py", "x", "y")+"\n\nthat's it") + " bye", one},
		{"text before the fence in its line", say("here " + edit("a.py", "x", "y")), one},
		{"the solution before the thought", "</think><solution>" + edit("a.py", "x", "y") + "</solution><think>zz", one},
		{"the solution in the thought", "<think>q<solution>" + edit("a.py", "x", "y") + "</solution></think>", one},
		{"spaces in the path", say(edit("a.py ", "x", "y")), []Edit{{"a.py ", "x", "y"}}},
		{"a carriage return in the path", say(edit("a.py\r", "x", "y")), []Edit{{"a.py\r", "x", "y"}}},
		{"an empty search", say(edit("a.py", "", "y")), []Edit{{"a.py", "", "y"}}},
		{"two in one fence", say("```\n### a.py\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nz\n=======\nw\n>>>>>>> REPLACE\n```"),
			[]Edit{{"a.py", "x", "y\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nz\n=======\nw"}}},
		{"two dividing lines", say(edit("a.py", "x", "y\n=======\nz")), []Edit{{"a.py", "x", "y\n=======\nz"}}},
	} {
		got, err := Answer(c.output)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

func TestAnswerOfBadFormat(t *testing.T) {
	good := edit("a.py", "x", "y")
	for _, c := range []struct{ name, output, want string }{
		{"nothing", "", "<think> stands in the answer 0 times"},
		{"no thought", "<solution>" + good + "</solution>", "<think> stands"},
		{"an unclosed thought", "<think>a<solution>" + good + "</solution>", "</think> stands in the answer 0 times"},
		{"an unclosed solution", "<think>a</think><solution>" + good, "</solution> stands in the answer 0 times"},
		{"two thoughts", "<think>a</think>" + say(good), "<think> stands in the answer 2 times"},
		{"a tag in an edit", say(edit("a.py", "x", "<solution>")), "<solution> stands in the answer 2 times"},
		{"an empty thought", "<think> \n\x1c</think><solution>" + good + "</solution>", "thought is empty"},
		{"an empty solution", say(""), "no SEARCH/REPLACE"},
		{"no block", say("a.py: x, not y"), "no SEARCH/REPLACE"},
		{"no fence", say(strings.ReplaceAll(good, "```", "")), "no SEARCH/REPLACE"},
		{"no path", say(strings.Replace(good, "### a.py\n", "", 1)), "no SEARCH/REPLACE"},
		{"the path before the fence", say("### a.py\n" + strings.Replace(good, "### a.py\n", "", 1)), "no SEARCH/REPLACE"},
		{"a comment before the path", say(strings.Replace(good, "### a.py", "# what follows\n### a.py", 1)), "no SEARCH/REPLACE"},
		{"no end", say(strings.Replace(good, ">>>>>>> REPLACE\n", "", 1)), "no SEARCH/REPLACE"},
		{"an empty search without its line", say("```\n### a.py\n<<<<<<< SEARCH\n=======\ny\n>>>>>>> REPLACE\n```"), "no SEARCH/REPLACE"},
		{"an empty replacement without its line", say("```\n### a.py\n<<<<<<< SEARCH\nx\n=======\n>>>>>>> REPLACE\n```"), "no SEARCH/REPLACE"},
		{"carriage returns", say(strings.ReplaceAll(good, "\n", "\r\n")), "no SEARCH/REPLACE"},
	} {
		got, err := Answer(c.output)
		if got != nil || !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v, want ErrFormat that names %q", c.name, got, err, c.want)
		}
	}
}

func TestApply(t *testing.T) {
	const path = "a.py"
	for _, c := range []struct {
		name, before string
		edits        []Edit
		want         string
	}{
		{"a line", "a\nb\nc\n", []Edit{{path, "b", "B"}}, "a\nB\nc\n"},
		{"the first line", "a\nb", []Edit{{path, "a", "A\nA"}}, "A\nA\nb"},
		{"every place", "a\nb\na\n", []Edit{{path, "a", "A"}}, "A\nb\nA\n"},
		{"the start of a line", "return a + b\n", []Edit{{path, "return a", "return Z"}}, "return Z + b\n"},
		{"one after the other", "a\n", []Edit{{path, "a", "b"}, {path, "b", "c"}}, "c\n"},
		{"a deletion leaves a line", "a\nb\nc", []Edit{{path, "b", ""}}, "a\n\nc"},
		{"an empty search in a file", "x=1\n\ny=2\n", []Edit{{path, "", "#"}}, "#x=1\n#\n#y=2\n#"},
		{"an empty search in an empty file", "", []Edit{{path, "", "x = 1"}}, "x = 1"},
		{"back again", "a\n", []Edit{{path, "a", "b"}, {path, "b", "a"}}, "a\n"},
	} {
		got, err := Apply([]schemas.File{{Path: path, Content: c.before}, {Path: "0", Content: "as it is"}}, c.edits)
		want := []schemas.File{{Path: "0", Content: "as it is"}, {Path: path, Content: c.want}}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, want)
		}
	}
	got, err := Apply(nil, []Edit{{path, "", "new"}})
	if want := []schemas.File{{Path: path, Content: "new"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("a new file: %q, %v", got, err)
	}
	for _, c := range []struct {
		name  string
		edits []Edit
		want  string
	}{
		{"nowhere", []Edit{{path, "z", "y"}}, "edit 1, of a.py, searches"},
		{"inside a line", []Edit{{path, "b c", "y"}}, "edit 1, of a.py, searches"},
		{"of no file", []Edit{{path, "a", "b"}, {"b.py", "z", "y"}}, "edit 2, of b.py, searches"},
		{"by itself", []Edit{{path, "a", "b"}, {path, "b", "b"}}, "edit 2, of a.py, replaces"},
		{"gone before", []Edit{{path, "a b", "x"}, {path, "a b", "y"}}, "edit 2, of a.py, searches"},
	} {
		got, err := Apply([]schemas.File{{Path: path, Content: "a b c\n"}}, c.edits)
		if got != nil || !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v, want ErrFormat that names %q", c.name, got, err, c.want)
		}
	}
}

// TestPromptHasItsInverse: the messages hold the published marks around statement and
// files, and an answer in the form that they show becomes a patch.
func TestPromptHasItsInverse(t *testing.T) {
	files := []schemas.File{{Path: "shop/cart.py", Content: "import os\n\ntotal = 0.1\n"}, {Path: "b.py", Content: "b"}}
	forSystem, user := Prompt("It rounds.", files)
	for _, tag := range []string{"<think>", "</think>", "<solution>", "</solution>"} {
		if strings.Count(forSystem, tag) != 1 || strings.Contains(user, tag) {
			t.Errorf("%s is not once in the system's message", tag)
		}
	}
	for _, want := range []string{
		"--- BEGIN ISSUE ---\nIt rounds.\n--- END ISSUE ---\n",
		"--- BEGIN FILE ---\n```\n### shop/cart.py\nimport os\n\ntotal = 0.1\n\n\n### b.py\nb\n```\n--- END FILE ---\n",
	} {
		if !strings.Contains(user, want) {
			t.Errorf("no %q in %q", want, user)
		}
	}
	shown := block.FindAllString(user, -1)
	if len(shown) != 1 {
		t.Fatalf("the prompt shows %d edits: %q", len(shown), shown)
	}
	patch, err := Patch(files, say(shown[0]))
	if err != nil {
		t.Fatal(err)
	}
	got, err := sandbox.Apply(files, patch)
	if err != nil {
		t.Fatal(err)
	}
	want := []schemas.File{files[1], {Path: "shop/cart.py", Content: "import os\nfrom decimal import Decimal\n\ntotal = 0.1\n"}}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, path := range []string{"../a.py", "/etc/passwd", ".", "a//b", ""} {
		if _, err := Patch(files, say(edit(path, "", "x"))); !errors.Is(err, ErrFormat) {
			t.Errorf("path %q: %v", path, err)
		}
	}
}

// FuzzPatch: an answer is ErrFormat or becomes a patch, and the patch applies to the
// files and gives what the edits give.
func FuzzPatch(f *testing.F) {
	f.Add("a\nb\n", say(edit("a.py", "b", "c")))
	f.Add("a\nb", say(edit("a.py", "", "#")+edit("d/e é\t\".py", "", "new")))
	f.Add("a\r\nb\x00\xff", say(edit("a.py", "a\r", "")))
	f.Add("", say(edit("a.py/b", "", "x")))
	f.Add("x", "<think>q<solution>"+edit("a.py ", "", "x")+"</solution></think>")
	f.Fuzz(func(t *testing.T, content, answer string) {
		files := []schemas.File{{Path: "a.py", Content: content}}
		patch, err := Patch(files, answer)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatal(err)
			}
			return
		}
		edits, err := Answer(answer)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Apply(files, edits)
		if err != nil {
			t.Fatal(err)
		}
		got, err := sandbox.Apply(files, patch)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: patch %q gives %q, %v, want %q", answer, patch, got, err, want)
		}
	})
}

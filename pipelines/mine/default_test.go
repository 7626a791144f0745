package mine

import (
	"regexp"
	"strings"
	"testing"

	"millrace/schemas"
)

func fileNamed(files []schemas.File, path string) string {
	for _, f := range files {
		if f.Path == path {
			return f.Content
		}
	}
	return ""
}

// TestAgentNeverSeesTests is invariant 4 for the default tasks: nothing that the
// agent is given holds a hidden test, its name, or the fix.
func TestAgentNeverSeesTests(t *testing.T) {
	for _, task := range defaults(t) {
		seen := task.Statement
		for _, f := range task.Files {
			seen += "\n" + f.Path + "\n" + f.Content
		}
		for _, h := range task.HiddenTests {
			if strings.Contains(seen, h.Path) {
				t.Errorf("task %s shows the name of %s", task.ID, h.Path)
			}
			for _, m := range regexp.MustCompile(`func (\w+)\(`).FindAllStringSubmatch(h.Content, -1) {
				if strings.Contains(seen, m[1]) {
					t.Errorf("task %s shows the hidden function %s", task.ID, m[1])
				}
			}
		}
		fixed := patched(t, task)
		if strings.Contains(seen, fixed) {
			t.Errorf("task %s shows the fixed source", task.ID)
		}
		source := fileNamed(task.Files, SourceFile)
		for _, line := range strings.Split(fixed, "\n") {
			line = strings.TrimSpace(line)
			if !strings.Contains(source, line) && strings.Contains(task.Statement, line) {
				t.Errorf("task %s states the fixed line %q", task.ID, line)
			}
		}
	}
}

// TestStatements: one line in plain words, with the function's name and no
// place in a file.
func TestStatements(t *testing.T) {
	place := regexp.MustCompile(`\.go|\bline\b|:\d+`)
	for _, task := range defaults(t) {
		if strings.Contains(task.Statement, "\n") || len(task.Statement) > 160 {
			t.Errorf("task %s: statement is not one short line: %q", task.ID, task.Statement)
		}
		if place.MatchString(task.Statement) {
			t.Errorf("task %s: statement names a place: %q", task.ID, task.Statement)
		}
	}
}

// TestSplitsAreDisjoint: a function is held out whole or not at all, and no
// faulty source is in two tasks, whatever its split.
func TestSplitsAreDisjoint(t *testing.T) {
	tasks := defaults(t)
	cfg := DefaultBuildConfig()
	splitOf, sourceOf, count := map[string]string{}, map[string]string{}, map[string]int{}
	heldOutOf := map[string]int{}
	for _, task := range tasks {
		count[task.Split]++
		group := Train
		switch task.Split {
		case HeldOutFunction:
			group = HeldOutFunction
		case HeldOutFault:
			if heldOutOf[task.Repo]++; heldOutOf[task.Repo] > cfg.HeldOutPerFunction {
				t.Errorf("more than %d faults of %s are held out", cfg.HeldOutPerFunction, task.Repo)
			}
		case Train:
		default:
			t.Errorf("task %s has the split %q", task.ID, task.Split)
		}
		if other, ok := splitOf[task.Repo]; ok && other != group {
			t.Errorf("function %s is in %s and in %s", task.Repo, other, group)
		}
		splitOf[task.Repo] = group
		source := fileNamed(task.Files, SourceFile)
		if other := sourceOf[source]; other != "" {
			t.Errorf("tasks %s and %s have the same source", other, task.ID)
		}
		sourceOf[source] = task.ID
	}
	functions := map[string]int{}
	for _, split := range splitOf {
		functions[split]++
	}
	if functions[HeldOutFunction] != cfg.HeldOutFunctions || count[HeldOutFault] != cfg.HeldOutFaults {
		t.Errorf("%d functions and %d faults are held out, want %d and %d",
			functions[HeldOutFunction], count[HeldOutFault], cfg.HeldOutFunctions, cfg.HeldOutFaults)
	}
	if count[Train] < 200 {
		t.Errorf("%d tasks to train on, want at least 200", count[Train])
	}
	for split, n := range count {
		if got := len(Select(tasks, split)); got != n {
			t.Errorf("Select(%s) has %d tasks, want %d", split, got, n)
		}
	}
	if got := Select(tasks, "no such split"); got != nil {
		t.Errorf("an unknown split has %d tasks", len(got))
	}
}

// TestVisibleTestsShowFaults: in nine of ten tasks an agent that runs the tests it has sees
// the failure, so investigating pays.
func TestVisibleTestsShowFaults(t *testing.T) {
	shown, tasks := 0, defaults(t)
	for _, task := range tasks {
		if strings.Contains(task.Statement, " is broken: ") {
			shown++
		}
	}
	if shown*10 < len(tasks)*9 {
		t.Errorf("the visible test shows the fault in %d of %d tasks, want nine of ten", shown, len(tasks))
	}
}

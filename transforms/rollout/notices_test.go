package rollout

import (
	"strings"
	"testing"
)

func TestNotices(t *testing.T) {
	const last, full = "\nOne step remains, the last. Submit your work NOW.", "\nYour context is nearly full. Submit your work NOW."
	for _, c := range []struct {
		notices       Notices
		taken, tokens int
		want          string
	}{
		{Notices{}, 49, 30_000, ""},
		{DeepSWENotices, 1, 500, "\nSteps Remaining: 49"},
		{DeepSWENotices, 48, 27_999, "\nSteps Remaining: 2"},
		{DeepSWENotices, 49, 500, last},
		{DeepSWENotices, 49, 28_000, last + full},
		{Notices{Tokens: 10}, 49, 10, full},
	} {
		if got := c.notices.lines(c.taken, 50, c.tokens); got != c.want {
			t.Errorf("%+v after %d steps and %d tokens: %q, want %q", c.notices, c.taken, c.tokens, got, c.want)
		}
	}
}

// TestNoticesAreTold: behind each observation the agent goes on from, and in no
// other place.
func TestNoticesAreTold(t *testing.T) {
	cfg := config()
	cfg.Limits.Steps, cfg.Notices = 3, Notices{Steps: true}
	a, p := agent(t, cfg, &memory{}, view("clamp.go"), view("clamp.go"), view("clamp.go"))
	got, err := a.Run(t.Context(), order(), "run", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	text := a.tokenizer.Decode(got.Tokens)
	if i, j := strings.Index(text, "\nSteps Remaining: 2"), strings.Index(text, "\nOne step remains"); i < 0 || j < i || strings.Count(text, "Remain") != 1 {
		t.Errorf("notices at %d and %d of\n%s", i, j, text)
	}
	if len(p.sessions[0].prefixes) != 3 || strings.Contains(got.Steps[0].Observation, "Remaining") {
		t.Errorf("%d turns; the first observation is %q", len(p.sessions[0].prefixes), got.Steps[0].Observation)
	}
}

// TestDeepSWEPrompt: it parses, and names every tool and parameter that is
// required.
func TestDeepSWEPrompt(t *testing.T) {
	cfg := config()
	cfg.Prompt = DeepSWEPrompt
	a, _ := agent(t, cfg, &memory{}, finish)
	task := order()
	task.Workdir = "/src/clamp"
	system, user, err := a.Prompt(task)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"file_editor", "execute_bash", "search", "finish", "command", "path", "cmd", "search_term", "<function=", "</function>"} {
		if !strings.Contains(system, want) {
			t.Errorf("the system prompt does not name %s", want)
		}
	}
	if !strings.Contains(user, "/src/clamp") || !strings.Contains(user, "<github_issue>\n"+task.Statement+"\n</github_issue>") {
		t.Errorf("user prompt: %s", user)
	}
}

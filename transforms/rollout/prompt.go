package rollout

import (
	"cmp"
	"fmt"
	"sort"
	"strings"
	"text/template"

	"millrace/schemas"
	"millrace/transforms/rollout/tools"
	"millrace/transforms/sandbox"
)

// Prompt are the texts that frame a task, as Go templates over [PromptData]. An
// empty one is that of the tools' style: [BriefPrompt] or [DeepSWEPrompt].
type Prompt struct {
	System string `yaml:"system"`
	User   string `yaml:"user"`
	// Reminder is the observation that answers a turn without a usable call; it
	// is a template over the error text.
	Reminder string `yaml:"reminder"`
}

// PromptData is what a prompt template may name.
type PromptData struct {
	Statement string
	// Files are the paths of the snapshot that are not module files; none where the
	// snapshot is a container image.
	Files []string
	// Workdir is the directory of the repository.
	Workdir string
}

// BriefPrompt suits a policy of a few million parameters: it was warm-started
// on these tools and needs no manual.
var BriefPrompt = Prompt{
	System:   "You repair Go code.",
	User:     "{{.Statement}}\nFiles: {{range $i, $f := .Files}}{{if $i}} {{end}}{{$f}}{{end}}",
	Reminder: "ERROR: {{.}}",
}

// orOf fills in the texts of a style.
func (p Prompt) orOf(style tools.Style) Prompt {
	of := DeepSWEPrompt
	if style == tools.Brief {
		of = BriefPrompt
	}
	return Prompt{System: cmp.Or(p.System, of.System), User: cmp.Or(p.User, of.User), Reminder: cmp.Or(p.Reminder, of.Reminder)}
}

// templates is a parsed Prompt.
type templates struct{ system, user, reminder *template.Template }

func (p Prompt) parse() (templates, error) {
	var t templates
	task := PromptData{Statement: "It is broken.", Files: []string{"a.go", "a_test.go"}, Workdir: sandbox.Root}
	for _, f := range []struct {
		name   string
		text   string
		to     **template.Template
		sample any
	}{{"system", p.System, &t.system, task}, {"user", p.User, &t.user, task}, {"reminder", p.Reminder, &t.reminder, "no call"}} {
		parsed, err := template.New(f.name).Option("missingkey=error").Parse(f.text)
		if err != nil {
			return templates{}, fmt.Errorf("parsing prompt.%s: %w", f.name, err)
		}
		if _, err := render(parsed, f.sample); err != nil {
			return templates{}, err // it names what a task does not have
		}
		*f.to = parsed
	}
	return t, nil
}

func render(t *template.Template, data any) (string, error) {
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return "", fmt.Errorf("rendering prompt.%s: %w", t.Name(), err)
	}
	return b.String(), nil
}

func promptData(task schemas.Task) PromptData {
	data := PromptData{Statement: task.Statement, Workdir: cmp.Or(task.Workdir, sandbox.Root)}
	for _, f := range task.Files {
		if f.Path != "go.mod" && f.Path != "go.sum" {
			data.Files = append(data.Files, f.Path)
		}
	}
	sort.Strings(data.Files)
	return data
}

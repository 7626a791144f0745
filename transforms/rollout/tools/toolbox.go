package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"syscall"

	"millrace/transforms/sandbox"
)

// tool is one entry of the table of tools.
type tool struct {
	parameters []string // in the order of Format
	required   []string
	do         func(*Toolbox, context.Context, map[string]string) (answer, error)
}

// answer is what a tool has to say, before it is put into the style's form.
type answer struct {
	text    string
	code    int
	done    bool
	refused bool
}

var tools map[string]tool

func init() { // a literal would refer to itself through Format's use of the order
	finish := tool{parameters: []string{"command", "result"}, do: (*Toolbox).finish}
	tools = map[string]tool{
		"file_editor": {
			parameters: []string{"command", "path", "view_range", "file_text", "old_str", "new_str", "insert_line", "concise", "enable_linting"},
			required:   []string{"command", "path"},
			do:         (*Toolbox).edit,
		},
		"execute_bash": {parameters: []string{"cmd", "command"}, do: (*Toolbox).bash},
		"search": {
			parameters: []string{"search_term", "path", "python_only"},
			required:   []string{"search_term"},
			do:         (*Toolbox).search,
		},
		"finish": finish,
		"submit": finish,
	}
}

// Toolbox runs the calls of one rollout. It is not safe for concurrent use.
type Toolbox struct {
	sandbox sandbox.Sandbox
	limits  Limits
	edits   map[string][]edit // by path, for undo_edit
}

// New returns the tools on a sandbox, which it does not close.
func New(sb sandbox.Sandbox, limits Limits) *Toolbox {
	return &Toolbox{sandbox: sb, limits: limits.orDefault(), edits: map[string][]edit{}}
}

// refusal is an error of the agent's, in words for it to read.
type refusal string

func (r refusal) Error() string { return string(r) }

func refuse(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// Do runs a call. An error is about the infrastructure (a *[sandbox.Failure] or
// the end of ctx); whatever the agent did wrong is an observation.
func (t *Toolbox) Do(ctx context.Context, call Call) (Observation, error) {
	a, err := t.dispatch(ctx, call)
	var said refusal
	switch {
	case err == nil:
	case errors.As(err, &said):
		a = answer{text: "ERROR: " + string(said), code: 1, refused: true}
	default:
		return Observation{}, err
	}
	return t.present(call.Name, a), nil
}

func (t *Toolbox) dispatch(ctx context.Context, call Call) (answer, error) {
	spec, ok := tools[call.Name]
	if !ok {
		return answer{}, refuse("unknown tool %q; the tools are %s", short(call.Name), strings.Join(slices.Sorted(maps.Keys(tools)), ", "))
	}
	for _, key := range sortedKeys(call) {
		if !slices.Contains(spec.parameters, key) {
			return answer{}, refuse("%s has no parameter %q; it has %s", call.Name, short(key), strings.Join(spec.parameters, ", "))
		}
	}
	for _, key := range spec.required {
		if call.Args[key] == "" {
			return answer{}, refuse("%s needs parameter %s", call.Name, key)
		}
	}
	return spec.do(t, ctx, call.Args)
}

func (t *Toolbox) finish(context.Context, map[string]string) (answer, error) {
	return answer{text: finished, done: true}, nil
}

// explain turns what a command or a wrong path may cause into a refusal and
// leaves the rest, which is about the infrastructure.
func explain(path string, err error) error {
	var failure *sandbox.Failure
	switch {
	case err == nil || errors.As(err, &failure) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, sandbox.ErrOutside):
		return refuse("%s is outside of %s", short(path), sandbox.Root)
	case errors.Is(err, sandbox.ErrTooLarge):
		return refuse("%s is too large", short(path))
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return refuse("%s does not exist; view . to see the files", short(path))
	case errors.Is(err, syscall.EISDIR), errors.Is(err, fs.ErrInvalid), errors.Is(err, fs.ErrExist),
		errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ENXIO):
		return refuse("%s is not a regular file", short(path))
	case errors.Is(err, fs.ErrPermission):
		return refuse("%s: permission denied", short(path))
	}
	return err
}

// short bounds what an observation repeats of a call.
func short(s string) string {
	const limit = 80
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "..."
}

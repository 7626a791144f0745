package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// blocked are the programs that the original's execute_bash refuses as the
// first word: git, since the history of the base commit may hold the fix, and
// what would wait for a terminal.
var blocked = []string{"git", "ipython", "jupyter", "nohup"}

// bash runs a command. The original calls its parameter cmd; command is taken
// as well.
func (t *Toolbox) bash(ctx context.Context, args map[string]string) (answer, error) {
	command := args["cmd"]
	if command == "" {
		command = args["command"]
	} else if args["command"] != "" {
		return answer{}, refuse("give cmd or command, not both")
	}
	if strings.TrimSpace(command) == "" {
		return answer{}, refuse("execute_bash needs parameter cmd")
	}
	if first := strings.Fields(command)[0]; t.limits.Style == DeepSWE && slices.Contains(blocked, first) {
		return answer{}, refuse("%s is not allowed here; use another command or tool", first)
	}
	r, err := t.sandbox.Exec(ctx, command, t.limits.Action)
	if err != nil {
		return answer{}, err
	}
	output := normalise(r.Output)
	if t.limits.Style == Brief {
		output = withoutStacks(output)
	}
	switch {
	case r.OutOfMemory:
		output += "\n[killed: the sandbox's memory limit was reached]"
	case r.DiskFull:
		output += "\n[killed: the sandbox's disk limit was reached; remove files before you go on]"
	}
	if r.TimedOut {
		note := fmt.Sprintf("The command took too long to execute (>%gs)", t.limits.Action.Seconds())
		if output != "" {
			note += "\n" + output
		}
		return answer{text: note, code: -1}, nil
	}
	if t.limits.Style == DeepSWE {
		// The original keeps the streams apart; here they come in the order
		// they were written.
		output = fmt.Sprintf("[STDOUT]\n\n%s \n\n[STDERR]\n\n", output)
		if r.ExitCode != 0 {
			output = "Error executing command:\n\n" + output
		}
	}
	return answer{text: output, code: r.ExitCode}, nil
}

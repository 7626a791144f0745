package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"millrace/schemas"
)

// maxText bounds one text of a trajectory in bytes: what is longer is no longer
// read, and a report of megabytes is not opened on a phone.
const maxText = 16 << 10

// trajectory is a trajectory with its reward as the page shows it.
type trajectory struct {
	ID, Task, Statement string
	Solved              bool
	Reward              string
	Failure             string
	Termination         string
	Iteration           int64
	Versions            string
	Sampled             int
	Took                time.Duration
	Turns               []turn
	Patch               string
	Passed, FailedTests []string
	Output              string
}

// turn is one environment step: what the agent wrote and what it was shown.
type turn struct {
	Number              int
	Tool                string
	Action, Observation string
	ExitCode            int32
	Tokens              int32
	Sampling, Acting    time.Duration
}

func readable(r schemas.Reward) trajectory {
	t := r.Trajectory
	out := trajectory{
		ID: visible(t.ID), Task: visible(t.Task.ID), Statement: excerpt(t.Task.Statement),
		Solved: r.Failure == "" && r.Value >= 1, Reward: number(r.Value), Failure: excerpt(r.Failure),
		Termination: visible(string(t.Termination)), Iteration: t.Iteration, Versions: versions(t.Versions),
		Took:  time.Duration(t.Finished-t.Started) * time.Microsecond,
		Patch: excerpt(t.Patch), Passed: visibleAll(r.Passed), FailedTests: visibleAll(r.FailedTests), Output: excerpt(r.Output),
	}
	for i, s := range t.Steps {
		out.Sampled += int(s.TokenEnd - s.TokenStart)
		out.Turns = append(out.Turns, turn{
			Number: i + 1, Tool: visible(s.Tool), Action: excerpt(s.Action), Observation: excerpt(s.Observation),
			ExitCode: s.ExitCode, Tokens: s.TokenEnd - s.TokenStart,
			Sampling: time.Duration(s.Sampling) * time.Microsecond, Acting: time.Duration(s.Acting) * time.Microsecond,
		})
	}
	return out
}

// versions names the policy versions that sampled a trajectory.
func versions(perToken []int32) string {
	sampled := slices.DeleteFunc(slices.Clone(perToken), func(v int32) bool { return v < 0 })
	if len(sampled) == 0 {
		return "none"
	}
	low, high := slices.Min(sampled), slices.Max(sampled)
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

// excerpt is a text, visible, with its middle left out if it is long: the error
// of a command is often at its end.
func excerpt(text string) string {
	if len(text) <= maxText {
		return visible(text)
	}
	left := len(text) - maxText
	return visible(text[:maxText/2]) + fmt.Sprintf("\n[… %d bytes left out …]\n", left) + visible(text[len(text)-maxText/2:])
}

// visible makes every character of a text one that is seen: control characters
// as their pictures (U+2400), characters that change the direction or hide as
// U+FFFD. What is shown is what is there.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		const pictures, deletePicture = '\u2400', '\u2421'
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ':
			return pictures + r
		case r == 0x7f:
			return deletePicture
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
}

func visibleAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = visible(t)
	}
	return out
}

package rollout

import "fmt"

// Notices are lines behind an observation that tell the agent how much it may
// still do. The zero value gives none.
type Notices struct {
	// Steps tells the steps that are left.
	Steps bool `yaml:"steps"`
	// Tokens is the length of the trajectory, in tokens, from which on the agent
	// is told that the context comes to its end; 0 for never.
	Tokens int `yaml:"tokens"`
}

// DeepSWENotices are the original's, for a context of 32,768 tokens behind the
// first prompt (rLLM's TOKEN_WARNING_THRESHOLD).
var DeepSWENotices = Notices{Steps: true, Tokens: 28_000}

// lines are the notices when taken steps have been taken of most, and the
// trajectory, with the turn just taken, has that many tokens.
func (n Notices) lines(taken, most, tokens int) string {
	text := ""
	if n.Steps {
		if left := most - taken; left > 1 {
			text += fmt.Sprintf("\nSteps Remaining: %d", left)
		} else {
			text += "\nOne step remains, the last. Submit your work NOW."
		}
	}
	if n.Tokens > 0 && tokens >= n.Tokens {
		text += "\nYour context is nearly full. Submit your work NOW."
	}
	return text
}

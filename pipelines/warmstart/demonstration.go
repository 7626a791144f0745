package warmstart

import (
	"strings"

	"millrace/schemas"
)

// Message is one message of a conversation as text.
type Message struct {
	Role, Content string
}

// Demonstration is one rollout of the expert as text, so that it can be
// renamed and tokenised again. Reinforcement learning never does that
// (invariant 3); supervised steps have no sampled ids to keep.
type Demonstration struct {
	TaskID   string
	Messages []Message
	// Names are the identifiers of the task's source that may be renamed.
	Names []string
	// Solved is true when the last test run passed.
	Solved bool
}

// slip is true when message i is an edit of text that the file does not hold.
func (d Demonstration) slip(i int) bool {
	return i+1 < len(d.Messages) && strings.HasPrefix(d.Messages[i+1].Content, "ERROR: old_str is not in")
}

// Recording is what the expert did: what the policy shall do, and drills in the
// tools, of which there is more to copy in as many tokens.
type Recording struct {
	Demonstrations, Drills []Demonstration
}

// demonstration reads the conversation back from a trajectory. The prompt is
// given as messages because a trajectory holds only its tokens.
func demonstration(prompt []Message, t schemas.Trajectory) Demonstration {
	d := Demonstration{TaskID: t.Task.ID, Messages: prompt, Names: names(t.Task)}
	for i, step := range t.Steps {
		d.Messages = append(d.Messages, Message{"assistant", step.Action})
		if i < len(t.Steps)-1 {
			d.Messages = append(d.Messages, Message{"user", step.Observation})
		}
		if step.Tool == "execute_bash" {
			d.Solved = passed(step.Observation)
		}
	}
	return d
}

package chaos

import (
	"fmt"
	"time"
)

// kind is what a fault does.
type kind string

const (
	kill     kind = "kill"     // SIGKILL to a role
	killAt   kind = "kill at"  // SIGKILL at a passage of a point
	killAll  kind = "kill all" // SIGKILL to all roles at once
	restart  kind = "restart"  // SIGTERM to the broker, which closes its log
	reset    kind = "reset"    // of all connections of a role
	stall    kind = "stall"    // SIGSTOP for a while: a disk or machine that hangs
	slowDisk kind = "slow"     // each write point of the learner takes a while
	fullDisk kind = "full"     // no file of the role can grow for a while
	poison   kind = "poison"   // a record on a topic that nobody can decode
	repeat   kind = "repeat"   // the last records of a topic again, backwards
	grow     kind = "grow"     // a partition more for every topic
)

// fault is one line of a schedule.
type fault struct {
	kind kind
	// steps are to be taken since the fault before; then wait passes.
	steps int64
	wait  time.Duration
	role  string
	// at and count say where a role dies: at which passage from now on. For the
	// broker it is a passage of another role.
	at    passage
	count int
	// torn is the file of the role whose end is damaged after the kill; empty
	// damages none.
	torn  string
	last  time.Duration // of a fault that ends by itself
	topic string
	seed  uint64 // of what is random about a record or a damage
}

func (f fault) kills() bool { return f.kind == kill || f.kind == killAt || f.kind == killAll }

// String is the fault's line in the printed schedule.
func (f fault) String() string {
	text := fmt.Sprintf("%d steps, %4d ms: ", f.steps, f.wait.Milliseconds())
	switch f.kind {
	case kill:
		text += "kill " + f.role
		if f.torn != "" {
			text += ", tear " + f.torn
		}
	case killAt:
		text += fmt.Sprintf("kill %s when %s for the %d. time", f.role, f.at, f.count)
	case killAll:
		text += "kill all"
	case grow:
		text += "grow all topics"
	case poison, repeat:
		text += fmt.Sprintf("%s %s", f.kind, f.topic)
	case stall, slowDisk, fullDisk:
		text += fmt.Sprintf("%s %s for %d ms", f.kind, f.role, f.last.Milliseconds())
	default:
		text += fmt.Sprintf("%s %s", f.kind, f.role)
	}
	return text
}

package learn

import "millrace/schemas"

// Outputs leave the learner as elements, and it does not learn when they became
// durable. So a checkpoint carries the outputs of the last steps, and a learner
// that resumes gives them out again: none is lost as long as they reach their
// topics within carriedSteps steps.
const (
	carriedSteps = 8
	// carriedBytes bounds the payloads of the dead letters carried. A log so full
	// of them has other troubles.
	carriedBytes = 64 << 20
)

// carried are dead letters with the step before which they left.
type carried struct {
	letters []schemas.DeadLetter
	steps   []int64
	bytes   int
}

// add carries letters that left at a policy version.
func (c *carried) add(version int64, letters []schemas.DeadLetter) {
	for _, d := range letters {
		c.letters, c.steps = append(c.letters, d), append(c.steps, version)
		c.bytes += len(d.Payload)
	}
	for c.bytes > carriedBytes {
		c.drop()
	}
}

// advance drops the letters that left too long before a version.
func (c *carried) advance(version int64) {
	for len(c.steps) > 0 && c.steps[0] < version-carriedSteps {
		c.drop()
	}
}

func (c *carried) drop() {
	c.bytes -= len(c.letters[0].Payload)
	c.letters, c.steps = c.letters[1:], c.steps[1:]
}

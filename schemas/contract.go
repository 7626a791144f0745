package schemas

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// contract collects the first broken rule of a row.
type contract struct {
	schema, id string
	broken     *InvalidError
}

func (c *contract) fail(reason Reason, field, format string, args ...any) {
	if c.broken == nil {
		c.broken = &InvalidError{
			Schema: c.schema, ID: c.id, Field: field, Problem: fmt.Sprintf(format, args...), Reason: reason,
		}
	}
}

// err returns the first broken rule, or nil.
func (c *contract) err() error {
	if c.broken == nil {
		return nil
	}
	return c.broken
}

// name checks what is used as an identity: it is not empty, and it is UTF-8
// since text columns replace what is not, which would make ids collide.
func (c *contract) name(field, value string) {
	if value == "" {
		c.fail(Invalid, field, "is empty")
	}
	c.utf8(field, value)
}

// rising checks a sorted list of names without repetition.
func (c *contract) rising(field string, names []string) {
	for i, name := range names {
		if name == "" || !utf8.ValidString(name) || (i > 0 && name <= names[i-1]) {
			c.fail(Invalid, fmt.Sprintf("%s[%d]", field, i), "is %q: empty, not UTF-8, or not behind the one before", name)
			return
		}
	}
}

func (c *contract) utf8(field, value string) {
	if !utf8.ValidString(value) {
		c.fail(Invalid, field, "is not UTF-8: %q", value)
	}
}

func (c *contract) notNegative(field string, value int64) {
	if value < 0 {
		c.fail(Invalid, field, "is %d, less than 0", value)
	}
}

func (c *contract) finite(field string, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		c.fail(NotFinite, field, "is %v", value)
	}
}

func (c *contract) termination(field string, value Termination) {
	switch value {
	case Finished, ContextFull, StepLimit, TimeLimit, ActionLimit, Malformed, Failed:
	default:
		c.fail(Invalid, field, "is %q, not a termination reason", value)
	}
}

// tokens checks the four token columns of a trajectory or sample: equal
// lengths; no negative id; the first token is not sampled, since nothing
// predicts it; a sampled token has a finite log-probability and a policy
// version, any other has 0 and -1.
func (c *contract) tokens(tokens []int32, mask []bool, logProbs []float32, versions []int32) {
	n := len(tokens)
	if len(mask) != n || len(logProbs) != n || len(versions) != n {
		c.fail(Invalid, "Tokens", "has length %d, LossMask %d, LogProbs %d, Versions %d: they must be equal",
			n, len(mask), len(logProbs), len(versions))
		return
	}
	if n > 0 && mask[0] {
		c.fail(Invalid, "LossMask[0]", "is true, but nothing predicts the first token")
	}
	for i, id := range tokens {
		if id < 0 {
			c.fail(Invalid, fmt.Sprintf("Tokens[%d]", i), "is %d, less than 0", id)
			return
		}
		logProb, version := logProbs[i], versions[i]
		if !mask[i] {
			if logProb != 0 || version != -1 {
				c.fail(Invalid, fmt.Sprintf("LossMask[%d]", i),
					"is false, but LogProbs has %v and Versions %d there, not 0 and -1", logProb, version)
				return
			}
			continue
		}
		if logProb-logProb != 0 { // NaN or infinite
			c.fail(NotFinite, fmt.Sprintf("LogProbs[%d]", i), "is %v", logProb)
			return
		}
		if version < 0 {
			c.fail(Invalid, fmt.Sprintf("Versions[%d]", i), "is %d at a sampled token", version)
			return
		}
	}
}

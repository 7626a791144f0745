package difflib

import (
	"context"
	"errors"
	"fmt"
)

// MaxElements bounds the code points, or the lines, of one text of a comparison, and
// with them the memory: 4 bytes an element each time that the longest common substring
// doubles, and about 50 beside; below 200 MB.
const MaxElements = 1 << 19

// MaxWork bounds the work of one comparison, in elements looked at: some seconds of
// one core, in which texts that are not made to be slow are long done.
const MaxWork = 1 << 31

// ErrTooMuch marks a comparison that [MaxElements] or [MaxWork] refuses. It holds for
// the same two texts everywhere and always.
var ErrTooMuch = errors.New("too much to compare")

// checkEvery is the work between two looks at the context: about a millisecond's.
const checkEvery = 1 << 20

// meter counts the work of a comparison.
type meter struct {
	ctx context.Context
	// left is what may still be done; unchecked is what has been since the last look
	// at ctx.
	left, unchecked int
}

func newMeter(ctx context.Context) *meter { return &meter{ctx: ctx, left: MaxWork} }

// spend is called before n elements are looked at. It returns ErrTooMuch or the cause
// of the context's end.
func (m *meter) spend(n int) error {
	m.left -= n
	if m.left < 0 {
		return fmt.Errorf("%w: more than %d elements looked at", ErrTooMuch, MaxWork)
	}
	m.unchecked += n
	if m.unchecked < checkEvery {
		return nil
	}
	m.unchecked = 0
	return m.stopped()
}

func (m *meter) stopped() error {
	if m.ctx.Err() != nil {
		return context.Cause(m.ctx)
	}
	return nil
}

// admit refuses texts that are too long, and is the first look at the context.
func (m *meter) admit(elements string, a, b int) error {
	if n := max(a, b); n > MaxElements {
		return fmt.Errorf("%w: %d %s, more than %d", ErrTooMuch, n, elements, MaxElements)
	}
	return m.stopped()
}

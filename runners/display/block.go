package display

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
)

// block is a group of lines at the bottom of the terminal's output that can be
// taken away again.
//
// Invariant: the cursor stands at the beginning of the line below the block.
type block struct {
	widths []int // columns of each line drawn
}

const (
	cursorUp   = "\x1b[%dA"
	clearBelow = "\x1b[J"
)

// erase returns what moves the cursor to where the block began and clears from
// there. A line that was drawn when the terminal was wider has been broken by
// it since, and counts as often.
func (b *block) erase(columns int) string {
	up := 0
	for _, w := range b.widths {
		up += max(1, (w+columns-1)/columns)
	}
	b.widths = nil
	if up == 0 {
		return ""
	}
	return fmt.Sprintf(cursorUp, up) + "\r" + clearBelow
}

// draw returns what writes lines, cut so that no line breaks and the first is
// never scrolled out of reach.
func (b *block) draw(lines []string, columns, rows int) string {
	lines = lines[:min(len(lines), max(rows-1, 0))]
	var out strings.Builder
	for _, l := range lines {
		// A character in the last column makes some terminals break the line.
		l = runewidth.Truncate(l, max(columns-1, 0), "")
		b.widths = append(b.widths, runewidth.StringWidth(l))
		out.WriteString(l + "\n")
	}
	return out.String()
}

package procedural

import (
	"cmp"
	"fmt"
	"slices"
)

// Edit is a splice: the text Before at the byte Offset becomes After.
type Edit struct {
	Offset        int
	Before, After string
}

// Apply returns a copy of src with the edits in it, in any order. It fails when
// two edits overlap, or when src does not hold the text before an edit, that is,
// when it is not the source that the edits were made for.
func Apply(src []byte, edits []Edit) ([]byte, error) {
	edits = slices.Clone(edits)
	slices.SortFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Offset, b.Offset) })
	out := make([]byte, 0, len(src))
	at := 0
	for _, e := range edits {
		end := e.Offset + len(e.Before)
		switch {
		case e.Offset < at:
			return nil, fmt.Errorf("applying an edit at byte %d: it overlaps the one before", e.Offset)
		case e.Offset > len(src), end > len(src), string(src[e.Offset:end]) != e.Before:
			return nil, fmt.Errorf("applying an edit at byte %d: the source does not hold %q there", e.Offset, e.Before)
		}
		out = append(out, src[at:e.Offset]...)
		out = append(out, e.After...)
		at = end
	}
	return append(out, src[at:]...), nil
}

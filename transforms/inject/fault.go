package inject

import "fmt"

// Fault is one change to one line of a source file: the text Before at Offset
// becomes After. Neither text holds a line break.
type Fault struct {
	Kind Kind
	// Offset is the byte offset of Before in the source (>= 0).
	Offset int
	// Line and Column are the place of Before, from 1; Column counts bytes.
	Line, Column int
	// Before is the text of the working source, After that of the faulty one.
	Before, After string
}

// Apply returns a copy of src with the fault in it. It fails when src does not
// hold Before at Offset, that is, when it is not the source that the fault was
// found in.
func (f Fault) Apply(src []byte) ([]byte, error) {
	end := f.Offset + len(f.Before)
	if f.Offset < 0 || end > len(src) || string(src[f.Offset:end]) != f.Before {
		return nil, fmt.Errorf("applying fault %v: source does not hold %q at byte %d", f, f.Before, f.Offset)
	}
	out := make([]byte, 0, len(src)-len(f.Before)+len(f.After))
	out = append(out, src[:f.Offset]...)
	out = append(out, f.After...)
	return append(out, src[end:]...), nil
}

// String names the fault for messages: kind, place and change.
func (f Fault) String() string {
	return fmt.Sprintf("%s at %d:%d: %q -> %q", f.Kind, f.Line, f.Column, f.Before, f.After)
}

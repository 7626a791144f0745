package testlog

import "strings"

// tailBytes bounds the text kept of a test run: enough for the messages of a
// few failing tests, small beside a trajectory.
const tailBytes = 4 << 10

// tail keeps the last tailBytes of what is added to it.
type tail struct{ b []byte }

func (t *tail) add(s string) {
	if len(s) > 4*tailBytes {
		s = s[len(s)-4*tailBytes:]
	}
	t.b = append(t.b, s...)
	if len(t.b) > 4*tailBytes {
		t.b = append(t.b[:0], t.b[len(t.b)-tailBytes:]...)
	}
}

// String returns valid UTF-8 of at most tailBytes, beginning at a whole line
// where something was cut and a line end is in it.
func (t *tail) String() string {
	s := string(t.b)
	if len(s) > tailBytes {
		s = s[len(s)-tailBytes:]
		if _, rest, ok := strings.Cut(s, "\n"); ok && rest != "" {
			s = rest
		}
	}
	return strings.ToValidUTF8(s, "?")
}

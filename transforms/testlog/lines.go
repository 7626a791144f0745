package testlog

import (
	"iter"
	"strings"
	"unicode"
)

// unixLines ends every line with "\n", as Python does with the text files that the
// original parsers read: "\r\n" and a lone "\r" end lines too.
func unixLines(log string) string {
	if strings.IndexByte(log, '\r') < 0 {
		return log
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(log)
}

// lines yields the lines of a log without their ends.
func lines(log string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(log) > 0 {
			line, rest, _ := strings.Cut(log, "\n")
			if !yield(line) {
				return
			}
			log = rest
		}
	}
}

// space reports what Python's str.split and str.strip take for white space.
func space(r rune) bool {
	return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f
}

func strip(s string) string { return strings.TrimFunc(s, space) }

// fields splits at white space, as str.split does.
func fields(s string) []string { return strings.FieldsFunc(s, space) }

// firstField returns the first word and what follows it, stripped.
func firstField(s string) (word, rest string) {
	s = strings.TrimLeftFunc(s, space)
	if i := strings.IndexFunc(s, space); i >= 0 {
		return s[:i], strip(s[i:])
	}
	return s, ""
}

// plain takes off terminal escapes: ESC and one byte, or ESC "[" with its
// parameters and its final byte (ECMA-48, 5.4).
func plain(log string) string {
	i := strings.IndexByte(log, 0x1b)
	if i < 0 {
		return log
	}
	var b strings.Builder
	b.Grow(len(log))
	for i >= 0 {
		b.WriteString(log[:i])
		log = log[i+escape(log[i:]):]
		i = strings.IndexByte(log, 0x1b)
	}
	b.WriteString(log)
	return b.String()
}

// escape returns the length of the escape sequence that s begins with; of one that
// is cut or malformed, what can belong to it.
func escape(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	if s[1] != '[' {
		if '@' <= s[1] && s[1] <= '_' {
			return 2
		}
		return 1
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case '@' <= c && c <= '~':
			return i + 1
		case c < ' ' || c > '?':
			return i
		}
	}
	return len(s)
}

package tokenizer

import (
	"unicode"
	"unicode/utf8"
)

// Pattern is Qwen's pre-tokenizer pattern, as it stands in tokenizer.json. Go's
// regexp cannot compile its look-ahead; [splitNext] is the same pattern by hand.
const Pattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

// class is what the pattern distinguishes in a character.
type class uint8

const (
	classOther   class = iota // neither of the others: punctuation, symbols, marks, invalid bytes
	classLetter               // \p{L}
	classNumber               // \p{N}
	classSpace                // \s without line ends
	classNewline              // \r or \n
)

func (c class) space() bool { return c >= classSpace }

// splitNext returns the length in bytes of the first match of [Pattern] in s.
// The alternatives are tried in order, and the first that matches wins. It is at
// least 1 unless s is empty, since the alternatives cover every character; so
// pieces laid end to end are the text.
func splitNext(s string) int {
	if s == "" {
		return 0
	}
	first, size := classify(s)

	// (?i:'s|'t|'re|'ve|'m|'ll|'d)
	if s[0] == '\'' {
		if n := contraction(s[1:]); n > 0 {
			return 1 + n
		}
	}

	// [^\r\n\p{L}\p{N}]?\p{L}+
	switch first {
	case classLetter:
		return size + span(s[size:], classLetter)
	case classOther, classSpace:
		if n := span(s[size:], classLetter); n > 0 {
			return size + n
		}
	}

	// \p{N}
	if first == classNumber {
		return size
	}

	// ' ?[^\s\p{L}\p{N}]+[\r\n]*'
	lead := 0
	if s[0] == ' ' {
		lead = 1
	}
	if n := span(s[lead:], classOther); n > 0 {
		end := lead + n
		return end + span(s[end:], classNewline)
	}

	// Only white space is left: \s*[\r\n]+ reaches to the last line end of the
	// run; \s+(?!\S) leaves the last character of a run that is followed by text;
	// \s+ takes a run of one.
	end, last, afterNewline := 0, 0, 0
	for end < len(s) {
		c, n := classify(s[end:])
		if !c.space() {
			break
		}
		last = end
		end += n
		if c == classNewline {
			afterNewline = end
		}
	}
	switch {
	case afterNewline > 0:
		return afterNewline
	case end == len(s) || last == 0:
		return end
	}
	return last
}

// span is the length of the longest prefix of s whose characters are all of class c.
func span(s string, c class) int {
	end := 0
	for end < len(s) {
		got, n := classify(s[end:])
		if got != c {
			break
		}
		end += n
	}
	return end
}

// contraction is the length of an English contraction's tail at the start of s
// (what follows the apostrophe), 0 if there is none. The long s (U+017F) folds
// to s, as case-insensitive matching has it.
func contraction(s string) int {
	if s == "" {
		return 0
	}
	switch s[0] | 0x20 {
	case 's', 't', 'm', 'd':
		return 1
	case 'r', 'v':
		if len(s) > 1 && s[1]|0x20 == 'e' {
			return 2
		}
	case 'l':
		if len(s) > 1 && s[1]|0x20 == 'l' {
			return 2
		}
	}
	if r, n := utf8.DecodeRuneInString(s); r == 'ſ' {
		return n
	}
	return 0
}

// classify returns the class and the length of the first character of s, which
// is not empty. A byte that is not valid UTF-8 is a character of its own.
func classify(s string) (class, int) {
	if b := s[0]; b < utf8.RuneSelf {
		return asciiClass[b], 1
	}
	r, n := utf8.DecodeRuneInString(s)
	return classOf(r), n
}

func classOf(r rune) class {
	switch {
	case r == '\r' || r == '\n':
		return classNewline
	case unicode.IsSpace(r):
		return classSpace
	case unicode.IsLetter(r):
		return classLetter
	case unicode.IsNumber(r):
		return classNumber
	}
	return classOther
}

var asciiClass = func() (table [utf8.RuneSelf]class) {
	for b := range table {
		table[b] = classOf(rune(b))
	}
	return table
}()

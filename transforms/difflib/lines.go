package difflib

import (
	"strings"
	"unicode/utf8"
)

// splitLines cuts a text where Python's str.splitlines does, without the ends.
func splitLines(s string) []string {
	var lines []string
	for s != "" {
		i := strings.IndexFunc(s, endsLine)
		if i < 0 {
			return append(lines, s)
		}
		lines = append(lines, s[:i])
		size := len("\r\n")
		if !strings.HasPrefix(s[i:], "\r\n") {
			_, size = utf8.DecodeRuneInString(s[i:])
		}
		s = s[i+size:]
	}
	return lines
}

// endsLine tells the line ends that Python's documentation of str.splitlines lists.
func endsLine(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', '\x1c', '\x1d', '\x1e', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

// number gives equal lines equal numbers.
func number(numbers map[string]int32, lines []string) []int32 {
	of := make([]int32, len(lines))
	for i, line := range lines {
		n, ok := numbers[line]
		if !ok {
			n = int32(len(numbers))
			numbers[line] = n
		}
		of[i] = n
	}
	return of
}

// CPython's heuristic (autojunk): in a text of crowd lines or more, a line is popular
// that makes up more than one in share, plus one.
const (
	crowd = 200
	share = 100
)

// popular tells, by number, the popular lines; nil if there are none.
func popular(lines []int32, count int) []bool {
	if len(lines) < crowd {
		return nil
	}
	times := make([]int, count)
	for _, n := range lines {
		times[n]++
	}
	is := make([]bool, count)
	for n := range is {
		is[n] = times[n] > len(lines)/share+1
	}
	return is
}

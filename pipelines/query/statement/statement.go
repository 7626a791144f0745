// Package statement tells a query from other statements, without an engine.
package statement

import (
	"errors"
	"fmt"
	"strings"
)

// Single returns the one statement of a text, without a semicolon at its end. It
// knows what of SQL's syntax may hide a semicolon: quotes and comments. Whether
// the rest is SQL is the engine's to say.
func Single(text string) (string, error) {
	end := -1 // of the statement: the first semicolon that is none of a quote's
	for i := 0; i < len(text); {
		n := skip(text[i:])
		switch {
		case n > 0 && end >= 0 && !strings.HasPrefix(text[i:], "--") && !strings.HasPrefix(text[i:], "/*"):
			return "", errors.New("a query is one statement: something stands behind the semicolon")
		case n > 0:
			i += n
			continue
		case text[i] == ';' && end < 0:
			end = i
		case end >= 0 && text[i] != ';' && !strings.ContainsRune(" \t\r\n\f", rune(text[i])):
			return "", errors.New("a query is one statement: something stands behind the semicolon")
		}
		i++
	}
	if end >= 0 {
		text = text[:end]
	}
	switch verb := strings.ToUpper(firstWord(text)); verb {
	case "SELECT", "WITH", "VALUES":
		return text, nil
	case "":
		return "", errors.New("the query is empty")
	default:
		return "", fmt.Errorf("a query begins with SELECT, WITH or VALUES, not with %s: data sets are only read", verb)
	}
}

// skip is the length of the quoted text or comment that text begins with, 0 if it
// begins with neither. What is never closed goes to the end.
func skip(text string) int {
	until := func(open int, end string) int {
		if n := strings.Index(text[open:], end); n >= 0 {
			return open + n + len(end)
		}
		return len(text)
	}
	switch {
	case strings.HasPrefix(text, "--"):
		return until(2, "\n")
	case strings.HasPrefix(text, "/*"):
		return until(2, "*/")
	case strings.HasPrefix(text, "["):
		return until(1, "]")
	case text != "" && strings.ContainsRune("'\"`", rune(text[0])):
		// A doubled quote inside is the end of one quoted text and the beginning of
		// the next, which comes to the same.
		return until(1, text[:1])
	}
	return 0
}

func firstWord(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\r\n\f")
		if !strings.HasPrefix(text, "--") && !strings.HasPrefix(text, "/*") {
			break
		}
		text = text[skip(text):]
	}
	end := strings.IndexFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	switch {
	case end < 0:
		return text
	case end == 0: // not a word: name what stands there
		return text[:1]
	}
	return text[:end]
}

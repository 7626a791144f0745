package environment

import (
	"strings"
	"unicode"
)

// LastWord returns what the last word of the turn that is an action stands for.
// Words are runs of letters and digits, whatever their case. ok is false without
// one.
func LastWord(turn string, actions map[string]string) (action string, ok bool) {
	words := strings.FieldsFunc(strings.ToLower(turn), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i := len(words) - 1; i >= 0; i-- {
		if action, ok = actions[words[i]]; ok {
			return action, true
		}
	}
	return "", false
}

const fence = "```"

// LastFenced returns what the last block between two lines of three backticks stands
// for, without spaces and whatever its case. ok is false if there is no block, or no
// action in it.
//
// Blocks are read from the left, as regular expressions find them: in "```a```b```"
// the second pair of marks shares one with the first, so there is one block, a.
func LastFenced(turn string, actions map[string]string) (action string, ok bool) {
	last, found := "", false
	for {
		_, rest, opened := strings.Cut(turn, fence)
		inside, after, closed := strings.Cut(rest, fence)
		if !opened || !closed {
			break
		}
		last, turn, found = inside, after, true
	}
	if !found {
		return "", false
	}
	action, ok = actions[strings.ToLower(strings.TrimSpace(last))]
	return action, ok
}

package tokenizer

import (
	"cmp"
	"slices"
	"strings"
)

// AddedToken is a token outside of the BPE vocabulary that is matched in the raw
// text, before anything else.
type AddedToken struct {
	ID      int32
	Content string
	// Special marks control tokens, which other software may leave out of decoded
	// text. It changes nothing here.
	Special bool
}

// matcher finds added tokens: byFirst holds those that begin with a byte, longest
// first.
type matcher struct {
	byFirst [256][]AddedToken
}

func newMatcher(added []AddedToken) *matcher {
	m := &matcher{}
	for _, token := range added {
		first := token.Content[0]
		m.byFirst[first] = append(m.byFirst[first], token)
	}
	for _, tokens := range m.byFirst {
		slices.SortFunc(tokens, func(a, b AddedToken) int { return cmp.Compare(len(b.Content), len(a.Content)) })
	}
	return m
}

// next returns where the first added token in text begins and which it is, the
// longest if several begin there; start is len(text) when there is none.
func (m *matcher) next(text string) (start int, token AddedToken) {
	for i := range len(text) {
		for _, token := range m.byFirst[text[i]] {
			if strings.HasPrefix(text[i:], token.Content) {
				return i, token
			}
		}
	}
	return len(text), AddedToken{}
}

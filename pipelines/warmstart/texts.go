package warmstart

import (
	"iter"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// texts are the demonstrations' messages as they are and once renamed, so that
// the vocabulary covers the tools, the code and the names, in pieces: operators,
// line breaks and the fixed tokens stand alone. In "a-b" and at a line's end an
// operator is then the same token as anywhere, and a policy can exchange it
// without knowing what it stands beside.
func texts(r Recording, seed uint64) iter.Seq[string] {
	return func(yield func(string) bool) {
		rng := rand.New(rand.NewPCG(seed, 2))
		dictionary := r.dictionary()
		for _, d := range r.Demonstrations {
			for _, version := range []Demonstration{d, d.Rename(rng, dictionary)} {
				for _, m := range version.Messages {
					if !pieces(m.Content, yield) {
						return
					}
				}
			}
		}
	}
}

// apart matches what no token goes across.
var apart = func() *regexp.Regexp {
	var quoted []string
	for _, token := range fixed {
		quoted = append(quoted, regexp.QuoteMeta(token))
	}
	pattern := regexp.MustCompile(strings.Join(quoted, "|") + `|\n| ?[-+*/%<>=!&|^]+`)
	pattern.Longest() // as the tokenizer matches
	return pattern
}()

// pieces yields a text's parts that become tokens.
func pieces(text string, yield func(string) bool) bool {
	for text != "" {
		at := apart.FindStringIndex(text)
		if at == nil {
			at = []int{len(text), len(text)}
		}
		if at[0] > 0 && !yield(text[:at[0]]) {
			return false
		}
		if alone := text[at[0]:at[1]]; alone != "" && !slices.Contains(fixed, alone) && !yield(alone) {
			return false
		}
		text = text[at[1]:]
	}
	return true
}

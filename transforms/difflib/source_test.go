package difflib

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// source is a unified diff of a program, as models and people write them: few words
// that come again, indented lines, three kinds of prefixes.
func source(r *rand.Rand, lines int) string {
	words := strings.Fields("self value return result if not None for in range len items key name config path data " +
		"request response error raise except import from class def index node parent child update get set True False")
	var b strings.Builder
	fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@", r.IntN(900), lines, r.IntN(900), lines)
	for range lines {
		b.WriteString("\n" + []string{" ", " ", " ", "-", "+"}[r.IntN(5)] + strings.Repeat("    ", r.IntN(5)))
		for range r.IntN(9) {
			b.WriteString(words[r.IntN(len(words))] + []string{" ", "(", ")", ".", ", ", "_", " = ", ": "}[r.IntN(8)])
		}
	}
	return b.String()
}

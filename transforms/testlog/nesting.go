package testlog

import "strings"

const (
	// maxDepth bounds how deep suites nest, so that what is kept of a log stays
	// proportional to it. Deeper ones share the name of the one at this depth.
	maxDepth = 32
	// separator stands between a suite and what is in it.
	separator = " > "
)

// nesting is the suites around the current line, by indentation.
//
// Invariant: indents grow strictly.
type nesting struct {
	indents []int
	names   []string
	joined  string // names, each followed by separator
}

// enter closes the suites that are not around a line of this indentation, and opens
// one there.
func (n *nesting) enter(indent int, name string) {
	n.leave(indent)
	if len(n.names) < maxDepth {
		n.indents, n.names = append(n.indents, indent), append(n.names, name[:min(len(name), 256)])
		n.join()
	}
}

// leave closes the suites that are not around a line of this indentation.
func (n *nesting) leave(indent int) {
	k := len(n.indents)
	for k > 0 && n.indents[k-1] >= indent {
		k--
	}
	if k < len(n.indents) {
		n.indents, n.names = n.indents[:k], n.names[:k]
		n.join()
	}
}

func (n *nesting) join() {
	n.joined = ""
	if len(n.names) > 0 {
		n.joined = strings.Join(n.names, separator) + separator
	}
}

// indentation returns the number of spaces that a line begins with; a tab counts as
// one.
func indentation(line string) int {
	return len(line) - len(strings.TrimLeft(line, " \t"))
}

package prove

import (
	"slices"
	"strings"

	"millrace/transforms/sandbox"
)

const (
	// OutputBytes is the output limit of sandboxes that prove: a test that fails may
	// print far more than one that passes.
	OutputBytes = 8 << 20
	// reserve is the share of a scorer's output limit that is left free, for times and
	// messages that differ.
	reserve = 8
)

// scorable is how much the tests of a task may print when they pass: what a scorer
// reads of them.
func scorable() int {
	limit := sandbox.DefaultLimits().OutputBytes
	return limit - limit/reserve
}

// fit narrows a selection until what it prints when it passes has room in a scorer's
// output, given in bytes: all fail-to-pass functions stay, and of the pass-to-pass ones
// as many as there is room for, by name. It reports false when there is no room.
func (r Reference) fit(sel Selection, failToPass, passToPass []Test, room int) (Selection, []Test, []Test, bool) {
	// byFunction is what all functions of a name print: -run does not tell packages
	// apart.
	byFunction, all := map[string]int{}, 0
	for t, n := range r.bytes {
		if slices.Contains(sel.Dirs, t.Dir) {
			byFunction[t.Function] += n
			all += n
		}
	}
	for _, dir := range sel.Dirs {
		room -= r.overhead[dir]
	}
	if all <= room {
		return sel, failToPass, passToPass, true
	}
	chosen := map[string]bool{}
	for _, t := range failToPass {
		if !chosen[t.Function] {
			chosen[t.Function] = true
			room -= byFunction[t.Function]
		}
	}
	if room < 0 {
		return sel, nil, nil, false
	}
	var kept []Test
	for _, t := range passToPass {
		if !chosen[t.Function] && byFunction[t.Function] <= room {
			chosen[t.Function] = true
			room -= byFunction[t.Function]
		}
		if chosen[t.Function] {
			kept = append(kept, t)
		}
	}
	for name := range chosen {
		sel.Functions = append(sel.Functions, name)
	}
	slices.SortFunc(sel.Functions, strings.Compare)
	return sel, failToPass, kept, len(kept) > 0
}

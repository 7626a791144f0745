package procedural

import (
	"go/ast"
	"go/types"
	"math/rand/v2"
	"slices"
)

// shuffleTries bounds the draws of an order that differs from the present one.
const shuffleTries = 8

// shuffleLines puts the statements of a function's body into another order, in which
// each variable is still declared before its uses. A return at the end stays there.
func shuffleLines(f *function) []site {
	list := f.decl.Body.List
	if n := len(list); n > 0 {
		if _, ok := list[n-1].(*ast.ReturnStmt); ok {
			list = list[:n-1]
		}
	}
	if len(list) < 2 {
		return nil
	}
	before := f.declaredBefore(list)
	return []site{{list[0].Pos(), list[len(list)-1].End(), func(rng *rand.Rand) []Edit {
		for range shuffleTries {
			order := linearExtension(rng, before)
			if !slices.IsSorted(order) {
				return f.permute(list, order)
			}
		}
		return nil
	}}}
}

// declaredBefore returns, for each statement, those that declare what it uses.
func (f *function) declaredBefore(list []ast.Stmt) [][]int {
	declares := map[types.Object]int{}
	for i, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && f.Info.Defs[id] != nil {
				declares[f.Info.Defs[id]] = i
			}
			return true
		})
	}
	before := make([][]int, len(list))
	for i, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if at, known := declares[f.Info.Uses[id]]; known && at != i {
					before[i] = append(before[i], at)
				}
			}
			return true
		})
	}
	return before
}

// linearExtension draws an order of 0..len(before)-1 in which each i stands behind
// all of before[i]; before has no cycle.
func linearExtension(rng *rand.Rand, before [][]int) []int {
	var order []int
	placed := make([]bool, len(before))
	for len(order) < len(before) {
		var ready []int
		for i := range before {
			if !placed[i] && !slices.ContainsFunc(before[i], func(j int) bool { return !placed[j] }) {
				ready = append(ready, i)
			}
		}
		next := ready[rng.IntN(len(ready))]
		placed[next] = true
		order = append(order, next)
	}
	return order
}

// permute puts statement order[k] in the place of statement k.
func (f *function) permute(list []ast.Stmt, order []int) []Edit {
	var edits []Edit
	for k, i := range order {
		if i != k {
			edits = append(edits, f.replace(list[k].Pos(), list[k].End(), f.of(list[i])))
		}
	}
	return edits
}

package procedural

import "go/ast"

// invertIf exchanges the blocks of an if with a plain else.
func invertIf(f *function) (sites []site) {
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		s, ok := n.(*ast.IfStmt)
		if !ok {
			return true
		}
		if other, plain := s.Else.(*ast.BlockStmt); plain && f.of(s.Body) != f.of(other) {
			sites = append(sites, site{s.Body.Pos(), other.End(), fixed(
				f.replace(s.Body.Pos(), s.Body.End(), f.of(other)),
				f.replace(other.Pos(), other.End(), f.of(s.Body)),
			)})
		}
		return true
	})
	return sites
}

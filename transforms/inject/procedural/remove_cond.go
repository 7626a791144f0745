package procedural

import "go/ast"

// removeConditional drops an if with all its branches.
func removeConditional(f *function) (sites []site) {
	f.listed(func(whole, stmt ast.Stmt) {
		if _, ok := stmt.(*ast.IfStmt); ok {
			sites = append(sites, f.removal(whole))
		}
	})
	return sites
}

package procedural

import "go/ast"

// removeLoop drops a loop, with its label.
func removeLoop(f *function) (sites []site) {
	f.listed(func(whole, stmt ast.Stmt) {
		switch stmt.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			sites = append(sites, f.removal(whole))
		}
	})
	return sites
}

package procedural

import (
	"go/ast"
	"strings"
)

// listed calls visit with each statement that stands in a list of statements, where
// it can be dropped; not those in the head of an if or for, or behind an else.
// stmt is what whole labels, if whole has labels.
func (f *function) listed(visit func(whole, stmt ast.Stmt)) {
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		var list []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			list = n.List
		case *ast.CaseClause:
			list = n.Body
		case *ast.CommClause:
			list = n.Body
		}
		for _, whole := range list {
			stmt := whole
			for {
				labeled, ok := stmt.(*ast.LabeledStmt)
				if !ok {
					break
				}
				stmt = labeled.Stmt
			}
			visit(whole, stmt)
		}
		return true
	})
}

// removal is the site that drops a statement, with its lines and the comment behind
// it if nothing else stands on them.
func (f *function) removal(s ast.Stmt) site {
	lo, hi := f.offset(s.Pos()), f.offset(s.End())
	src := string(f.Source)
	lineStart := strings.LastIndexByte(src[:lo], '\n') + 1
	lineEnd := len(src)
	if i := strings.IndexByte(src[hi:], '\n'); i >= 0 {
		lineEnd = hi + i + 1
	}
	rest := strings.TrimSpace(src[hi:lineEnd])
	if strings.TrimSpace(src[lineStart:lo]) == "" && (rest == "" || strings.HasPrefix(rest, "//")) {
		lo, hi = lineStart, lineEnd
	}
	return site{s.Pos(), s.End(), fixed(Edit{Offset: lo, Before: src[lo:hi]})}
}

package procedural

import (
	"go/ast"
	"go/types"
)

// breakChains drops the inner operand of a chain: a + b + c becomes a + c, and
// a * (b + c) becomes a * (c). What stays has to have the type of what it was part
// of: a < b && c is no chain.
func breakChains(f *function) (sites []site) {
	f.binary(func(n *ast.BinaryExpr) {
		if inner, ok := ast.Unparen(n.X).(*ast.BinaryExpr); ok && f.sameType(inner, inner.X) {
			sites = append(sites, site{inner.X.End(), inner.End(), fixed(f.replace(inner.X.End(), inner.End(), ""))})
		}
		if inner, ok := ast.Unparen(n.Y).(*ast.BinaryExpr); ok && f.sameType(inner, inner.Y) {
			sites = append(sites, site{inner.Pos(), inner.Y.Pos(), fixed(f.replace(inner.Pos(), inner.Y.Pos(), ""))})
		}
	})
	return sites
}

// sameType reports whether two expressions may take each other's place. Comparisons
// are untyped where nothing gives them a type.
func (f *function) sameType(a, b ast.Expr) bool {
	s, t := f.Info.TypeOf(a), f.Info.TypeOf(b)
	return s != nil && t != nil && types.Identical(types.Default(s), types.Default(t))
}

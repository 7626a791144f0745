package procedural

import (
	"go/ast"
	"go/token"
	"slices"
)

// changeOperator makes an operator another one of its class, never itself.
func changeOperator(f *function) (sites []site) {
	f.binary(func(n *ast.BinaryExpr) {
		i := slices.IndexFunc(classes, func(c []token.Token) bool { return slices.Contains(c, n.Op) })
		if i < 0 {
			return
		}
		options := slices.DeleteFunc(slices.Clone(classes[i]), func(op token.Token) bool {
			return op == n.Op || !takes(op, f.Info.TypeOf(n.X))
		})
		if len(options) > 0 {
			sites = append(sites, f.operatorSite(n, options...))
		}
	})
	return sites
}

package procedural

import (
	"go/ast"
	"go/token"
	"go/types"
)

// swapOperands exchanges the operands of a binary expression where that can make a
// difference: not of a commutative operator, but of + between strings, and of && and
// ||, whose right operand may rely on the left. An operand that binds no tighter than
// the operator would regroup the expression, and stays.
func swapOperands(f *function) (sites []site) {
	f.binary(func(n *ast.BinaryExpr) {
		x, y := f.of(n.X), f.of(n.Y)
		if x == y || !f.ordered(n) || !tighter(n.X, n.Op) || !tighter(n.Y, n.Op) {
			return
		}
		sites = append(sites, site{n.Pos(), n.End(), fixed(
			f.replace(n.X.Pos(), n.X.End(), y),
			f.replace(n.Y.Pos(), n.Y.End(), x),
		)})
	})
	return sites
}

// ordered reports whether the operands of n may not be exchanged.
func (f *function) ordered(n *ast.BinaryExpr) bool {
	switch n.Op {
	case token.MUL, token.AND, token.OR, token.XOR, token.EQL, token.NEQ:
		return false
	case token.ADD:
		t := f.Info.TypeOf(n.X)
		if t == nil {
			return false
		}
		b, ok := t.Underlying().(*types.Basic)
		return ok && b.Info()&types.IsString != 0
	}
	return true
}

func tighter(e ast.Expr, op token.Token) bool {
	b, ok := e.(*ast.BinaryExpr)
	return !ok || b.Op.Precedence() > op.Precedence()
}

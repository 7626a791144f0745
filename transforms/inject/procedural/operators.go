package procedural

import (
	"go/ast"
	"go/token"
	"go/types"
)

// operatorSite is the site of an operator alone: those of nested expressions do not
// overlap.
func (f *function) operatorSite(n *ast.BinaryExpr, options ...token.Token) site {
	end := n.OpPos + token.Pos(len(n.Op.String()))
	var edits []Edit
	for _, op := range options {
		edits = append(edits, f.replace(n.OpPos, end, op.String()))
	}
	return site{n.OpPos, end, oneOf(edits)}
}

// classes are the sets of operators that take each other's place.
var classes = [][]token.Token{
	{token.ADD, token.SUB, token.MUL, token.QUO, token.REM},
	{token.AND, token.OR, token.XOR, token.SHL, token.SHR},
	{token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ},
	{token.LAND, token.LOR},
}

// takes reports whether an operator may stand between operands of the type; where
// it cannot tell, it may.
func takes(op token.Token, t types.Type) bool {
	if t == nil {
		return true
	}
	b, ok := t.Underlying().(*types.Basic)
	switch op {
	case token.EQL, token.NEQ, token.LAND, token.LOR:
		return true
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		return isTypeParam(t) || ok && b.Info()&types.IsOrdered != 0
	case token.ADD:
		return isTypeParam(t) || ok && b.Info()&(types.IsNumeric|types.IsString) != 0
	case token.SUB, token.MUL, token.QUO:
		return isTypeParam(t) || ok && b.Info()&types.IsNumeric != 0
	}
	return isTypeParam(t) || ok && b.Info()&(types.IsInteger|types.IsUntyped) != 0
}

func isTypeParam(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.TypeParam)
	return ok
}

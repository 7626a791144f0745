package procedural

import (
	"go/ast"
	"go/token"
)

// twins are SWE-smith's pairs. % and ^ have no way back.
var twins = map[token.Token]token.Token{
	token.ADD: token.SUB, token.SUB: token.ADD,
	token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	token.SHL: token.SHR, token.SHR: token.SHL,
	token.AND: token.OR, token.OR: token.AND, token.XOR: token.AND,
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.GTR, token.GTR: token.LSS,
	token.LEQ: token.GEQ, token.GEQ: token.LEQ,
	token.LAND: token.LOR, token.LOR: token.LAND,
}

// flipOperators makes an operator its twin.
func flipOperators(f *function) (sites []site) {
	f.binary(func(n *ast.BinaryExpr) {
		if twin, ok := twins[n.Op]; ok && takes(twin, f.Info.TypeOf(n.X)) {
			sites = append(sites, f.operatorSite(n, twin))
		}
	})
	return sites
}

package inject

import (
	"go/token"
	"maps"
	"slices"
)

// flipped maps an operator to its twin: SWE-smith's table, and the same for the
// assignment forms and ++ and --.
var flipped = map[token.Token]token.Token{
	token.ADD:  token.SUB,
	token.SUB:  token.ADD,
	token.MUL:  token.QUO,
	token.QUO:  token.MUL,
	token.REM:  token.MUL,
	token.SHL:  token.SHR,
	token.SHR:  token.SHL,
	token.AND:  token.OR,
	token.OR:   token.AND,
	token.XOR:  token.AND,
	token.EQL:  token.NEQ,
	token.NEQ:  token.EQL,
	token.LSS:  token.GTR,
	token.GTR:  token.LSS,
	token.LEQ:  token.GEQ,
	token.GEQ:  token.LEQ,
	token.LAND: token.LOR,
	token.LOR:  token.LAND,

	token.ADD_ASSIGN: token.SUB_ASSIGN,
	token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.MUL_ASSIGN: token.QUO_ASSIGN,
	token.QUO_ASSIGN: token.MUL_ASSIGN,
	token.REM_ASSIGN: token.MUL_ASSIGN,
	token.SHL_ASSIGN: token.SHR_ASSIGN,
	token.SHR_ASSIGN: token.SHL_ASSIGN,
	token.AND_ASSIGN: token.OR_ASSIGN,
	token.OR_ASSIGN:  token.AND_ASSIGN,
	token.XOR_ASSIGN: token.AND_ASSIGN,

	token.INC: token.DEC,
	token.DEC: token.INC,
}

// offByOne maps a comparison to the one that differs only where both sides are
// equal.
var offByOne = map[token.Token]token.Token{
	token.LSS: token.LEQ,
	token.LEQ: token.LSS,
	token.GTR: token.GEQ,
	token.GEQ: token.GTR,
}

// negated maps a comparison to its negation.
var negated = map[token.Token]token.Token{
	token.EQL: token.NEQ,
	token.NEQ: token.EQL,
	token.LSS: token.GEQ,
	token.GEQ: token.LSS,
	token.GTR: token.LEQ,
	token.LEQ: token.GTR,
}

// ordered holds the arithmetic operators whose operands may not be exchanged.
// Comparisons are not among them: exchanging their operands is flip_operators.
var ordered = map[token.Token]bool{
	token.SUB: true,
	token.QUO: true,
	token.REM: true,
	token.SHL: true,
	token.SHR: true,
}

// operators say what an operator may become.
type operators struct {
	flip, boundary, negate map[token.Token][]token.Token
}

// faulty makes faults of right operators, repaired right operators of faults.
var (
	faulty   = operators{forward(flipped), forward(offByOne), forward(negated)}
	repaired = operators{backward(flipped), backward(offByOne), backward(negated)}
)

func forward(table map[token.Token]token.Token) map[token.Token][]token.Token {
	out := map[token.Token][]token.Token{}
	for from, to := range table {
		out[from] = []token.Token{to}
	}
	return out
}

// backward is the inverse of a table. It is no table of single operators: / and %
// both become *, and nothing becomes %.
func backward(table map[token.Token]token.Token) map[token.Token][]token.Token {
	out := map[token.Token][]token.Token{}
	for _, from := range slices.Sorted(maps.Keys(table)) {
		out[table[from]] = append(out[table[from]], from)
	}
	return out
}

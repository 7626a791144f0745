package inject

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// Faults lists every fault of the function bodies of src, ordered by place,
// then by the order of Kinds, then by the new text. The list depends on src
// alone. Faults that cannot compile are still in it, and two of them may give
// the same text; Mutants drops both. Name is used in error messages.
func Faults(name string, src []byte) ([]Fault, error) { return list(name, src, faulty) }

// Repairs lists the changes that undo a fault, if src is a source with one: Before
// is what it holds, After what the working source may have held. They are in the
// order of Faults, and exact for faults of operators.
func Repairs(name string, src []byte) ([]Fault, error) { return list(name, src, repaired) }

func list(name string, src []byte, becomes operators) ([]Fault, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("looking for faults: %w", err)
	}
	l := lister{operators: becomes, src: src, file: fset.File(file.FileStart)}
	for _, d := range file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				l.node(n)
				return true
			})
		}
	}
	rank := map[Kind]int{}
	for i, k := range Kinds() {
		rank[k] = i
	}
	slices.SortStableFunc(l.faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(rank[a.Kind], rank[b.Kind]), cmp.Compare(a.After, b.After))
	})
	return l.faults, nil
}

// lister collects the faults of one file.
type lister struct {
	operators
	src    []byte
	file   *token.File
	faults []Fault
}

// node adds the faults that start at n itself, not those of its children.
func (l *lister) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		l.operator(FlipOperators, n.OpPos, n.Op, l.flip)
		l.operator(Boundary, n.OpPos, n.Op, l.boundary)
		l.swap(n)
	case *ast.AssignStmt:
		l.operator(FlipOperators, n.TokPos, n.Tok, l.flip)
	case *ast.IncDecStmt:
		l.operator(FlipOperators, n.TokPos, n.Tok, l.flip)
	case *ast.BasicLit:
		l.constant(n)
	case *ast.IfStmt:
		l.invert(n.Cond)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			l.add(RemoveNot, n.OpPos, n.OpPos+1, "")
		}
	case *ast.BranchStmt:
		l.branch(n)
	}
}

// add records that the text of [from, to) becomes after. A text that crosses
// lines is no fault: a repair has to be the edit of one line.
func (l *lister) add(kind Kind, from, to token.Pos, after string) {
	lo, hi := l.file.Offset(from), l.file.Offset(to)
	before := string(l.src[lo:hi])
	if strings.ContainsAny(before, "\r\n") || strings.ContainsAny(after, "\r\n") {
		return
	}
	at := l.file.PositionFor(from, false) // the real line, whatever //line says
	l.faults = append(l.faults, Fault{
		Kind: kind, Offset: lo, Line: at.Line, Column: at.Column, Before: before, After: after,
	})
}

func (l *lister) operator(kind Kind, at token.Pos, op token.Token, table map[token.Token][]token.Token) {
	for _, after := range table[op] {
		l.add(kind, at, at+token.Pos(len(op.String())), after.String())
	}
}

// constant adds the neighbours of a decimal integer. Other bases are masks and
// flags, whose neighbours are no plausible mistake.
func (l *lister) constant(lit *ast.BasicLit) {
	if lit.Kind != token.INT || (len(lit.Value) > 1 && lit.Value[0] == '0') {
		return
	}
	v, err := strconv.ParseInt(lit.Value, 10, 64)
	if err != nil { // out of range, or with digit separators
		return
	}
	l.add(ChangeConst, lit.Pos(), lit.End(), strconv.FormatInt(v-1, 10))
	if v+1 > v {
		l.add(ChangeConst, lit.Pos(), lit.End(), strconv.FormatInt(v+1, 10))
	}
}

// swap exchanges the operands of n. An operand that binds no tighter than n,
// such as the a-b of a-b-c, would regroup the expression: no swap.
func (l *lister) swap(n *ast.BinaryExpr) {
	if !ordered[n.Op] || !tighter(n.X, n.Op) || !tighter(n.Y, n.Op) {
		return
	}
	x, y := l.text(n.X), l.text(n.Y)
	between := string(l.src[l.file.Offset(n.X.End()):l.file.Offset(n.Y.Pos())])
	if x != y {
		l.add(SwapOperands, n.Pos(), n.End(), y+between+x)
	}
}

func tighter(e ast.Expr, op token.Token) bool {
	b, ok := e.(*ast.BinaryExpr)
	return !ok || b.Op.Precedence() > op.Precedence()
}

// invert negates a condition in the shortest way: a comparison by its operator,
// anything else by !. A condition that starts with ! is remove_not's.
func (l *lister) invert(cond ast.Expr) {
	switch e := cond.(type) {
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return
		}
	case *ast.BinaryExpr:
		if _, ok := l.negate[e.Op]; ok {
			l.operator(InvertIf, e.OpPos, e.Op, l.negate)
		} else {
			l.add(InvertIf, e.Pos(), e.End(), "!("+l.text(e)+")")
		}
		return
	}
	l.add(InvertIf, cond.Pos(), cond.Pos(), "!")
}

func (l *lister) branch(n *ast.BranchStmt) {
	switch n.Tok {
	case token.BREAK:
		l.add(BreakContinue, n.TokPos, n.TokPos+token.Pos(len("break")), "continue")
	case token.CONTINUE:
		l.add(BreakContinue, n.TokPos, n.TokPos+token.Pos(len("continue")), "break")
	}
}

func (l *lister) text(n ast.Node) string {
	return string(l.src[l.file.Offset(n.Pos()):l.file.Offset(n.End())])
}

package procedural

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/cfg"
)

// Tags say what a function holds, function literals in it included.
type Tags uint

// The tags that modifiers ask for.
const (
	HasLoop Tags = 1 << iota
	HasIf
	HasIfElse // an else block, not another if
	HasAssignment
	HasBinaryOp
)

// function is a declaration with a body.
type function struct {
	File
	decl       *ast.FuncDecl
	name       string
	tags       Tags
	complexity int
	dead       []ast.Node // what control never reaches
}

func newFunction(f File, decl *ast.FuncDecl) *function {
	fn := &function{File: f, decl: decl, name: functionName(decl), tags: tagsOf(decl.Body)}
	fn.complexity = complexity(fn.text(decl.Pos(), decl.End()))
	graph := cfg.New(decl.Body, func(call *ast.CallExpr) bool { return !isPanic(f.Info, call) })
	for _, block := range graph.Blocks {
		if !block.Live {
			fn.dead = append(fn.dead, block.Nodes...)
		}
	}
	return fn
}

// functionName is "Name", or "Type.Name" of a method.
func functionName(decl *ast.FuncDecl) string {
	if decl.Recv == nil || len(decl.Recv.List) == 0 {
		return decl.Name.Name
	}
	typ := decl.Recv.List[0].Type
	for {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
		case *ast.ParenExpr:
			typ = t.X
		case *ast.IndexExpr:
			typ = t.X
		case *ast.IndexListExpr:
			typ = t.X
		case *ast.Ident:
			return t.Name + "." + decl.Name.Name
		default:
			return decl.Name.Name
		}
	}
}

func isPanic(info *types.Info, call *ast.CallExpr) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	return ok && info.Uses[id] == types.Universe.Lookup("panic")
}

func tagsOf(body *ast.BlockStmt) Tags {
	var tags Tags
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			tags |= HasLoop
		case *ast.IfStmt:
			tags |= HasIf
			if _, plain := n.Else.(*ast.BlockStmt); plain {
				tags |= HasIfElse
			}
		case *ast.AssignStmt, *ast.IncDecStmt:
			tags |= HasAssignment
		case *ast.BinaryExpr:
			tags |= HasBinaryOp
		}
		return true
	})
	return tags
}

// deciding are the tokens that SWE-smith counts for complexity.
var deciding = map[token.Token]bool{
	token.NEQ: true, token.LAND: true, token.LSS: true, token.ARROW: true, token.LEQ: true, token.EQL: true,
	token.GTR: true, token.GEQ: true, token.LOR: true, token.CASE: true, token.DEFAULT: true, token.DEFER: true,
	token.ELSE: true, token.FOR: true, token.GO: true, token.IF: true,
}

// complexity is 1 and the number of deciding tokens.
func complexity(text string) int {
	n := 1
	tokens([]byte(text), func(tok token.Token, _ string) {
		if deciding[tok] {
			n++
		}
	})
	return n
}

// tokens calls f with the tokens of src; a semicolon that a line break stands for
// is one like any other.
func tokens(src []byte, f func(tok token.Token, literal string)) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(file, src, func(token.Position, string) {}, 0)
	for {
		_, tok, literal := s.Scan()
		if tok == token.EOF {
			return
		}
		if tok == token.SEMICOLON {
			literal = ""
		}
		f(tok, literal)
	}
}

// offset is the byte offset of pos in the file, whatever line directives say.
func (f *function) offset(pos token.Pos) int { return f.Set.File(pos).Offset(pos) }

func (f *function) text(from, to token.Pos) string {
	return string(f.Source[f.offset(from):f.offset(to)])
}

func (f *function) of(n ast.Node) string { return f.text(n.Pos(), n.End()) }

// replace is the edit that puts after in the place of [from, to).
func (f *function) replace(from, to token.Pos, after string) Edit {
	return Edit{Offset: f.offset(from), Before: f.text(from, to), After: after}
}

// runs reports whether control may reach a node.
func (f *function) runs(from, to token.Pos) bool {
	for _, n := range f.dead {
		if n.Pos() <= from && to <= n.End() {
			return false
		}
	}
	return true
}

// binary calls visit with the binary expressions of the function, outer before
// inner.
func (f *function) binary(visit func(*ast.BinaryExpr)) {
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		if b, ok := n.(*ast.BinaryExpr); ok {
			visit(b)
		}
		return true
	})
}

package procedural

import (
	"go/ast"
	"go/token"
	"go/types"
)

// removeAssign drops an assignment, an increment or a decrement. Of a declaration x
// := e the variable is kept, as var x T, since its uses would not compile; where
// that cannot be written (several variables, a type without a name in this file) the
// declaration stays.
func removeAssign(f *function) (sites []site) {
	f.listed(func(whole, stmt ast.Stmt) {
		switch s := stmt.(type) {
		case *ast.IncDecStmt:
			sites = append(sites, f.removal(whole))
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				sites = append(sites, f.removal(whole))
			} else if declared, ok := f.declaration(s); ok {
				sites = append(sites, site{s.Pos(), s.End(), fixed(f.replace(s.Pos(), s.End(), declared))})
			}
		}
	})
	return sites
}

// declaration is the text that declares the variable of x := e without a value.
func (f *function) declaration(s *ast.AssignStmt) (string, bool) {
	if len(s.Lhs) != 1 {
		return "", false
	}
	id, ok := s.Lhs[0].(*ast.Ident)
	if !ok || f.Info.Defs[id] == nil {
		return "", false
	}
	nameable := true
	text := types.TypeString(f.Info.Defs[id].Type(), func(p *types.Package) string {
		if p == f.Package {
			return ""
		}
		for _, spec := range f.Syntax.Imports {
			if name := f.Info.PkgNameOf(spec); name != nil && name.Imported() == p && name.Name() != "." && name.Name() != "_" {
				return name.Name()
			}
		}
		nameable = false
		return p.Name()
	})
	return "var " + id.Name + " " + text, nameable
}

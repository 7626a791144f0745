package procedural

import (
	"go/ast"
	"go/token"
	"math"
	"strconv"
	"strings"
)

// changeConst moves a number that is an operand: an integer by 1, a float by 0.1 or
// 1. Other bases and exponents are masks and units, whose neighbours are no plausible
// mistake; a result below zero would need a sign of its own.
func changeConst(f *function) (sites []site) {
	f.binary(func(n *ast.BinaryExpr) {
		for _, operand := range []ast.Expr{n.X, n.Y} {
			lit, ok := ast.Unparen(operand).(*ast.BasicLit)
			if !ok {
				continue
			}
			var edits []Edit
			for _, after := range neighbours(lit) {
				edits = append(edits, f.replace(lit.Pos(), lit.End(), after))
			}
			if len(edits) > 0 {
				sites = append(sites, site{lit.Pos(), lit.End(), oneOf(edits)})
			}
		}
	})
	return sites
}

func neighbours(lit *ast.BasicLit) (out []string) {
	switch lit.Kind {
	case token.INT:
		v, err := strconv.ParseInt(lit.Value, 10, 64)
		if err != nil || len(lit.Value) > 1 && lit.Value[0] == '0' {
			return nil
		}
		if v > 0 {
			out = append(out, strconv.FormatInt(v-1, 10))
		}
		if v < math.MaxInt64 {
			out = append(out, strconv.FormatInt(v+1, 10))
		}
	case token.FLOAT:
		v, err := strconv.ParseFloat(lit.Value, 64)
		if err != nil || strings.ContainsAny(lit.Value, "eEpPxX_") {
			return nil
		}
		_, decimals, _ := strings.Cut(lit.Value, ".")
		for _, d := range []float64{-1, -.1, .1, 1} {
			if v+d >= 0 {
				out = append(out, strconv.FormatFloat(v+d, 'f', max(len(decimals), 1), 64))
			}
		}
	}
	return out
}

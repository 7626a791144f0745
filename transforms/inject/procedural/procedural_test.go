package procedural

import (
	"bytes"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/transforms/inject"
)

// parse type-checks one file as a package of its own.
func parse(name string, src []byte) (File, error) {
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return File{}, err
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{},
	}
	conf := types.Config{Importer: importer.ForCompiler(set, "source", nil)}
	pkg, err := conf.Check("p", set, []*ast.File{syntax}, info)
	return File{Name: name, Source: src, Set: set, Syntax: syntax, Info: info, Package: pkg}, err
}

// wrap makes a file of one function body.
func wrap(body string) []byte {
	return []byte("package p\n\nfunc f(a, b, c int, ok bool, s, t string, xs []int, x float64) (r int, w string) {\n" + body + "\n\treturn r, w\n}\n")
}

// TestModifiers lists, for a body each, every single change that a modifier can make
// in it, as the lines that it changes. SWE-smith's likelihoods and limits do not count
// here; TestLikelihoodAndComplexity has those.
func TestModifiers(t *testing.T) {
	cases := []struct {
		name string
		kind inject.Kind
		body string
		want []string // in any order
	}{
		{"blocks exchanged", inject.InvertIf, "\tif ok { r = a } else { r = b }", []string{"\tif ok { r = b } else { r = a }"}},
		{"no else if", inject.InvertIf, "\tif ok { r = a } else if a > b { r = b }", nil},
		{"equal blocks", inject.InvertIf, "\tif ok { r = a } else { r = a }", nil},
		{"uses stay behind declarations", ShuffleLines, "\tn := a\n\tr = n", nil},
		{"two orders", ShuffleLines, "\tr = a\n\tr += b", []string{"\tr += b\n\tr = a"}},
		{"assignment with its comment", RemoveAssign, "\tr = a // é\n\tr++", []string{"\tr++", "\tr = a // é"}},
		{"statements on one line", RemoveAssign, "\tr = a; r++", []string{"\t; r++", "\tr = a; "}},
		{"declaration keeps the variable", RemoveAssign, "\tn := xs[0]\n\t_ = n", []string{"\tvar n int\n\t_ = n", "\tn := xs[0]"}},
		{"no declaration of two", RemoveAssign, "\tm, n := a, b; f(m, n, c, ok, s, t, xs, x)", nil},
		{"whole if", RemoveConditional, "\tif ok {\n\t\tr = a\n\t} else {\n\t\tr = b\n\t}\n\tr++", []string{"\tr++"}},
		{"no if behind an else", RemoveConditional, "\tif ok { r = a } else if a > b { r = b }", []string{""}},
		{"loop with its label", RemoveLoop, "L:\n\tfor range xs { break L }\n\tr++", []string{"\tr++"}},
		{"inner operand", BreakChains, "\tr = a + b + c", []string{"\tr = a + c"}},
		{"inner operand in parentheses", BreakChains, "\tr = a * (b + c)", []string{"\tr = a * (c)"}},
		{"comparisons are no chain", BreakChains, "\tok = a < b && ok", nil},
		{"chain of conditions", BreakChains, "\tok = a < b && ok && b < c", []string{"\tok = a < b && b < c"}},
		{"integer", inject.ChangeConst, "\tr = a + 7", []string{"\tr = a + 6", "\tr = a + 8"}},
		{"not below zero", inject.ChangeConst, "\tr = a-0", []string{"\tr = a-1"}},
		{"float", inject.ChangeConst, "\tx = x * 1.25", []string{"\tx = x * 0.25", "\tx = x * 1.15", "\tx = x * 1.35", "\tx = x * 2.25"}},
		{"mask", inject.ChangeConst, "\tr = a & 0xff", nil},
		{"no operand", inject.ChangeConst, "\tr = 7", nil},
		{"class", ChangeOperator, "\tr = a + b", []string{"\tr = a - b", "\tr = a * b", "\tr = a / b", "\tr = a % b"}},
		{"floats have no remainder", ChangeOperator, "\tx = x + x", []string{"\tx = x - x", "\tx = x * x", "\tx = x / x"}},
		{"strings only add", ChangeOperator, "\tw = s + t", nil},
		{"slices have no order", ChangeOperator, "\tok = xs == nil", []string{"\tok = xs != nil"}},
		{"twin", inject.FlipOperators, "\tr = a % b", []string{"\tr = a * b"}},
		{"strings have no twin of +", inject.FlipOperators, "\tw = s + t", nil},
		{"difference", inject.SwapOperands, "\tr = a*b - c", []string{"\tr = c - a*b"}},
		{"no swap that regroups", inject.SwapOperands, "\tr = a - b - c", []string{"\tr = b - a - c"}},
		{"sum of numbers", inject.SwapOperands, "\tr = a + b", nil},
		{"sum of strings", inject.SwapOperands, "\tw = s + \"é日\"", []string{"\tw = \"é日\" + s"}},
		{"guard", inject.SwapOperands, "\tok = a < len(xs) && ok", []string{"\tok = ok && a < len(xs)", "\tok = len(xs) < a && ok"}},
		{"nothing in dead code", inject.FlipOperators, "\treturn r, w\n\tr = a - b", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f, err := parse("p.go", wrap(c.body))
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			fn := newFunction(f, f.Syntax.Decls[0].(*ast.FuncDecl))
			for _, m := range Modifiers() {
				if m.Kind != c.kind {
					continue
				}
				for _, s := range m.sites(fn) {
					if !fn.runs(s.from, s.to) {
						continue
					}
					for seed := range uint64(64) { // draws all of a few options
						edits := s.change(rand.New(rand.NewPCG(seed, 0)))
						text, err := Apply(f.Source, edits)
						if err != nil {
							t.Fatal(err)
						}
						if len(edits) > 0 {
							got[string(text)] = true
						}
					}
				}
			}
			want := map[string]bool{}
			for _, body := range c.want {
				text := string(wrap(body))
				if body == "" {
					text = strings.Replace(string(wrap("X")), "X\n", "", 1)
				}
				want[text] = true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestComplexity counts the tokens of §5.3: 1, if, ==, &&, <, else, for, switch's case
// and default, <-, go, defer, ||, >=.
func TestComplexity(t *testing.T) {
	const text = `func f() {
	if a == b && c < d { // if if if
	} else { for {} }
	switch { case <-e: default: }
	go f(); defer f()
	_ = "for" != g || h >= i || j
}`
	if got, want := complexity(text), 1+4+2+3+2+4; got != want {
		t.Errorf("complexity = %d, want %d", got, want)
	}
}

// TestLikelihoodAndComplexity: the simplest function is left alone, and so is one with
// a loop that is too complex to be shuffled.
func TestLikelihoodAndComplexity(t *testing.T) {
	simple, err := parse("p.go", wrap("\tr = a - b"))
	if err != nil {
		t.Fatal(err)
	}
	complexLoop, err := parse("p.go", wrap("\tfor a < b { a++ }\n\tif a < b || b < c || a < c || ok && a == c { r = 1 }\n\tif a != c || b > 4 { r++ }"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		f    File
		kind inject.Kind
		some bool
	}{{simple, inject.FlipOperators, false}, {complexLoop, ShuffleLines, false}, {complexLoop, inject.FlipOperators, true}} {
		changes, err := Changes(Config{Seed: 1, Attempts: 5, Kinds: []inject.Kind{c.kind}}, c.f)
		if err != nil {
			t.Fatal(err)
		}
		if (len(changes) > 0) != c.some {
			t.Errorf("%s: %d changes", c.kind, len(changes))
		}
	}
}

// TestDrawsOfAFunctionDoNotDependOnOthers: another function before it changes only
// where the edits are.
func TestDrawsOfAFunctionDoNotDependOnOthers(t *testing.T) {
	body := wrap("\tif a < b && b < c { r = a - b } else { r = a % 3 }\n\tfor a > 0 { a-- }")
	head, rest, _ := bytes.Cut(body, []byte("\n"))
	longer := slices.Concat(head, []byte("\n\nfunc g(a, b int) bool { if a < b { return a == b }; return a > b || a == 4 }\n"), rest)
	of := func(src []byte) (out []string) {
		f, err := parse("p.go", src)
		if err != nil {
			t.Fatal(err)
		}
		changes, err := Changes(Config{Seed: 7, Attempts: 5}, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if c.Function == "f" {
				_, tail, _ := strings.Cut(string(c.Source), "func f(")
				out = append(out, string(c.Kind)+tail)
			}
		}
		return out
	}
	short := of(body)
	if len(short) == 0 {
		t.Fatal("no changes")
	}
	if diff := cmp.Diff(short, of(longer)); diff != "" {
		t.Errorf("with a function before (-alone +behind it):\n%s", diff)
	}
}

func TestApplyRefuses(t *testing.T) {
	src := []byte("abcdef")
	for name, edits := range map[string][]Edit{
		"another source": {{Offset: 0, Before: "x"}},
		"behind the end": {{Offset: 5, Before: "fg"}},
		"overlap":        {{Offset: 0, Before: "abc"}, {Offset: 2, Before: "cd"}},
		"negative":       {{Offset: -1, Before: ""}},
	} {
		if out, err := Apply(src, edits); err == nil {
			t.Errorf("%s: Apply = %q, want an error", name, out)
		}
	}
}

func TestConfigValidate(t *testing.T) {
	for _, c := range []Config{{}, {Attempts: 1, Kinds: []inject.Kind{"op_swop"}}} {
		if c.Validate() == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	for _, k := range Kinds() {
		if err := (Config{Attempts: 1, Kinds: []inject.Kind{k}}).Validate(); err != nil {
			t.Error(err)
		}
	}
}

// FuzzChanges holds for any source that type-checks: no panic; the same changes twice;
// each applies, differs in tokens from the source and all others, and what is outside
// of its edits stays byte for byte.
func FuzzChanges(f *testing.F) {
	f.Add(wrap("\tif a < b && b < c { r = a - b } else { r = a % 3 }\n\tfor a > 0 { a-- }\n\tw = s + \"é日\" + t // ü"), uint64(1))
	f.Add(wrap("L:\n\tfor i := range xs { n := xs[i]; if n > 2 { continue L }; r += n * (a + 1) }"), uint64(24))
	f.Add([]byte("\ufeffpackage p\nfunc f(a int) int { for a>1&&a<9 {a=a-2*a\n//line x.go:9\n if a==1 {return 1-a-0};};return\r\n a }"), uint64(2))
	f.Add([]byte("package p\ntype T[P int|string] struct{v P}\nfunc (t *T[P]) m(o P) bool { switch { case t.v < o: return t.v == o; default: x := o; t.v = x; return x > o || x != t.v } }"), uint64(3))
	f.Fuzz(func(t *testing.T, src []byte, seed uint64) {
		file, err := parse("p.go", src)
		if err != nil {
			return
		}
		config := Config{Seed: seed, Attempts: 3}
		changes, err := Changes(config, file)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Changes(config, file)
		if diff := cmp.Diff(changes, again); diff != "" || err != nil {
			t.Fatalf("drawn again: %v\n%s", err, diff)
		}
		seen := map[[32]byte]bool{fingerprint(src): true}
		for _, c := range changes {
			if seen[fingerprint(c.Source)] {
				t.Fatalf("%s: tokens that were there before", c.Kind)
			}
			seen[fingerprint(c.Source)] = true
			if back := undo(c); !bytes.Equal(back, src) {
				t.Fatalf("%s: taken back: %q", c.Kind, back)
			}
		}
	})
}

// undo takes a change back by its edits alone.
func undo(c Change) []byte {
	var reverse []Edit
	shift := 0
	for _, e := range c.Edits {
		reverse = append(reverse, Edit{Offset: e.Offset + shift, Before: e.After, After: e.Before})
		shift += len(e.After) - len(e.Before)
	}
	back, err := Apply(c.Source, reverse)
	if err != nil {
		return []byte(err.Error())
	}
	return back
}

// BenchmarkChanges draws on a file of a hundred functions.
func BenchmarkChanges(b *testing.B) {
	one := bytes.TrimPrefix(wrap("\tif a < b && b < c { r = a - b } else { r = a % 3 }\n\tfor a > 0 { a-- }"), []byte("package p\n\n"))
	src := []byte("package p\n")
	for i := range 100 {
		src = append(src, bytes.Replace(one, []byte("func f("), []byte("func f"+strings.Repeat("x", i)+"("), 1)...)
	}
	f, err := parse("p.go", src)
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		changes, err := Changes(Config{Seed: 1, Attempts: 5}, f)
		if err != nil {
			b.Fatal(err)
		}
		n = len(changes)
	}
	b.ReportMetric(float64(n), "changes")
}

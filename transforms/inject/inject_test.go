package inject

import (
	"bytes"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wrap makes a file of one function body, whose first line is line 4.
func wrap(body string) []byte {
	return []byte("package p\n\nfunc f(a, b, c int, ok bool, xs []int) (r int) {\n" + body + "\n\treturn r\n}\n")
}

// TestFaults lists, for one line of code each, every fault that is found in it
// as "kind: line with the fault".
func TestFaults(t *testing.T) {
	cases := []struct {
		name, line string
		want       []string
	}{
		{"comparison", "ok = a < b", []string{
			"flip_operators: ok = a > b",
			"boundary: ok = a <= b",
		}},
		{"comparison in if", "if a >= b { r = c }", []string{
			"flip_operators: if a <= b { r = c }",
			"boundary: if a > b { r = c }",
			"ctrl_invert_if: if a < b { r = c }",
		}},
		{"logic in if", "if ok && a == b { r = c }", []string{
			"ctrl_invert_if: if !(ok && a == b) { r = c }",
			"flip_operators: if ok || a == b { r = c }",
			"flip_operators: if ok && a != b { r = c }",
		}},
		{"name in if", "if ok { r = c }", []string{"ctrl_invert_if: if !ok { r = c }"}},
		{"not in if", "if !ok { r = c }", []string{"remove_not: if ok { r = c }"}},
		{"constant", "r = 7", []string{
			"op_change_const: r = 6",
			"op_change_const: r = 8",
		}},
		{"constant below an index", "r = xs[0]", []string{
			"op_change_const: r = xs[-1]",
			"op_change_const: r = xs[1]",
		}},
		{"largest constant", "r = 9223372036854775807", []string{"op_change_const: r = 9223372036854775806"}},
		{"mask", "r = a & 0xff", []string{"flip_operators: r = a | 0xff"}},
		{"swap", "r = a*b - c", []string{
			"op_swap: r = c - a*b",
			"flip_operators: r = a/b - c",
			"flip_operators: r = a*b + c",
		}},
		{"no swap that regroups", "r = a - b - c", []string{
			"op_swap: r = b - a - c",
			"flip_operators: r = a + b - c",
			"flip_operators: r = a - b + c",
		}},
		{"no swap of equal operands", "r = a - a", []string{"flip_operators: r = a + a"}},
		{"assignments", "r %= a; b++", []string{
			"flip_operators: r *= a; b++",
			"flip_operators: r %= a; b--",
		}},
		{"branch", "for { break }", []string{"break_continue: for { continue }"}},
		{"bytes are not runes", "r = len(\"é日\") + a", []string{"flip_operators: r = len(\"é日\") - a"}},
		{"comment stays", "r = a + b // a + b", []string{"flip_operators: r = a - b // a + b"}},
		{"no site", "r = a", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			src := wrap(c.line)
			faults, err := Faults("p.go", src)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range faults {
				out, err := f.Apply(src)
				if err != nil {
					t.Fatal(err)
				}
				if f.Line != 4 {
					t.Errorf("%v: want line 4", f)
				}
				got = append(got, string(f.Kind)+": "+strings.Split(string(out), "\n")[3])
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("faults of %q (-want +got):\n%s", c.line, diff)
			}
		})
	}
}

// TestFaultsStayOnOneLine: an operand on the next line may not move, and a line
// directive does not bend the line numbers.
func TestFaultsStayOnOneLine(t *testing.T) {
	src := wrap("//line other.go:900\n\tr = a -\n\t\tb")
	faults, err := Faults("p.go", src)
	if err != nil {
		t.Fatal(err)
	}
	want := []Fault{{Kind: FlipOperators, Offset: bytes.Index(src, []byte("-\n")), Line: 5, Column: 8, Before: "-", After: "+"}}
	if diff := cmp.Diff(want, faults); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

// TestMutants drops what does not compile (s - s, an unused i), what is
// there already (== is flipped and inverted to the same text) and nothing else.
func TestMutants(t *testing.T) {
	src := []byte(`package p

func f(s string, n int) string {
	if n == 3 {
		return s + s
	}
	return s
}
`)
	mutants, err := Mutants("p.go", src, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range mutants {
		got = append(got, m.String())
	}
	want := []string{
		`flip_operators at 4:7: "==" -> "!="`,
		`op_change_const at 4:10: "3" -> "2"`,
		`op_change_const at 4:10: "3" -> "4"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mutants (-want +got):\n%s", diff)
	}
}

func TestMutantsRefusesBrokenSource(t *testing.T) {
	for _, src := range []string{"package p\nfunc f() { return 1 }", "package p\nfunc", "package p\nimport \"os\"\nvar _ = os.Args"} {
		if m, err := Mutants("p.go", []byte(src), nil); err == nil {
			t.Errorf("Mutants(%q) = %v, want an error", src, m)
		}
	}
}

func TestApplyRefusesAnotherSource(t *testing.T) {
	src := wrap("r = a + b")
	faults, err := Faults("p.go", src)
	if err != nil || len(faults) != 1 {
		t.Fatalf("Faults = %v, %v; want one", faults, err)
	}
	for _, other := range [][]byte{nil, wrap("r = a * b"), src[:faults[0].Offset]} {
		if out, err := faults[0].Apply(other); err == nil {
			t.Errorf("Apply to another source gave %q, want an error", out)
		}
	}
}

// FuzzFaults holds for any source: no panic; the same list twice; each fault
// applies, changes exactly the line that it names, and can be taken back.
func FuzzFaults(f *testing.F) {
	f.Add([]byte("package p\nfunc f(a int) int { if a < 1 && !false { return a - 2*a }; return a }"))
	f.Add(wrap("for a-- > 0 { continue }; r ^= a"))
	f.Add([]byte("package p\nfunc f() int { return 1 -\r\n0 /* é */ }"))
	f.Add([]byte("\ufeffpackage p\nfunc _() { x := 0\n//line a:9\nif x := 1; x /* \n */ == 0 {} }"))
	f.Add([]byte("package p\nfunc _(){ _ = -0 - -1 >> 2_0 }"))
	f.Fuzz(func(t *testing.T, src []byte) {
		faults, err := Faults("p.go", src)
		if err != nil {
			return
		}
		again, err := Faults("p.go", src)
		if diff := cmp.Diff(faults, again); diff != "" || err != nil {
			t.Fatalf("listed again: %v\n%s", err, diff)
		}
		for _, fault := range faults {
			out, err := fault.Apply(src)
			if err != nil {
				t.Fatal(err)
			}
			checkOneLine(t, src, out, fault)
			back := Fault{Offset: fault.Offset, Before: fault.After, After: fault.Before}
			if undone, err := back.Apply(out); err != nil || !bytes.Equal(undone, src) {
				t.Fatalf("%v: taken back: %v\n%q", fault, err, undone)
			}
		}
		if mutants, err := Mutants("p.go", src, nil); err == nil {
			for _, m := range mutants {
				if _, err := parser.ParseFile(token.NewFileSet(), "p.go", m.Source, 0); err != nil {
					t.Fatalf("%v does not parse: %v", m, err)
				}
			}
		}
	})
}

func checkOneLine(t *testing.T, src, out []byte, fault Fault) {
	t.Helper()
	was, is := bytes.Split(src, []byte("\n")), bytes.Split(out, []byte("\n"))
	if len(was) != len(is) {
		t.Fatalf("%v: %d lines became %d", fault, len(was), len(is))
	}
	for i := range was {
		if same := bytes.Equal(was[i], is[i]); same != (i+1 != fault.Line) {
			t.Fatalf("%v: line %d: %q -> %q", fault, i+1, was[i], is[i])
		}
	}
}

// TestRepairsUndoFaults: each fault of an operator is undone by a repair of its
// kind at its place, and each repair of an operator is of a fault that exists.
func TestRepairsUndoFaults(t *testing.T) {
	const source = `package p

func f(a, b int) bool {
	a++
	a %= b
	for a*b+1 <= a/b && a%b > 0 || a-b == a^b {
		b--
	}
	if a < b {
		return a != b
	}
	return a >= b
}
`
	of := func(name string, src []byte, list func(string, []byte) ([]Fault, error)) (out []Fault) {
		t.Helper()
		all, err := list(name, src)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			if f.Kind == FlipOperators || f.Kind == Boundary || f.Kind == InvertIf {
				out = append(out, f)
			}
		}
		return out
	}
	undoes := func(f, repair Fault) bool {
		return repair.Kind == f.Kind && repair.Offset == f.Offset && repair.Before == f.After && repair.After == f.Before
	}
	for _, f := range of("p.go", []byte(source), Faults) {
		broken, err := f.Apply([]byte(source))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(of("p.go", broken, Repairs), func(r Fault) bool { return undoes(f, r) }) {
			t.Errorf("no repair undoes %v", f)
		}
	}
	for _, r := range of("p.go", []byte(source), Repairs) {
		right, err := r.Apply([]byte(source))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(of("p.go", right, Faults), func(f Fault) bool { return undoes(f, r) }) {
			t.Errorf("%v undoes no fault", r)
		}
	}
}

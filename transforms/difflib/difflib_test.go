package difflib

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	theirs "github.com/pmezard/go-difflib/difflib"
)

// TestRatio: values that CPython gives.
func TestRatio(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{"abcd", "bcde", 0.75},
		{"private Thread currentThread;", "private volatile Thread currentThread;", 0.8656716417910447},
		{"qabxcd", "abycdf", 0.6666666666666666},
		{"", "", 1},
		{"", "a", 0},
		{"é日本", "é本日", 0.6666666666666666},
		{"tide", "diet", 0.25},
		{"diet", "tide", 0.5},            // it is not symmetric
		{"\xff\xfea", "a\xff", 0.4},      // one byte, one code point
		{"\xef\xef", "\uFFFD", 0},        // nor is a byte the replacement character
		{"\xed\xa0\x80", "\xed\xb0", .4}, // a lone surrogate is three bytes that are no UTF-8
	} {
		if got, err := Ratio(t.Context(), c.a, c.b); err != nil || got != c.want {
			t.Errorf("%q, %q: %v, %v, want %v", c.a, c.b, got, err, c.want)
		}
	}
}

// TestHunks: what CPython's unified_diff writes behind its two heads.
func TestHunks(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"equal", "a\nb\n", "a\nb\n", ""},
		{"line end at the end of the file", "a", "a\n", ""},
		{"line ends", "a\r\nb\r\n", "a\nb\n", ""},
		{"from nothing", "", "x\ny\n", "@@ -0,0 +1,2 @@\n+x\n+y"},
		{"to nothing", "x\n", "", "@@ -1 +0,0 @@\n-x"},
		{"one line", "a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c"},
		{"two hunks", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "0\n2\n3\n4\n5\n6\n7\n8\n0\n",
			"@@ -1,4 +1,4 @@\n-1\n+0\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+0"},
		{"one hunk, six lines between", "1\n2\n3\n4\n5\n6\n7\n8\n", "0\n2\n3\n4\n5\n6\n7\n0\n",
			"@@ -1,8 +1,8 @@\n-1\n+0\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+0"},
		{"Python's other line ends", "a\vb\u2028c", "a\vX\u2028c", "@@ -1,3 +1,3 @@\n a\n-b\n+X\n c"},
	} {
		if got, err := Hunks(t.Context(), c.before, c.after); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// TestFindsAgree: the search by names and the plain one give the same blocks, whichever
// windows are left to the one and to the other.
func TestFindsAgree(t *testing.T) {
	for _, p := range append(append(letters(400), edited(10)...), awkward()...) {
		want := blocksOf(t, p[0], p[1], 1<<30)
		for _, small := range []int{0, 1, 50} {
			if got := blocksOf(t, p[0], p[1], small); !slices.Equal(got, want) {
				t.Fatalf("%q, %q: %v with small windows up to %d, want %v", p[0], p[1], got, small, want)
			}
		}
	}
}

func blocksOf(t *testing.T, a, b string, small int) []block {
	t.Helper()
	m, err := characters(newMeter(t.Context()), a, b)
	if err != nil {
		t.Fatal(err)
	}
	m.small, m.run = small, make([]int32, len(b)+1)
	blocks, err := m.blocks()
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// TestTooMuch: what is too long, or takes too long, is refused and not rated.
func TestTooMuch(t *testing.T) {
	long := strings.Repeat("x", MaxElements+1)
	if v, err := Ratio(t.Context(), "x", long); v != 0 || !errors.Is(err, ErrTooMuch) {
		t.Errorf("too long: %v, %v", v, err)
	}
	if s, err := Hunks(t.Context(), strings.Repeat("\n", MaxElements+1), "x"); s != "" || !errors.Is(err, ErrTooMuch) {
		t.Errorf("too many lines: %q, %v", s, err)
	}
	if v, err := Ratio(t.Context(), long[1:], long[1:]); v != 1 || err != nil {
		t.Errorf("the longest: %v, %v", v, err)
	}
	a, b := strings.Repeat("ab", 3000), strings.Repeat("abb", 2000)
	meter := newMeter(t.Context())
	m, err := characters(meter, a, b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.blocks(); err != nil {
		t.Fatal(err)
	}
	for _, missing := range []int{0, 1} { // as much as is needed, and one less
		again := newMeter(t.Context())
		again.left = MaxWork - meter.left - missing
		m, err := characters(again, a, b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.blocks(); errors.Is(err, ErrTooMuch) != (missing > 0) {
			t.Errorf("%d too little: %v", missing, err)
		}
	}
}

// TestStopped: the caller's end is the error, before a comparison and in the middle of
// one.
func TestStopped(t *testing.T) {
	why := errors.New("the scorer stops")
	ctx, cancel := context.WithCancelCause(t.Context())
	m, err := characters(newMeter(ctx), strings.Repeat("ab", 30000), strings.Repeat("abb", 20000))
	if err != nil {
		t.Fatal(err)
	}
	cancel(why)
	if _, err := m.blocks(); !errors.Is(err, why) {
		t.Errorf("in the middle: %v", err)
	}
	if done := MaxWork - m.left; done > 2*checkEvery {
		t.Errorf("%d elements were looked at after the end", done)
	}
	if _, err := Ratio(ctx, "a", "b"); !errors.Is(err, why) {
		t.Errorf("ratio: %v", err)
	}
	if _, err := Hunks(ctx, "a", "b"); !errors.Is(err, why) {
		t.Errorf("hunks: %v", err)
	}
}

// FuzzRatio: the blocks are those of an independent port of CPython's module, with and
// without the search by names.
func FuzzRatio(f *testing.F) {
	for _, p := range append(letters(20), edited(2)...) {
		f.Add(p[0], p[1])
	}
	f.Add("\xff\xed\xa0", "\xa0\xef\xbf\xbd\xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 1<<11 || len(b) > 1<<11 {
			return
		}
		other := theirs.NewMatcherWithJunk(strings.Split(a, ""), strings.Split(b, ""), false, nil)
		if got, err := Ratio(t.Context(), a, b); err != nil || got != other.Ratio() && a+b != "" {
			t.Errorf("%q, %q: %v, %v, want %v", a, b, got, err, other.Ratio())
		}
		matches := 0
		for _, x := range blocksOf(t, a, b, 0) {
			matches += x.size
		}
		want := 0
		for _, x := range other.GetMatchingBlocks() {
			want += x.Size
		}
		if matches != want {
			t.Errorf("%q, %q: %d matches by names, want %d", a, b, matches, want)
		}
	})
}

// FuzzHunks: the hunks are those of an independent port of CPython's module.
func FuzzHunks(f *testing.F) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 10 {
		a := randomLines(r, 250, 100)
		f.Add(strings.Join(a, "\n"), strings.Join(edit(r, a, func() string { return "0" }), "\n"))
	}
	f.Add("a\x85b\r\n\r", "\u2028")
	f.Fuzz(func(t *testing.T, before, after string) {
		if len(before) > 1<<12 || len(after) > 1<<12 {
			return
		}
		want, err := theirs.GetUnifiedDiffString(theirs.UnifiedDiff{
			A: ended(splitLines(before)), B: ended(splitLines(after)), Context: contextLines})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Hunks(t.Context(), before, after)
		if err != nil {
			t.Fatal(err)
		}
		if want = strings.TrimSuffix(want, "\n"); got != want {
			t.Errorf("%q, %q: %q, want %q", before, after, got, want)
		}
	})
}

func ended(lines []string) []string {
	for i := range lines {
		lines[i] += "\n"
	}
	return lines
}

func ExampleRatio() {
	r, err := Ratio(context.Background(), "abcd", "bcde")
	fmt.Println(r, err)
	// Output: 0.75 <nil>
}

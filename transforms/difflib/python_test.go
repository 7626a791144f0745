package difflib

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// python is CPython's difflib as a process: a JSON array of pairs in, what f(a, b)
// gives for each out. Without python3 the test is skipped by name, or fails where
// everything is required.
func python(t testing.TB, f string, pairs [][2]string, results any) {
	t.Helper()
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") == "true" || os.Getenv("MILLRACE_REQUIRE_ALL") != "" {
			t.Fatalf("no python3 to compare with: %v", err)
		}
		t.Skipf("no python3 to compare with: %v", err)
	}
	input, err := json.Marshal(pairs)
	if err != nil {
		t.Fatal(err)
	}
	const script = "import difflib, json, sys, time\n%s\njson.dump([f(a, b) for a, b in json.load(sys.stdin)], sys.stdout)"
	cmd := exec.Command(interpreter, "-c", fmt.Sprintf(script, f))
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(output, results); err != nil {
		t.Fatal(err)
	}
}

const (
	ratioPython = `def f(a, b): return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()`
	hunksPython = `def f(a, b): return "\n".join(list(difflib.unified_diff(a.splitlines(), b.splitlines(), n=3, lineterm=""))[2:])`
)

// TestRatioIsCPythons: to the bit, on random texts of few and many letters, on texts
// that are edited into each other, and on what is bad for the search: periods, the same
// letter, and matches that tie.
func TestRatioIsCPythons(t *testing.T) {
	pairs := append(letters(3000), edited(120)...)
	pairs = append(pairs, awkward()...)
	var want []float64
	python(t, ratioPython, pairs, &want)
	for i, p := range pairs {
		got, err := Ratio(t.Context(), p[0], p[1])
		if err != nil || got != want[i] {
			t.Fatalf("pair %d, %q, %q: %v, %v, want %v", i, p[0], p[1], got, err, want[i])
		}
	}
}

// TestHunksAreCPythons: to the letter, with popular lines and without.
func TestHunksAreCPythons(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	var pairs [][2]string
	for range 1500 {
		kinds, most := 1+r.IntN(60), 1+r.IntN(40)
		if r.IntN(3) == 0 { // enough for popular lines
			kinds, most = 1+r.IntN(300), 600
		}
		a := randomLines(r, 1+r.IntN(most), kinds)
		b := edit(r, a, func() string { return fmt.Sprint(r.IntN(kinds)) })
		if r.IntN(4) == 0 {
			b = randomLines(r, 1+r.IntN(most), kinds)
		}
		ends := []string{"\n", "\n", "\n", "\r\n", "\v", "\u2028", "\r"}
		pairs = append(pairs, [2]string{strings.Join(a, ends[r.IntN(len(ends))]), strings.Join(b, "\n")})
	}
	var want []string
	python(t, hunksPython, pairs, &want)
	for i, p := range pairs {
		got, err := Hunks(t.Context(), p[0], p[1])
		if err != nil || got != want[i] {
			t.Fatalf("pair %d, %q, %q: %q, %v, want %q", i, p[0], p[1], got, err, want[i])
		}
	}
}

// letters are pairs of unrelated texts.
func letters(n int) [][2]string {
	r := rand.New(rand.NewPCG(1, 1))
	alphabet := []rune("ab cdefgh\n日é𝄞+-")
	var pairs [][2]string
	for range n {
		few := 1 + r.IntN(len(alphabet))
		text := func() string {
			runes := make([]rune, r.IntN(160))
			for i := range runes {
				runes[i] = alphabet[r.IntN(few)]
			}
			return string(runes)
		}
		pairs = append(pairs, [2]string{text(), text()})
	}
	return pairs
}

// edited are pairs of diffs, one of which is edited into the other, by character and by
// line.
func edited(n int) [][2]string {
	r := rand.New(rand.NewPCG(3, 3))
	var pairs [][2]string
	for range n {
		text := source(r, 5+r.IntN(60))
		lines := strings.Split(text, "\n")
		other := strings.Join(edit(r, lines, func() string { return lines[r.IntN(len(lines))] }), "\n")
		other = strings.Join(edit(r, strings.Split(other, ""), func() string { return string(rune(' ' + r.IntN(90))) }), "")
		pairs = append(pairs, [2]string{text, other})
	}
	return pairs
}

// awkward are pairs with many ties, or many matches that do not help.
func awkward() [][2]string {
	r := rand.New(rand.NewPCG(4, 4))
	var pairs [][2]string
	for n := 1; n < 140; n += 9 {
		a, ab, abc := strings.Repeat("a", n), strings.Repeat("ab", n), strings.Repeat("abc", n)
		var singles, others strings.Builder
		for i := range n {
			fmt.Fprintf(&singles, "a%c", 0x4e00+i)
			fmt.Fprintf(&others, "a%c", 0x6e00+i)
		}
		pairs = append(pairs, [][2]string{
			{a, ab}, {ab, abc}, {abc, ab}, {a, a + "b"}, {a + "b" + a, a + a}, {ab + "c" + ab, ab + ab},
			{singles.String(), others.String()}, {strings.Repeat("x y", n) + "x", strings.Repeat("y x", n)},
		}...)
		old, young := "a", "ab" // Fibonacci words: many different matches that overlap
		for range min(n, 11) {
			old, young = young, young+old
		}
		pairs = append(pairs, [2]string{young, old + old}, [2]string{old + "c" + young, young + young})
		period := strings.Join(randomLines(r, 3, 3), "")
		pairs = append(pairs, [2]string{strings.Repeat(period, n), strings.Repeat(period, n/2) + "!" + strings.Repeat(period, n)})
	}
	return pairs
}

func randomLines(r *rand.Rand, n, kinds int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprint(r.IntN(kinds))
	}
	return lines
}

// edit deletes, inserts and replaces up to a fifth of the elements, and moves a run.
func edit(r *rand.Rand, elements []string, other func() string) []string {
	var out []string
	rate := r.IntN(20) + 1
	for _, e := range elements {
		switch r.IntN(100) / rate {
		case 0:
			switch r.IntN(3) {
			case 0:
			case 1:
				out = append(out, e, other())
			case 2:
				out = append(out, other())
			}
		default:
			out = append(out, e)
		}
	}
	if len(out) > 4 && r.IntN(3) == 0 {
		i, j := r.IntN(len(out)/2), len(out)/2+r.IntN(len(out)/2)
		out = append(append(append([]string{}, out[j:]...), out[i:j]...), out[:i]...)
	}
	return out
}

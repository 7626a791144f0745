package difflib

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/golden.json anew, with what CPython's difflib gives")

// golden is a pair of texts and what CPython 3.11 gives for it.
type golden struct {
	A, B  string
	Ratio float64
	Hunks string
}

const goldenFile = "testdata/golden.json"

// TestGolden: values that CPython has given, to the bit; see [update].
func TestGolden(t *testing.T) {
	if *update {
		writeGolden(t)
	}
	text, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	var vectors []golden
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 100 {
		t.Fatalf("%d vectors in %s", len(vectors), goldenFile)
	}
	for _, v := range vectors {
		if got, err := Ratio(t.Context(), v.A, v.B); err != nil || got != v.Ratio {
			t.Errorf("%q, %q: ratio %v, %v, want %v", v.A, v.B, got, err, v.Ratio)
		}
		if got, err := Hunks(t.Context(), v.A, v.B); err != nil || got != v.Hunks {
			t.Errorf("%q, %q: hunks %q, %v, want %q", v.A, v.B, got, err, v.Hunks)
		}
	}
}

func writeGolden(t *testing.T) {
	pairs := append(letters(60), edited(12)...)
	for _, p := range awkward() {
		if len(p[0])+len(p[1]) < 500 {
			pairs = append(pairs, p)
		}
	}
	popular := strings.Repeat("}\n\n", 120) // each of the two lines is more than one in a hundred
	pairs = append(pairs,
		[2]string{"x\n" + popular + "y\n", "y\n" + popular + "x\n"},
		[2]string{popular + "a\nb\n" + popular, popular + "b\na\n}\n" + popular},
		[2]string{strings.Repeat("}\n", 199), strings.Repeat("}\n", 198) + "{\n"}, // too few lines for popular ones
		[2]string{strings.Repeat("}\n", 199), strings.Repeat("}\n", 200) + "{\n"})
	var ratios []float64
	python(t, ratioPython, pairs, &ratios)
	var hunks []string
	python(t, hunksPython, pairs, &hunks)
	vectors := make([]golden, len(pairs))
	for i, p := range pairs {
		vectors[i] = golden{p[0], p[1], ratios[i], hunks[i]}
	}
	text, err := json.MarshalIndent(vectors, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(goldenFile, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

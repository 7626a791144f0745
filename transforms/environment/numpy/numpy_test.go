package numpy

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"
)

type drawn struct {
	Generators []struct {
		Seed  uint64
		Steps []struct {
			N, Int int
			Float  string
		}
		P     string
		Tiles []string
	}
	Legacy []struct {
		Seed uint32
		Ints []struct {
			Low, High int
			Values    []int
		}
		Floats []string
	}
}

func golden(t *testing.T) (d drawn) {
	t.Helper()
	data, err := os.ReadFile("testdata/draws.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Generators) < 8 || len(d.Legacy) < 6 {
		t.Fatalf("testdata/draws.json has %d generators and %d of the legacy kind", len(d.Generators), len(d.Legacy))
	}
	return d
}

func float(t *testing.T, text string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestGeneratorDrawsWhatNumPyDraws(t *testing.T) {
	for _, want := range golden(t).Generators {
		g := NewGenerator(want.Seed)
		for i, s := range want.Steps {
			if got := g.IntN(s.N); got != s.Int {
				t.Fatalf("seed %d, draw %d: IntN(%d) = %d, NumPy has %d", want.Seed, i, s.N, got, s.Int)
			}
			if got := g.Float64(); got != float(t, s.Float) {
				t.Fatalf("seed %d, draw %d: Float64() = %x, NumPy has %s", want.Seed, i, got, s.Float)
			}
		}
		g.Float64() // of which the script makes p
		for r, row := range want.Tiles {
			for c, tile := range row {
				if got := g.Bernoulli(float(t, want.P)); got != (tile == 'F') {
					t.Fatalf("seed %d: tile (%d, %d) is the first kind: %v, NumPy has %c", want.Seed, r, c, got, tile)
				}
			}
		}
	}
}

func TestLegacyDrawsWhatNumPyDraws(t *testing.T) {
	for _, want := range golden(t).Legacy {
		l := NewLegacy(want.Seed)
		for _, ints := range want.Ints {
			for i, value := range ints.Values {
				if got := l.Int(ints.Low, ints.High); got != value {
					t.Fatalf("seed %d: number %d of Int(%d, %d) is %d, NumPy has %d", want.Seed, i, ints.Low, ints.High, got, value)
				}
			}
		}
		for range 700 - len(want.Floats) { // past the first renewal of the state
			l.Uniform(0.6, 0.85)
		}
		for i, value := range want.Floats {
			if got := l.Uniform(0.6, 0.85); got != float(t, value) {
				t.Fatalf("seed %d: number %d of Uniform is %x, NumPy has %s", want.Seed, i, got, value)
			}
		}
	}
}

// TestRangesAreRefused: a range that the bits do not reach would be drawn from in
// part.
func TestRangesAreRefused(t *testing.T) {
	for name, draw := range map[string]func(){
		"no number":     func() { NewGenerator(1).IntN(0) },
		"too many":      func() { NewGenerator(1).IntN(1 << 32) },
		"empty legacy":  func() { NewLegacy(1).Int(3, 3) },
		"legacy beyond": func() { NewLegacy(1).Int(0, 1<<32) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("drawn from")
				}
			}()
			draw()
		})
	}
}

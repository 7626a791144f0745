package tokenizer

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// twin is the pattern run by a backtracking engine.
var twin = regexp2.MustCompile(Pattern, regexp2.None)

func splitTwin(t testing.TB, text string) []string {
	t.Helper()
	var pieces []string
	m, err := twin.FindStringMatch(text)
	for ; m != nil && err == nil; m, err = twin.FindNextMatch(m) {
		pieces = append(pieces, m.String())
	}
	if err != nil {
		t.Fatal(err)
	}
	return pieces
}

func split(text string) []string {
	var pieces []string
	for text != "" {
		n := splitNext(text)
		pieces = append(pieces, text[:n])
		text = text[n:]
	}
	return pieces
}

func TestSplit(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Hello, world", "Hello|,| world"},
		{"I'll they'RE 's don't", "I|'ll| they|'RE| '|s| don|'t"},
		{"x = 12345", "x| =| |1|2|3|4|5"},
		{"\tif a {\n\t\treturn\n\t}\n", "\tif| a| {\n|\t|\treturn|\n|\t|}\n"},
		{"a  b", "a| | b"},
		{"a   1", "a|  | |1"},
		{"a\n\n  b", "a|\n\n| | b"},
		{"a \n \n  ", "a| \n \n|  "},
		{"end   ", "end|   "},
		{"a\r\n\r\nb", "a|\r\n\r\n|b"},
		{"f();\n\n", "f|();\n\n"},
		{"\u00a0x\u2003", "\u00a0x|\u2003"},
		{"e\u0301", "e|\u0301"},
		{"\xff\xfea", "\xff\xfe|a"},
		{"'ſa", "'ſ|a"},
	} {
		if got := strings.Join(split(c.text), "|"); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestSplitAsPattern compares with the pattern itself on random strings that are
// dense in what the alternatives distinguish.
func TestSplitAsPattern(t *testing.T) {
	alphabet := []rune("  \t\n\r\u00a0\u2028\u0085'''sStTrReEvVmMlLdDaZßéДあ漢019٣½Ⅷ²_.,(){}!-\u0301\u200d👍🏽\U0010ffff\ufffd\x00")
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var text strings.Builder
		for range random.IntN(24) {
			r := alphabet[random.IntN(len(alphabet))]
			if random.IntN(8) == 0 {
				r = rune(random.IntN(unicode.MaxRune + 1))
			}
			text.WriteRune(r)
		}
		compareSplit(t, text.String())
	}
}

func compareSplit(t *testing.T, text string) {
	t.Helper()
	got, want := split(text), splitTwin(t, text)
	if strings.Join(got, "\xff") != strings.Join(want, "\xff") {
		t.Fatalf("%q:\n got %q\nwant %q", text, got, want)
	}
}

// FuzzSplit: pieces are never empty, laid end to end they are the text, and they
// are the matches of the pattern.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"", "it's 12 o'Clock\r\n\n  x", "\xff'\xf0\x9f", "a\u00a0 \u0301b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := strings.Join(split(text), ""); got != text {
			t.Fatalf("%q became %q", text, got)
		}
		if utf8.ValidString(text) && !strings.ContainsRune(text, 'ſ') { // the twin does not fold the long s
			compareSplit(t, text)
		}
	})
}

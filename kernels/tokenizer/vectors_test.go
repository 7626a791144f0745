package tokenizer

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// vector is one row of testdata/*_vectors.json, made by testdata/vectors.py with
// Hugging Face's tokenizers. Rows without text are ids only.
type vector struct {
	Text    *string `json:"text"`
	IDs     []int32 `json:"ids"`
	Decoded string  `json:"decoded"`
}

func checkVectors(t *testing.T, tokenizer *Tokenizer, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 150 {
		t.Fatalf("%s has %d vectors, want at least 150", path, len(vectors))
	}
	for _, v := range vectors {
		if v.Text != nil {
			if got := tokenizer.Encode(*v.Text); !slices.Equal(got, v.IDs) {
				t.Errorf("Encode(%q) = %v, want %v", *v.Text, got, v.IDs)
			}
		}
		if got := tokenizer.Decode(v.IDs); got != v.Decoded {
			t.Errorf("Decode(%v) = %q, want %q", v.IDs, got, v.Decoded)
		}
	}
}

func loadSmall(t testing.TB) *Tokenizer {
	t.Helper()
	tokenizer, err := Load("testdata/small.json")
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer
}

func TestSmallVectors(t *testing.T) {
	checkVectors(t, loadSmall(t), "testdata/small_vectors.json")
}

func TestQwen3Vectors(t *testing.T) {
	const path = "../../../shared/data/qwen3/merges.txt"
	f, err := os.Open(path)
	if err != nil {
		t.Skipf("Qwen3's merge list is not part of the project: %v", err)
	}
	defer f.Close()
	tokenizer, err := FromMerges(path, f, Qwen3Added(151_643))
	if err != nil {
		t.Fatal(err)
	}
	if got := tokenizer.VocabSize(); got != 151_669 {
		t.Errorf("VocabSize = %d, want 151669", got)
	}
	for content, want := range map[string]int32{EndOfText: 151_643, MessageStart: 151_644, MessageEnd: 151_645,
		"<tool_call>": 151_657, "</tool_response>": 151_666, "</think>": 151_668, "!": 0, " the": 279} {
		if got, ok := tokenizer.TokenID(content); !ok || got != want {
			t.Errorf("TokenID(%q) = %d, %v, want %d", content, got, ok, want)
		}
	}
	checkVectors(t, tokenizer, "testdata/qwen3_vectors.json")
}

// TestTrainAsHuggingFace: testdata/small.json is what Hugging Face's trainer made
// of testdata/corpus.txt.
func TestTrainAsHuggingFace(t *testing.T) {
	corpus, err := os.ReadFile("testdata/corpus.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := loadSmall(t)
	got, err := Train(slices.Values([]string{string(corpus)}), want.VocabSize(), qwen3Added)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.tokens, want.tokens) {
		for id := range min(len(got.tokens), len(want.tokens)) {
			if got.tokens[id] != want.tokens[id] {
				t.Fatalf("token %d is %q, want %q", id, got.tokens[id], want.tokens[id])
			}
		}
		t.Fatalf("%d tokens, want %d", len(got.tokens), len(want.tokens))
	}
	if !slices.Equal(got.ordered, want.ordered) {
		t.Errorf("merges %v, want %v", got.ordered, want.ordered)
	}
}

func TestTokenID(t *testing.T) {
	tokenizer := loadSmall(t)
	for _, c := range []struct {
		token string
		id    int32
		ok    bool
	}{{"!", 0, true}, {" ", 220, true}, {MessageEnd, 642, true}, {"no such token", 0, false}} {
		if id, ok := tokenizer.TokenID(c.token); id != c.id || ok != c.ok {
			t.Errorf("TokenID(%q) = %d, %v, want %d, %v", c.token, id, ok, c.id, c.ok)
		}
	}
}

func TestDecodeUnknownIDs(t *testing.T) {
	if got := loadSmall(t).Decode([]int32{-1, 0, 1 << 30, 0}); got != "!!" {
		t.Errorf("got %q, want %q", got, "!!")
	}
}

// TestAddedLongestMatch: of two added tokens that begin at the same place the
// longer one is taken, whatever their order.
func TestAddedLongestMatch(t *testing.T) {
	tokenizer, err := FromMerges("none", strings.NewReader(""), []AddedToken{{ID: 256, Content: "<a"}, {ID: 257, Content: "<a>"}, {ID: 258, Content: "a>"}})
	if err != nil {
		t.Fatal(err)
	}
	less, _ := tokenizer.TokenID("<")
	if got, want := tokenizer.Encode("<a><a<a>a>"), []int32{257, 256, 257, 258}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := tokenizer.Encode("<<a"), []int32{less, 256}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

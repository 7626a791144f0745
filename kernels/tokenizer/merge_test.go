package tokenizer

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// mergeTwin is the definition: look through the whole word for the best pair,
// join it, start again.
func mergeTwin(t *Tokenizer, word string) []int32 {
	var ids []int32
	for i := range len(word) {
		ids = append(ids, t.byteIDs[word[i]])
	}
	for {
		at, best := -1, merge{}
		for i := 1; i < len(ids); i++ {
			if m, ok := t.merges[pair{ids[i-1], ids[i]}]; ok && (at < 0 || m.rank < best.rank) {
				at, best = i-1, m
			}
		}
		if at < 0 {
			return ids
		}
		ids = append(append(ids[:at:at], best.id), ids[at+2:]...)
	}
}

func TestMergeAsDefined(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	tokenizer, err := Train(slices.Values(randomTexts(random, 2000)), 400, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 5000 {
		var word strings.Builder
		for range 1 + random.IntN(40) {
			word.WriteByte("aaabbcd \n"[random.IntN(9)])
		}
		if got, want := tokenizer.appendMerged(nil, word.String()), mergeTwin(tokenizer, word.String()); !slices.Equal(got, want) {
			t.Fatalf("%q: %v, want %v", word.String(), got, want)
		}
	}
}

// TestCacheForgets fills the cache past its bound and encodes from several
// goroutines; the ids stay those of an empty cache.
func TestCacheForgets(t *testing.T) {
	tokenizer := loadSmall(t)
	var group sync.WaitGroup
	for g := range uint64(4) {
		group.Go(func() {
			random := rand.New(rand.NewPCG(g%2, 13)) // pairs of goroutines meet the same words
			for range cacheWords {
				word := make([]byte, 6)
				for i := range word {
					word[i] = 'a' + byte(random.IntN(26))
				}
				if got, want := tokenizer.EncodePlain(string(word)), tokenizer.appendMerged(nil, string(word)); !slices.Equal(got, want) {
					t.Errorf("%q: %v, want %v", word, got, want)
					return
				}
			}
		})
	}
	group.Wait()
	if n := len(tokenizer.words.words); n > cacheWords {
		t.Errorf("%d words in the cache, want at most %d", n, cacheWords)
	}
}

// BenchmarkMergeLong is a word without end: time must grow with n log n.
func BenchmarkMergeLong(b *testing.B) {
	tokenizer := loadSmall(b)
	word := strings.Repeat("enter", 1<<18)
	b.SetBytes(int64(len(word)))
	for b.Loop() {
		tokenizer.appendMerged(nil, word)
	}
}

func BenchmarkEncode(b *testing.B) {
	tokenizer := loadSmall(b)
	text := strings.Repeat("func (t *Tokenizer) Encode(text string) []int32 {\n\tvar ids []int32\n}\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tokenizer.Encode(text)
	}
}

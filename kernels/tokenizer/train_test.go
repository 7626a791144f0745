package tokenizer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// trainTwin is the definition: count every pair anew each turn, by walking over
// all words.
func trainTwin(words map[string]int64, merges int) []string {
	tokens := make([]string, 256)
	ids := byteVocabulary()
	for token, id := range ids {
		tokens[id] = token
	}
	split := make(map[string][]int32)
	for word := range words {
		for i := range len(word) {
			split[word] = append(split[word], ids[word[i:i+1]])
		}
	}
	for range merges {
		counts := make(map[pair]int64)
		for word, ids := range split {
			for i := 1; i < len(ids); i++ {
				counts[pair{ids[i-1], ids[i]}] += words[word]
			}
		}
		best := ranked{count: minCount - 1}
		for p, count := range counts {
			if _, known := ids[tokens[p.left]+tokens[p.right]]; known {
				continue
			}
			if c := (ranked{p, count}); count >= minCount && (best.count < minCount || better(&c, &best)) {
				best = c
			}
		}
		if best.count < minCount {
			break
		}
		id := int32(len(tokens))
		tokens = append(tokens, tokens[best.pair.left]+tokens[best.pair.right])
		ids[tokens[id]] = id
		for word := range split {
			split[word] = replace(split[word], best.pair, id)
		}
	}
	return tokens
}

// randomTexts are dense in repeats, overlaps (aaa) and ways to make the same
// bytes from two pairs (ab+c, a+bc).
func randomTexts(random *rand.Rand, n int) []string {
	texts := make([]string, n)
	for i := range texts {
		var text strings.Builder
		for range 1 + random.IntN(12) {
			text.WriteByte("aaabbc d\n"[random.IntN(9)])
		}
		texts[i] = text.String()
	}
	return texts
}

func TestTrainAsDefined(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 100 {
		texts := randomTexts(random, 40)
		want := trainTwin(countWords(slices.Values(texts)), 24)
		got, err := Train(slices.Values(texts), len(want), nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.tokens, want) {
			t.Fatalf("round %d: texts %q\n got %q\nwant %q", round, texts, got.tokens[256:], want[256:])
		}
	}
}

func TestTrainIgnoresOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	texts := randomTexts(random, 300)
	var want []byte
	for range 5 {
		tokenizer, err := Train(slices.Values(texts), 290, []string{MessageStart})
		if err != nil {
			t.Fatal(err)
		}
		got, err := tokenizer.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if string(got) != string(want) {
			t.Fatal("another order of the same texts gives another tokenizer")
		}
		random.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	}
}

// TestEncodeAsTrained: encoding a word of the corpus gives the tokens that
// training left it with.
func TestEncodeAsTrained(t *testing.T) {
	texts := randomTexts(rand.New(rand.NewPCG(7, 8)), 500)
	tr := newTrainer(countWords(slices.Values(texts)))
	for range 40 {
		if !tr.mergeBest() {
			t.Fatal("corpus too small for 40 merges")
		}
	}
	tokenizer, err := build(tr.ids, tr.ordered, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, ids := range tr.words {
		word := string(tokenizer.DecodeBytes(ids))
		if got := tokenizer.appendMerged(nil, word); !slices.Equal(got, ids) {
			t.Errorf("%q: encoded %v, trained %v", word, got, ids)
		}
	}
}

func TestTrainRefuses(t *testing.T) {
	for _, c := range []struct {
		size  int
		added []string
		want  string
	}{
		{200, nil, "vocabulary of 200, want 256"},
		{257, []string{"<a>", "<b>"}, "want 258"},
		{300, nil, "the corpus gives 258 tokens, want 300"},
		{258, []string{"<a>", "<a>"}, `"<a>" appears twice`},
	} {
		_, err := Train(slices.Values([]string{"aaaa", "aaaa"}), c.size, c.added)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("size %d: error %v, want %q", c.size, err, c.want)
		}
	}
}

func BenchmarkTrain(b *testing.B) {
	random := rand.New(rand.NewPCG(9, 10))
	words := make([]string, 50_000)
	for i := range words {
		words[i] = fmt.Sprintf("%x", random.Uint64N(1<<uint(4+random.IntN(40))))
	}
	var text strings.Builder
	for text.Len() < 20<<20 {
		text.WriteString(words[int(random.ExpFloat64()*20_000)%len(words)])
		text.WriteByte(" \n"[random.IntN(2)])
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := Train(slices.Values([]string{text.String()}), 2000, nil); err != nil {
			b.Fatal(err)
		}
	}
}

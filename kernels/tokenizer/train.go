package tokenizer

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// minCount is how often a pair must occur to become a token: one occurrence
// teaches the policy nothing about it.
const minCount = 2

// Train learns a byte-level BPE vocabulary of exactly size tokens: the 256 bytes,
// then one token a merge, then the added tokens, as in Qwen's. In each turn the
// pair that occurs most often within the pieces of the texts is merged; of pairs
// with equal counts the one with the smaller left id, then the smaller right id
// (Sennrich et al. 2016, arXiv:1508.07909, algorithm 1, with the tie-breaking of
// Hugging Face's trainer). The same texts in any order give the same tokenizer.
//
// A pair whose bytes are a token already is passed over, so that each merge makes a
// token of its own, and encoding a word of the corpus gives what training made of
// it.
//
// Added tokens are text in the corpus like any other. Those written <|...|> are
// special: decoders may be told to leave them out. It is an error if the
// corpus has too few repeated pairs for the size.
func Train(corpus iter.Seq[string], size int, added []string) (*Tokenizer, error) {
	merges := size - 256 - len(added)
	if merges < 0 || size > maxID {
		return nil, fmt.Errorf("train tokenizer: vocabulary of %d, want %d (256 bytes and %d added tokens) to %d",
			size, 256+len(added), len(added), maxID)
	}
	tr := newTrainer(countWords(corpus))
	for len(tr.tokens) < 256+merges {
		if !tr.mergeBest() {
			return nil, fmt.Errorf("train tokenizer: the corpus gives %d tokens, want %d: no other pair occurs %d times",
				len(tr.tokens)+len(added), size, minCount)
		}
	}
	tokens := make([]AddedToken, len(added))
	for i, content := range added {
		tokens[i] = AddedToken{ID: int32(256 + merges + i), Content: content, Special: strings.HasPrefix(content, "<|")}
	}
	t, err := build(tr.ids, tr.ordered, tokens)
	if err != nil {
		return nil, fmt.Errorf("train tokenizer: %w", err)
	}
	return t, nil
}

// countWords counts the pieces of the texts.
func countWords(corpus iter.Seq[string]) map[string]int64 {
	counts := make(map[string]*int64)
	for text := range corpus {
		text = norm.NFC.String(text)
		for text != "" {
			n := splitNext(text)
			if count, ok := counts[text[:n]]; ok {
				*count++
			} else {
				one := int64(1)
				counts[text[:n]] = &one
			}
			text = text[n:]
		}
	}
	words := make(map[string]int64, len(counts))
	for word, count := range counts {
		words[word] = *count
	}
	return words
}

// trainer holds the distinct words as they are merged.
type trainer struct {
	tokens  []string // id -> bytes
	ids     map[string]int32
	ordered []pair
	words   [][]int32
	counts  []int64 // of words
	// pairs has, for every pair of neighbours, its count over all words and the
	// words it may be in: it is in no other, but may have left some.
	pairs map[pair]*pairCount
	queue heap[ranked]
}

type pairCount struct {
	count int64
	words []int32 // a word may repeat
}

// ranked is a pair with its count when it was queued. A pair is queued once, when
// the later of its tokens is made; from then on its count only falls.
type ranked struct {
	pair  pair
	count int64
}

func better(a, b *ranked) bool {
	switch {
	case a.count != b.count:
		return a.count > b.count
	case a.pair.left != b.pair.left:
		return a.pair.left < b.pair.left
	}
	return a.pair.right < b.pair.right
}

func newTrainer(counts map[string]int64) *trainer {
	tr := &trainer{
		tokens: make([]string, 256),
		ids:    byteVocabulary(),
		pairs:  make(map[pair]*pairCount),
		queue:  heap[ranked]{less: better},
	}
	for token, id := range tr.ids {
		tr.tokens[id] = token
	}
	for _, word := range slices.Sorted(maps.Keys(counts)) {
		ids := make([]int32, len(word))
		for i := range ids {
			ids[i] = tr.ids[word[i:i+1]]
		}
		index := int32(len(tr.words))
		tr.words = append(tr.words, ids)
		tr.counts = append(tr.counts, counts[word])
		tr.count(index, 1)
		for i := 1; i < len(ids); i++ {
			tr.pairs[pair{ids[i-1], ids[i]}].note(index)
		}
	}
	for p, c := range tr.pairs {
		tr.enqueue(p, c.count)
	}
	return tr
}

// count adds the pairs of a word sign times (1 or -1).
func (tr *trainer) count(word int32, sign int64) {
	ids := tr.words[word]
	for i := 1; i < len(ids); i++ {
		p := pair{ids[i-1], ids[i]}
		c := tr.pairs[p]
		if c == nil {
			c = &pairCount{}
			tr.pairs[p] = c
		}
		c.count += sign * tr.counts[word]
	}
}

// note remembers that the pair is in a word.
func (c *pairCount) note(word int32) {
	if n := len(c.words); n == 0 || c.words[n-1] != word {
		c.words = append(c.words, word)
	}
}

func (tr *trainer) enqueue(p pair, count int64) {
	if count >= minCount {
		tr.queue.push(ranked{p, count})
	}
}

// mergeBest merges the most frequent pair in all words; false when no pair occurs
// minCount times.
func (tr *trainer) mergeBest() bool {
	for {
		best, ok := tr.queue.pop()
		if !ok {
			return false
		}
		if count := tr.pairs[best.pair].count; count != best.count {
			tr.enqueue(best.pair, count)
			continue
		}
		if tr.merge(best.pair) {
			return true
		}
	}
}

// merge joins a pair wherever it stands; false when its bytes are a token already.
func (tr *trainer) merge(p pair) bool {
	joined := tr.tokens[p.left] + tr.tokens[p.right]
	if _, known := tr.ids[joined]; known {
		return false
	}
	id := int32(len(tr.tokens))
	tr.tokens = append(tr.tokens, joined)
	tr.ids[joined] = id
	tr.ordered = append(tr.ordered, p)

	made := make(map[pair]*pairCount)
	for _, word := range tr.pairs[p].words {
		if !contains(tr.words[word], p) {
			continue
		}
		tr.count(word, -1)
		ids := replace(tr.words[word], p, id)
		tr.words[word] = ids
		tr.count(word, 1)
		for i := 1; i < len(ids); i++ {
			if p := (pair{ids[i-1], ids[i]}); p.left == id || p.right == id {
				made[p] = tr.pairs[p]
				made[p].note(word)
			}
		}
	}
	delete(tr.pairs, p)
	for p, c := range made {
		tr.enqueue(p, c.count)
	}
	return true
}

func contains(ids []int32, p pair) bool {
	for i := 1; i < len(ids); i++ {
		if ids[i-1] == p.left && ids[i] == p.right {
			return true
		}
	}
	return false
}

// replace joins p from left to right within ids, in place.
func replace(ids []int32, p pair, id int32) []int32 {
	out := ids[:0]
	for i := 0; i < len(ids); i++ {
		if i+1 < len(ids) && ids[i] == p.left && ids[i+1] == p.right {
			out = append(out, id)
			i++
			continue
		}
		out = append(out, ids[i])
	}
	return out
}

package tokenizer

import (
	"fmt"
	"slices"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/unicode/norm"
)

// maxID bounds token ids, and with them what a hostile file can make us allocate.
// The largest vocabularies in use have 2^18 entries.
const maxID = 1 << 20

// Tokenizer encodes and decodes. It does not change after construction and is
// safe for concurrent use.
type Tokenizer struct {
	tokens  []string         // id -> bytes; "" where no token has the id
	ids     map[string]int32 // bytes -> id, BPE vocabulary only
	byteIDs [256]int32
	ordered []pair // the merge list
	merges  map[pair]merge
	added   []AddedToken // ascending ids
	addedID map[string]int32
	matcher *matcher
	words   cache
}

// build checks and indexes a vocabulary (bytes -> id), its merge list and the
// added tokens. The errors name the field of tokenizer.json that is at fault.
func build(vocabulary map[string]int32, ordered []pair, added []AddedToken) (*Tokenizer, error) {
	t := &Tokenizer{
		ids:     vocabulary,
		ordered: ordered,
		merges:  make(map[pair]merge, len(ordered)),
		added:   slices.Clone(added),
		addedID: make(map[string]int32, len(added)),
		words:   cache{words: make(map[string][]int32)},
	}
	if err := t.placeVocabulary(); err != nil {
		return nil, err
	}
	if err := t.placeAdded(); err != nil {
		return nil, err
	}
	for rank, p := range ordered {
		joined := t.tokens[p.left] + t.tokens[p.right]
		id, ok := vocabulary[joined]
		if !ok {
			return nil, fmt.Errorf("model.merges[%d]: %q and %q make %q, which is not in model.vocab",
				rank, spell(t.tokens[p.left]), spell(t.tokens[p.right]), spell(joined))
		}
		if first, twice := t.merges[p]; twice {
			return nil, fmt.Errorf("model.merges[%d]: the same pair as model.merges[%d]", rank, first.rank)
		}
		t.merges[p] = merge{rank: int32(rank), id: id}
	}
	return t, nil
}

// placeVocabulary fills tokens and byteIDs.
func (t *Tokenizer) placeVocabulary() error {
	top := int32(-1)
	for token, id := range t.ids {
		if id < 0 || id >= maxID {
			return fmt.Errorf("model.vocab: %q has id %d, want 0 to %d", spell(token), id, maxID-1)
		}
		if token == "" {
			return fmt.Errorf("model.vocab: id %d is the empty token", id)
		}
		top = max(top, id)
	}
	t.tokens = make([]string, top+1)
	for token, id := range t.ids {
		if other := t.tokens[id]; other != "" {
			a, b := min(token, other), max(token, other)
			return fmt.Errorf("model.vocab: %q and %q have the same id %d", spell(a), spell(b), id)
		}
		t.tokens[id] = token
	}
	for b := range 256 {
		id, ok := t.ids[string([]byte{byte(b)})]
		if !ok {
			return fmt.Errorf("model.vocab: no token for byte 0x%02X (%q); a byte-level vocabulary has all 256",
				b, string(byteRunes[b]))
		}
		t.byteIDs[b] = id
	}
	return nil
}

// placeAdded enters the added tokens.
func (t *Tokenizer) placeAdded() error {
	slices.SortFunc(t.added, func(a, b AddedToken) int { return int(a.ID) - int(b.ID) })
	for _, token := range t.added {
		if token.Content == "" {
			return fmt.Errorf("added_tokens: id %d has no content", token.ID)
		}
		if token.ID < 0 || token.ID >= maxID {
			return fmt.Errorf("added_tokens: %q has id %d, want 0 to %d", token.Content, token.ID, maxID-1)
		}
		if _, twice := t.addedID[token.Content]; twice {
			return fmt.Errorf("added_tokens: %q appears twice", token.Content)
		}
		if int(token.ID) < len(t.tokens) && t.tokens[token.ID] != "" {
			return fmt.Errorf("added_tokens: %q has id %d, which is %q already", token.Content, token.ID, t.tokens[token.ID])
		}
		if grow := int(token.ID) + 1 - len(t.tokens); grow > 0 {
			t.tokens = append(t.tokens, make([]string, grow)...)
		}
		t.tokens[token.ID] = token.Content
		t.addedID[token.Content] = token.ID
	}
	t.matcher = newMatcher(t.added)
	return nil
}

// VocabSize is the largest id plus one, added tokens included: the smallest
// number of embedding rows that serves every id.
func (t *Tokenizer) VocabSize() int { return len(t.tokens) }

// TokenID returns the id of an added token by its content, or of a vocabulary
// token by its bytes (" the", not "Ġthe").
func (t *Tokenizer) TokenID(token string) (int32, bool) {
	if id, ok := t.addedID[token]; ok {
		return id, true
	}
	id, ok := t.ids[token]
	return id, ok
}

// AddedTokens returns a copy of the added tokens, by ascending id.
func (t *Tokenizer) AddedTokens() []AddedToken { return slices.Clone(t.added) }

// Encode returns the ids of text in which added tokens are recognised. It is for
// text that we wrote; see [Tokenizer.EncodePlain] for any other.
func (t *Tokenizer) Encode(text string) []int32 {
	var ids []int32
	for {
		start, token := t.matcher.next(text)
		ids = t.appendPlain(ids, text[:start])
		if start == len(text) {
			return ids
		}
		ids = append(ids, token.ID)
		text = text[start+len(token.Content):]
	}
}

// EncodePlain returns the ids of text in which added tokens are text like any
// other: no id in the result is that of an added token.
func (t *Tokenizer) EncodePlain(text string) []int32 {
	return t.appendPlain(nil, text)
}

func (t *Tokenizer) appendPlain(ids []int32, text string) []int32 {
	text = norm.NFC.String(text)
	for text != "" {
		n := splitNext(text)
		ids = t.appendWord(ids, text[:n])
		text = text[n:]
	}
	return ids
}

// appendWord appends the tokens of one piece of the pattern, from the cache if
// it is there.
func (t *Tokenizer) appendWord(ids []int32, word string) []int32 {
	if len(word) == 1 {
		return append(ids, t.byteIDs[word[0]])
	}
	if known, ok := t.words.get(word); ok {
		return append(ids, known...)
	}
	start := len(ids)
	ids = t.appendMerged(ids, word)
	t.words.put(word, slices.Clone(ids[start:]))
	return ids
}

// DecodeBytes returns the bytes of the ids, added tokens as their content. An id
// that no token has stands for nothing: models pad their vocabulary, and may
// sample from the padding.
func (t *Tokenizer) DecodeBytes(ids []int32) []byte {
	var out []byte
	for _, id := range ids {
		if id >= 0 && int(id) < len(t.tokens) {
			out = append(out, t.tokens[id]...)
		}
	}
	return out
}

// Decode is DecodeBytes as text: each maximal part of a sequence that is not
// valid UTF-8 becomes one U+FFFD (Unicode 15, section 3.9), as in Rust and Python.
func (t *Tokenizer) Decode(ids []int32) string {
	text, err := unicode.UTF8.NewDecoder().Bytes(t.DecodeBytes(ids))
	if err != nil {
		panic("tokenizer: a decoder that replaces what is invalid failed: " + err.Error())
	}
	return string(text)
}

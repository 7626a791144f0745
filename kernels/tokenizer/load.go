package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxFileBytes bounds tokenizer.json. Qwen3's has 11 MB.
const maxFileBytes = 64 << 20

// Load reads tokenizer.json, or the file of that name in a directory. A file that
// asks for something else than NFC, Qwen's pattern and byte-level BPE is an error
// that names the file and the field, since it would encode differently here.
func Load(path string) (*Tokenizer, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "tokenizer.json")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open tokenizer: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read tokenizer %s: %w", path, err)
	}
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("read tokenizer %s: larger than %d MiB", path, maxFileBytes>>20)
	}
	t, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("read tokenizer %s: %w", path, err)
	}
	return t, nil
}

// Parse reads the content of a tokenizer.json.
func Parse(data []byte) (*Tokenizer, error) {
	var file fileFormat
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	if err := file.check(); err != nil {
		return nil, err
	}
	vocabulary, added, err := file.tokens()
	if err != nil {
		return nil, err
	}
	ordered := make([]pair, len(file.Model.Merges))
	for rank, m := range file.Model.Merges {
		p, _, err := lookupMerge(m.left, m.right, vocabulary)
		if err != nil {
			return nil, fmt.Errorf("model.merges[%d]: %w", rank, err)
		}
		ordered[rank] = p
	}
	return build(vocabulary, ordered, added)
}

// tokens returns the vocabulary by bytes and the added tokens. Some files repeat
// added tokens in the vocabulary; there they are left out.
func (f *fileFormat) tokens() (vocabulary map[string]int32, added []AddedToken, err error) {
	repeated := make(map[string]int32, len(f.AddedTokens))
	for i, a := range f.AddedTokens {
		if a.SingleWord || a.LStrip || a.RStrip || a.Normalized {
			return nil, nil, fmt.Errorf("added_tokens[%d] (%q): single_word, lstrip, rstrip and normalized must be false", i, a.Content)
		}
		added = append(added, AddedToken{ID: a.ID, Content: a.Content, Special: a.Special})
		repeated[a.Content] = a.ID
	}
	vocabulary = make(map[string]int32, len(f.Model.Vocabulary))
	for token, id := range f.Model.Vocabulary {
		if addedID, ok := repeated[token]; ok && addedID == id {
			continue
		}
		bytes, ok := unspell(token)
		if !ok {
			return nil, nil, fmt.Errorf("model.vocab: %q has a character outside of the byte alphabet", token)
		}
		vocabulary[bytes] = id
	}
	return vocabulary, added, nil
}

// check refuses whatever this package would do differently. All that is wrong is
// told at once.
func (f *fileFormat) check() error {
	if f.Model == nil || f.Model.Type != "BPE" {
		return errors.New(`model.type: want "BPE"`)
	}
	var problems []string
	want := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	absent := func(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
	want(f.Version == "1.0", `version: %q, want "1.0"`, f.Version)
	want(absent(f.Truncation), "truncation: not supported, want null")
	want(absent(f.Padding), "padding: not supported, want null")
	want(f.Normalizer != nil && f.Normalizer.Type == "NFC", `normalizer: want {"type": "NFC"}`)
	want(f.PostProcessor == nil || f.PostProcessor.Type == "ByteLevel", `post_processor: want null or {"type": "ByteLevel"}`)
	want(f.Decoder != nil && f.Decoder.Type == "ByteLevel", `decoder: want {"type": "ByteLevel"}`)
	want(f.PreTokenizer.isQwen(), `pre_tokenizer: want a Sequence of Split (Regex %q, behavior Isolated, invert false) `+
		`and ByteLevel (add_prefix_space false, use_regex false)`, Pattern)
	m := f.Model
	want(m.Dropout == nil || *m.Dropout == 0, "model.dropout: not supported, want null")
	want(m.ContinuingSubwordPrefix == "", `model.continuing_subword_prefix: %q, want ""`, m.ContinuingSubwordPrefix)
	want(m.EndOfWordSuffix == "", `model.end_of_word_suffix: %q, want ""`, m.EndOfWordSuffix)
	want(!m.IgnoreMerges, "model.ignore_merges: true, want false")
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "; "))
	}
	return nil
}

// isQwen tells whether the pre-tokenizer is the one of [Pattern].
func (c *componentFormat) isQwen() bool {
	// Where a file leaves a field out, the format says true for the two of ByteLevel
	// and false for invert.
	unset := func(b *bool, otherwise bool) bool {
		if b == nil {
			return !otherwise
		}
		return !*b
	}
	if c == nil || c.Type != "Sequence" || len(c.Pretokenizers) != 2 {
		return false
	}
	split, level := &c.Pretokenizers[0], &c.Pretokenizers[1]
	return split.Type == "Split" && split.Pattern != nil && split.Pattern.Regex != nil && *split.Pattern.Regex == Pattern &&
		split.Behavior == "Isolated" && unset(split.Invert, false) &&
		level.Type == "ByteLevel" && unset(level.AddPrefixSpace, true) && unset(level.UseRegex, true)
}

package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// The part of tokenizer.json that a byte-level BPE of the Qwen kind uses. What is
// optional in the format and would change the ids is read so that it can be
// refused; everything else in a file is ignored.
type (
	fileFormat struct {
		Version       string           `json:"version"`
		Truncation    json.RawMessage  `json:"truncation"`
		Padding       json.RawMessage  `json:"padding"`
		AddedTokens   []addedFormat    `json:"added_tokens"`
		Normalizer    *componentFormat `json:"normalizer"`
		PreTokenizer  *componentFormat `json:"pre_tokenizer"`
		PostProcessor *componentFormat `json:"post_processor"`
		Decoder       *componentFormat `json:"decoder"`
		Model         *modelFormat     `json:"model"`
	}

	addedFormat struct {
		ID         int32  `json:"id"`
		Content    string `json:"content"`
		SingleWord bool   `json:"single_word"`
		LStrip     bool   `json:"lstrip"`
		RStrip     bool   `json:"rstrip"`
		Normalized bool   `json:"normalized"`
		Special    bool   `json:"special"`
	}

	// componentFormat is one stage, told apart by Type. Fields left out of a file
	// are nil and take the format's default.
	componentFormat struct {
		Type           string            `json:"type"`
		Pretokenizers  []componentFormat `json:"pretokenizers,omitempty"`
		Pattern        *patternFormat    `json:"pattern,omitempty"`
		Behavior       string            `json:"behavior,omitempty"`
		Invert         *bool             `json:"invert,omitempty"`
		AddPrefixSpace *bool             `json:"add_prefix_space,omitempty"`
		TrimOffsets    *bool             `json:"trim_offsets,omitempty"`
		UseRegex       *bool             `json:"use_regex,omitempty"`
	}

	patternFormat struct {
		Regex *string `json:"Regex"`
	}

	modelFormat struct {
		Type                    string           `json:"type"`
		Dropout                 *float64         `json:"dropout"`
		UnknownToken            *string          `json:"unk_token"`
		ContinuingSubwordPrefix string           `json:"continuing_subword_prefix"`
		EndOfWordSuffix         string           `json:"end_of_word_suffix"`
		FuseUnknown             bool             `json:"fuse_unk"`
		ByteFallback            bool             `json:"byte_fallback"`
		IgnoreMerges            bool             `json:"ignore_merges"`
		Vocabulary              vocabularyFormat `json:"vocab"`
		Merges                  []mergeFormat    `json:"merges"`
	}

	// vocabularyFormat is token (in the byte alphabet) -> id.
	vocabularyFormat map[string]int32

	// mergeFormat is a pair of tokens. Files have it as "left right" or, newer
	// ones, as ["left", "right"].
	mergeFormat struct{ left, right string }
)

// UnmarshalJSON refuses a token that appears twice, of which the decoder of a
// map would keep the last in silence.
func (v *vocabularyFormat) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return fmt.Errorf("model.vocab: want an object of token: id")
	}
	*v = make(vocabularyFormat)
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return fmt.Errorf("model.vocab: %w", err)
		}
		key := token.(string) // the decoder yields nothing else before a colon
		if _, twice := (*v)[key]; twice {
			return fmt.Errorf("model.vocab: %q appears twice", key)
		}
		var id *int32
		if err := d.Decode(&id); err != nil || id == nil {
			return fmt.Errorf("model.vocab: the id of %q is not a 32-bit integer", key)
		}
		(*v)[key] = *id
	}
	return nil
}

func (m *mergeFormat) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		var line string
		if err := json.Unmarshal(data, &line); err != nil {
			return fmt.Errorf("model.merges: %w", err)
		}
		left, right, ok := bytes.Cut([]byte(line), []byte(" "))
		if !ok || bytes.ContainsRune(right, ' ') {
			return fmt.Errorf("model.merges: %q is not two tokens with one space between", line)
		}
		m.left, m.right = string(left), string(right)
		return nil
	}
	var both []string
	if err := json.Unmarshal(data, &both); err != nil || len(both) != 2 {
		return fmt.Errorf("model.merges: %.80s is neither a string nor a pair of strings", data)
	}
	m.left, m.right = both[0], both[1]
	return nil
}

// MarshalJSON writes the older form, which every version of the format reads.
// Tokens in the byte alphabet hold no spaces.
func (m mergeFormat) MarshalJSON() ([]byte, error) {
	return json.Marshal(m.left + " " + m.right)
}

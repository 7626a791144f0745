package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// chatTemplate renders what [Chat.Render] renders, in the Jinja dialect of
// transformers, vLLM and SGLang.
const chatTemplate = `{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}{% endfor %}` +
	`{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`

// Save writes tokenizer.json and tokenizer_config.json into a directory, each
// atomically, so that transformers, vLLM and SGLang load them as they are.
// maxTokens is the longest sequence that the model takes.
func (t *Tokenizer) Save(dir string, maxTokens int) error {
	data, err := t.MarshalJSON()
	if err != nil {
		return fmt.Errorf("encode tokenizer: %w", err)
	}
	config, err := t.marshalConfig(maxTokens)
	if err != nil {
		return fmt.Errorf("encode tokenizer_config.json: %w", err)
	}
	for _, file := range []struct {
		name string
		data []byte
	}{{"tokenizer.json", data}, {"tokenizer_config.json", config}} {
		if err := renameio.WriteFile(filepath.Join(dir, file.name), file.data, 0o644); err != nil {
			return fmt.Errorf("write %s to %s: %w", file.name, dir, err)
		}
	}
	return nil
}

// MarshalJSON returns the content of tokenizer.json. Equal tokenizers give equal
// bytes.
func (t *Tokenizer) MarshalJSON() ([]byte, error) {
	no, yes, pattern := false, true, Pattern
	file := fileFormat{
		Version:    "1.0",
		Normalizer: &componentFormat{Type: "NFC"},
		PreTokenizer: &componentFormat{Type: "Sequence", Pretokenizers: []componentFormat{
			{Type: "Split", Pattern: &patternFormat{Regex: &pattern}, Behavior: "Isolated", Invert: &no},
			{Type: "ByteLevel", AddPrefixSpace: &no, TrimOffsets: &no, UseRegex: &no},
		}},
		PostProcessor: &componentFormat{Type: "ByteLevel", AddPrefixSpace: &no, TrimOffsets: &no, UseRegex: &no},
		Decoder:       &componentFormat{Type: "ByteLevel", AddPrefixSpace: &yes, TrimOffsets: &yes, UseRegex: &yes},
		Model:         &modelFormat{Type: "BPE", Vocabulary: make(vocabularyFormat, len(t.ids))},
	}
	for _, a := range t.added {
		file.AddedTokens = append(file.AddedTokens, addedFormat{ID: a.ID, Content: a.Content, Special: a.Special})
	}
	for token, id := range t.ids {
		file.Model.Vocabulary[spell(token)] = id
	}
	for _, p := range t.ordered {
		file.Model.Merges = append(file.Model.Merges, mergeFormat{spell(t.tokens[p.left]), spell(t.tokens[p.right])})
	}
	return marshal(file)
}

// marshal indents and leaves <, > and & readable.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(v)
	return out.Bytes(), err
}

// marshalConfig returns the content of tokenizer_config.json.
func (t *Tokenizer) marshalConfig(maxTokens int) ([]byte, error) {
	config := map[string]any{
		// The class that takes tokenizer.json as it is.
		"tokenizer_class":              "PreTrainedTokenizerFast",
		"model_max_length":             maxTokens,
		"clean_up_tokenization_spaces": false,
		"add_bos_token":                false,
		"add_prefix_space":             false,
	}
	if _, err := NewChat(t); err == nil {
		config["eos_token"] = MessageEnd
		config["pad_token"] = EndOfText
		config["chat_template"] = chatTemplate
	}
	return marshal(config)
}

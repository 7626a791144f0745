package tokenizer

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// FromMerges builds the tokenizer of a merge list in merges.txt form: one merge a
// line, two tokens in the byte alphabet with a space between, after an optional
// line "#version...". Ids are the 256 bytes in alphabet order, then one a merge;
// name appears in errors.
func FromMerges(name string, r io.Reader, added []AddedToken) (*Tokenizer, error) {
	vocabulary := byteVocabulary()
	var ordered []pair
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		line := lines.Text()
		if number == 1 && strings.HasPrefix(line, "#version") {
			continue
		}
		p, joined, err := parseMerge(line, vocabulary)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, number, err)
		}
		if _, known := vocabulary[joined]; known {
			return nil, fmt.Errorf("%s: line %d: %q is made by an earlier line already", name, number, spell(joined))
		}
		vocabulary[joined] = int32(len(vocabulary))
		ordered = append(ordered, p)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read merges from %s: %w", name, err)
	}
	t, err := build(vocabulary, ordered, added)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// byteVocabulary has the 256 bytes in alphabet order.
func byteVocabulary() map[string]int32 {
	vocabulary := make(map[string]int32, 256)
	for id, b := range alphabetOrder() {
		vocabulary[string([]byte{b})] = int32(id)
	}
	return vocabulary
}

// parseMerge reads "left right".
func parseMerge(line string, vocabulary map[string]int32) (p pair, joined string, err error) {
	left, right, ok := strings.Cut(line, " ")
	if !ok || strings.Contains(right, " ") {
		return pair{}, "", fmt.Errorf("%q is not two tokens with one space between", line)
	}
	return lookupMerge(left, right, vocabulary)
}

// lookupMerge finds the ids of two tokens written in the alphabet, and the bytes
// that they make together.
func lookupMerge(left, right string, vocabulary map[string]int32) (p pair, joined string, err error) {
	var halves [2]string
	var ids [2]int32
	for i, token := range []string{left, right} {
		bytes, ok := unspell(token)
		if !ok {
			return pair{}, "", fmt.Errorf("%q has a character outside of the byte alphabet", token)
		}
		if ids[i], ok = vocabulary[bytes]; !ok {
			return pair{}, "", fmt.Errorf("%q is not in the vocabulary", token)
		}
		halves[i] = bytes
	}
	return pair{ids[0], ids[1]}, halves[0] + halves[1], nil
}

// qwen3Added are the added tokens of the Qwen3 models; ids ascend by one from the
// first free id (151,643 in the published vocabulary). The first 14 are special.
var qwen3Added = []string{
	EndOfText, MessageStart, MessageEnd,
	"<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>", "<|box_end|>",
	"<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>",
	"<|vision_pad|>", "<|image_pad|>", "<|video_pad|>",
	"<tool_call>", "</tool_call>",
	"<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>",
	"<|repo_name|>", "<|file_sep|>",
	"<tool_response>", "</tool_response>", "<think>", "</think>",
}

// Qwen3Added returns the added tokens of the Qwen3 models, of which the first
// gets the id first.
func Qwen3Added(first int32) []AddedToken {
	const special = 14
	added := make([]AddedToken, len(qwen3Added))
	for i, content := range qwen3Added {
		added[i] = AddedToken{ID: first + int32(i), Content: content, Special: i < special}
	}
	return added
}

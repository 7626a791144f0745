package tokenizer

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// minimal is a valid file with two merges: "ab" and "abc".
func minimal(t testing.TB) []byte {
	t.Helper()
	tokenizer, err := FromMerges("minimal", strings.NewReader("#version: 0.2\na b\nab c\n"), []AddedToken{{ID: 258, Content: MessageEnd, Special: true}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := tokenizer.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSaveLoad(t *testing.T) {
	want := loadSmall(t)
	dir := t.TempDir()
	if err := want.Save(dir, 2048); err != nil {
		t.Fatal(err)
	}
	got, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.tokens, want.tokens) || !slices.Equal(got.ordered, want.ordered) || !slices.Equal(got.added, want.added) {
		t.Error("the tokenizer read back differs from the one written")
	}
	var config struct {
		MaxTokens int    `json:"model_max_length"`
		EOS       string `json:"eos_token"`
		Template  string `json:"chat_template"`
	}
	data, err := os.ReadFile(filepath.Join(dir, "tokenizer_config.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &config); err != nil {
		t.Fatal(err)
	}
	if config.MaxTokens != 2048 || config.EOS != MessageEnd || config.Template != chatTemplate {
		t.Errorf("tokenizer_config.json says %+v", config)
	}
}

// TestMergesAsPairs: newer files have merges as pairs, older ones as strings.
func TestMergesAsPairs(t *testing.T) {
	data := minimal(t)
	pairs := bytes.ReplaceAll(data, []byte(`"a b"`), []byte(`["a", "b"]`))
	if bytes.Equal(pairs, data) {
		t.Fatal("the file has no merge a b")
	}
	tokenizer, err := Parse(pairs)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tokenizer.Encode("abcab<|im_end|>"), []int32{257, 256, 258}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"cut off", "]", "", "invalid character"},
		{"version", `"version": "1.0"`, `"version": "2.0"`, "version: \"2.0\""},
		{"truncation", `"truncation": null`, `"truncation": {"max_length": 5}`, "truncation: not supported"},
		{"padding", `"padding": null`, `"padding": {}`, "padding: not supported"},
		{"normalizer", `"NFC"`, `"NFKC"`, "normalizer: want"},
		{"pattern", `\\p{N}|`, `\\p{N}{1,3}|`, "pre_tokenizer: want"},
		{"prefix space", `"add_prefix_space": false`, `"add_prefix_space": true`, "pre_tokenizer: want"},
		{"model", `"BPE"`, `"Unigram"`, "model.type: want"},
		{"dropout", `"dropout": null`, `"dropout": 0.1`, "model.dropout: not supported"},
		{"prefix", `"continuing_subword_prefix": ""`, `"continuing_subword_prefix": "##"`, "model.continuing_subword_prefix"},
		{"ignore merges", `"ignore_merges": false`, `"ignore_merges": true`, "model.ignore_merges: true"},
		{"token twice", `"!": 0`, `"!": 0, "!": 1`, `model.vocab: "!" appears twice`},
		{"id twice", `"!": 0`, `"!": 1`, `model.vocab: "!" and "\"" have the same id 1`},
		{"huge id", `"!": 0`, `"!": 2000000000`, `model.vocab: "!" has id 2000000000`},
		{"negative id", `"!": 0`, `"!": -1`, `model.vocab: "!" has id -1`},
		{"id of another type", `"!": 0`, `"!": "0"`, `model.vocab: the id of "!" is not a 32-bit integer`},
		{"no id", `"!": 0`, `"!": null`, `model.vocab: the id of "!" is not a 32-bit integer`},
		{"vocabulary of another type", `"vocab": {`, `"vocab": [], "x": {`, "model.vocab: want an object"},
		{"foreign character", `"!": 0`, `"漢": 0`, `model.vocab: "漢" has a character outside`},
		{"missing byte", `"!": 0`, `"!!": 0`, `model.vocab: no token for byte 0x21 ("!")`},
		{"empty token", `"!": 0`, `"!": 0, "": 300`, "model.vocab: id 300 is the empty token"},
		{"merge of one", `"a b"`, `"ab"`, `model.merges: "ab" is not two tokens`},
		{"merge of three", `"a b"`, `"a b c"`, `model.merges: "a b c" is not two tokens`},
		{"merge with nothing", `"a b"`, `"a "`, `model.merges[0]: "" is not in the vocabulary`},
		{"merge of another type", `"a b"`, `7`, "model.merges: 7 is neither"},
		{"merge triple", `"a b"`, `["a", "b", "c"]`, "is neither a string nor a pair"},
		{"merge part unknown", `"a b"`, `"a zz"`, `model.merges[0]: "zz" is not in the vocabulary`},
		{"merge result unknown", `"a b"`, `"b a"`, `model.merges[0]: "b" and "a" make "ba"`},
		{"merge twice", `"a b"`, `"a b", "a b"`, "model.merges[1]: the same pair as model.merges[0]"},
		{"added id taken", `"id": 258`, `"id": 5`, `added_tokens: "<|im_end|>" has id 5, which is`},
		{"added id huge", `"id": 258`, `"id": 99999999`, `added_tokens: "<|im_end|>" has id 99999999`},
		{"added empty", `"content": "<|im_end|>"`, `"content": ""`, "added_tokens: id 258 has no content"},
		{"added normalized", `"normalized": false`, `"normalized": true`, "added_tokens[0]"},
		{"added strip", `"lstrip": false`, `"lstrip": true`, "added_tokens[0]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := strings.Replace(string(minimal(t)), c.old, c.new, 1)
			if data == string(minimal(t)) {
				t.Fatalf("the file has no %s", c.old)
			}
			path := filepath.Join(t.TempDir(), "tokenizer.json")
			if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Load(path)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v, want %q and the path", err, c.want)
			}
		})
	}
}

func TestFromMergesRefuses(t *testing.T) {
	for _, c := range []struct{ merges, want string }{
		{"a b\nab", "m.txt: line 2: \"ab\" is not two tokens"},
		{"a b\na b\n", `m.txt: line 2: "ab" is made by an earlier line already`},
		{"ab c\n", `m.txt: line 1: "ab" is not in the vocabulary`},
		{"a 漢\n", `m.txt: line 1: "漢" has a character outside`},
		{"a " + strings.Repeat("b", 1<<17), "m.txt: bufio.Scanner: token too long"},
	} {
		_, err := FromMerges("m.txt", strings.NewReader(c.merges), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: error %v, want %q", c.merges, err, c.want)
		}
	}
}

// FuzzParse: no input crashes; what is accepted can encode and decode, and is
// read back the same from what it writes.
func FuzzParse(f *testing.F) {
	f.Add(minimal(f), "abc ab<|im_end|>")
	f.Add([]byte(`{"model": {"type": "BPE", "vocab": {}, "merges": [[]]}}`), "")
	f.Add([]byte(`null`), "x")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		tokenizer, err := Parse(data)
		if err != nil {
			return
		}
		again, err := tokenizer.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		copied, err := Parse(again)
		if err != nil {
			t.Fatalf("cannot read what was written: %v", err)
		}
		if a, b := tokenizer.Encode(text), copied.Encode(text); !slices.Equal(a, b) {
			t.Fatalf("%q: %v, and %v after writing and reading", text, a, b)
		}
	})
}

// FuzzFromMerges: no input crashes, and what is accepted has one token for each
// byte and merge.
func FuzzFromMerges(f *testing.F) {
	f.Add("#version: 0.2\na b\nab c\n")
	f.Add("a  b\n\n")
	f.Fuzz(func(t *testing.T, merges string) {
		tokenizer, err := FromMerges("fuzz", strings.NewReader(merges), nil)
		if err == nil && tokenizer.VocabSize() != 256+len(tokenizer.ordered) {
			t.Fatalf("%d tokens from %d merges", tokenizer.VocabSize(), len(tokenizer.ordered))
		}
	})
}

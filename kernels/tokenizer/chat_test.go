package tokenizer

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

func newChat(t testing.TB) (*Tokenizer, *Chat) {
	t.Helper()
	tokenizer := loadSmall(t)
	chat, err := NewChat(tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer, chat
}

// TestChatAsTemplate: the ids of messages without control tokens are those of the
// rendered template, also where line ends meet.
func TestChatAsTemplate(t *testing.T) {
	tokenizer, chat := newChat(t)
	got := chat.Render(Message{"system", "You repair code."}, Message{"user", "\n\nfix  x\n"})
	got = append(got, chat.Open("assistant")...)
	want := tokenizer.Encode("<|im_start|>system\nYou repair code.<|im_end|>\n<|im_start|>user\n\n\nfix  x\n<|im_end|>\n<|im_start|>assistant\n")
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestChatClose(t *testing.T) {
	tokenizer, chat := newChat(t)
	for _, sampled := range []string{"ok<|im_end|>", "cut of"} {
		ids := tokenizer.Encode(sampled)
		got := append(ids, chat.Close(ids[len(ids)-1] == chat.End())...)
		want := tokenizer.Encode(strings.TrimSuffix(sampled, MessageEnd) + "<|im_end|>\n")
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", sampled, got, want)
		}
	}
	if got, want := chat.Stop(), []int32{642, 640}; !slices.Equal(got, want) {
		t.Errorf("Stop = %v, want %v", got, want)
	}
}

func TestChatNeedsControlTokens(t *testing.T) {
	tokenizer, err := FromMerges("none", strings.NewReader(""), []AddedToken{{ID: 256, Content: MessageStart}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewChat(tokenizer); err == nil || !strings.Contains(err.Error(), MessageEnd) {
		t.Errorf("error %v, want one that names %s", err, MessageEnd)
	}
}

// FuzzEncode: the bytes come back in NFC; plain text yields no added token; a
// message has one start and one end whatever its content.
func FuzzEncode(f *testing.F) {
	for _, seed := range []string{"", "a<|im_end|>\n<|im_start|>system\n", "\xf0\x9f<\xff", "e\u0301 <|im_<|im_end|>", strings.Repeat(" ", 300)} {
		f.Add(seed)
	}
	tokenizer, chat := newChat(f)
	first := tokenizer.added[0].ID
	f.Fuzz(func(t *testing.T, text string) {
		ids := tokenizer.EncodePlain(text)
		if got, want := string(tokenizer.DecodeBytes(ids)), norm.NFC.String(text); got != want {
			t.Fatalf("%q came back as %q, want %q", text, got, want)
		}
		for _, id := range ids {
			if id >= first {
				t.Fatalf("%q: plain text has the added token %d", text, id)
			}
		}
		message := chat.Render(Message{"tool", text})
		control := slices.DeleteFunc(slices.Clone(message), func(id int32) bool { return id < first })
		if want := []int32{chat.start, chat.end}; !slices.Equal(control, want) || message[0] != chat.start {
			t.Fatalf("%q: control tokens %v, want %v", text, control, want)
		}
		if n := len(tokenizer.DecodeBytes(tokenizer.Encode(text))); n == 0 && text != "" {
			t.Fatalf("%q was lost", text)
		}
	})
}

package tokenizer

import "fmt"

// The control tokens of ChatML, as Qwen names them.
const (
	MessageStart = "<|im_start|>"
	MessageEnd   = "<|im_end|>"
	EndOfText    = "<|endoftext|>"
)

// Message is one turn of a conversation.
type Message struct{ Role, Content string }

// Chat renders messages as ChatML ids:
//
//	<|im_start|>role
//	content<|im_end|>
//
// with a line end after each. Role and content are encoded plainly, so whatever
// they hold, each message has exactly one start and one end. For text without
// control tokens the ids are those of the rendered string.
type Chat struct {
	tokenizer            *Tokenizer
	start, end, endOfAll int32
	newline              int32
}

// NewChat fails when the tokenizer lacks one of the three control tokens.
func NewChat(t *Tokenizer) (*Chat, error) {
	c := &Chat{tokenizer: t, newline: t.byteIDs['\n']}
	for _, want := range []struct {
		content string
		id      *int32
	}{{MessageStart, &c.start}, {MessageEnd, &c.end}, {EndOfText, &c.endOfAll}} {
		id, ok := t.addedID[want.content]
		if !ok {
			return nil, fmt.Errorf("the tokenizer has no added token %s, which ChatML needs", want.content)
		}
		*want.id = id
	}
	return c, nil
}

// Render returns the ids of whole messages.
func (c *Chat) Render(messages ...Message) []int32 {
	var ids []int32
	for _, m := range messages {
		ids = append(ids, c.start)
		ids = c.tokenizer.appendPlain(ids, m.Role+"\n"+m.Content)
		ids = append(ids, c.end, c.newline)
	}
	return ids
}

// Open returns the ids that start a message of role and leave its content to the
// policy: the generation prompt.
func (c *Chat) Open(role string) []int32 {
	return c.tokenizer.appendPlain([]int32{c.start}, role+"\n")
}

// Close returns the ids that complete a message the policy has written: the line
// end after a final <|im_end|> if ended, else <|im_end|> and the line end.
func (c *Chat) Close(ended bool) []int32 {
	if ended {
		return []int32{c.newline}
	}
	return []int32{c.end, c.newline}
}

// End is the id of <|im_end|>, which ends a turn.
func (c *Chat) End() int32 { return c.end }

// EndOfText is the id of <|endoftext|>, which ends a document and pads.
func (c *Chat) EndOfText() int32 { return c.endOfAll }

// Stop returns the ids that end generation, as in Qwen's generation_config.json.
func (c *Chat) Stop() []int32 { return []int32{c.end, c.endOfAll} }

package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"millrace/kernels/tokenizer"
)

// chat is /v1/chat/completions, for evaluation. It sends nothing but the fields of
// OpenAI's reference (platform.openai.com/docs/api-reference/chat), since servers
// that have only this refuse others.
type chat struct{ tokenizer *tokenizer.Tokenizer }

type chatRequest struct {
	Model       string    `json:"model"`
	Messages    []message `json:"messages"`
	MaxTokens   int       `json:"max_tokens"`
	Temperature float64   `json:"temperature"`
	TopP        float64   `json:"top_p"`
	Seed        int64     `json:"seed"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (d chat) ask(r *request) (string, any, error) {
	if r.sampling.TopK > 0 {
		return "", nil, fmt.Errorf("top_k is %d: the chat API has no such setting", r.sampling.TopK)
	}
	messages, err := takeApart(d.tokenizer, r.prompt)
	if err != nil {
		return "", nil, fmt.Errorf("taking the sequence apart into messages: %w", err)
	}
	return "/v1/chat/completions", &chatRequest{
		Model: r.model, Messages: messages, MaxTokens: r.maxTokens,
		Temperature: r.sampling.Temperature, TopP: keepP(r.sampling.TopP),
		Seed: requestSeed(r.sampling.Seed, len(r.prompt)),
	}, nil
}

// takeApart is the inverse of tokenizer.Chat: the messages whose ChatML has exactly
// the bytes of the ids, without the open assistant message at the end. Each is
//
//	<|im_start|>role \n content <|im_end|> \n
//
// with no other control token inside, and content that is UTF-8, which JSON needs.
func takeApart(t *tokenizer.Tokenizer, ids []int32) ([]message, error) {
	control := map[int32]string{}
	for _, token := range t.AddedTokens() {
		control[token.ID] = token.Content
	}
	startID, _ := t.TokenID(tokenizer.MessageStart)
	endID, _ := t.TokenID(tokenizer.MessageEnd)
	var messages []message
	for rest := ids; ; {
		if len(rest) == 0 || rest[0] != startID {
			return nil, fmt.Errorf("token %d does not start a message", len(ids)-len(rest))
		}
		inside := rest[1:]
		end := slices.IndexFunc(inside, func(id int32) bool { return control[id] != "" })
		if end < 0 {
			if open := string(t.DecodeBytes(inside)); open != "assistant\n" {
				return nil, fmt.Errorf("the last message begins %.40q, it is not an open one of the assistant", open)
			}
			return messages, nil
		}
		if inside[end] != endID {
			return nil, fmt.Errorf("message %d holds the control token %s", len(messages), control[inside[end]])
		}
		role, content, ok := strings.Cut(string(t.DecodeBytes(inside[:end])), "\n")
		if !ok || !utf8.ValidString(role+content) {
			return nil, fmt.Errorf("message %d has no role, or is not UTF-8", len(messages))
		}
		rest = inside[end+1:]
		if len(rest) == 0 || string(t.DecodeBytes(rest[:1])) != "\n" {
			return nil, fmt.Errorf("message %d does not end its line", len(messages))
		}
		rest = rest[1:]
		messages = append(messages, message{role, content})
	}
}

type chatResponse struct {
	Choices []struct {
		FinishReason string   `json:"finish_reason"`
		Message      *message `json:"message"`
	} `json:"choices"`
}

func (chat) read(body []byte) (answer, error) {
	var r chatResponse
	if err := json.Unmarshal(body, &r); err != nil {
		return answer{}, fmt.Errorf("reading the completion: %w", err)
	}
	if len(r.Choices) != 1 || r.Choices[0].Message == nil {
		return answer{}, fmt.Errorf("the completion has %d choices, want 1 with a message", len(r.Choices))
	}
	return answer{text: r.Choices[0].Message.Content, finish: r.Choices[0].FinishReason}, nil
}

func (chat) load(context.Context, *caller, string, string) error {
	return errors.New("the chat API cannot change weights")
}

func (chat) weights(context.Context, *caller) (string, bool, error) { return "", false, nil }

func (chat) reports(context.Context, *caller, *request) error { return nil }

package warmstart

import (
	"iter"
	"math/rand/v2"

	"millrace/kernels"
	"millrace/kernels/tokenizer"
)

// Sequence tokenises a demonstration as the agent loop would have. What the
// expert wrote is trained, its closing <|im_end|> included; prompts and
// observations are trained with everything only.
func Sequence(t *tokenizer.Tokenizer, chat *tokenizer.Chat, d Demonstration, everything bool) kernels.Sequence {
	q := kernels.Sequence{ID: d.TaskID, Advantage: 1}
	add := func(ids []int32, trained bool) {
		for _, id := range ids {
			q.Mask = append(q.Mask, (trained || everything) && len(q.Tokens) > 0)
			q.Tokens = append(q.Tokens, id)
		}
	}
	for i, m := range d.Messages {
		if m.Role != "assistant" {
			add(chat.Render(tokenizer.Message(m)), false)
			continue
		}
		add(chat.Open("assistant"), false)
		add(append(t.Encode(m.Content), chat.End()), true)
		if i < len(d.Messages)-1 {
			add(chat.Close(true), false)
		}
	}
	return q
}

// Stream yields demonstrations without end, in a new random order each time
// round, altered and renamed afresh with their probabilities. Those that begin
// within the first c.Reading tokens are trained as a whole. Demonstrations
// longer than the model's context are left out.
func Stream(t *tokenizer.Tokenizer, chat *tokenizer.Chat, demonstrations []Demonstration, c Config) iter.Seq[kernels.Sequence] {
	return func(yield func(kernels.Sequence) bool) {
		rng := rand.New(rand.NewPCG(c.Seed, 1))
		read := int64(0)
		for len(demonstrations) > 0 {
			used := false
			for _, i := range rng.Perm(len(demonstrations)) {
				d := demonstrations[i]
				if rng.Float64() < c.Altered {
					d = d.Alter(rng)
				}
				if rng.Float64() < c.Renamed {
					d = d.Rename(rng)
				}
				q := Sequence(t, chat, d, read < c.Reading)
				if len(q.Tokens) > c.Model.MaxPositionEmbeddings {
					continue
				}
				read += int64(len(q.Tokens))
				used = true
				if !yield(q) {
					return
				}
			}
			if !used {
				return // every one is too long: an endless loop would yield nothing
			}
		}
	}
}

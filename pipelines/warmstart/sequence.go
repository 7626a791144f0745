package warmstart

import (
	"iter"
	"math/rand/v2"

	"millrace/kernels"
	"millrace/kernels/tokenizer"
)

// Sequence tokenises a demonstration as the agent loop would have. What the
// expert wrote is trained, its closing <|im_end|> included, but for its slips: the
// policy shall learn what to do after a mistake and not to make it. Prompts and
// observations are trained with everything only.
func Sequence(t *tokenizer.Tokenizer, chat *tokenizer.Chat, d Demonstration, everything bool) kernels.Sequence {
	q := kernels.Sequence{ID: d.TaskID, Advantage: 1}
	add := func(ids []int32, trained bool) {
		for _, id := range ids {
			q.Mask = append(q.Mask, trained && len(q.Tokens) > 0)
			q.Tokens = append(q.Tokens, id)
		}
	}
	for i, m := range d.Messages {
		if m.Role != "assistant" {
			add(chat.Render(tokenizer.Message(m)), everything)
			continue
		}
		add(chat.Open("assistant"), everything)
		add(append(t.Encode(m.Content), chat.End()), !d.slip(i))
		if i < len(d.Messages)-1 {
			add(chat.Close(true), everything)
		}
	}
	return q
}

// Stream yields drills, of which everything is trained, until it has yielded
// c.Reading tokens, and then demonstrations without end. Both come in a new
// random order each time round, altered and renamed afresh with their
// probabilities. Drills are cut at half of c.Context; demonstrations longer than
// it are left out.
func Stream(t *tokenizer.Tokenizer, chat *tokenizer.Chat, r Recording, c Config) iter.Seq[kernels.Sequence] {
	return func(yield func(kernels.Sequence) bool) {
		rng := rand.New(rand.NewPCG(c.Seed, 1))
		dictionary := r.dictionary()
		read := int64(0)
		for read < c.Reading && len(r.Drills) > 0 {
			for _, i := range rng.Perm(len(r.Drills)) {
				q := Sequence(t, chat, c.vary(r.Drills[i], rng, dictionary), true)
				n := min(len(q.Tokens), c.Context/2)
				q.Tokens, q.Mask = q.Tokens[:n], q.Mask[:n]
				if read += int64(n); !yield(q) {
					return
				}
				if read >= c.Reading {
					break
				}
			}
		}
		for used := true; used; { // a round in which all are too long is the last
			used = false
			for _, i := range rng.Perm(len(r.Demonstrations)) {
				q := Sequence(t, chat, c.vary(r.Demonstrations[i], rng, dictionary), false)
				if len(q.Tokens) > c.Context {
					continue
				}
				used = true
				if !yield(q) {
					return
				}
			}
		}
	}
}

// vary alters and renames a demonstration, each with its probability.
func (c Config) vary(d Demonstration, rng *rand.Rand, dictionary []string) Demonstration {
	if rng.Float64() < c.Altered {
		d = d.Alter(rng)
	}
	if rng.Float64() < c.Renamed {
		d = d.Rename(rng, dictionary)
	}
	return d
}

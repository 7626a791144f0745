package train

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"

	"millrace/kernels/tokenizer"
	"millrace/pipelines/mine"
	"millrace/schemas"
	"millrace/transforms/environment"
)

// control are the added tokens of every vocabulary made here.
var control = []string{tokenizer.EndOfText, tokenizer.MessageStart, tokenizer.MessageEnd}

// minVocabulary is a vocabulary of bytes alone.
const minVocabulary = 256 + 3

// wordTasks bounds the tasks whose texts make the vocabulary. A word that none of
// them has is spelled in pieces.
const wordTasks = 1000

// textTokenizer makes a vocabulary in which each word of the environment's texts is
// one token: what is read in walks without a plan through tasks of a split. A word is
// a piece of the tokenizer's pattern, so one that follows a space includes it.
func textTokenizer(tasks []schemas.Task, split string, steps int) (*tokenizer.Tokenizer, error) {
	tasks = mine.Select(tasks, split)
	if len(tasks) > wordTasks {
		tasks = spread(tasks, wordTasks)
	}
	texts := map[string]bool{}
	rng := rand.New(rand.NewPCG(0, 0)) // a vocabulary does not depend on the run's seed
	for _, task := range tasks {
		e, ok := environments[task.Environment]
		if !ok {
			return nil, fmt.Errorf("task %s is of no text environment", task.ID)
		}
		err := environment.Walk(e, task, rng, steps, func(role, text string) { texts[role+"\n"+text] = true })
		if err != nil {
			return nil, err
		}
	}
	// Twice, since a pair that occurs once makes no token.
	corpus := func(yield func(string) bool) {
		for text := range texts {
			for range 2 {
				if !yield(text) {
					return
				}
			}
		}
	}
	// The most merges there are: one less fits, one more does not.
	longest := 0
	for text := range texts {
		longest += len(text)
	}
	var made *tokenizer.Tokenizer
	sort.Search(longest, func(merges int) bool {
		t, err := tokenizer.Train(corpus, 256+merges+len(control), slices.Clone(control))
		if err == nil && (made == nil || t.VocabSize() > made.VocabSize()) {
			made = t
		}
		return err != nil
	})
	if made == nil {
		return nil, fmt.Errorf("split %q has no task whose words could make a vocabulary", split)
	}
	return made, nil
}

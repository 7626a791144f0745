// Package warmstart makes the policy that reinforcement learning starts from:
// it records demonstrations of a scripted, deliberately imperfect expert in the
// real sandboxes, trains a tokenizer on them, and takes supervised steps.
//
// The expert sees what the agent sees. It does not know the fault; it views the
// file, lists its operators, tries changes that would undo a small slip, runs the
// visible tests, undoes what did not help, and often gives up too early. So the
// policy learns the routine and the syntax of the tools here, and has the rest to
// learn from rewards.
package warmstart

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"millrace/kernels"
	"millrace/kernels/checkpoint"
	"millrace/kernels/cpu"
	"millrace/kernels/tokenizer"
	"millrace/schemas"
	"millrace/transforms/inject"
	"millrace/transforms/rollout"
	"millrace/transforms/sandbox"
)

// Config are the settings of a warm start.
type Config struct {
	Seed       uint64     `yaml:"seed"`
	Collection Collection `yaml:"collection"`
	// VocabSize is the size of the tokenizer trained on the demonstrations.
	VocabSize int `yaml:"vocab_size"`
	// Altered is the share of demonstrations that are trained with other operators
	// and numbers, Renamed, independently, that with made-up names.
	Altered float64 `yaml:"altered"`
	Renamed float64 `yaml:"renamed"`
	// Reading is the number of tokens at first that are of drills, and of which
	// everything is trained, not only what the expert wrote. Observations repeat
	// each other and the prompt, and drills are full of edits: it is from both that
	// so small a policy soonest learns to copy.
	Reading int64 `yaml:"reading"`
	// Context is the length in tokens of the longest demonstration that is used;
	// drills are cut at half of it.
	Context  int      `yaml:"context"`
	Schedule Schedule `yaml:"schedule"`
	// AttentionGain is where the weights of the query and key norms begin, but for
	// the layers that are wired. Both vectors have unit length per dimension, so
	// scores are at most AttentionGain^2 * sqrt(head width): at 1, too flat to
	// single out one token of hundreds, which is what copying needs.
	AttentionGain float32        `yaml:"attention_gain"`
	Model         kernels.Config `yaml:"-"`
	Agent         rollout.Config `yaml:"-"`
}

// Default is how the shipped policy was made. Agent is the caller's.
func Default() Config {
	return Config{
		Seed: 1,
		Collection: Collection{
			PerTask: 16, Drills: 2, Snippets: 2500, Concurrency: 8, Habits: DefaultHabits,
			Kinds: []inject.Kind{inject.FlipOperators, inject.Boundary},
		},
		VocabSize: 1536,
		Altered:   0.95,
		Renamed:   0.7,
		Reading:   4_000_000,
		Context:   3072,
		Schedule:  DefaultSchedule,
		// Scores up to 1.4^2 * sqrt(32) = 11: e^11 outweighs a context of 3072.
		AttentionGain: 1.4,
		Model: kernels.Config{
			HiddenSize:            128,
			IntermediateSize:      384,
			NumHiddenLayers:       5,
			NumAttentionHeads:     4,
			NumKeyValueHeads:      2,
			HeadDim:               32,
			MaxPositionEmbeddings: 4096,
			RMSNormEps:            1e-6,
			// As slow as in models of long contexts: only a rotation that hardly turns
			// over the whole context lets a head compare tokens across it.
			RopeTheta:         1e7,
			TieWordEmbeddings: true,
		},
	}
}

// Record records demonstrations on the tasks, and drills on them and on functions
// from a tree of packages. The agent loop needs a tokenizer before there is one:
// it runs on plain bytes.
func Record(ctx context.Context, c Config, tasks []schemas.Task, packages fs.FS, boxes sandbox.Provider, report func(done, of int)) (Recording, error) {
	bytes, err := tokenizer.Train(none, 256+len(control), control)
	if err != nil {
		return Recording{}, err
	}
	snippets, err := Snippets(packages, c.Collection.Snippets, c.Seed)
	if err != nil {
		return Recording{}, err
	}
	agent := c.Agent
	agent.Seed = c.Seed
	// Bytes are several times as many as tokens; the demonstrations that are too
	// long are left out when they are tokenised.
	agent.Limits.Context *= 8
	agent.Limits.Turn = agent.Limits.Context
	var r Recording
	recorded, total := 0, 2*len(tasks)+len(snippets)
	count := func(int, int) {
		recorded++
		report(recorded, total)
	}
	if r.Demonstrations, err = Collect(ctx, tasks, bytes, boxes, agent, c.Collection, count); err != nil {
		return Recording{}, err
	}
	drills := c.Collection
	drills.PerTask, drills.Habits = c.Collection.Drills, DrillHabits
	agent.Limits.Context, agent.Limits.Turn, agent.Limits.Steps = 1<<20, 1<<20, 1<<10 // each ends when all is tried
	if r.Drills, err = Collect(ctx, tasks, bytes, boxes, agent, drills, count); err != nil {
		return Recording{}, err
	}
	drills.PerTask = 1
	more, err := Collect(ctx, snippets, bytes, boxes, agent, drills, count)
	r.Drills = append(r.Drills, more...)
	return r, err
}

func none(func(string) bool) {}

// Teach trains tokenizer and policy on the recording and writes both to dir as a
// Hugging Face checkpoint.
func Teach(ctx context.Context, c Config, r Recording, dir string, report func(Progress)) error {
	t, err := tokenizer.Train(texts(r, c.Seed), c.VocabSize, fixed)
	if err != nil {
		return err
	}
	chat, err := tokenizer.NewChat(t)
	if err != nil {
		return err
	}
	model := c.Model
	model.VocabSize = t.VocabSize()
	weights, err := cpu.InitWeights(model, c.Seed)
	if err != nil {
		return err
	}
	for _, w := range weights {
		if strings.HasSuffix(w.Name, "q_norm.weight") || strings.HasSuffix(w.Name, "k_norm.weight") {
			for i := range w.Data {
				w.Data[i] = c.AttentionGain
			}
		}
	}
	if err := wire(model, weights); err != nil {
		return err
	}
	trainer, err := cpu.NewTrainer(model, weights)
	if err != nil {
		return err
	}
	defer trainer.Close()
	stream := Stream(t, chat, r, c)
	if err := Supervise(ctx, trainer, stream, c.Schedule, report); err != nil {
		return err
	}
	if weights, err = trainer.Weights().Tensors(); err != nil {
		return err
	}
	if _, err := checkpoint.Save(dir, model, weights, checkpoint.Options{DType: checkpoint.BF16, Stop: chat.Stop(), Pad: chat.EndOfText()}); err != nil {
		return err
	}
	if err := t.Save(dir, model.MaxPositionEmbeddings); err != nil {
		return fmt.Errorf("writing the tokenizer to %s: %w", dir, err)
	}
	return nil
}

package train

import (
	"errors"
	"path/filepath"

	"millrace/kernels"
	"millrace/kernels/cpu"
	"millrace/kernels/tokenizer"
	"millrace/transforms/learn"
)

// checkpoints is the directory of a run's checkpoints below its own.
const checkpoints = "checkpoints"

// Learner is a learner without rollouts, for samples that are there already.
type Learner struct {
	*learn.Learner
	parts parts
}

// OpenLearner opens the learner of the configuration's run in a run directory, at its
// newest checkpoint or, where there is none, at the policy of the configuration. hash
// identifies the settings in the ledger.
func OpenLearner(c Config, dir, hash string) (*Learner, error) {
	l := &Learner{}
	policyDir, model, weights, err := l.parts.loadPolicy(c, dir)
	if err != nil {
		return nil, err
	}
	if err := l.parts.openLearner(c, filepath.Join(dir, checkpoints), hash, policyDir, model, weights, nil); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.Learner = l.parts.learner
	return l, nil
}

// Close closes what the learner works with.
func (l *Learner) Close() error { return l.parts.Close() }

// openLearner opens the learner over a directory of checkpoints; weights are those
// that training begins with, and those of the reference.
func (p *parts) openLearner(c Config, dir, hash, policyDir string, model kernels.Config, weights []kernels.Tensor, publish learn.Publish) error {
	recipe, err := learn.RecipeByName(c.Recipe)
	if err != nil {
		return err
	}
	trainer, err := cpu.NewTrainer(model, weights)
	if err != nil {
		return err
	}
	p.close = append(p.close, trainer.Close)
	chat, err := tokenizer.NewChat(p.tokenizer)
	if err != nil {
		return err
	}
	live := learn.Parts{Trainer: trainer, Publish: publish}
	if recipe.KLCoefficient != 0 {
		reference, err := cpu.NewTrainer(model, weights)
		if err != nil {
			return err
		}
		p.close = append(p.close, reference.Close)
		live.Reference = reference
	}
	p.learner, err = learn.Open(learn.Config{
		Run: c.RunName(), ConfigHash: hash, CodeVersion: codeVersion(), Dir: dir,
		Keep:          learn.Keep{Last: c.Learn.Keep, Every: c.Learn.Every},
		Extra:         learn.Extra{Tokenizer: filepath.Join(policyDir, "tokenizer.json"), Stop: chat.Stop(), Pad: chat.EndOfText()},
		GroupsPerStep: c.Groups, MaxStaleness: c.MaxStaleness, Recipe: recipe,
		Context: c.Rollout.Limits.Context, Temperature: c.Rollout.Temperature,
		MicroBatchTokens: c.Learn.MicroTokens, Minibatches: 1,
		Optimizer: kernels.AdamW{
			LearningRate: c.Learn.LearningRate, Beta1: c.Learn.Beta1, Beta2: c.Learn.Beta2, Epsilon: c.Learn.Epsilon,
			WeightDecay: c.Learn.WeightDecay, ClipNorm: c.Learn.ClipNorm,
		},
		Schedule: learn.Schedule{Warmup: c.Learn.WarmupSteps},
	}, live)
	return err
}

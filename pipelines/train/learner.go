package train

import (
	"errors"
	"path/filepath"

	"millrace/kernels"
	"millrace/kernels/cuda"
	"millrace/kernels/devices"
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
// identifies the settings in the ledger. maxDraws is of the run that ordered the groups
// of the samples: what that run did not replace, nobody will now.
func OpenLearner(c Config, maxDraws int, dir, hash string) (*Learner, error) {
	l := &Learner{}
	policyDir, model, weights, err := l.parts.loadPolicy(c, dir)
	if err != nil {
		return nil, err
	}
	trainer, err := l.parts.openTrainer(c, model, weights)
	if err == nil {
		err = l.parts.openLearner(c, maxDraws, filepath.Join(dir, checkpoints), hash, policyDir, trainer, weights, nil)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.Learner = l.parts.learner
	return l, nil
}

// gpu are the settings of a GPU.
func (c LearnConfig) gpu() (o cuda.Options, err error) {
	if o.Precision, err = cuda.ParsePrecision(c.Precision); err != nil {
		return o, err
	}
	o.Recompute, err = cuda.ParseRecompute(c.Recompute)
	return o, err
}

// Close closes what the learner works with.
func (l *Learner) Close() error { return l.parts.Close() }

// openDevice opens what computes.
func (p *parts) openDevice(c Config) error {
	gpu, err := c.Learn.gpu()
	if err != nil {
		return err
	}
	if p.device, err = devices.Open(c.Device, gpu); err != nil {
		return err
	}
	p.close = append(p.close, p.device.Close)
	return nil
}

// openTrainer opens the device and a trainer on it. What samples from the trainer's weights
// is opened after it, and so closed before it.
func (p *parts) openTrainer(c Config, model kernels.Config, weights []kernels.Tensor) (kernels.Trainer, error) {
	if err := p.openDevice(c); err != nil {
		return nil, err
	}
	trainer, err := p.device.NewTrainer(model, weights)
	if err != nil {
		return nil, err
	}
	p.close = append(p.close, trainer.Close)
	return trainer, nil
}

// openLearner opens the learner over a directory of checkpoints; weights are those of
// the reference.
func (p *parts) openLearner(c Config, maxDraws int, dir, hash, policyDir string, trainer kernels.Trainer, weights []kernels.Tensor, publish learn.Publish) error {
	recipe, err := c.recipe()
	if err != nil {
		return err
	}
	chat, err := tokenizer.NewChat(p.tokenizer)
	if err != nil {
		return err
	}
	live := learn.Parts{Trainer: trainer, Publish: publish}
	if recipe.Objective.Loss.KLCoefficient != 0 {
		reference, err := p.device.NewTrainer(trainer.Config(), weights)
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
		GroupsPerStep: c.Groups, MaxDraws: maxDraws, MaxStaleness: c.MaxStaleness, Objective: recipe.Objective,
		Context: c.Rollout.Limits.Context, Temperature: c.Rollout.Temperature,
		MicroBatchTokens: c.Learn.MicroTokens, Minibatches: c.Learn.Minibatches,
		Optimizer: kernels.AdamW{
			LearningRate: c.Learn.LearningRate, Beta1: c.Learn.Beta1, Beta2: c.Learn.Beta2, Epsilon: c.Learn.Epsilon,
			WeightDecay: c.Learn.WeightDecay, ClipNorm: c.Learn.ClipNorm,
		},
		Schedule: learn.Schedule{Warmup: c.Learn.WarmupSteps},
	}, live)
	return err
}

package cuda

import (
	"context"
	"fmt"
	"unsafe"

	"millrace/kernels"
	"millrace/kernels/checkpoint"
)

// Trainer is a kernels.Trainer on a GPU.
type Trainer struct {
	device    *Device
	handle    uintptr
	cfg       kernels.Config
	precision Precision
	layout    []checkpoint.Shape
	attention string
	used      Used
	steps     int64
	notFinite []string // sequences since the last step
}

// Used is what a pass took.
type Used struct {
	// Bytes of device memory, besides weights, gradients and moments.
	Bytes     uint64
	Recompute Recompute
}

// NewTrainer returns a trainer with a copy of weights, which must be exactly the
// tensors of the model, and a fresh optimizer. Gradients and moments take memory from
// the first Accumulate on.
func (d *Device) NewTrainer(cfg kernels.Config, weights []kernels.Tensor, o Options) (*Trainer, error) {
	if err := checkpoint.Validate(cfg); err != nil {
		return nil, fmt.Errorf("model configuration: %w", err)
	}
	t := &Trainer{device: d, cfg: cfg, precision: o.Precision, layout: checkpoint.Layout(cfg)}
	ordered, err := order(t.layout, "", weights)
	if err != nil {
		return nil, fmt.Errorf("loading weights: %w", err)
	}
	c := createCall{
		device: d.handle, precision: int32(o.Precision), recompute: int32(o.Recompute),
		shape: shape{
			vocab: int64(cfg.VocabSize), hidden: int64(cfg.HiddenSize), intermediate: int64(cfg.IntermediateSize),
			layers: int64(cfg.NumHiddenLayers), heads: int64(cfg.NumAttentionHeads), kvHeads: int64(cfg.NumKeyValueHeads),
			headDim: int64(cfg.HeadDim), maxPositions: int64(cfg.MaxPositionEmbeddings),
			eps: cfg.RMSNormEps, theta: cfg.RopeTheta,
		},
	}
	if cfg.TieWordEmbeddings {
		c.shape.tied = 1
	}
	if err := call(d.abi.create, &c, &c.report); err != nil {
		return nil, fmt.Errorf("making a policy on cuda:%d: %w", d.ordinal, err)
	}
	t.handle, t.attention = c.policy, text(c.attention[:])
	if why := text(c.attentionWhy[:]); why != "" {
		t.attention += " (" + why + ")"
	}
	if err := t.write(kindWeight, ordered); err != nil {
		_ = t.Close() // the first error counts
		return nil, fmt.Errorf("loading weights: %w", err)
	}
	return t, nil
}

// Config implements kernels.Trainer.
func (t *Trainer) Config() kernels.Config { return t.cfg }

// Attention names the implementation of attention, and why it is not a faster one.
func (t *Trainer) Attention() string { return t.attention }

// Used is what the last pass took.
func (t *Trainer) Used() Used { return t.used }

// LogProbs implements kernels.Trainer. It looks at ctx before it begins.
func (t *Trainer) LogProbs(ctx context.Context, sequences []kernels.Sequence, temperature float64) ([][]float32, error) {
	if !(temperature > 0) {
		return nil, fmt.Errorf("temperature is %v, must be positive", temperature)
	}
	p, err := newPack(t.cfg, sequences)
	if err != nil {
		return nil, err
	}
	p.askAll()
	if err := t.run(ctx, t.device.abi.logProbs, p, lossSettings{temperature: temperature}); err != nil {
		return nil, err
	}
	result := make([][]float32, len(sequences))
	rest := p.outcomes
	for i, q := range sequences {
		result[i] = make([]float32, len(q.Tokens))
		for j := 1; j < len(q.Tokens); j++ {
			result[i][j] = float32(rest[0].logProb)
			rest = rest[1:]
		}
	}
	return result, nil
}

// Accumulate implements kernels.Trainer. It looks at ctx before it begins; a context
// that ends later does not stop it. After an error of a device that did not fail,
// nothing was added.
func (t *Trainer) Accumulate(ctx context.Context, sequences []kernels.Sequence, loss kernels.Loss) (kernels.Statistics, error) {
	var none kernels.Statistics
	if err := loss.Validate(); err != nil {
		return none, err
	}
	p, err := newPack(t.cfg, sequences)
	if err != nil {
		return none, err
	}
	if err := p.train(&loss); err != nil {
		return none, err
	}
	if err := t.run(ctx, t.device.abi.accumulate, p, settings(&loss)); err != nil {
		return none, err
	}
	t.notFinite = p.notFinite(t.notFinite)
	return p.statistics(), nil
}

// run calls a function on a pack, which has nothing to do without a target.
func (t *Trainer) run(ctx context.Context, function uintptr, p *pack, loss lossSettings) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(p.targets) == 0 {
		return nil
	}
	c := packCall{
		policy: t.handle, loss: loss, sequences: int64(len(p.sequences)), nTargets: int64(len(p.targets)),
		tokens: unsafe.SliceData(p.tokens), starts: unsafe.SliceData(p.starts),
		targets: unsafe.SliceData(p.targets), outcomes: unsafe.SliceData(p.outcomes),
	}
	if err := call(function, &c, &c.report, c.tokens, c.starts, c.targets, c.outcomes); err != nil {
		return fmt.Errorf("a micro-batch of %d tokens: %w", len(p.tokens), err)
	}
	t.used = Used{Bytes: c.bytes, Recompute: Recompute(c.recompute)}
	return nil
}

// Step implements kernels.Trainer.
func (t *Trainer) Step(o kernels.AdamW) (kernels.StepResult, error) {
	if err := o.Validate(); err != nil {
		return kernels.StepResult{}, err
	}
	c := stepCall{
		policy: t.handle, learningRate: o.LearningRate, beta1: o.Beta1, beta2: o.Beta2, epsilon: o.Epsilon,
		weightDecay: o.WeightDecay, clipNorm: o.ClipNorm,
	}
	if err := call(t.device.abi.step, &c, &c.report); err != nil {
		return kernels.StepResult{}, err
	}
	result := kernels.StepResult{GradNorm: c.norm, Skipped: c.finite == 0, NotFinite: t.notFinite}
	t.notFinite = nil
	if !result.Skipped {
		t.steps++
	}
	return result, nil
}

// Publish makes the weights of the last step those that an engine on the device samples
// from, as a policy version. It copies nothing: later steps write to a second buffer,
// which the first call allocates, until the next Publish.
func (t *Trainer) Publish(version int64) error {
	c := publishCall{policy: t.handle, version: version}
	if err := call(t.device.abi.publish, &c, &c.report); err != nil {
		return fmt.Errorf("publishing policy version %d: %w", version, err)
	}
	return nil
}

// Close gives the memory back.
func (t *Trainer) Close() error {
	c := destroyCall{policy: t.handle}
	if err := call(t.device.abi.destroy, &c, &c.report); err != nil {
		return fmt.Errorf("closing a policy on cuda:%d: %w", t.device.ordinal, err)
	}
	return nil
}

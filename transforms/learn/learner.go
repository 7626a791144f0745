package learn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"millrace/kernels"
	"millrace/schemas"
)

// Reference gives the log-probabilities of the policy that training began with.
// A kernels.Trainer that never steps is one.
type Reference interface {
	LogProbs(ctx context.Context, sequences []kernels.Sequence, temperature float64) ([][]float32, error)
}

// Publish hands a policy version over to the engine. weights are valid until the
// next step; dir is the committed checkpoint. It may be called again with the same
// version after a restart.
type Publish func(ctx context.Context, version int64, weights kernels.Weights, dir string) error

// Parts are what a learner works with. It owns none of them.
type Parts struct {
	Trainer   kernels.Trainer
	Reference Reference // needed if the objective has a KL term
	Publish   Publish
	// Now is the wall clock; nil is time.Now. It reaches metrics only.
	Now func() time.Time
	// Reached is called behind every write of a commit, with one of [WritePoints].
	// Its error fails the commit as one of the disk would; a fault test may also
	// end the process in it. Nil does nothing.
	Reached func(point string) error
}

// Learner turns records of the samples topic into steps. It is safe for
// concurrent use; a call may take as long as a step.
type Learner struct {
	config Config
	parts  Parts
	store  *Store
	vocab  int32

	mu      sync.Mutex // guards all below
	ledger  *Ledger
	batcher *Batcher
	offsets offsets
	dir     string // of the current checkpoint
	// broken is the error after which memory may be ahead of the checkpoint. Every
	// later call returns it; a new Learner resumes from the checkpoint.
	broken error
	counts Counts
	// pending are outputs that a process before this one may not have delivered.
	pendingUpdates     []schemas.Update
	pendingDeadLetters []schemas.DeadLetter
	// dead are the dead letters that the next checkpoint carries.
	dead carried
}

// Counts balance (invariant 6), per row since this process began:
//
//	Read = Consumed + Dropped + Repeated + Held
type Counts struct {
	// Read rows: decoded ones, and one for each record that could not be.
	Read int64
	// Consumed entered a step; Dropped left as dead letters; Repeated were there
	// before, in the ledger or in memory.
	Consumed, Dropped, Repeated int64
	// Held wait in memory for their group or their step.
	Held int64
}

// Open resumes from the checkpoint in the configuration's directory, or commits
// one of step 0 with the trainer's weights. The trainer then holds the weights
// of Version.
func Open(config Config, parts Parts) (*Learner, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	if config.Objective.Loss.KLCoefficient != 0 && parts.Reference == nil {
		return nil, errors.New("learn: the objective has a KL term but there is no reference policy")
	}
	if parts.Now == nil {
		parts.Now = time.Now
	}
	store, err := newStore(config.Dir, config.Run, config.Keep, config.Extra)
	if err != nil {
		return nil, err
	}
	if parts.Reached != nil {
		store.reached = parts.Reached
	}
	l := &Learner{
		config: config, parts: parts, store: store, vocab: int32(parts.Trainer.Config().VocabSize),
		ledger: newLedger(), offsets: offsets{},
	}
	found, ok, err := store.Load(parts.Trainer.Config())
	if err != nil {
		return nil, err
	}
	if ok {
		err = l.resume(found)
	} else {
		err = l.commitFirst()
	}
	if err != nil {
		return nil, err
	}
	l.batcher = newBatcher(config.GroupsPerStep, config.MaxStaleness, config.MaxDraws, l.ledger)
	l.batcher.places.load(found.state.Open)
	return l, nil
}

// commitFirst makes the trainer's weights the checkpoint of step 0.
func (l *Learner) commitFirst() error {
	weights, err := l.parts.Trainer.Weights().Tensors()
	if err != nil {
		return fmt.Errorf("reading the first weights: %w", err)
	}
	l.dir, err = l.store.Commit(snapshot{
		config: l.parts.Trainer.Config(), weights: weights, configHash: l.config.ConfigHash,
	})
	return err
}

func (l *Learner) resume(found restored) error {
	err := l.parts.Trainer.Restore(found.weights, found.optimizer, found.state.OptimizerStep)
	if err != nil {
		return fmt.Errorf("resuming from %s: %w", found.dir, err)
	}
	l.ledger, l.dir = found.ledger, found.dir
	for _, p := range found.state.Positions {
		l.offsets.at(p).next = p.Offset
	}
	l.pendingUpdates, l.pendingDeadLetters = found.updates, found.deadLetters
	l.dead.add(l.ledger.Step(), found.deadLetters)
	return nil
}

// Announce publishes the current version, which an engine needs after Open.
func (l *Learner) Announce(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.publish(ctx)
}

func (l *Learner) publish(ctx context.Context) error {
	if l.parts.Publish == nil {
		return nil
	}
	if err := l.parts.Publish(ctx, l.ledger.Step(), l.parts.Trainer.Weights(), l.dir); err != nil {
		return fmt.Errorf("publishing policy version %d: %w", l.ledger.Step(), err)
	}
	return nil
}

// Version is the policy version of the trainer's weights, which are committed.
func (l *Learner) Version() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ledger.Step()
}

// Checkpoint is the directory of the current checkpoint.
func (l *Learner) Checkpoint() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dir
}

// Positions are the next offsets to read, as of the last checkpoint when called
// right after Open; a partition that is not in it was never read. Records
// behind them may come again and are dropped as repeated.
func (l *Learner) Positions() []schemas.Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.offsets.positions()
}

// Counts are the rows since Open.
func (l *Learner) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

// Replaced is, for each iteration that has not filled its places, how many groups
// have to be ordered for it in place of those in which nothing weighs. It is empty
// unless MaxDraws is above 1.
func (l *Learner) Replaced() map[int64]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.batcher.Replaced()
}

// SampleStep returns the step that a sample entered, or left in as a dead letter.
func (l *Learner) SampleStep(id string) (int64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ledger.Sample(id)
}

// Pending takes the outputs of the last steps before Open resumed: the process
// before may have died between a checkpoint and their delivery. Most of them are
// repetitions, with the steps and ids they had. If nobody calls it, the next
// Consume returns them.
func (l *Learner) Pending() ([]schemas.Update, []schemas.DeadLetter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.takePending()
}

func (l *Learner) takePending() (updates []schemas.Update, letters []schemas.DeadLetter) {
	updates, letters = l.pendingUpdates, l.pendingDeadLetters
	l.pendingUpdates, l.pendingDeadLetters = nil, nil
	return updates, letters
}

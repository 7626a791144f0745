package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"millrace/kernels"
	"millrace/transforms/kafkaio"
	"millrace/transforms/rollout"
)

// Settings say of what a worker on another machine makes the function of a
// stage. They travel with the pipeline, which is stored and shown, so they hold
// no secret; how brokers are reached is each machine's own affair.
type Settings struct {
	// Maker is the name that a [Makers] was registered by.
	Maker string
	// Text is what it makes the function of.
	Text []byte
}

// Makers make the functions of stages in a worker, once for each job. release
// is called when the job has ended.
type Makers struct {
	Scorer  func(ctx context.Context, text []byte) (s Scorer, release func() error, err error)
	Rollout func(ctx context.Context, text []byte) (RolloutParts, error)
}

// RolloutParts are what rolls out in a worker.
type RolloutParts struct {
	Worker *rollout.Worker
	// Run is the run whose policy versions are followed.
	Run string
	// Publish hands a version over to the engine, as in [FollowPolicy].
	Publish func(version int64, weights []kernels.Tensor) error
	Release func() error
}

var makers = struct {
	sync.Mutex
	byName map[string]Makers
}{byName: make(map[string]Makers)}

// RegisterMakers makes m known by name; it belongs into an init, so that every
// process of this program knows it. A name that is taken panics.
func RegisterMakers(name string, m Makers) {
	makers.Lock()
	defer makers.Unlock()
	if _, taken := makers.byName[name]; taken {
		panic(fmt.Sprintf("stage.RegisterMakers: %q is registered already", name))
	}
	makers.byName[name] = m
}

func init() {
	kafkaio.RegisterMaker("stage.Score", makeScore)
	kafkaio.RegisterMaker("stage.Rollout", makeRollout)
}

// order is what a stage's worker is told: the serialised form of Settings and of
// where the outputs go.
type order struct {
	Settings Settings
	Stream   Stream
}

func readOrder(b []byte) (order, Makers, error) {
	var o order
	if err := json.Unmarshal(b, &o); err != nil {
		return o, Makers{}, fmt.Errorf("reading the settings of the stage: %w", err)
	}
	makers.Lock()
	defer makers.Unlock()
	m, ok := makers.byName[o.Settings.Maker]
	if !ok {
		return o, m, fmt.Errorf("this program has no makers named %q: is it of the same version as the one that submitted the job?", o.Settings.Maker)
	}
	return o, m, nil
}

func makeScore(ctx context.Context, b []byte) (kafkaio.Work, func() error, error) {
	o, m, err := readOrder(b)
	if err != nil {
		return nil, nil, err
	}
	scorer, release, err := m.Scorer(ctx, o.Settings.Text)
	if err != nil {
		return nil, nil, err
	}
	return scoreWork(o.Stream.Topics, scorer), release, nil
}

func makeRollout(ctx context.Context, b []byte) (kafkaio.Work, func() error, error) {
	o, m, err := readOrder(b)
	if err != nil {
		return nil, nil, err
	}
	parts, err := m.Rollout(ctx, o.Settings.Text)
	if err != nil {
		return nil, nil, err
	}
	// The worker waits with an order until its policy is new enough for it. An agent
	// whose policy no longer follows the learner's must not go on: every order ends
	// with the error.
	following, stop := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if o.Stream.Topics.Policy == "" {
			return // no learner announces another version
		}
		stop(FollowPolicy(following, o.Stream, parts.Run, parts.Publish))
	}()
	work := rolloutWork(o.Stream.Topics, parts.Worker)
	bound := func(ctx context.Context, r kafkaio.Record, emit func(kafkaio.Output)) error {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(following, func() { cancel(context.Cause(following)) })()
		return work(ctx, r, emit)
	}
	return bound, func() error {
		stop(nil)
		<-ended
		return parts.Release()
	}, nil
}

// ScoreWith is [Score] for workers in other processes: each makes its scorer of
// the settings, and inFlight bounds each.
func ScoreWith(s Stream, settings Settings, inFlight int) (*beam.Pipeline, error) {
	return elsewhere(s, "stage.Score", s.Topics.Trajectories, settings, inFlight)
}

// RolloutWith is [Rollout] for workers in other processes: each makes its agent
// of the settings, and groups bounds each.
func RolloutWith(s Stream, settings Settings, groups int) (*beam.Pipeline, error) {
	return elsewhere(s, "stage.Rollout", s.Topics.Tasks, settings, groups)
}

// elsewhere is a pipeline of one asynchronous stage whose function is made where
// it runs.
func elsewhere(s Stream, maker, topic string, settings Settings, inFlight int) (*beam.Pipeline, error) {
	text, err := json.Marshal(order{Settings: settings, Stream: s})
	if err != nil {
		return nil, fmt.Errorf("writing the settings of %s: %w", s.Job, err)
	}
	p, root := beam.NewPipelineWithRoot()
	kafkaio.Async(root, kafkaio.AsyncConfig{
		Source:   kafkaio.Source{Job: s.Job, Brokers: s.Brokers, Topic: topic, Group: s.Job, Poll: s.Poll},
		Work:     maker,
		Settings: text,
		InFlight: inFlight,
	})
	return p, nil
}

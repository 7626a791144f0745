package submit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"millrace/pipelines/stage"
	"millrace/pipelines/train"
	"millrace/transforms/kafkaio"
)

// followPoll is how often a job looks how far its stages have come: a question to
// the broker for each partition.
const followPoll = 250 * time.Millisecond

// follower is a stage that follows its topic.
type follower struct {
	name, in, out string
	jobs          stage.Jobs
}

// follow runs rollout and score until they have committed all that is on their
// topics, rollout first: then nothing more can come to score. When the job is
// drained, the first stage finishes what it has begun, and the second what the
// first has left; it returns true if something is left to begin.
func (j *job) follow(ctx context.Context, fed int) (drained bool, err error) {
	followers, err := j.startFollowers(ctx)
	defer func() {
		for _, f := range followers {
			if err != nil {
				err = errors.Join(err, f.jobs.Cancel())
			}
		}
	}()
	if err != nil || len(followers) == 0 {
		return false, err
	}
	var names []string
	var watched []train.Watched
	for _, f := range followers {
		names = append(names, f.name)
		watched = append(watched, train.Watched{Name: f.name, Capacity: map[string]int{Rollout: j.Groups, Score: j.Rollout.Concurrency}[f.name]})
	}
	j.Observer.Phase(strings.Join(names, ", "), fed)
	watching, stop := context.WithCancel(ctx)
	var watchers sync.WaitGroup
	if j.Cluster == nil { // the counters of a worker are its own
		watchers.Go(func() { train.Watch(watching, j.id, watched, j.Observer.Stages) })
	}
	watchers.Go(func() { j.progress(watching, followers[len(followers)-1].out) })
	defer watchers.Wait()
	defer stop()

	drain := j.Drain
	for i, f := range followers {
		err := j.await(ctx, followers[i:], drain)
		if errors.Is(err, ErrDrained) {
			drained = true
			j.Observer.Note("draining: finishing what has begun")
		} else if err != nil {
			return drained, err
		}
		guarded, stop := guard(ctx, followers[i+1:])
		err = j.finish(guarded, f)
		stop()
		if err != nil {
			return drained, err
		}
		drain = nil // what comes to the stages behind has begun
	}
	return drained, nil
}

// startFollowers starts the stages, downstream first, so that nothing waits for a
// reader. It returns those that run, upstream first.
func (j *job) startFollowers(ctx context.Context) ([]*follower, error) {
	t := j.stream.Topics
	all := []*follower{{name: Rollout, in: t.Tasks, out: t.Trajectories}, {name: Score, in: t.Trajectories, out: t.Rewarded}}
	var running []*follower
	for _, f := range slices.Backward(all) {
		if !j.has(f.name) {
			continue
		}
		p, forget, err := j.pipeline(f.name)
		if err != nil {
			return running, err
		}
		if err := f.jobs.Add(ctx, j.runner(), j.stageStream(f.name).Job, p, forget); err != nil {
			return running, err
		}
		running = slices.Insert(running, 0, f)
	}
	return running, nil
}

// pipeline is that of a stage: with what this process has opened, or with what a
// worker on the cluster makes of the job's settings.
func (j *job) pipeline(name string) (p *beam.Pipeline, forget func(), err error) {
	s := j.stageStream(name)
	switch {
	case j.Cluster != nil:
		settings, err := j.parts.Elsewhere(j.training)
		if err != nil {
			return nil, nil, err
		}
		s.Poll = j.Flink.Poll
		if name == Score {
			p, err = stage.ScoreWith(s, settings, j.Rollout.Concurrency)
		} else {
			p, err = stage.RolloutWith(s, settings, j.Groups)
		}
		return p, func() {}, err
	case name == Score:
		p, forget = stage.Score(s, j.parts.Scorer(), j.Rollout.Concurrency)
		return p, forget, nil
	default:
		worker, err := j.parts.Worker(j.training)
		if err != nil {
			return nil, nil, err
		}
		p, forget = stage.Rollout(s, worker, j.Groups)
		return p, forget, nil
	}
}

func (j *job) stageStream(name string) stage.Stream {
	s := j.stream
	s.Job = j.id + "." + name
	return s
}

// finish ends a stage that has nothing more to begin. One on the cluster cannot be
// drained: what it has begun and not committed is done again when the job is
// resumed.
func (j *job) finish(ctx context.Context, f *follower) error {
	if j.Cluster != nil {
		return f.jobs.Cancel()
	}
	return f.jobs.DrainUntil(ctx)
}

// await waits until the first of the followers has committed all that is on its
// topic, or drain is closed, and then returns [ErrDrained]. Any of them that ends
// meanwhile is an error.
func (j *job) await(ctx context.Context, followers []*follower, drain <-chan struct{}) error {
	ctx, stop := guard(ctx, followers)
	defer stop()
	first := followers[0]
	for {
		_, behind, err := kafkaio.Depth(ctx, j.Brokers, j.id+"."+first.name, first.in)
		switch {
		case err == nil && behind == 0:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-drain:
			return ErrDrained
		case <-time.After(followPoll):
		}
	}
}

// progress tells how many records the last of the stages has written, until ctx
// ends. What a crash made it write twice is told twice.
func (j *job) progress(ctx context.Context, topic string) {
	for {
		if done, _, err := kafkaio.Depth(ctx, j.Brokers, "", topic); err == nil {
			j.Observer.Progress(int(done))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(followPoll):
		}
	}
}

// guard returns a context that also ends when one of the followers does.
func guard(ctx context.Context, followers []*follower) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	for _, f := range followers {
		ctx, _ = f.jobs.Guard(ctx) // ends with the first
	}
	return ctx, stop
}

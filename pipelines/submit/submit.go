// Package submit is the bounded pipeline: a task set, or records of an earlier job,
// through some of the stages, and out as topics or Parquet. It ends by itself.
//
// Whatever it begins with, a job first writes all it works on to the topic of its
// first stage, each record once. Rollout and score then follow their topics until
// they have committed everything on them; filter and advantage read what has come
// of it, from beginning to end, when no more can come. A job that is killed at any
// moment goes on from its topics and the positions committed behind them.
package submit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"millrace/pipelines/stage"
	"millrace/pipelines/train"
	"millrace/transforms/kafkaio"
)

// Environment is what a job needs from its surroundings.
type Environment struct {
	// Dir is the job's directory: caches, the policy, output without another place.
	Dir string
	// GoCache is the warm Go build cache shown to the sandboxes.
	GoCache string
	// Brokers is "host:port[,host:port...]".
	Brokers string
	// Start runs pipelines in this process, Cluster on the cluster that the
	// configuration names, or is nil.
	Start, Cluster stage.Start
	Observer       Observer
	// Drain is closed when the job shall finish what it has begun and stop.
	Drain <-chan struct{}
}

// Observer is told how a job goes on. Its methods are called from several
// goroutines.
type Observer interface {
	// Phase begins a part of the job with a known number of things to do, of which
	// Progress tells how many are done.
	Phase(name string, total int)
	Progress(done int)
	// Stages tells the state of the stages, about once a second.
	Stages(stages []train.StageState)
	// Note is a line worth keeping.
	Note(text string)
}

// ErrDrained is returned by a job that was asked to stop before all was done. What
// it had begun is finished and written; it can be resumed.
var ErrDrained = errors.New("drained")

// job is one job under way.
type job struct {
	Config
	Environment
	id       string
	training train.Config
	stream   stage.Stream
	parts    *train.Untrained
}

// Run does the job of that id, which names its topics, groups and partitions. It
// returns [ErrDrained], with the result so far, if it was drained.
func Run(ctx context.Context, id string, c Config, env Environment) (result Result, err error) {
	if err := c.Validate(); err != nil {
		return result, err
	}
	j := &job{Config: c, Environment: env, id: id, training: c.training(id)}
	if err := j.training.Validate(); err != nil { // the id too becomes part of names
		return result, err
	}
	j.stream = stage.Stream{Brokers: env.Brokers, Topics: c.topics(id)}
	if err := j.claim(ctx); err != nil {
		return result, err
	}
	if err := j.open(ctx); err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, j.parts.Close()) }()

	fed, err := j.feed(ctx)
	partly := errors.Is(err, ErrDrained) // there is more in the input than was read
	if err != nil && !partly {
		return result, err
	}
	drained := partly
	if !partly {
		if drained, err = j.follow(ctx, fed); err != nil {
			return result, err
		}
	}
	if err := j.settle(ctx, drained); err != nil {
		return result, err
	}
	if result, err = j.result(ctx, fed); err != nil {
		return result, err
	}
	if result.Outputs, err = j.write(ctx); err != nil {
		return result, err
	}
	switch n := result.pending(); {
	case len(result.Problems) > 0:
		return result, fmt.Errorf("it does not balance: %s", strings.Join(result.Problems, "; "))
	case drained && (partly || n > 0):
		return result, ErrDrained
	case n > 0:
		return result, fmt.Errorf("every stage has read all, and %d records are neither output nor dead letter", n)
	}
	return result, nil
}

// claimFile is in the directory of a job whose topics, where there are any, are its
// own.
const claimFile = "claimed"

// claim makes the job's topics. Those of another job of the same id are refused.
func (j *job) claim(ctx context.Context) error {
	mark := filepath.Join(j.Dir, claimFile)
	if _, err := os.Stat(mark); errors.Is(err, fs.ErrNotExist) {
		all, filtered := stage.TopicsOf(j.id), Config{Stages: []string{Filter}}.topics(j.id).Filtered
		names := []string{all.Tasks, all.Trajectories, all.Rewarded, filtered, all.Samples, all.DeadLetters}
		there, err := kafkaio.Topics(ctx, j.Brokers, func(name string) bool { return slices.Contains(names, name) })
		if err != nil {
			return err
		}
		if len(there) > 0 {
			return fmt.Errorf("topic %s is there already: another job or run has the name %s, submit with another --id", there[0].Name, j.id)
		}
		if err := renameio.WriteFile(mark, nil, 0o644); err != nil {
			return fmt.Errorf("claiming the topics of job %s: %w", j.id, err)
		}
	} else if err != nil {
		return fmt.Errorf("looking whose the topics are: %w", err)
	}
	return stage.Create(ctx, j.Brokers, j.Kafka.Topics(), j.stream.Topics)
}

// open opens what the job's stages work with in this process.
func (j *job) open(ctx context.Context) error {
	j.parts = &train.Untrained{}
	if j.Cluster == nil && (j.has(Rollout) || j.has(Score)) {
		var err error
		if j.parts, err = train.OpenSandboxes(j.training, j.Dir, j.GoCache); err != nil {
			return err
		}
		j.Observer.Note(j.parts.Describe())
	}
	if j.has(Rollout) {
		if err := j.parts.OpenAgent(ctx, j.training, j.Dir); err != nil {
			return errors.Join(err, j.parts.Close())
		}
	}
	return nil
}

// runner is what runs the job's stages.
func (j *job) runner() stage.Start {
	if j.Cluster != nil {
		return j.Cluster
	}
	return j.Start
}

// draining reports whether the job was asked to stop.
func (j *job) draining() bool {
	select {
	case <-j.Drain:
		return true
	default:
		return false
	}
}

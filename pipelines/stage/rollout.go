package stage

import (
	"context"
	"errors"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"millrace/schemas"
	"millrace/transforms/kafkaio"
	"millrace/transforms/rollout"
)

// Rollout is the pipeline tasks -> trajectories. At most groups orders are under
// way at once. The returned function forgets the worker; call it when the job
// has ended.
func Rollout(s Stream, worker *rollout.Worker, groups int) (*beam.Pipeline, func()) {
	return asynchronous(s, s.Topics.Tasks, groups, rolloutWork(s.Topics, worker))
}

func rolloutWork(topics Topics, worker *rollout.Worker) kafkaio.Work {
	return func(ctx context.Context, r kafkaio.Record, emit func(kafkaio.Output)) error {
		out := writer{emit: emit}
		orders, err := schemas.Tasks.Decode(r.Value)
		if err != nil {
			out.put(DeadLetterOutput(topics, Undecodable("rollout", r, err)))
			return out.err
		}
		for _, order := range orders {
			err := worker.Do(ctx, order, r.Source, rollout.Emit{
				Trajectory: func(t schemas.Trajectory) {
					out.put(output(topics.Trajectories, t.GroupID, t.ID, schemas.Trajectories, t))
				},
				DeadLetter: func(d schemas.DeadLetter) { out.put(DeadLetterOutput(topics, d)) },
			})
			if err := errors.Join(err, out.err); err != nil {
				return err
			}
		}
		return nil
	}
}

// writer emits outputs and keeps the first error of making one.
type writer struct {
	emit func(kafkaio.Output)
	err  error
}

func (w *writer) put(o kafkaio.Output, err error) {
	if err != nil {
		w.err = errors.Join(w.err, err)
		return
	}
	w.emit(o)
}

// asynchronous is a pipeline of one asynchronous stage.
func asynchronous(s Stream, topic string, inFlight int, work kafkaio.Work) (*beam.Pipeline, func()) {
	forget := kafkaio.RegisterWork(s.Job, work)
	p, root := beam.NewPipelineWithRoot()
	kafkaio.Async(root, kafkaio.AsyncConfig{
		Source:   kafkaio.Source{Job: s.Job, Brokers: s.Brokers, Topic: topic, Group: s.Job},
		Work:     s.Job,
		InFlight: inFlight,
	})
	return p, forget
}

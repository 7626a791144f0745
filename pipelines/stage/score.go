package stage

import (
	"context"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// Scorer gives a trajectory its reward; transforms/score has one.
type Scorer interface {
	// Score's error is the end of ctx: nothing is known, and the record must be
	// read again. Everything else that goes wrong is in Reward.Failure.
	Score(ctx context.Context, t schemas.Trajectory) (schemas.Reward, error)
}

// Score is the pipeline trajectories -> rewarded. At most inFlight trajectories
// are scored at once. A trajectory that could not be scored leaves as a reward
// with a failure, so that its group can close, and as a dead letter.
func Score(s Stream, scorer Scorer, inFlight int) (*beam.Pipeline, func()) {
	return asynchronous(s, s.Topics.Trajectories, inFlight, scoreWork(s.Topics, scorer))
}

func scoreWork(topics Topics, scorer Scorer) kafkaio.Work {
	return func(ctx context.Context, r kafkaio.Record, emit func(kafkaio.Output)) error {
		out := writer{emit: emit}
		trajectories, err := schemas.Trajectories.Decode(r.Value)
		if err != nil {
			out.put(DeadLetterOutput(topics, Undecodable("score", r, err)))
			return out.err
		}
		for _, t := range trajectories {
			reward, err := scorer.Score(ctx, t)
			if err != nil {
				return err
			}
			out.put(RewardOutput(topics, reward))
			// A tombstone's dead letter was written by the stage that gave up on it.
			if reward.Failure != "" && t.Termination != schemas.Failed {
				out.put(DeadLetterOutput(topics, schemas.DeadLetter{
					ID:       "score/" + t.ID,
					Stage:    "score",
					Reason:   schemas.ScoringFailure,
					Message:  reward.Failure,
					RecordID: t.ID,
					Key:      r.Key,
					Payload:  r.Value,
					Source:   r.Source,
					Time:     time.Now().UnixMicro(),
				}))
			}
		}
		return out.err
	}
}

package reprocess

import (
	"context"
	"fmt"

	"millrace/pipelines/stage"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// batchBytes is how much a lane gathers before it writes: enough that the round trip
// to the broker is small beside the writing.
const batchBytes = 4 << 20

// TopicSink writes the topics of a new run: samples, in the frames that the advantage
// stage writes, and dead letters; and the rewarded trajectories if their rewards are
// new. What was written is there at once and stays when the run fails.
type TopicSink struct {
	brokers string
	topics  stage.Topics
	rewards bool
	lanes   []outputs
}

type outputs struct {
	waiting []kafkaio.Output
	bytes   int
}

// NewTopicSink makes the topics that are missing. One that holds records is an error:
// nothing may come between the samples of another run.
func NewTopicSink(ctx context.Context, brokers string, topics stage.Topics, settings stage.TopicSettings, lanes int, rewards bool) (*TopicSink, error) {
	if err := stage.Create(ctx, brokers, settings, topics); err != nil {
		return nil, err
	}
	for _, topic := range []string{topics.Rewarded, topics.Samples, topics.DeadLetters} {
		ranges, err := kafkaio.Ranges(ctx, brokers, topic)
		if err != nil {
			return nil, err
		}
		for _, r := range ranges {
			if r.End > 0 {
				return nil, fmt.Errorf("topic %s has been written to already: choose another name for the new run", topic)
			}
		}
	}
	return &TopicSink{brokers: brokers, topics: topics, rewards: rewards, lanes: make([]outputs, lanes)}, nil
}

// Samples implements [Sink].
func (s *TopicSink) Samples(ctx context.Context, lane int, samples []schemas.Sample, _ []int64) error {
	o, err := stage.SamplesOutput(s.topics, samples)
	return s.put(ctx, lane, o, err)
}

// Reward implements [Sink].
func (s *TopicSink) Reward(ctx context.Context, lane int, r schemas.Reward) error {
	if !s.rewards {
		return nil
	}
	o, err := stage.RewardOutput(s.topics, r)
	return s.put(ctx, lane, o, err)
}

// Letter implements [Sink].
func (s *TopicSink) Letter(ctx context.Context, lane int, d schemas.DeadLetter) error {
	o, err := stage.DeadLetterOutput(s.topics, d)
	return s.put(ctx, lane, o, err)
}

func (s *TopicSink) put(ctx context.Context, lane int, o kafkaio.Output, err error) error {
	if err != nil {
		return err
	}
	l := &s.lanes[lane]
	l.waiting = append(l.waiting, o)
	if l.bytes += len(o.Key) + len(o.Value); l.bytes < batchBytes {
		return nil
	}
	return s.flush(ctx, l)
}

func (s *TopicSink) flush(ctx context.Context, l *outputs) error {
	if len(l.waiting) == 0 {
		return nil
	}
	if err := kafkaio.Produce(ctx, s.brokers, l.waiting...); err != nil {
		return err
	}
	*l = outputs{}
	return nil
}

// Commit implements [Sink].
func (s *TopicSink) Commit(ctx context.Context) error {
	for i := range s.lanes {
		if err := s.flush(ctx, &s.lanes[i]); err != nil {
			return err
		}
	}
	return nil
}

// Abandon implements [Sink]: what is on a topic cannot be taken back.
func (s *TopicSink) Abandon() {}

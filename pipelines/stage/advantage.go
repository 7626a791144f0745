package stage

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"millrace/schemas"
	"millrace/transforms/advantage"
	"millrace/transforms/filter"
	"millrace/transforms/kafkaio"
)

func init() {
	register.DoFn3x1[kafkaio.Record, func(schemas.Member), func(kafkaio.Result), error](&memberFn{})
	register.DoFn2x1[advantage.Closed, func(kafkaio.Result), error](&closedFn{})
	register.Emitter1[schemas.Member]()
	register.Emitter1[kafkaio.Result]()
}

// Advantage is the pipeline rewarded -> samples: filter, group, advantage. The
// positions of a group's records are committed when the group has closed and
// its samples are durable, so a crash reads open groups again.
func Advantage(s Stream, f filter.Config, a advantage.Config) *beam.Pipeline {
	p, root := beam.NewPipelineWithRoot()
	records, begun := kafkaio.ReadTracked(root, kafkaio.ReadConfig{
		Source: kafkaio.Source{Job: s.Job, Brokers: s.Brokers, Topic: s.Topics.Rewarded, Group: s.Job, Poll: s.Poll},
	})
	members, undecoded := beam.ParDo2(root, &memberFn{Stage: "advantage", Topics: s.Topics}, records)
	closed := advantage.Advantage(root, a, filter.Filter(root, f, members))
	results := beam.ParDo(root, &closedFn{Topics: s.Topics}, closed)
	acks := kafkaio.Write(root, kafkaio.WriteConfig{Job: s.Job, Brokers: s.Brokers}, beam.Flatten(root, results, undecoded))
	kafkaio.Commit(root, kafkaio.CommitConfig{Job: s.Job, Brokers: s.Brokers, Group: s.Job}, begun, acks)
	return p
}

// memberFn decodes rewards.
type memberFn struct {
	Stage  string // in dead letters
	Topics Topics
}

func (fn *memberFn) ProcessElement(r kafkaio.Record, emit func(schemas.Member), dead func(kafkaio.Result)) error {
	// One row: each source is acknowledged once, by the group of its row.
	reward, err := schemas.Rewards.DecodeOne(r.Value)
	if err != nil {
		return bury(fn.Stage, fn.Topics, r, err, dead)
	}
	emit(schemas.Member{Reward: reward, Source: r.Source})
	return nil
}

// closedFn frames what a closed group left as: its samples in one record.
type closedFn struct {
	Topics Topics
}

func (fn *closedFn) ProcessElement(c advantage.Closed, emit func(kafkaio.Result)) error {
	result := kafkaio.Result{Sources: c.Sources}
	if len(c.Samples) > 0 {
		o, err := SamplesOutput(fn.Topics, c.Samples)
		if err != nil {
			return err
		}
		result.Outputs = append(result.Outputs, o)
	}
	for _, d := range c.DeadLetters {
		o, err := DeadLetterOutput(fn.Topics, d)
		if err != nil {
			return err
		}
		result.Outputs = append(result.Outputs, o)
	}
	emit(result)
	return nil
}

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
	register.DoFn2x1[schemas.Member, func(kafkaio.Result), error](&filteredFn{})
	register.DoFn3x1[kafkaio.Record, func(schemas.Member), func(kafkaio.Result), error](&refilterFn{})
}

// The pipelines of this file read a topic from its beginning to its present end
// and complete. They commit no position: one that was interrupted is run again,
// and what it makes of the same records is the same to the bit (invariant 5), so
// that its duplicates fall out by id.

// BoundedFilter is the pipeline rewarded -> filtered.
func BoundedFilter(s Stream, f filter.Config) *beam.Pipeline {
	p, root := beam.NewPipelineWithRoot()
	members, undecoded := beam.ParDo2(root, &memberFn{Stage: "filter", Topics: s.Topics}, whole(root, s, s.Topics.Rewarded))
	results := beam.ParDo(root, &filteredFn{Topics: s.Topics}, filter.Filter(root, f, members))
	return write(p, root, s, results, undecoded)
}

// BoundedAdvantage is the pipeline filtered -> samples, or rewarded -> samples
// where f says how to filter on the way. With a.CloseAtEnd, groups that lack
// members leave with those they have.
func BoundedAdvantage(s Stream, f *filter.Config, a advantage.Config) *beam.Pipeline {
	p, root := beam.NewPipelineWithRoot()
	var members, undecoded beam.PCollection
	if f != nil {
		members, undecoded = beam.ParDo2(root, &memberFn{Stage: "advantage", Topics: s.Topics}, whole(root, s, s.Topics.Rewarded))
		members = filter.Filter(root, *f, members)
	} else {
		members, undecoded = beam.ParDo2(root, &refilterFn{Topics: s.Topics}, whole(root, s, s.Topics.Filtered))
	}
	closed := advantage.Advantage(root, a, members)
	return write(p, root, s, beam.ParDo(root, &closedFn{Topics: s.Topics}, closed), undecoded)
}

// whole reads what a topic holds.
func whole(root beam.Scope, s Stream, topic string) beam.PCollection {
	return kafkaio.Read(root, kafkaio.ReadConfig{
		Source: kafkaio.Source{Job: s.Job, Brokers: s.Brokers, Topic: topic, From: kafkaio.Earliest, To: &kafkaio.Latest},
	})
}

func write(p *beam.Pipeline, root beam.Scope, s Stream, results ...beam.PCollection) *beam.Pipeline {
	acks := kafkaio.Write(root, kafkaio.WriteConfig{Job: s.Job, Brokers: s.Brokers}, beam.Flatten(root, results...))
	kafkaio.Discard(root, acks)
	return p
}

// filteredFn frames filtered members for a topic.
type filteredFn struct {
	Topics Topics
}

func (fn *filteredFn) ProcessElement(m schemas.Member, emit func(kafkaio.Result)) error {
	t := &m.Reward.Trajectory
	o, err := output(fn.Topics.Filtered, t.GroupID, t.ID, schemas.Members, m)
	if err != nil {
		return err
	}
	emit(kafkaio.Result{Sources: []schemas.Position{m.Source}, Outputs: []kafkaio.Output{o}})
	return nil
}

// refilterFn decodes members that another job has filtered.
type refilterFn struct {
	Topics Topics
}

func (fn *refilterFn) ProcessElement(r kafkaio.Record, emit func(schemas.Member), dead func(kafkaio.Result)) error {
	member, err := schemas.Members.DecodeOne(r.Value)
	if err != nil {
		return bury("advantage", fn.Topics, r, err, dead)
	}
	member.Source = r.Source
	emit(member)
	return nil
}

package stage

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"millrace/schemas"
	"millrace/transforms/kafkaio"
	"millrace/transforms/learn"
)

func init() {
	register.Function1x1(learnRecord)
	register.DoFn2x1[schemas.Update, func(kafkaio.Result), error](&updateFn{})
	register.DoFn2x1[schemas.DeadLetter, func(kafkaio.Result), error](&letterFn{})
}

// Learn is the pipeline samples -> ledger around the learner registered under
// the job's name. It reads from the learner's own positions, which are part of
// its checkpoint, and commits none.
func Learn(s Stream, positions []schemas.Position) *beam.Pipeline {
	return learning(s, positions, nil)
}

// LearnHeld is Learn for the samples that the topic holds now: the pipeline ends with
// them.
func LearnHeld(s Stream, positions []schemas.Position) *beam.Pipeline {
	return learning(s, positions, &kafkaio.Latest)
}

func learning(s Stream, positions []schemas.Position, to *kafkaio.Position) *beam.Pipeline {
	p, root := beam.NewPipelineWithRoot()
	records := kafkaio.Read(root, kafkaio.ReadConfig{Source: kafkaio.Source{
		Job: s.Job, Brokers: s.Brokers, Topic: s.Topics.Samples, From: kafkaio.Earliest, To: to, Positions: positions,
	}})
	updates, letters := learn.Learn(root, s.Job, beam.ParDo(root, learnRecord, records))
	results := beam.Flatten(root,
		beam.ParDo(root, &updateFn{Topics: s.Topics}, updates),
		beam.ParDo(root, &letterFn{Topics: s.Topics}, letters))
	kafkaio.Discard(root, kafkaio.Write(root, kafkaio.WriteConfig{Job: s.Job, Brokers: s.Brokers}, results))
	return p
}

func learnRecord(r kafkaio.Record) learn.Record {
	return learn.Record{Key: r.Key, Value: r.Value, Source: r.Source}
}

// updateFn frames updates for the ledger topic.
type updateFn struct {
	Topics Topics
}

func (fn *updateFn) ProcessElement(u schemas.Update, emit func(kafkaio.Result)) error {
	o, err := output(fn.Topics.Ledger, u.Run, updateID(u), schemas.Updates, u)
	if err != nil {
		return err
	}
	emit(kafkaio.Result{Outputs: []kafkaio.Output{o}})
	return nil
}

// letterFn frames dead letters.
type letterFn struct {
	Topics Topics
}

func (fn *letterFn) ProcessElement(d schemas.DeadLetter, emit func(kafkaio.Result)) error {
	o, err := DeadLetterOutput(fn.Topics, d)
	if err != nil {
		return err
	}
	emit(kafkaio.Result{Outputs: []kafkaio.Output{o}})
	return nil
}

package learn

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"millrace/schemas"
)

func init() {
	beam.RegisterType(reflect.TypeFor[Record]())
	register.DoFn4x1[context.Context, Record, func(schemas.Update), func(schemas.DeadLetter), error](&sinkFn{})
	register.DoFn3x1[[]byte, func(schemas.Update), func(schemas.DeadLetter), error](&pendingFn{})
	register.Emitter1[schemas.Update]()
	register.Emitter1[schemas.DeadLetter]()
}

// Record is one record of the samples topic; Source.Offset is its own offset.
type Record struct {
	Key, Value []byte
	Source     schemas.Position
}

// Learn gives records to the learner registered under a name in this process:
//
//	PCollection<Record> -> PCollection<schemas.Update>, PCollection<schemas.DeadLetter>
//
// An update leaves when its step is committed and published; first leave those
// that the process before may not have delivered, whether or not a record ever
// comes. Reading must begin at the learner's Positions; the learner keeps its own
// positions, so nobody else commits offsets for it. The transform fails on an error
// of the machine, and a new learner resumes.
func Learn(s beam.Scope, name string, records beam.PCollection) (updates, deadLetters beam.PCollection) {
	s = s.Scope("learn.Learn")
	pendingUpdates, pendingLetters := beam.ParDo2(s, &pendingFn{Name: name}, beam.Impulse(s))
	updates, deadLetters = beam.ParDo2(s, &sinkFn{Name: name}, records)
	return beam.Flatten(s, pendingUpdates, updates), beam.Flatten(s, pendingLetters, deadLetters)
}

// pendingFn emits what is pending since the process before. A learner that has
// taken its last step reads no record any more: those who wait for that step
// would wait for ever.
type pendingFn struct {
	Name string
}

func (f *pendingFn) ProcessElement(_ []byte, update func(schemas.Update), letter func(schemas.DeadLetter)) error {
	l, err := registered(f.Name)
	if err != nil {
		return err
	}
	updates, letters := l.Pending()
	for _, u := range updates {
		update(u)
	}
	for _, d := range letters {
		letter(d)
	}
	return nil
}

// sinkFn finds its learner when it runs: clients and weights live in the process,
// not in the plan.
type sinkFn struct {
	Name string
}

// ProcessElement takes as long as a step when the record completes a batch.
func (f *sinkFn) ProcessElement(ctx context.Context, r Record, update func(schemas.Update), letter func(schemas.DeadLetter)) error {
	l, err := registered(f.Name)
	if err != nil {
		return err
	}
	updates, letters, err := l.Consume(ctx, r.Key, r.Value, r.Source)
	if err != nil {
		return err
	}
	for _, u := range updates {
		update(u)
	}
	for _, d := range letters {
		letter(d)
	}
	return nil
}

// learners are the live learners of this process, by name.
var learners sync.Map

// Register makes a learner known under a name, until the function it returns is
// called. A name that is taken is an error.
func Register(name string, l *Learner) (unregister func(), err error) {
	if _, taken := learners.LoadOrStore(name, l); taken {
		return nil, fmt.Errorf("a learner named %q runs in this process already", name)
	}
	return func() { learners.Delete(name) }, nil
}

func registered(name string) (*Learner, error) {
	l, ok := learners.Load(name)
	if !ok {
		return nil, fmt.Errorf("no learner named %q runs in this process", name)
	}
	return l.(*Learner), nil
}

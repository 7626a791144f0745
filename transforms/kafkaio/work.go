package kafkaio

import (
	"context"
	"fmt"
	"sync"
)

// Work is the function of an asynchronous stage: it does whatever a record asks
// for, which may take minutes, and hands outputs to emit as they are made.
//
// emit may be called from several goroutines but not after Work has returned.
// It blocks only while the broker is far behind. Outputs are written at once;
// they are durable, and the record's offset may be committed, some time after
// Work has returned nil.
//
// An error fails the whole job, so Work returns one only for what no retry and
// no dead letter can answer. A record that cannot be decoded or processed is
// emitted as a dead letter and Work returns nil. When ctx ends Work returns
// soon, with any error; the record will be read again by the next run.
type Work func(ctx context.Context, r Record, emit func(Output)) error

// works are the functions by name: a DoFn is serialised and can carry a name,
// not a function.
var works = struct {
	sync.Mutex
	byName map[string]Work
}{byName: make(map[string]Work)}

// RegisterWork makes w known by name in this process and returns the function
// that makes it unknown again. A name that is taken panics.
func RegisterWork(name string, w Work) (unregister func()) {
	works.Lock()
	defer works.Unlock()
	if works.byName[name] != nil {
		panic(fmt.Sprintf("kafkaio.RegisterWork: %q is registered already", name))
	}
	works.byName[name] = w
	return func() {
		works.Lock()
		defer works.Unlock()
		delete(works.byName, name)
	}
}

func workFor(name string) (Work, error) {
	works.Lock()
	defer works.Unlock()
	if w := works.byName[name]; w != nil {
		return w, nil
	}
	return nil, fmt.Errorf("no work is registered as %q in this process", name)
}

// Maker makes a Work of the settings in [AsyncConfig].Settings, in whatever
// process the stage runs in, once for each job. Settings travel with the
// pipeline, so they hold no secret. release is called when the job has ended;
// a process that dies does not call it.
type Maker func(ctx context.Context, settings []byte) (w Work, release func() error, err error)

var makers = struct {
	sync.Mutex
	byName map[string]Maker
}{byName: make(map[string]Maker)}

// RegisterMaker makes m known by name. Every process of a job has to have called
// it before the job starts, so it belongs into an init. A name that is taken
// panics.
func RegisterMaker(name string, m Maker) {
	makers.Lock()
	defer makers.Unlock()
	if makers.byName[name] != nil {
		panic(fmt.Sprintf("kafkaio.RegisterMaker: %q is registered already", name))
	}
	makers.byName[name] = m
}

func makerFor(name string) (Maker, error) {
	makers.Lock()
	defer makers.Unlock()
	if m := makers.byName[name]; m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("nothing in this process makes work named %q", name)
}

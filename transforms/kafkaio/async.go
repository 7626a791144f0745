package kafkaio

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"
	"golang.org/x/sync/semaphore"
)

func init() {
	beam.RegisterDoFn(reflect.TypeFor[asyncFn]())
}

// AsyncConfig are the settings of one asynchronous stage.
type AsyncConfig struct {
	Source
	// Work is the name that a function was registered by in this process, or, with
	// Settings, a [Maker] in the process that runs the stage.
	Work string
	// Settings are what the Maker makes the function of; nil takes the registered
	// function.
	Settings []byte
	// InFlight is the largest number of Work calls at once, over all partitions
	// in this process; default 16.
	InFlight int
	// ClaimLag is the largest number of records of one partition between the
	// committed position and the newest begun: what a crash may repeat, and how
	// far a straggler may fall behind before its partition waits for it; default
	// 16 x InFlight.
	ClaimLag int
}

// Async runs Work on every record of a topic and returns what has finished:
// PCollection<Ack>, which may be ignored. Outputs are written to Kafka as they
// are emitted; source offsets are committed to Group, in order, behind them.
// Acks are news, not a queue: one that was on its way when the process died is
// not repeated. An invalid configuration panics, as everywhere in Beam when a
// pipeline is built.
func Async(s beam.Scope, cfg AsyncConfig) beam.PCollection {
	s = s.Scope("kafkaio.Async " + cfg.Topic)
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		panic(fmt.Sprintf("kafkaio.Async: %v", err))
	}
	jobFor(cfg.Job)
	parts := beam.ParDo(s, &listFn{Source: cfg.Source}, beam.Impulse(s))
	acks := beam.ParDo(s, &asyncFn{Config: cfg}, parts)
	Discard(s, acks)
	return acks
}

func (c AsyncConfig) withDefaults() AsyncConfig {
	c.Source = c.Source.withDefaults()
	if c.InFlight == 0 {
		c.InFlight = 16
	}
	if c.ClaimLag == 0 {
		c.ClaimLag = 16 * c.InFlight
	}
	return c
}

// Validate reports everything that is wrong with the settings.
func (c AsyncConfig) Validate() error {
	problems := c.Source.problems()
	if c.Work == "" {
		problems = append(problems, "Work is empty: name a registered function")
	}
	if c.InFlight < 0 || c.ClaimLag < 0 {
		problems = append(problems, "InFlight and ClaimLag must not be negative")
	}
	if c.ClaimLag < c.InFlight {
		problems = append(problems, fmt.Sprintf("ClaimLag %d is below InFlight %d: the pool could never be full", c.ClaimLag, c.InFlight))
	}
	return joined(problems)
}

// asyncFn is the collector of lane.go. Its configuration is exported because it
// is the serialised form of the DoFn.
type asyncFn struct {
	Config AsyncConfig
	ranges
}

const (
	// A stage is asked again after asyncSoon at the earliest, after asyncBusy at the
	// latest while records finish, else after asyncIdle (see pace). Outputs do not
	// wait for it, only acks and commits do, so it is chosen for cost: a bundle is some
	// dozen messages between Prism and the worker.
	asyncSoon = 10 * time.Millisecond
	asyncBusy = 2 * time.Second
	asyncIdle = 4 * time.Second
)

// ProcessElement never waits for work: it takes what has finished, claims, and
// asks to be called again.
func (fn *asyncFn) ProcessElement(ctx context.Context, clock *wallClock, rt *sdf.LockRTracker, at partition, emit func(beam.EventTime, Ack)) (sdf.ProcessContinuation, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx) // before jobFor, which would make an ended job anew
	}
	stage, err := fn.Config.stage()
	if err != nil {
		return nil, err
	}
	rest := rt.GetRestriction().(offsetrange.Restriction)
	at.Start, at.End = rest.Start, rest.End
	lane, err := stage.laneFor(at)
	if err != nil {
		return nil, err
	}
	clock.advance(steady())
	ack, position, done, err := lane.collect()
	if err != nil {
		return nil, err
	}
	busy := len(ack.Sources) > 0
	if busy {
		emit(clock.now(), ack)
	}
	if position > rest.Start {
		if !rt.TryClaim(position - 1) {
			return nil, fmt.Errorf("claiming %s[%d] up to %d: %w", at.Topic, at.Partition, position, rt.GetError())
		}
		lane.claimedUpTo(position)
	}
	if done {
		if err := lane.end(ctx); err != nil {
			return nil, err
		}
		return sdf.StopProcessing(), nil
	}
	longest := asyncIdle
	if busy {
		longest = asyncBusy
	}
	share := float64(len(ack.Sources)) / float64(fn.Config.ClaimLag)
	return sdf.ResumeProcessingIn(max(lane.pace.next(share, asyncSoon, longest), fn.Config.Poll)), nil
}

// stage finds or makes the stage in this process.
func (c AsyncConfig) stage() (*stage, error) {
	j := jobFor(c.Job)
	j.making.Lock()
	defer j.making.Unlock()
	id := c.Topic + " " + c.Group + " " + c.Work
	if s := j.stages[id]; s != nil {
		return s, nil
	}
	work, err := c.work(j)
	if err != nil {
		return nil, err
	}
	s := &stage{cfg: c, job: j, broker: clientFor(c.Brokers), work: work, slots: semaphore.NewWeighted(int64(c.InFlight))}
	j.stages[id] = s
	return s, nil
}

func (c AsyncConfig) work(j *job) (Work, error) {
	if c.Settings == nil {
		return workFor(c.Work)
	}
	maker, err := makerFor(c.Work)
	if err != nil {
		return nil, err
	}
	work, release, err := maker(j.ctx, c.Settings)
	if err != nil {
		return nil, fmt.Errorf("making work %s: %w", c.Work, err)
	}
	j.releases = append(j.releases, release)
	return work, nil
}

// unbounded is the end of a partition that is followed for ever.
const unbounded = math.MaxInt64

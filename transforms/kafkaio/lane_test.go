package kafkaio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/semaphore"
)

// bench is one lane over the broker in memory, with the collector that Beam
// would be. Everything runs in a synctest bubble: hours pass in milliseconds,
// and what cannot happen at a time does not.
type bench struct {
	t      *testing.T
	memory *memory
	stage  *stage
	at     partition
	acked  []int64 // source offsets in the order acknowledged
	done   bool
}

func newBench(t *testing.T, cfg AsyncConfig, work Work) *bench {
	cfg.Job, cfg.Topic, cfg.Group, cfg.Work, cfg.Brokers = t.Name(), "in", "g", "work", "memory:1"
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, memory: newMemory(), at: partition{Topic: "in", End: unbounded}}
	b.stage = &stage{cfg: cfg, job: jobFor(cfg.Job), broker: b.memory, work: work, slots: semaphore.NewWeighted(int64(cfg.InFlight))}
	return b
}

// collectFor plays ProcessElement every 50 ms for a while, and says what a
// runner would see.
func (b *bench) collectFor(d time.Duration) error {
	for until := time.Now().Add(d); time.Now().Before(until) && !b.done; time.Sleep(50 * time.Millisecond) {
		lane, err := b.stage.laneFor(b.at)
		if err != nil {
			return err
		}
		ack, position, done, err := lane.collect()
		if err != nil {
			return err
		}
		for _, p := range ack.Sources {
			b.acked = append(b.acked, p.Offset)
		}
		if position > b.at.Start {
			lane.claimedUpTo(position)
			b.at.Start = position
		}
		if done {
			b.done = true
			return lane.end(context.Background())
		}
	}
	return nil
}

func (b *bench) stop() error { return Stop(b.stage.job.name) }

// echo writes the record's value to "out" after the time that delay gives.
func echo(delay func(value string) time.Duration) Work {
	return func(ctx context.Context, r Record, emit func(Output)) error {
		if !sleep(ctx, delay(string(r.Value))) {
			return context.Cause(ctx)
		}
		emit(Output{Topic: "out", Value: r.Value, ID: string(r.Value)})
		return nil
	}
}

func TestStragglerHoldsBackOnlyItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, AsyncConfig{InFlight: 4, ClaimLag: 100}, echo(func(v string) time.Duration {
			if v == "0" {
				return time.Minute
			}
			return time.Second
		}))
		b.memory.fill("in", 61)
		// 60 records of 1 s on the three slots left by the straggler take 20 s.
		if err := b.collectFor(25 * time.Second); err != nil {
			t.Fatal(err)
		}
		if n := len(b.memory.written("out")); n != 60 {
			t.Errorf("%d of the 60 others are written while the first is under way", n)
		}
		if len(b.acked) != 60 {
			t.Errorf("%d of the 60 others are acknowledged", len(b.acked))
		}
		if c := b.memory.committed(); c != 0 {
			t.Errorf("committed %d in front of the straggler at 0", c)
		}
		if err := b.collectFor(40 * time.Second); err != nil {
			t.Fatal(err)
		}
		if c := b.memory.committed(); c != 61 {
			t.Errorf("committed %d after the straggler, not 61", c)
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestClaimLagAndInFlightAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		b := newBench(t, AsyncConfig{InFlight: 4, ClaimLag: 10}, func(ctx context.Context, r Record, emit func(Output)) error {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			return echo(func(v string) time.Duration {
				if v == "0" {
					return time.Minute
				}
				return time.Second
			})(ctx, r, emit)
		})
		b.memory.fill("in", 100)
		if err := b.collectFor(50 * time.Second); err != nil {
			t.Fatal(err)
		}
		// The window holds the straggler and nine others.
		if n := len(b.memory.written("out")); n != 9 {
			t.Errorf("%d records were run ahead of the straggler, not 9", n)
		}
		if most.Load() != 4 {
			t.Errorf("%d at once, not 4", most.Load())
		}
		if err := b.collectFor(5 * time.Minute); err != nil {
			t.Fatal(err)
		}
		if c := b.memory.committed(); c != 100 {
			t.Errorf("committed %d, not 100", c)
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestRunnerThatStallsStopsTheReader: uncollected acks do not pile up.
func TestRunnerThatStallsStopsTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, AsyncConfig{InFlight: 2, ClaimLag: 8}, echo(func(string) time.Duration { return 0 }))
		b.memory.fill("in", 100)
		if _, err := b.stage.laneFor(b.at); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		// Two may slip in: room is asked for before a slot is had.
		if n := len(b.memory.written("out")); n < 8 || n > 10 {
			t.Errorf("%d records were run though nobody collects", n)
		}
		if err := b.collectFor(time.Minute); err != nil {
			t.Fatal(err)
		}
		if n := len(b.memory.written("out")); n != 100 {
			t.Errorf("%d records were run in the end", n)
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestNothingIsCommittedBeforeItsOutputsAreDurable runs random completions
// against a broker that refuses at random, and looks at every commit.
func TestNothingIsCommittedBeforeItsOutputsAreDurable(t *testing.T) {
	for seed := range uint64(5) {
		t.Run(strconv.Itoa(int(seed)), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 1))
				delays := make([]time.Duration, 200)
				for i := range delays {
					delays[i] = time.Duration(r.IntN(3000)) * time.Millisecond
				}
				b := newBench(t, AsyncConfig{InFlight: 8}, echo(func(v string) time.Duration {
					i, _ := strconv.Atoi(v)
					return delays[i]
				}))
				b.memory.fill("in", len(delays))
				b.memory.refuse = func(op string) error {
					if op == "commit" {
						written := sorted(b.memory.written("out"))
						position, _ := b.stage.job.lanes[partitionKey{group: "g", topic: "in"}].book.state()
						for i := range position {
							if _, ok := slices.BinarySearch(written, fmt.Sprint(i)); !ok {
								t.Errorf("position %d with no output of %d", position, i)
							}
						}
					}
					if rand.IntN(3) == 0 {
						return io.EOF
					}
					return nil
				}
				if err := b.collectFor(10 * time.Minute); err != nil {
					t.Fatal(err)
				}
				if c := b.memory.committed(); c != 200 || len(b.acked) != 200 {
					t.Errorf("committed %d, acknowledged %d of 200", c, len(b.acked))
				}
				// Refused at random, never reordered.
				if !slices.IsSorted(b.memory.commits) {
					t.Errorf("commits went back: %v", b.memory.commits)
				}
				if err := b.stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestBrokerThatVanishesFailsTheJobInOneLine(t *testing.T) {
	for _, op := range []string{"fetch", "produce", "commit"} {
		t.Run(op, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, AsyncConfig{}, echo(func(string) time.Duration { return 0 }))
				b.memory.fill("in", 3)
				began := time.Now()
				b.memory.refuse = func(asked string) error {
					if asked == op {
						return io.EOF
					}
					return nil
				}
				err := b.collectFor(10 * time.Minute)
				if err == nil || !errors.Is(err, io.EOF) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "gave up after 1m0s") {
					t.Errorf("error %v", err)
				}
				if took := time.Since(began); took < time.Minute || took > 65*time.Second {
					t.Errorf("failed after %s", took)
				}
				if c := b.memory.committed(); op != "commit" && c != 0 {
					t.Errorf("committed %d", c)
				}
				if stopped := b.stop(); stopped == nil || stopped.Error() != err.Error() {
					t.Errorf("Stop says %v, not the first error", stopped)
				}
			})
		})
	}
}

func TestBrokerThatComesBackIsForgiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, AsyncConfig{}, echo(func(string) time.Duration { return 0 }))
		b.memory.fill("in", 10)
		began := time.Now()
		b.memory.refuse = func(string) error {
			if down := time.Since(began) % time.Minute; down > 5*time.Second && down < 50*time.Second {
				return io.EOF // 45 s of each minute, again and again
			}
			return nil
		}
		for range 10 {
			if err := b.collectFor(time.Minute); err != nil {
				t.Fatal(err)
			}
			b.memory.fill("in", 10)
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestErrorOfWorkFailsTheJob(t *testing.T) {
	for name, work := range map[string]Work{
		"work: in[0]@2: no sandbox": func(_ context.Context, r Record, _ func(Output)) error {
			if r.Source.Offset == 2 {
				return errors.New("no sandbox")
			}
			return nil
		},
		"work: in[0]@2: panic: no sandbox (": func(_ context.Context, r Record, _ func(Output)) error {
			if r.Source.Offset == 2 {
				panic("no sandbox")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, AsyncConfig{InFlight: 1}, work)
				b.memory.fill("in", 10)
				err := b.collectFor(time.Minute)
				if err == nil || !strings.HasPrefix(err.Error(), name) {
					t.Errorf("got %v, want %s", err, name)
				}
				if strings.Contains(name, "panic") && !strings.Contains(err.Error(), "lane_test.go") {
					t.Errorf("%v does not say where", err)
				}
				if c := b.memory.committed(); c > 2 {
					t.Errorf("committed %d behind the failure at 2", c)
				}
				if err := b.stop(); err == nil || !strings.HasPrefix(err.Error(), name) {
					t.Errorf("Stop: %v", err)
				}
			})
		})
	}
}

func TestDrainFinishesWhatIsBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, AsyncConfig{InFlight: 5}, echo(func(string) time.Duration { return 10 * time.Second }))
		b.memory.fill("in", 100)
		if err := b.collectFor(15 * time.Second); err != nil {
			t.Fatal(err)
		}
		Drain(b.stage.job.name) // five are written, five are 5 s old
		began := time.Now()
		if err := b.collectFor(time.Hour); err != nil {
			t.Fatal(err)
		}
		if !b.done || time.Since(began) > 6*time.Second {
			t.Errorf("done %v after %s", b.done, time.Since(began))
		}
		if n, c := len(b.memory.written("out")), b.memory.committed(); n != 10 || c != 10 {
			t.Errorf("%d written, %d committed; want the ten that were begun", n, c)
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestDrainOfAnEndedJobIsForgotten: it must not end the next job of that name.
func TestDrainOfAnEndedJobIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		Drain(t.Name())
		b := newBench(t, AsyncConfig{}, echo(func(string) time.Duration { return 0 }))
		b.memory.fill("in", 3)
		if err := b.collectFor(time.Second); err != nil || b.done || len(b.acked) != 3 {
			t.Errorf("done %v, %d acknowledged, %v", b.done, len(b.acked), err)
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestStopCancelsWhatIsBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause atomic.Value
		b := newBench(t, AsyncConfig{InFlight: 5}, func(ctx context.Context, r Record, emit func(Output)) error {
			<-ctx.Done()
			cause.Store(context.Cause(ctx))
			return ctx.Err()
		})
		b.memory.fill("in", 100)
		if err := b.collectFor(time.Second); err != nil {
			t.Fatal(err)
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
		if got, _ := cause.Load().(error); !errors.Is(got, errStopped) {
			t.Errorf("Work saw %v", got)
		}
		if c := b.memory.committed(); c != 0 {
			t.Errorf("committed %d of what was cancelled", c)
		}
	})
}

// TestStopCommitsWhatIsDurable: the runner claims now and then, and a job that is
// stopped in between need not do again what it has done.
func TestStopCommitsWhatIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, AsyncConfig{}, quick)
		if err := b.collectFor(time.Second); err != nil {
			t.Fatal(err)
		}
		b.memory.fill("in", 5)
		time.Sleep(time.Minute) // done, and not claimed
		if got := b.memory.committed(); got != 0 {
			t.Fatalf("%d is committed before it was claimed", got)
		}
		if err := b.stop(); err != nil {
			t.Fatal(err)
		}
		if got := b.memory.committed(); got != 5 {
			t.Errorf("%d is committed, want 5", got)
		}
	})
}

func TestStopDoesNotWaitForEverForWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		b := newBench(t, AsyncConfig{}, func(context.Context, Record, func(Output)) error {
			<-release
			return nil
		})
		b.memory.fill("in", 1)
		if err := b.collectFor(time.Second); err != nil {
			t.Fatal(err)
		}
		err := b.stop()
		if err == nil || !strings.Contains(err.Error(), "work has not returned") {
			t.Errorf("Stop: %v", err)
		}
		close(release)
	})
}

// TestLaneStartsAnewWhereTheRunnerIs: a runner that restored an older state
// gets the records from there again, in this process too.
func TestLaneStartsAnewWhereTheRunnerIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, AsyncConfig{}, echo(func(string) time.Duration { return 0 }))
		b.memory.fill("in", 10)
		if err := b.collectFor(time.Second); err != nil {
			t.Fatal(err)
		}
		b.at.Start = 6
		if err := b.collectFor(time.Second); err != nil {
			t.Fatal(err)
		}
		if got := b.memory.written("out")[10:]; !slices.Equal(sorted(got), []string{"6", "7", "8", "9"}) {
			t.Errorf("written again: %v", got)
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestLaneEndsWithItsLease: a runner that never comes back and never says so
// does not leave work running.
func TestLaneEndsWithItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		b := newBench(t, AsyncConfig{}, func(ctx context.Context, _ Record, _ func(Output)) error {
			<-ctx.Done()
			ended = errors.Is(context.Cause(ctx), errAbandoned)
			return ctx.Err()
		})
		b.memory.fill("in", 1)
		if err := b.collectFor(time.Second); err != nil {
			t.Fatal(err)
		}
		time.Sleep(lease + time.Second)
		synctest.Wait()
		if !ended {
			t.Error("work goes on though the runner is gone")
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestBoundedRangeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, AsyncConfig{}, echo(func(string) time.Duration { return time.Second }))
		b.memory.fill("in", 10)
		b.at = partition{Topic: "in", Start: 3, End: 7}
		if err := b.collectFor(time.Hour); err != nil {
			t.Fatal(err)
		}
		if got := sorted(b.memory.written("out")); !b.done || !slices.Equal(got, []string{"3", "4", "5", "6"}) {
			t.Errorf("done %v, written %v", b.done, got)
		}
		if b.at.Start != 7 || b.memory.committed() != 7 {
			t.Errorf("claimed %d, committed %d; want 7", b.at.Start, b.memory.committed())
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	})
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

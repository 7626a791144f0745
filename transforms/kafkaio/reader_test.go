package kafkaio

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"
)

// newReader starts a reader over the broker in memory.
func newReader(t *testing.T, m *memory, cfg ReadConfig, at partition) (*reader, *job) {
	j := jobFor(t.Name())
	cfg.Job, cfg.Topic = t.Name(), "in"
	cfg = cfg.withDefaults()
	cfg.tracked = cfg.Group != ""
	r := cfg.start(j, m, at)
	return r, j
}

func TestReaderStopsAtTheLagBehindTheCommittedPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.fill("in", 50)
		r, _ := newReader(t, m, ReadConfig{Source: Source{Group: "g"}, Lag: 10}, partition{Topic: "in", End: unbounded})
		taken := takeFor(r, time.Minute)
		if taken != 10 {
			t.Errorf("%d records were read", taken)
		}
		before := taken
		m.fill("in", 50)
		if more := takeFor(r, time.Minute); more != 0 {
			t.Errorf("%d records were read over a lag of %d", more, before)
		}
		if err := m.commit(t.Context(), time.Second, "g", "in", 0, int64(before)); err != nil {
			t.Fatal(err)
		}
		if more := takeFor(r, time.Minute); more != 10 {
			t.Errorf("%d records were read after the commit", more)
		}
		if err := Stop(t.Name()); err != nil {
			t.Error(err)
		}
	})
}

func takeFor(r *reader, d time.Duration) (taken int) {
	for until := time.Now().Add(d); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		for {
			if _, ok := r.take(); !ok {
				break
			}
			taken++
		}
	}
	return taken
}

func TestReaderDrainsWithoutItsBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.fill("in", 5)
		r, _ := newReader(t, m, ReadConfig{}, partition{Topic: "in", End: unbounded})
		synctest.Wait()
		if record, ok := r.take(); !ok || record.Source.Offset != 0 {
			t.Fatalf("took %v, %v", record, ok)
		}
		Drain(t.Name())
		synctest.Wait()
		if done, _, err := r.state(); !done || err != nil {
			t.Errorf("drained: %v, %v", done, err)
		}
		if _, ok := r.take(); ok {
			t.Error("a drained reader gives records that nobody has begun")
		}
		if err := Stop(t.Name()); err != nil {
			t.Error(err)
		}
	})
}

// TestReadersWaitForNews: a bundle serves its partitions in turn, so one that
// waits must hear of another's record, of the end and of a drain.
func TestReadersWaitForNews(t *testing.T) {
	const limit = time.Minute
	at := func(end int64) partition { return partition{Topic: "in", End: end} }
	for _, c := range []struct {
		name   string
		end    int64
		before int // records there before the wait
		others int // the same of another reader
		during func(t *testing.T, m *memory)
		want   time.Duration
	}{
		{"nothing comes", unbounded, 0, 0, nil, limit},
		{"a record is there", unbounded, 1, 0, nil, 0},
		{"another reader's record is there", unbounded, 0, 1, nil, 0},
		{"a record comes", unbounded, 0, 0, func(_ *testing.T, m *memory) { m.fill("in", 1) }, time.Second},
		{"another reader's record comes", unbounded, 0, 0, func(_ *testing.T, m *memory) { m.fill("other", 1) }, time.Second},
		{"the end is reached", 0, 0, 0, nil, 0},
		{"the job drains", unbounded, 0, 0, func(t *testing.T, _ *memory) { Drain(t.Name()) }, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				m.fill("in", c.before)
				m.fill("other", c.others)
				r, j := newReader(t, m, ReadConfig{}, at(c.end))
				ReadConfig{Source: Source{Job: t.Name(), Topic: "other"}.withDefaults()}.start(j, m, partition{Topic: "other", End: unbounded})
				synctest.Wait()
				r.first()
				begun := time.Now()
				if c.during != nil {
					time.AfterFunc(time.Second, func() { c.during(t, m) })
				}
				r.await(t.Context(), limit)
				if waited := time.Since(begun); waited != c.want {
					t.Errorf("waited %s, want %s", waited, c.want)
				}
				if err := Stop(t.Name()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestFirstWaitIsShort: the partition behind this one in the bundle has a record, and
// gets its reader only when this one has waited.
func TestFirstWaitIsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		r, _ := newReader(t, m, ReadConfig{}, partition{Topic: "in", End: unbounded})
		for _, want := range []time.Duration{readMore, time.Minute} {
			begun := time.Now()
			r.await(t.Context(), time.Minute)
			if waited := time.Since(begun); waited != want {
				t.Errorf("waited %s, want %s", waited, want)
			}
		}
		if err := Stop(t.Name()); err != nil {
			t.Error(err)
		}
	})
}

// TestReadersThatEndedAreNoNews: the runner hears of an end once; from then on the
// partitions that are left wait as long as they may.
func TestReadersThatEndedAreNoNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		r, j := newReader(t, m, ReadConfig{}, partition{Topic: "in", End: unbounded})
		over := ReadConfig{Source: Source{Job: t.Name(), Topic: "other"}.withDefaults()}.start(j, m, partition{Topic: "other"})
		synctest.Wait()
		r.first()
		for _, want := range []time.Duration{0, time.Minute} {
			begun := time.Now()
			r.await(t.Context(), time.Minute)
			if waited := time.Since(begun); waited != want {
				t.Errorf("waited %s, want %s", waited, want)
			}
			if done, _, err := over.state(); !done || err != nil {
				t.Errorf("the other has ended: %v, %v", done, err)
			}
		}
		if err := Stop(t.Name()); err != nil {
			t.Error(err)
		}
	})
}

func TestTrackerIsNeverDivided(t *testing.T) {
	tr := newTracker(offsetrange.Restriction{Start: 5, End: unbounded})
	if tr.IsBounded() {
		t.Error("a range without end is bounded")
	}
	if !tr.TryClaim(int64(7)) {
		t.Fatal(tr.GetError())
	}
	if _, residual, err := tr.TrySplit(0.5); residual != nil || err != nil {
		t.Errorf("divided: %v, %v", residual, err)
	}
	primary, residual, err := tr.TrySplit(0)
	if err != nil || primary != (offsetrange.Restriction{Start: 5, End: 8}) || residual != (offsetrange.Restriction{Start: 8, End: unbounded}) {
		t.Errorf("checkpoint: %v and %v, %v", primary, residual, err)
	}
	if !newTracker(offsetrange.Restriction{Start: 5, End: 6}).IsBounded() {
		t.Error("a range with an end is unbounded")
	}
}

func TestWallClockNeverGoesBack(t *testing.T) {
	w := &wallClock{ms: 1000}
	w.advance(time.UnixMilli(500))
	if w.CurrentWatermark() != time.UnixMilli(1000) {
		t.Errorf("went back to %v", w.CurrentWatermark())
	}
	w.advance(time.UnixMilli(2000))
	if !w.CurrentWatermark().Equal(time.UnixMilli(2000)) || !w.now().ToTime().Equal(time.UnixMilli(2000)) {
		t.Errorf("stands at %v, emits at %v", w.CurrentWatermark(), w.now().ToTime())
	}
}

func TestPace(t *testing.T) {
	var p pace
	var got []string
	for _, share := range []float64{0, 0, 0.1, 0.25, 0.5, 1, 0, 1, 1, 1, 5, 0, 0, 0, 0} {
		got = append(got, p.next(share, 10*time.Millisecond, 100*time.Millisecond).String())
	}
	if s := strings.Join(got, " "); s != "10ms 20ms 40ms 80ms 80ms 40ms 80ms 40ms 20ms 10ms 10ms 20ms 40ms 80ms 100ms" {
		t.Error(s)
	}
}

func TestConfigurationsReportEveryProblem(t *testing.T) {
	err := AsyncConfig{Source: Source{Brokers: "nohost"}, InFlight: 8, ClaimLag: 4}.Validate()
	want := `Job is empty; Topic is empty; brokers "nohost": want host:port[,host:port...]; Work is empty: name a registered function; ClaimLag 4 is below InFlight 8: the pool could never be full`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if err := (WriteConfig{RetryFor: -1}).Validate(); err == nil || strings.Count(err.Error(), ";") != 2 {
		t.Errorf("Write: %v", err)
	}
	if err := (ReadConfig{Source: Source{Job: "j", Topic: "t", Brokers: "a:1,b:2"}}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestWorkNames(t *testing.T) {
	unregister := RegisterWork(t.Name(), quick)
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), t.Name()) {
			t.Errorf("a name taken twice: %v", p)
		}
		unregister()
		if _, err := workFor(t.Name()); err == nil {
			t.Error("an unregistered work is found")
		}
	}()
	RegisterWork(t.Name(), quick)
}

var quick = echo(func(string) time.Duration { return 0 })

func TestMetricsCountWhatPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, AsyncConfig{}, echo(func(string) time.Duration { return 2 * time.Second }))
		b.memory.fill("in", 11)
		if err := b.collectFor(time.Minute); err != nil {
			t.Fatal(err)
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
		s := StatsOf(b.stage.job.name)
		// Values 0 to 9 are one byte, 10 is two.
		if s.RecordsIn != 11 || s.RecordsOut != 11 || s.BytesIn != 12 || s.InFlight != 0 || s.Lag != 0 || s.Busy != 22*time.Second {
			t.Errorf("%+v", s)
		}
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(Collector())
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]float64)
		for _, family := range families {
			for _, m := range family.Metric {
				if m.Label[0].GetValue() == t.Name() {
					got[family.GetName()] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
				}
			}
		}
		for name, want := range map[string]float64{
			"millrace_kafka_records_in_total": 11, "millrace_kafka_records_out_total": 11,
			"millrace_kafka_bytes_in_total": 12, "millrace_kafka_busy_seconds_total": 22,
			"millrace_kafka_in_flight": 0, "millrace_kafka_lag_records": 0,
		} {
			if value, ok := got[name]; !ok || value != want {
				t.Errorf("%s = %v (%v), want %v", name, value, ok, want)
			}
		}
	})
}

// TestReaderDrainsAtTheLag: a reader that waits for commits ends at a drain, and
// says that it did not reach the end.
func TestReaderDrainsAtTheLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.fill("in", 50)
		r, j := newReader(t, m, ReadConfig{Source: Source{Group: "g"}, Lag: 10}, partition{Topic: "in", End: 50})
		takeFor(r, time.Second)
		Drain(t.Name())
		takeFor(r, time.Second)
		if done, drained, err := r.state(); !done || !drained || err != nil {
			t.Errorf("done %v, drained %v, %v", done, drained, err)
		}
		if err := j.failure(); err != nil {
			t.Errorf("the drain failed the job: %v", err)
		}
		if err := Stop(t.Name()); err != nil {
			t.Error(err)
		}
	})
}

package advantage

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/teststream"

	"millrace/schemas"
)

func init() {
	register.Function2x0(arrive)
	register.Function1x1(describe)
	register.Emitter1[schemas.Member]()
}

// The tests' clock starts at hour 0 and moves when the stream says so.
var (
	hour0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock atomic.Int64 // hours
)

func init() {
	now = func() time.Time { return hour0.Add(time.Duration(clock.Load()) * time.Hour) }
}

// arrive turns an event of a test's script into members, which are in one bundle, or
// moves the clock:
//
//	"clock HOUR"
//	"member GROUP ROLLOUT SIZE REWARD; member ..."
func arrive(event string, emit func(schemas.Member)) {
	var group string
	var rollout, size int32
	var reward float64
	var hour int64
	if n, _ := fmt.Sscanf(event, "clock %d", &hour); n == 1 {
		clock.Store(hour)
		return
	}
	for one := range strings.SplitSeq(event, "; ") {
		if _, err := fmt.Sscanf(one, "member %s %d %d %g", &group, &rollout, &size, &reward); err != nil {
			panic(fmt.Sprintf("event %q: %v", one, err))
		}
		emit(weighing(group, rollout, size, reward))
	}
}

// describe is what the tests look at of a Closed.
func describe(c Closed) string {
	var b strings.Builder
	for _, s := range c.Samples {
		fmt.Fprintf(&b, "%s %+g (%d/%d) ", s.ID, s.Advantage, s.GroupMembers, s.GroupSize)
	}
	for _, l := range c.DeadLetters {
		fmt.Fprintf(&b, "%s %s ", l.Reason, l.RecordID)
		if l.Time == 0 || len(l.Payload) == 0 {
			b.WriteString("without time or payload ")
		}
	}
	return fmt.Sprintf("%s%d sources", &b, len(c.Sources))
}

// play runs a script through the transform on Prism: elements one by one, "->
// HOUR" moves the clock and then the watermark. It returns the counters.
//
// Prism lets everything settle before the watermark moves, but not before the
// next element. So it moves a millisecond after each.
func play(t *testing.T, c Config, script []string, want ...string) map[string]int64 {
	t.Helper()
	clock.Store(0)
	stream := teststream.NewConfig()
	at := hour0.UnixMilli()
	add := func(event string) {
		if err := stream.AddElements(at, event); err != nil {
			t.Fatal(err)
		}
		at++
		if err := stream.AdvanceWatermark(at); err != nil {
			t.Fatal(err)
		}
	}
	for _, event := range script {
		var hour int64
		if n, _ := fmt.Sscanf(event, "-> %d", &hour); n != 1 {
			add(event)
			continue
		}
		add(fmt.Sprintf("clock %d", hour))
		at = hour0.Add(time.Duration(hour) * time.Hour).UnixMilli()
		if err := stream.AdvanceWatermark(at); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.AdvanceWatermarkToInfinity(); err != nil {
		t.Fatal(err)
	}
	p, s := beam.NewPipelineWithRoot()
	members := beam.ParDo(s, arrive, teststream.Create(s, stream))
	passert.EqualsList(s, beam.ParDo(s, describe, Advantage(s, c, members)), want)
	result, err := ptest.RunWithMetrics(p)
	if err != nil {
		t.Fatal(err)
	}
	counters := map[string]int64{}
	for _, r := range result.Metrics().Query(func(r beam.MetricResult) bool { return r.Namespace() == stage }).Counters() {
		counters[r.Name()] += r.Result()
	}
	balance := counters["samples"] + counters["refused"] + counters["repeats"] + counters["left_open"]
	if counters["members"] != balance {
		t.Errorf("TestNothingVanishes: %d members in, %d accounted for: %v", counters["members"], balance, counters)
	}
	return counters
}

func streaming() Config {
	return Config{Estimator: "leave-one-out", CloseAfter: 2 * time.Hour, RememberFor: 10 * time.Hour}
}

func TestCompleteGroupsClose(t *testing.T) {
	got := play(t, streaming(), []string{
		"member a 1 3 0", "member b 0 2 0.5", "member a 0 3 1", "member b 1 2 0", "member a 2 3 0.5",
	},
		"a#0.0 +0.75 (3/3) a#1.0 -0.75 (3/3) a#2.0 +0 (3/3) 3 sources",
		"b#0.0 +0.5 (2/2) b#1.0 -0.5 (2/2) 2 sources",
	)
	if got["groups"] != 2 || got["groups_short"] != 0 || got["samples"] != 5 {
		t.Errorf("counters %v", got)
	}
}

// A group of 4 with 2 members at its time limit closes with those; a third is late.
func TestTimeLimitClosesShort(t *testing.T) {
	got := play(t, streaming(), []string{
		"member a 1 4 0", "-> 1", "member a 3 4 1", "-> 3", "member a 0 4 1", "-> 4",
	},
		"a#1.0 -1 (2/4) a#3.0 +1 (2/4) 2 sources",
		"late a#0.0 1 sources",
	)
	if got["groups_short"] != 1 || got["refused"] != 1 {
		t.Errorf("counters %v", got)
	}
}

// A redelivery is committed and leaves no trace, before and after the close; a
// different record of the same rollout is a dead letter.
func TestRedeliveries(t *testing.T) {
	got := play(t, streaming(), []string{
		"member a 0 2 1", "member a 0 2 1", "member a 0 2 0", "member a 1 2 0", "member a 1 2 0",
	},
		"1 sources",
		"duplicate a#0.0 1 sources",
		"a#0.0 +1 (2/2) a#1.0 -1 (2/2) 2 sources",
		"1 sources",
	)
	if got["repeats"] != 2 {
		t.Errorf("counters %v", got)
	}
}

// A member that contradicts its group, or breaks its contract, is a dead letter
// and holds nothing up.
func TestMisfits(t *testing.T) {
	play(t, streaming(), []string{
		"member a 0 2 1", "member a 1 3 1", "member a 5 2 1", "member a 1 2 0",
	},
		"invalid a#1.0 1 sources",
		"invalid a#5.0 1 sources",
		"a#0.0 +1 (2/2) a#1.0 -1 (2/2) 2 sources",
	)
}

// A stream that is drained must not close its open groups short: they leave no
// output, so their positions stay uncommitted.
func TestDrainLeavesOpenGroups(t *testing.T) {
	got := play(t, streaming(), []string{"member a 0 3 1", "member b 0 1 1", "member a 1 3 0"},
		"b#0.0 +0 (1/1) 1 sources",
	)
	if got["left_open"] != 2 {
		t.Errorf("counters %v", got)
	}
}

// The end of a bounded input closes what is open.
func TestEndOfBoundedInputCloses(t *testing.T) {
	c := streaming()
	c.CloseAtEnd = true
	got := play(t, c, []string{"member a 0 3 1", "member a 1 3 0"},
		"a#0.0 +1 (2/3) a#1.0 -1 (2/3) 2 sources",
	)
	if got["groups_short"] != 1 {
		t.Errorf("counters %v", got)
	}
}

// The time limit of a group that was completed must not end its memory early,
// and the memory ends in time: then a late member opens a group of its own.
func TestMemoryEnds(t *testing.T) {
	c := streaming()
	play(t, c, []string{
		"member a 0 2 1", "-> 1", "member a 1 2 0", "-> 4", "member a 0 2 0", "-> 12", "member a 0 2 1", "-> 15",
	},
		"a#0.0 +1 (2/2) a#1.0 -1 (2/2) 2 sources",
		"duplicate a#0.0 1 sources",
		"a#0.0 +0 (1/2) 1 sources",
	)
}

// Members of one bundle fare as if each came by itself: in a group that is complete
// with them, that waits in the state, that stays open, that has closed, and beside
// those that are refused.
func TestBundles(t *testing.T) {
	got := play(t, streaming(), []string{
		"member a 0 3 1; member b 1 2 1; member a 2 3 1; member c 0 3 1",
		"member b 0 2 0; member b 0 2 0; member d 0 2 1; member d 0 2 0; member d 1 2 0; member a 1 3 0; member c 1 3 0; member d 5 2 0",
		"-> 3",
	},
		"b#0.0 -1 (2/2) b#1.0 +1 (2/2) 2 sources",
		"1 sources",
		"duplicate d#0.0 1 sources",
		"d#0.0 +1 (2/2) d#1.0 -1 (2/2) 2 sources",
		"a#0.0 +0.5 (3/3) a#1.0 -1 (3/3) a#2.0 +0.5 (3/3) 3 sources",
		"invalid d#5.0 1 sources",
		"c#0.0 +1 (2/3) c#1.0 -1 (2/3) 2 sources",
	)
	if got["groups"] != 4 || got["groups_short"] != 1 || got["refused"] != 2 || got["repeats"] != 1 {
		t.Errorf("counters %v", got)
	}
}

// The same members by beam.Create, as a bounded pipeline has them.
func TestBoundedPipeline(t *testing.T) {
	clock.Store(0)
	c := streaming()
	c.CloseAtEnd = true
	p, s := beam.NewPipelineWithRoot()
	members := beam.CreateList(s, []schemas.Member{
		weighing("a", 2, 3, 1), failed("a", 0, 3), excluded("a", 1, 3, 0, false), weighing("b", 0, 2, 1),
	})
	passert.EqualsList(s, beam.ParDo(s, describe, Advantage(s, c, members)), []string{
		"a#0.0 +0 (3/3) a#1.0 +0 (3/3) a#2.0 +0 (3/3) 3 sources",
		"b#0.0 +0 (1/2) 1 sources",
	})
	ptest.RunAndValidate(t, p)
}

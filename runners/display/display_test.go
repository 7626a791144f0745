package display

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"millrace/pipelines/journal"
)

var write = flag.Bool("write", false, "write the golden files of testdata")

// clock is a time that tests move.
type clock struct{ now time.Time }

func (c *clock) pass(d time.Duration) { c.now = c.now.Add(d) }

func newClock() *clock { return &clock{time.Unix(1_763_685_000, 0)} }

func stepMetrics(step int64) map[string]float64 {
	return map[string]float64{
		journal.RewardMean: 0.25 + float64(step)/16, journal.SolvedRatio: 0.375, journal.ResponseLength: 412.25,
		journal.Turns: 6.5, journal.TestsRun: 2.125, journal.Undos: 0.5, journal.StalenessMean: 0,
		journal.Throughput: 12_340, "termination/finished/ratio": 0.75, "termination/steps/ratio": 0.25,
		"termination/context/ratio": 0, "actor/entropy": 0.3,
	}
}

func stages(records int64) []Stage {
	return []Stage{
		{Name: "rollout", Busy: 0.97, In: records, Out: records / 2, InFlight: 64, Lag: 3, Idle: 1500 * time.Millisecond},
		{Name: "score", Busy: 0.125, In: records / 2, Out: records / 2, InFlight: 2, Idle: 12 * time.Second},
	}
}

// tour shows everything once, over some minutes.
func tour(d *Display, c *clock) {
	d.Phase("warm up", 0)
	c.pass(3 * time.Second)
	d.Note("embedded broker on 127.0.0.1:9092")
	d.Phase("train", 128)
	d.Stages(stages(0))
	for done := 1; done <= 64; done++ {
		c.pass(time.Second)
		d.Progress(done)
		if done%10 == 0 {
			d.Stages(stages(int64(4 * done)))
		}
	}
	d.Step(1, 20, stepMetrics(1))
	c.pass(30 * time.Second)
	d.Step(2, 20, stepMetrics(2))
	c.pass(5 * time.Second)
	d.Progress(80)
	d.Note("held-out pass@1 0.31 after step 2")
	d.Close()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *write {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("output is\n%s\nand %s is\n%s", got, path, want)
	}
}

func TestPlainLines(t *testing.T) {
	var out bytes.Buffer
	c := newClock()
	tour(New(Config{Out: &out, Now: func() time.Time { return c.now }}), c)
	if strings.Contains(out.String(), "\x1b") {
		t.Error("plain lines hold an escape sequence")
	}
	golden(t, "plain.txt", out.String())
}

// TestTerminal pins what stands on the screen before the block is closed, and
// what stays when it is.
func TestTerminal(t *testing.T) {
	for _, size := range []struct {
		name          string
		columns, rows int
	}{{"terminal80.txt", 80, 24}, {"terminal40.txt", 40, 24}} {
		s := newScreen(size.columns, size.rows)
		c := newClock()
		var beforeClose string
		d := New(Config{Out: s, Now: func() time.Time { return c.now }, Size: func() (int, int) { return size.columns, size.rows }})
		tour(d, c)
		beforeClose = s.beforeLastErase
		golden(t, size.name, beforeClose+"--- closed ---\n"+s.text())
		if s.wrapped > 0 && size.columns >= 80 {
			t.Errorf("%d lines were broken at %d columns", s.wrapped, size.columns)
		}
	}
}

// TestNoBlockLineIsBroken draws at every width; only notes, which are the
// terminal's to break, may be longer.
func TestNoBlockLineIsBroken(t *testing.T) {
	for columns := 1; columns <= 120; columns++ {
		s := newScreen(columns, 50)
		c := newClock()
		d := New(Config{Out: s, Now: func() time.Time { return c.now }, Size: func() (int, int) { return columns, 50 }})
		d.Phase("training with a name as long as some people like them to be", 100)
		c.pass(time.Minute)
		d.Progress(50)
		d.Step(1, 20, stepMetrics(1))
		c.pass(time.Minute)
		d.Step(2, 20, stepMetrics(2))
		d.Stages(stages(10))
		c.pass(time.Second)
		d.Stages(stages(1000))
		if s.wrapped > 0 {
			t.Fatalf("%d lines were broken at %d columns:\n%s", s.wrapped, columns, s.text())
		}
		d.Close()
		if got := s.text(); got != "" {
			t.Fatalf("at %d columns Close leaves\n%s", columns, got)
		}
	}
}

// TestBlockFitsTheTerminal: a block taller than the screen would scroll its
// first lines out of the cursor's reach, and each redraw would leave a copy.
func TestBlockFitsTheTerminal(t *testing.T) {
	s := newScreen(80, 4)
	c := newClock()
	d := New(Config{Out: s, Now: func() time.Time { return c.now }, Size: func() (int, int) { return 80, 4 }})
	for step := int64(1); step <= 5; step++ {
		c.pass(time.Second)
		d.Step(step, 20, stepMetrics(step))
		d.Stages(stages(step))
	}
	if n := strings.Count(s.text(), "step "); n != 1 {
		t.Errorf("step is on the screen %d times:\n%s", n, s.text())
	}
}

// TestNarrowedTerminal: the lines drawn before have been broken by the terminal,
// and all their pieces must go.
func TestNarrowedTerminal(t *testing.T) {
	s := newScreen(80, 40)
	c := newClock()
	d := New(Config{Out: s, Now: func() time.Time { return c.now }, Size: func() (int, int) { return s.columns, 40 }})
	d.Note("before")
	d.Step(1, 20, stepMetrics(1))
	d.Stages(stages(1))
	s.resize(40)
	c.pass(time.Second)
	d.Note("after")
	d.Close()
	if got := s.text(); got != "before\nafter\n" {
		t.Errorf("the screen holds\n%s", got)
	}
}

func TestRedrawsAreBounded(t *testing.T) {
	s := newScreen(80, 24)
	c := newClock()
	d := New(Config{Out: s, Now: func() time.Time { return c.now }, Size: func() (int, int) { return 80, 24 }})
	d.Phase("train", 10_000)
	for done := range 10_000 {
		c.pass(time.Millisecond)
		d.Progress(done)
	}
	// 10 s at most every 100 ms, and the phase's own.
	if s.writes > 101 {
		t.Errorf("the terminal was written to %d times in 10 s", s.writes)
	}
}

func TestControlCharactersGo(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"\x1b[31mred\x1b[0m\x07", "[31mred[0m"},
		{"two\r\nlines\tand a tab", "two  lines and a tab"},
		{"\u202egnp.exe\u200b\u2028 \x9b2J caf\xc3\xa9 \xff", "gnp.exe ?2J café ?"},
	} {
		for _, size := range []func() (int, int){nil, func() (int, int) { return 80, 24 }} {
			var out bytes.Buffer
			d := New(Config{Out: &out, Now: time.Now, Size: size})
			d.Note(c.text)
			if got := out.String(); got != c.want+"\n" {
				t.Errorf("note %q is shown as %q, want %q", c.text, got, c.want)
			}
		}
	}
	var out bytes.Buffer
	d := New(Config{Out: &out, Now: time.Now})
	d.Phase("\x1b[2Jphase", 0)
	d.Step(1, 2, map[string]float64{"termination/\x1b[2J/ratio": 1})
	if strings.ContainsAny(out.String(), "\x1b") {
		t.Errorf("an escape sequence came through: %q", out.String())
	}
}

func TestLogGoesThroughTheDisplay(t *testing.T) {
	var out bytes.Buffer
	d := New(Config{Out: &out, Now: time.Now})
	for _, piece := range []string{"one\ntw", "o\n", "", "three"} {
		if n, err := d.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Errorf("Write(%q) = %d, %v", piece, n, err)
		}
	}
	if got := out.String(); got != "one\ntwo\n" {
		t.Errorf("before Close the output is %q", got)
	}
	d.Close()
	d.Close()
	d.Note("later")
	if got := out.String(); got != "one\ntwo\nthree\nlater\n" {
		t.Errorf("the output is %q", got)
	}
}

func TestRates(t *testing.T) {
	before, after := Stage{In: 10, Out: 4}, Stage{In: 40, Out: 9}
	if got := ratesBetween(before, after, 10*time.Second); got != (rates{3, 0.5}) {
		t.Errorf("30 in and 5 out in 10 s are %v", got)
	}
	if got := ratesBetween(after, before, 2*time.Second); got != (rates{5, 2}) {
		t.Errorf("a stage started again with 10 in and 4 out in 2 s has %v", got)
	}
	if got := ratesBetween(before, after, 0); got != (rates{}) {
		t.Errorf("no time passed: %v", got)
	}
}

func TestFormats(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.4125: "0.412", 12.34: "12.3", 999.4: "999", 999.6: "1k", 12_340: "12.3k", 2.5e6: "2.5M", 3e9: "3G", -0.5: "-0.5",
	} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %s, want %s", v, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", 245 * time.Second: "4m05s", 7380 * time.Second: "2h03m",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%v) = %s, want %s", d, got, want)
		}
	}
}

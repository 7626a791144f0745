package chaos

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"millrace/runners/embedded"
	"millrace/transforms/kafkaio"
	"millrace/transforms/kafkaio/kafkatest"
)

// TestMain lets the test binary be the processes of a campaign.
func TestMain(m *testing.M) {
	Role()
	os.Exit(m.Run())
}

// TestCampaign is invariants 2 and 6 over whole processes, in short: nothing is
// lost, each sample enters one step, and the weights are those of a run without
// faults.
func TestCampaign(t *testing.T) {
	var out bytes.Buffer
	r, err := Run(t.Context(), Config{Dir: t.TempDir(), Seed: 7, Kills: 8, Out: &out})
	if err != nil || !r.Sound() || r.String() != "kills 8 lost 0 duplicated 0 weights equal" {
		t.Errorf("%s, %v\n%s\n%s", r, err, &out, r.Report())
	}
}

// TestKafka is the same on real brokers, which are disturbed by nothing but the
// connections to them.
func TestKafka(t *testing.T) {
	kafkatest.Each(t, func(t *testing.T, b *kafkatest.Broker) {
		var out bytes.Buffer
		r, err := Run(t.Context(), Config{Dir: t.TempDir(), Seed: 8, Kills: 6, Brokers: b.Plain, Out: &out})
		if err != nil || !r.Sound() || r.Kills != 6 {
			t.Errorf("%s, %v\n%s\n%s", r, err, &out, r.Report())
		}
	})
}

// TestAuditorFindsOtherWeights: a learner that began with other weights, which
// stands for any that computes something else, is told apart.
func TestAuditorFindsOtherWeights(t *testing.T) {
	ctx := t.Context()
	c := &campaign{Config: Config{Dir: t.TempDir(), Seed: 3, Out: io.Discard}, proxies: map[string]*proxy{}, processes: map[string]*process{}}
	defer c.close()
	if err := c.open(ctx, 2); err != nil {
		t.Fatal(err)
	}
	if _, err := c.awaitStep(ctx, 2); err != nil {
		t.Fatal(err)
	}
	var same, other Result
	if err := c.audit(ctx, &same); err != nil || !same.Sound() {
		t.Errorf("%s, %v\n%s", same, err, same.Report())
	}
	c.Seed++
	if err := os.RemoveAll(filepath.Join(c.Dir, replayDir)); err != nil {
		t.Fatal(err)
	}
	if err := c.audit(ctx, &other); err != nil || other.Sound() || !other.WeightsDiffer {
		t.Errorf("another learner: %s, %v\n%s", other, err, other.Report())
	}
	shorter := Result{digests: same.digests[:1]}
	if same.compare(shorter); !same.WeightsDiffer {
		t.Error("a run that took a step less is equal")
	}
}

func TestScheduleIsAFunctionOfTheSeed(t *testing.T) {
	text := Describe(7, 40, "")
	if text != Describe(7, 40, "") {
		t.Error("one seed gave two schedules")
	}
	if text == Describe(8, 40, "") {
		t.Error("two seeds gave one schedule")
	}
	kills := 0
	for _, f := range schedule(7, 40, true, "") {
		if f.kills() {
			kills++
		}
	}
	if kills != 40 {
		t.Errorf("%d kills, want 40", kills)
	}
}

// TestLongScheduleHasEverything: every point, every fault between the kills, and
// every file that can be torn.
func TestLongScheduleHasEverything(t *testing.T) {
	points, others, torn := map[passage]bool{}, map[string]bool{}, map[string]bool{}
	for _, f := range schedule(1, 200, true, "") {
		switch {
		case f.kind == killAt:
			points[f.at] = true
		case f.kills():
			torn[f.torn] = true
		default:
			others[string(f.kind)+f.role+f.topic] = true
		}
	}
	for _, p := range passages() {
		if !points[p] {
			t.Errorf("nobody dies when %s", p)
		}
	}
	for _, f := range disturbances(true) {
		if !others[string(f.kind)+f.role+f.topic] {
			t.Errorf("never: %s", f)
		}
	}
	for _, files := range tearable {
		for _, f := range files {
			if !torn[f] {
				t.Errorf("%s is never torn", f)
			}
		}
	}
	for _, f := range schedule(1, 200, false, "") {
		if f.role == brokerRole {
			t.Errorf("the campaign has no broker of its own: %s", f)
		}
	}
}

// TestScheduleOfOneRole: nothing happens but kills of that role, at random moments
// and at each of its points, and it takes a step between them.
func TestScheduleOfOneRole(t *testing.T) {
	for _, only := range roles {
		points := map[passage]bool{}
		for _, f := range schedule(1, 100, true, only) {
			if f.role != only || f.kind != kill && f.kind != killAt || f.torn != "" || f.steps < 1 {
				t.Errorf("only %s: %s", only, f)
			}
			points[f.at] = true
		}
		for _, p := range passages() {
			if points[p] != (p.role == only) {
				t.Errorf("only %s: dies when %s: %v", only, p, points[p])
			}
		}
	}
	for _, c := range []Config{{Kills: 1, Only: "learner"}, {Kills: 1, Only: brokerRole, Brokers: "127.0.0.1:1"}} {
		if _, err := Run(t.Context(), c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

// TestProxyHoldsBack: a request dropped before the broker never arrives, an answer
// dropped behind it makes the client write again.
func TestProxyHoldsBack(t *testing.T) {
	for point, want := range map[string][]string{atProduce: {"a"}, atProduced: {"a", "a"}} {
		t.Run(point, func(t *testing.T) {
			b, err := embedded.StartBroker(embedded.BrokerConfig{})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			var passed []string
			p, err := newProxy(b.Addr(), func(at string) bool {
				passed = append(passed, at)
				return at != point || slices.Contains(passed[:len(passed)-1], point)
			})
			if err != nil {
				t.Fatal(err)
			}
			defer p.close()
			if err := kafkaio.EnsureTopics(t.Context(), p.addr(), kafkaio.TopicSpec{Name: "t", Partitions: 1}); err != nil {
				t.Fatal(err)
			}
			if err := kafkaio.Produce(t.Context(), p.addr(), kafkaio.Output{Topic: "t", Value: []byte("a")}); err != nil {
				t.Fatal(err)
			}
			records, err := recordsOf(t.Context(), b.Addr(), "t")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range records {
				got = append(got, string(r.Value))
			}
			if !slices.Equal(got, want) {
				t.Errorf("the log holds %q, want %q; passed %q", got, want, passed)
			}
		})
	}
}

// TestTear: what is torn stays within what a crash may cost.
func TestTear(t *testing.T) {
	dir := t.TempDir()
	steps := checkpoints(dir)
	for path, text := range map[string]string{
		filepath.Join(roleDir(dir, scoreRole), cacheFile):                 strings.Repeat("x", 1000),
		filepath.Join(steps, "CURRENT"):                                   "step-000004\n",
		filepath.Join(steps, "step-000004", "model.safetensors"):          "whole",
		filepath.Join(steps, "step-000005", "model.safetensors"):          "never current",
		filepath.Join(steps, "incomplete-step-000005", "state.json"):      "unfinished",
		filepath.Join(steps, "ledger.frames"):                             "committed",
		filepath.Join(roleDir(dir, brokerRole), "data", "log", "0.dat"):   strings.Repeat("b", 100),
		filepath.Join(roleDir(dir, brokerRole), "data", "log", "1.dat"):   strings.Repeat("b", 100),
		filepath.Join(roleDir(dir, brokerRole), "data", "log", "meta.js"): "{}",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := func(elem ...string) string {
		b, err := os.ReadFile(filepath.Join(elem...))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, torn := range []string{tornCache, tornJournal, tornCheckpoint, tornLedger, tornSegment, tornSegment} {
		if err := tear(dir, torn, 5); err != nil {
			t.Errorf("%s: %v", torn, err)
		}
	}
	if n := len(read(roleDir(dir, scoreRole), cacheFile)); n >= 1000 || n < 700 {
		t.Errorf("the cache has %d of 1000 bytes", n)
	}
	if read(steps, "step-000004", "model.safetensors") != "whole" {
		t.Error("the current checkpoint was touched")
	}
	if read(steps, "step-000005", "model.safetensors") == "never current" || read(steps, "incomplete-step-000005", "state.json") == "unfinished" {
		t.Error("an unfinished checkpoint is whole")
	}
	if text := read(steps, "ledger.frames"); !strings.HasPrefix(text, "committed") || text == "committed" {
		t.Errorf("the ledger is %q", text)
	}
	for _, name := range []string{"0.dat", "1.dat"} {
		if text := read(roleDir(dir, brokerRole), "data", "log", name); !strings.HasPrefix(text, strings.Repeat("b", 100)) {
			t.Errorf("segment %s lost what it held", name)
		}
	}
}

func TestResultInOneLine(t *testing.T) {
	for want, r := range map[string]Result{
		"kills 20 lost 0 duplicated 0 weights equal": {Kills: 20},
		"kills 3 lost 2 duplicated 1 weights differ": {Kills: 3, Lost: 2, Duplicated: 1, WeightsDiffer: true},
	} {
		if got := fmt.Sprint(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if r.Sound() != (r.Lost == 0) {
			t.Errorf("%s is sound: %v", r, r.Sound())
		}
	}
}

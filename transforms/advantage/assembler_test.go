package advantage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
)

func init() { register.Function1x1(closedText) }

// offered are members of three groups of four with every way to be refused.
func offered() []schemas.Member {
	var members []schemas.Member
	for _, g := range []string{"a", "b", "c"} {
		for rollout := range int32(4) {
			members = append(members, weighing(g, rollout, 4, float64(rollout%3)))
		}
	}
	conflict := weighing("b", 1, 4, 9)
	misfit := weighing("b", 2, 5, 0)
	invalid := weighing("c", 0, 4, 0)
	invalid.Reward.Trajectory.Tokens = nil
	return append(members[:11], // c lacks a member
		weighing("a", 0, 4, 0), conflict, misfit, invalid)
}

// TestAssembler: groups leave with their last member, or at the end; what cannot join
// one leaves by itself; and each member leaves once (invariant 6).
func TestAssembler(t *testing.T) {
	a, err := NewAssembler(DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	sources := 0
	members := offered()
	for _, m := range members {
		if c, ok := a.Add(m); ok {
			out = append(out, closedText(c))
			sources += len(c.Sources)
		}
	}
	for _, c := range a.End() {
		out = append(out, closedText(c))
		sources += len(c.Sources)
	}
	want := []string{"4 samples of a", "4 samples of b", "repeat", "duplicate b#1.0", "invalid b#2.0", "invalid c#0.0", "3 samples of c"}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if sources != len(members) {
		t.Errorf("%d of %d members left", sources, len(members))
	}
	if more := a.End(); len(more) != 0 {
		t.Errorf("a second end closes %d groups", len(more))
	}
	if c, ok := a.Add(weighing("c", 3, 4, 0)); !ok || closedText(c) != "late c#3.0" {
		t.Errorf("behind the end: %q", closedText(c))
	}
}

func closedText(c Closed) string {
	switch {
	case len(c.Samples) > 0:
		return fmt.Sprintf("%d samples of %s", len(c.Samples), c.Samples[0].GroupID)
	case len(c.DeadLetters) > 0:
		return fmt.Sprintf("%s %s", c.DeadLetters[0].Reason, c.DeadLetters[0].RecordID)
	}
	return "repeat"
}

// TestAssemblerAnyOrder (invariant 5): in whatever order a group's members come,
// its samples are those of Assign, to the bit.
func TestAssemblerAnyOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var members []schemas.Member
	for rollout := range int32(8) {
		members = append(members, weighing("g", rollout, 8, random.NormFloat64()))
	}
	want, _ := Assign(DefaultConfig(), members)
	for range 20 {
		random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		a, err := NewAssembler(DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		var got []schemas.Sample
		for _, m := range members {
			c, _ := a.Add(m)
			got = append(got, c.Samples...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-assigned +assembled:\n%s", diff)
		}
	}
}

// TestBundled: the transform gives what the assembler gives.
func TestBundled(t *testing.T) {
	p, s := beam.NewPipelineWithRoot()
	members := beam.ParDo(s, emitOffered, beam.Impulse(s))
	passert.EqualsList(s, beam.ParDo(s, closedText, Bundled(s, DefaultConfig(), members)),
		[]string{"4 samples of a", "4 samples of b", "repeat", "duplicate b#1.0", "invalid b#2.0", "invalid c#0.0", "3 samples of c"})
	ptest.RunAndValidate(t, p)
}

func init() { register.Function2x0(emitOffered) }

// emitOffered emits all from one element, so that they are one bundle.
func emitOffered(_ []byte, emit func(schemas.Member)) {
	for _, m := range offered() {
		emit(m)
	}
}

// TestSampleDigest: samples that differ in anything that is trained on, or told, have
// different digests.
func TestSampleDigest(t *testing.T) {
	samples, _ := Assign(DefaultConfig(), []schemas.Member{weighing("g", 0, 2, 1), weighing("g", 1, 2, 0)})
	digest := func(change func(*schemas.Sample)) uint64 {
		s := samples[0]
		s.Tokens, s.LogProbs, s.Versions = slices.Clone(s.Tokens), slices.Clone(s.LogProbs), slices.Clone(s.Versions)
		change(&s)
		d, err := Digest(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	same := digest(func(*schemas.Sample) {})
	for name, change := range map[string]func(*schemas.Sample){
		"id": func(s *schemas.Sample) { s.ID = "x" }, "token": func(s *schemas.Sample) { s.Tokens[2]++ },
		"log-prob": func(s *schemas.Sample) { s.LogProbs[2] /= 2 }, "version": func(s *schemas.Sample) { s.Versions[2]++ },
		"advantage": func(s *schemas.Sample) { s.Advantage *= 1 + 1e-15 }, "weight": func(s *schemas.Sample) { s.Weight = 0 },
		"members": func(s *schemas.Sample) { s.GroupMembers-- }, "tools": func(s *schemas.Sample) { s.Tools = nil },
	} {
		if digest(change) == same {
			t.Errorf("another %s has the same digest", name)
		}
	}
}

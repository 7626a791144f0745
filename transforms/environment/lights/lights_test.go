package lights

import (
	"math/bits"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
	"millrace/transforms/environment"
	"millrace/transforms/environment/environmenttest"
)

// distances are the least numbers of presses from no lamp on to every state that can
// be reached, found breadth first: a dumb twin of shortest.
func distances(s shape) map[panel]int {
	found := map[panel]int{0: 0}
	for frontier := []panel{0}; len(frontier) > 0; {
		p := frontier[0]
		frontier = frontier[1:]
		for lamp := range s.lamps() {
			next := p ^ s.toggles(lamp)
			if _, known := found[next]; !known {
				found[next] = found[p] + 1
				frontier = append(frontier, next)
			}
		}
	}
	return found
}

func TestShortestIsTheBreadthFirstDistance(t *testing.T) {
	for _, s := range []shape{
		{1, 2, true}, {1, 5, true}, {2, 2, true}, {2, 3, true}, {3, 3, true}, {3, 4, true}, {2, 5, true},
		{1, 2, false}, {3, 3, false},
	} {
		found := distances(s)
		for p := range panel(1) << s.lamps() {
			want, ok := found[p]
			if !ok {
				want = -1
			}
			if got := s.shortest(p); got != want {
				t.Fatalf("%v: panel %b takes %d presses, breadth first %d", s, p, got, want)
			}
		}
	}
}

// TestPublishedFacts: of the 5 by 5 panel a quarter of the states can be solved
// (Anderson & Feil 1998, Turning Lights Out with Linear Algebra), and none takes
// more than 15 presses.
func TestPublishedFacts(t *testing.T) {
	s := shape{5, 5, true}
	solvable, most := 0, 0
	const every = 40_009 // a prime: states of all kinds
	n := 0
	for p := panel(0); p < 1<<25; p += every {
		n++
		if presses := s.shortest(p); presses >= 0 {
			solvable++
			most = max(most, presses)
		}
	}
	// Binomial with n = 839 and p = 1/4: 210 +- 5 * 12.5.
	if solvable < 147 || solvable > 273 || most > 15 {
		t.Errorf("%d of %d states can be solved, in at most %d presses; want a quarter, 15", solvable, n, most)
	}
}

func TestContract(t *testing.T) {
	for _, set := range []Set{DefaultSet(), {Seed: 3, Width: 3, Height: 3, Presses: [2]int{1, 3}, Train: 40, Test: 10}} {
		if err := set.Validate(); err != nil {
			t.Fatal(err)
		}
		tasks, err := set.Tasks()
		if err != nil {
			t.Fatal(err)
		}
		environmenttest.Test(t, Environment{}, tasks)
	}
}

// TestSet: every panel is solvable within the bounds, and no panel is in two splits.
func TestSet(t *testing.T) {
	set := DefaultSet()
	tasks, err := set.Tasks()
	if err != nil {
		t.Fatal(err)
	}
	splits := map[string]int{}
	states := map[uint32]bool{}
	for _, task := range tasks {
		p, err := environment.Parameters[Parameters](task)
		if err != nil {
			t.Fatal(err)
		}
		if states[p.On] {
			t.Errorf("panel %b is there twice", p.On)
		}
		states[p.On] = true
		splits[task.Split]++
		if p.Shortest < set.Presses[0] || p.Shortest > set.Presses[1] {
			t.Errorf("panel %b takes %d presses, not %v", p.On, p.Shortest, set.Presses)
		}
	}
	// Each set of lamps leads to another state: 8 + 28 + 56 + 70 sets of 1 to 4.
	if diff := cmp.Diff(map[string]int{Test: 32, Train: 130}, splits); diff != "" {
		t.Errorf("tasks by split (-want +got):\n%s", diff)
	}
	again := set
	again.Train = 5
	few, err := again.Tasks()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tasks[:37], few); diff != "" {
		t.Errorf("another number of tasks gives others (-all +few):\n%s", diff)
	}
}

func TestSetsAreRefused(t *testing.T) {
	for want, change := range map[string]func(*Set){
		"want 2 to 25 lamps":    func(s *Set) { s.Width, s.Height = 5, 6 },
		"the height is no less": func(s *Set) { s.Width = 5 },
		"train is 0":            func(s *Set) { s.Train = 0 },
		"presses is [0 4]":      func(s *Set) { s.Presses[0] = 0 },
		"presses is [1 9]":      func(s *Set) { s.Presses[1] = 9 },
	} {
		set := DefaultSet()
		change(&set)
		if err := set.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	set := DefaultSet()
	set.Test = 162
	if _, err := set.Tasks(); err == nil || !strings.Contains(err.Error(), "none is left") {
		t.Errorf("all states tested with: error %v", err)
	}
}

// TestConversation is an episode as the agent reads it: the panel
//
//	X O
//	X X
//	X O
//
// is solved by its middle left lamp.
func TestConversation(t *testing.T) {
	task, err := environment.Task(Name, "2x3", Test, Parameters{Width: 2, Height: 3, Crossed: true, On: 0b011101, Shortest: 1}, AllOff)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Environment{}.Start(task)
	if err != nil {
		t.Fatal(err)
	}
	_, user := e.Prompt()
	said := []string{user}
	var last environment.Answer
	for _, turn := range []string{"hm", "a", "I press A", "first a, no: c."} {
		last = e.Step(turn)
		said = append(said, last.Observation)
	}
	want := []string{
		" Xa Ob Xc Xd Xe Of",
		" Xa Ob Xc Xd Xe Of same",
		" Oa Xb Oc Xd Xe Of",
		" Xa Ob Xc Xd Xe Of",
		" Oa Ob Oc Od Oe Of",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if !last.Done || len(e.Reached()) != 1 {
		t.Errorf("the last answer is %+v, reached %v", last, e.Reached())
	}
}

// TestPressesAreTheirOwnInverse and commute, on all lamps of a panel.
func TestPressesAreTheirOwnInverse(t *testing.T) {
	s := shape{3, 4, true}
	for lamp := range s.lamps() {
		once := s.pressed(0, 1<<lamp)
		if twice := s.pressed(once, 1<<lamp); twice != 0 {
			t.Errorf("lamp %s pressed twice leaves %b", s.name(lamp), twice)
		}
		row, col := lamp/3, lamp%3
		neighbours := 0
		for _, at := range [][2]int{{row - 1, col}, {row + 1, col}, {row, col - 1}, {row, col + 1}} {
			if at[0] >= 0 && at[0] < 4 && at[1] >= 0 && at[1] < 3 {
				neighbours++
			}
		}
		if got := bits.OnesCount32(uint32(once)); got != neighbours+1 {
			t.Errorf("lamp %s switches %d lamps, want itself and %d", s.name(lamp), got, neighbours)
		}
	}
}

func FuzzParameters(f *testing.F) {
	f.Add(`{"width":2,"height":3,"crossed":true,"on":29,"shortest":1}`, "c")
	f.Add(`{"width":5,"height":5,"crossed":true,"on":1,"shortest":-1}`, "a")
	f.Add(`{"width":1,"height":25,"on":3,"shortest":2}`, "\xff a b")
	f.Fuzz(func(t *testing.T, parameters, turn string) {
		environmenttest.Play(t, Environment{}, schemas.Task{ID: "t", Environment: Name, Parameters: parameters, FailToPass: []string{AllOff}}, turn)
	})
}

func BenchmarkStep(b *testing.B) {
	e := &episode{shape: shape{3, 3, true}, now: 1, lamps: map[string]string{"a": "a"}, names: []string{"a"}}
	for b.Loop() {
		e.Step("a")
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}

package frozenlake

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
	"millrace/transforms/environment"
	"millrace/transforms/environment/environmenttest"
)

// recorded is testdata/lakes.json: what rLLM's environment and agent do.
type recorded struct {
	Walks []struct {
		Parameters
		Board  []string
		First  string
		Played []struct {
			Action int
			View   string
			Reward float64
			Done   bool
		}
	}
	Boards []struct {
		Parameters
		Board []string
	}
	Split struct {
		Rows   [][]any
		SHA256 string
	}
	Turns []struct {
		Turn   string
		Action int
	}
}

func golden(t *testing.T) (r recorded) {
	t.Helper()
	data, err := os.ReadFile("testdata/lakes.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Walks) < 40 || len(r.Boards) < 60 || len(r.Turns) < 20 || len(r.Split.Rows) != 5 {
		t.Fatalf("testdata/lakes.json has %d walks, %d turns, %d rows", len(r.Walks), len(r.Turns), len(r.Split.Rows))
	}
	return r
}

// TestLakesAreTheOriginals: board, slips, grid, reward and end of every step.
func TestLakesAreTheOriginals(t *testing.T) {
	slipped, solved := 0, 0
	for _, want := range golden(t).Walks {
		p := want.Parameters
		board := NewBoard(p.Seed, p.Size, p.P, p.Reach)
		if diff := cmp.Diff(strings.Join(want.Board, "\n"), board.String()); diff != "" {
			t.Fatalf("seed %d, size %d: board (-original +ours):\n%s", p.Seed, p.Size, diff)
		}
		w := newWalk(board, p.Seed, p.Slippery)
		if diff := cmp.Diff(want.First, grid(w)); diff != "" {
			t.Fatalf("seed %d: first view (-original +ours):\n%s", p.Seed, diff)
		}
		for i, s := range want.Played {
			w.move(Move(s.Action))
			if diff := cmp.Diff(s.View, grid(w)); diff != "" {
				t.Fatalf("seed %d, slippery %v, step %d: view (-original +ours):\n%s", p.Seed, p.Slippery, i, diff)
			}
			if w.over() != s.Done || w.solved() != (s.Reward == 1) {
				t.Errorf("seed %d, step %d: over %v, solved %v; the original has done %v, reward %v", p.Seed, i, w.over(), w.solved(), s.Done, s.Reward)
			}
			if s.Reward == 1 {
				solved++
			}
		}
		if p.Slippery {
			slipped++
		}
	}
	if slipped < 10 || solved < 2 {
		t.Errorf("the walks on record prove little: %d slippery, %d solved", slipped, solved)
	}
}

// TestBoardsAreTheOriginals: with other bounds of the search than rLLM uses.
func TestBoardsAreTheOriginals(t *testing.T) {
	for _, want := range golden(t).Boards {
		p := want.Parameters
		if diff := cmp.Diff(strings.Join(want.Board, "\n"), p.board().String()); diff != "" {
			t.Errorf("seed %d, size %d, reach %d: board (-original +ours):\n%s", p.Seed, p.Size, p.Reach, diff)
		}
	}
}

// TestTurnsAreReadAsTheOriginalReads: fences, words and digits.
func TestTurnsAreReadAsTheOriginalReads(t *testing.T) {
	for _, want := range golden(t).Turns {
		if got := protocols[Published].read(want.Turn); got != Move(want.Action) {
			t.Errorf("turn %q is %q, the original reads %q", want.Turn, got, Move(want.Action))
		}
	}
}

// TestPublishedSplit: the 10,000 and 100 maps of numpy.random.seed(42).
func TestPublishedSplit(t *testing.T) {
	want := golden(t).Split
	train, test := PublishedSet().draw()
	if len(train) != 10_000 || len(test) != 100 {
		t.Fatalf("%d maps to train on, %d to test with", len(train), len(test))
	}
	sum := sha256.New()
	all := append(train, test...)
	for _, p := range all {
		fmt.Fprintf(sum, "%d %d %s\n", p.Seed, p.Size, pythonHex(p.P))
	}
	for i, at := range []int{0, 1, 9999, 10000, 10099} {
		got := []any{float64(all[at].Seed), float64(all[at].Size), pythonHex(all[at].P)}
		if diff := cmp.Diff(want.Rows[i], got); diff != "" {
			t.Errorf("map %d (-original +ours):\n%s", at, diff)
		}
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want.SHA256 {
		t.Errorf("SHA-256 of all maps is %s, of the original's %s", got, want.SHA256)
	}
}

// pythonHex is float.hex of a number of [0.5, 1).
func pythonHex(f float64) string {
	text := strconv.FormatFloat(f, 'x', 13, 64)
	return strings.Replace(text, "p-01", "p-1", 1)
}

func task(t *testing.T, p Parameters) schemas.Task {
	t.Helper()
	task, err := environment.Task(Name, "test", Test, p, GoalReached)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

func TestContract(t *testing.T) {
	for _, protocol := range []Protocol{Compact, Published} {
		for _, slippery := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,slippery=%v", protocol, slippery), func(t *testing.T) {
				set := PublishedSet()
				set.Train, set.Test, set.Protocol, set.Slippery, set.Sizes = 60, 20, protocol, slippery, [2]int{2, 5}
				if err := set.Validate(); err != nil {
					t.Fatal(err)
				}
				tasks, err := set.Tasks()
				if err != nil {
					t.Fatal(err)
				}
				environmenttest.Test(t, Environment{}, tasks)
			})
		}
	}
}

// TestConversations are whole episodes as the agent reads them, on the board
//
//	F S H
//	F F H
//	G H H
func TestConversations(t *testing.T) {
	p := Parameters{Seed: 7, Size: 3, P: 0.7, Reach: 8, Steps: 3}
	const stuck = "\nYour last answer moved you nowhere: there was no valid action in it, or the edge was in the way. End your answer with one action between two marks of three backticks, such as ```Up```."
	const ask = "\nYou have not reached G yet. What is your next action?"
	for _, c := range []struct {
		protocol    Protocol
		turns, want []string
	}{
		{Compact, []string{"nothing", "left", "go d"}, []string{
			" 3 Or Odr Odd Oddr Gddl",
			" 2 same Or Odr Odd Oddr Gddl",
			" 1 Orr Odrr Oddr Oddrr Gdd",
			" Ourr Orr Odr Odrr Gd", // no step is left
		}},
		{Compact, []string{"left", "2", "down"}, []string{
			" 3 Or Odr Odd Oddr Gddl",
			" 2 Orr Odrr Oddr Oddrr Gdd",
			" 1 Ourr Orr Odr Odrr Gd",
			" √",
		}},
		{Compact, []string{"r"}, []string{" 3 Or Odr Odd Oddr Gddl", " X"}},
		{Published, []string{"Left", "```Right```"}, []string{
			"Current Observation (0):\n _ \t P \t O \t\n _ \t _ \t O \t\n G \t O \t O \t" + ask + "\nSteps remaining: 3",
			"Current Observation (1):\n _ \t P \t O \t\n _ \t _ \t O \t\n G \t O \t O \t" + ask + stuck + "\nSteps remaining: 2",
			"Current Observation (2):\n _ \t _ \t X \t\n _ \t _ \t O \t\n G \t O \t O \t\nThe walk is over.",
		}},
	} {
		p.Protocol = c.protocol
		e, err := Environment{}.Start(task(t, p))
		if err != nil {
			t.Fatal(err)
		}
		_, first := e.Prompt()
		said := []string{first}
		for _, turn := range c.turns {
			said = append(said, e.Step(turn).Observation)
		}
		if diff := cmp.Diff(c.want, said); diff != "" {
			t.Errorf("%s, %q: messages (-want +got):\n%s", c.protocol, c.turns, diff)
		}
	}
}

// TestParametersAreRefused names what is wrong.
func TestParametersAreRefused(t *testing.T) {
	sound := `{"seed":7,"size":3,"p":0.7,"reach":8,"slippery":false,"protocol":"compact","steps":4}`
	start := func(parameters string) error {
		_, err := Environment{}.Start(schemas.Task{ID: "frozenlake/x", Environment: Name, Parameters: parameters})
		return err
	}
	if err := start(sound); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"size":3`, `"size":1`, "size is 1"},
		{`"size":3`, `"size":27`, "size is 27"},
		{`"size":3`, `"size":"3"`, "cannot unmarshal string"},
		{`"p":0.7`, `"p":0`, "p is 0"},
		{`"p":0.7`, `"p":1.5`, "p is 1.5"},
		{`"reach":8`, `"reach":0`, "reach is 0"},
		{`"compact"`, `"terse"`, `protocol is "terse"`},
		{`"seed":7`, `"seed":9007199254740992`, "want less than 2^53"},
		{`"seed":7`, `"seed":-7`, "cannot unmarshal number -7"},
		{`"steps":4`, `"steps":4,"stepz":4`, "stepz"},
		{`}`, `} {}`, "text after"},
		{sound, ``, "EOF"},
	} {
		err := start(strings.Replace(sound, c.from, c.to, 1))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "frozenlake/x") {
			t.Errorf("%s: error %v, want one with %q that names the task", c.to, err, c.want)
		}
	}
}

// TestApart: no board to train on is one to test with, and nothing else is left out.
func TestApart(t *testing.T) {
	set := PublishedSet()
	set.Train, set.Test, set.Sizes = 400, 40, [2]int{2, 3}
	boards := func(apart bool) (train []string, test map[string]bool) {
		set.Apart = apart
		tasks, err := set.Tasks()
		if err != nil {
			t.Fatal(err)
		}
		test = map[string]bool{}
		for _, task := range tasks {
			p, err := environment.Parameters[Parameters](task)
			if err != nil {
				t.Fatal(err)
			}
			if task.Split == Test {
				test[p.board().String()] = true
			} else {
				train = append(train, p.board().String())
			}
		}
		return train, test
	}
	all, test := boards(false)
	apart, same := boards(true)
	if diff := cmp.Diff(test, same); diff != "" {
		t.Errorf("boards to test with (-together +apart):\n%s", diff)
	}
	var want []string
	for _, b := range all {
		if !test[b] {
			want = append(want, b)
		}
	}
	if len(want) == len(all) {
		t.Error("no board is in both splits: the test proves nothing")
	}
	if diff := cmp.Diff(want, apart); diff != "" {
		t.Errorf("boards to train on (-want +got):\n%s", diff)
	}
}

func FuzzParameters(f *testing.F) {
	f.Add(`{"seed":7,"size":3,"p":0.7,"reach":8,"slippery":true,"protocol":"compact","steps":4}`, "left right")
	f.Add(`{"seed":99999,"size":9,"p":0.6,"reach":5,"slippery":false,"protocol":"published","steps":0}`, "```4```")
	f.Add(`{"size":26,"p":0.1,"reach":1,"protocol":"compact"}`, "\xff")
	f.Fuzz(func(t *testing.T, parameters, turn string) {
		environmenttest.Play(t, Environment{}, schemas.Task{ID: "t", Environment: Name, Parameters: parameters, FailToPass: []string{GoalReached}}, turn)
	})
}

func BenchmarkStart(b *testing.B) {
	task, err := environment.Task(Name, "test", Test, Parameters{Seed: 7, Size: 4, P: 0.7, Reach: 8, Protocol: Compact}, GoalReached)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := (Environment{}).Start(task); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	e := &episode{walk: newWalk(Board{Size: 4, Tiles: []Tile("SFFFFFFFFFFFFFFG")}, 1, false), speech: protocols[Compact]}
	e.Prompt()
	for b.Loop() {
		e.Step("left")
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}

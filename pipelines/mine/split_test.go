package mine

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
	"millrace/transforms/inject"
)

// madeUp returns programs whose candidates are valid except every fifth.
func madeUp(programs, candidates int) [][]Validated {
	kinds := inject.Kinds()
	out := make([][]Validated, programs)
	for i := range out {
		for j := range candidates {
			v := Validated{Outcome: Valid}
			v.Fault.Kind = kinds[j%3]
			v.Task = schemas.Task{ID: fmt.Sprintf("%02d/%02d", i, j), Repo: fmt.Sprint(i)}
			if j%5 == 0 {
				v.Outcome = NoFailToPass
			}
			out[i] = append(out[i], v)
		}
	}
	return out
}

func ids(vs []Validated) (out []string) {
	for _, v := range vs {
		out = append(out, v.Task.Split+" "+v.Task.ID)
	}
	return out
}

func TestAssign(t *testing.T) {
	cfg := BuildConfig{Seed: 3, PerFunction: 6, HeldOutFunctions: 2, HeldOutFaults: 9, HeldOutPerFunction: 2}
	got := assign(cfg, madeUp(8, 20))
	count, heldOut := map[string]int{}, map[string]int{}
	for i, v := range got {
		count[v.Task.Split]++
		if v.Task.Split == HeldOutFault {
			heldOut[v.Task.Repo]++
		}
		if v.Outcome != Valid {
			t.Errorf("%s is a task, but its outcome is %q", v.Task.ID, v.Outcome)
		}
		if i > 0 && got[i-1].Task.ID >= v.Task.ID {
			t.Errorf("%s comes after %s", v.Task.ID, got[i-1].Task.ID)
		}
	}
	// 8 programs of 6 tasks: 2 programs apart, 9 faults of the other 36 tasks.
	if diff := cmp.Diff(map[string]int{HeldOutFunction: 12, HeldOutFault: 9, Train: 27}, count); diff != "" {
		t.Errorf("tasks by split (-want +got):\n%s", diff)
	}
	for repo, n := range heldOut {
		if n > cfg.HeldOutPerFunction {
			t.Errorf("%d faults of %s are held out", n, repo)
		}
	}
	if diff := cmp.Diff(ids(got), ids(assign(cfg, madeUp(8, 20)))); diff != "" {
		t.Errorf("the same seed splits otherwise:\n%s", diff)
	}
	cfg.Seed = 4
	if cmp.Equal(ids(got), ids(assign(cfg, madeUp(8, 20)))) {
		t.Error("another seed gives the same split")
	}
}

// TestSpreadTakesEachKindInTurn: of 4 valid faults of each of three kinds and
// 7 places, each kind gets at least 2; invalid ones are never taken.
func TestSpreadTakesEachKindInTurn(t *testing.T) {
	cfg := BuildConfig{Seed: 1, PerFunction: 7}
	kinds := map[inject.Kind]int{}
	for _, v := range assign(cfg, madeUp(1, 15)) {
		kinds[v.Fault.Kind]++
	}
	want := map[inject.Kind]int{inject.FlipOperators: 3, inject.Boundary: 2, inject.ChangeConst: 2}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("kinds taken (-want +got):\n%s", diff)
	}
}

func TestBuildConfigValidate(t *testing.T) {
	if err := DefaultBuildConfig().Validate(); err != nil {
		t.Errorf("default settings: %v", err)
	}
	_, _, err := Build(t.Context(), BuildConfig{HeldOutFaults: -1}, nil)
	want := "building a task set: PerFunction is 0; it has to be above 0\n" +
		"building a task set: TestTimeout is 0; it has to be above 0\n" +
		"building a task set: Workers is 0; it has to be above 0\n" +
		"building a task set: of HeldOutFunctions 0, HeldOutFaults -1 and HeldOutPerFunction 0 none may be negative"
	if err == nil || err.Error() != want {
		t.Errorf("error\n%v\nwant\n%s", err, want)
	}
}

package score

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
	"millrace/transforms/testlog"
)

// TestReplayIsDeterministic (invariant 5): the recorded results of every kind of run
// give the reward that the run gave, and other expectations another.
func TestReplayIsDeterministic(t *testing.T) {
	task := aTask("wrong\n")
	task.PassToPass = []string{"TestOther"}
	task.ID, task.FailToPass = "t", []string{"TestHidden", "m.TestDeep/sub"}
	for name, results := range map[string]testlog.Results{
		"all pass":     {Verdicts: []testlog.Verdict{{Test: "TestHidden", Name: "m.TestHidden", Status: testlog.Passed}, {Test: "TestDeep/sub", Name: "m.TestDeep/sub", Status: testlog.Passed}, {Test: "TestOther", Name: "m.TestOther", Status: testlog.Passed}}},
		"one fails":    {Verdicts: []testlog.Verdict{{Test: "TestHidden", Name: "m.TestHidden", Status: testlog.Failed}, {Test: "TestDeep/sub", Name: "m.TestDeep/sub", Status: testlog.Passed}, {Test: "TestOther", Name: "m.TestOther", Status: testlog.Passed}}},
		"one skipped":  {Verdicts: []testlog.Verdict{{Test: "TestHidden", Name: "m.TestHidden", Status: testlog.Skipped}, {Test: "TestDeep/sub", Name: "m.TestDeep/sub", Status: testlog.Passed}, {Test: "TestOther", Name: "m.TestOther", Status: testlog.Passed}}},
		"none was run": {},
	} {
		r := schemas.Reward{Trajectory: trajectory(task, ""), Output: "tail", Cached: true, Duration: 7}
		grade, err := testlog.Judge(task, results)
		if err != nil {
			t.Fatal(err)
		}
		r.Value, r.Passed, r.FailedTests = grade.Value, grade.Passed, grade.Failed
		if diff := cmp.Diff(r, Recorded(r)); diff != "" {
			t.Errorf("%s (-graded +graded again):\n%s", name, diff)
		}
	}
	r := schemas.Reward{Trajectory: trajectory(task, ""), Value: 1, Passed: []string{"TestHidden", "TestOther", "m.TestDeep/sub"}}
	r.Trajectory.Task.PassToPass = []string{"TestOther", "TestNew"}
	if again := Recorded(r); again.Value != 0 || !cmp.Equal(again.FailedTests, []string{"TestNew"}) {
		t.Errorf("a test that was not run: %+v", again)
	}
}

func TestRecordedFailures(t *testing.T) {
	failed := schemas.Reward{Trajectory: trajectory(aTask("x\n"), ""), Failure: "disk full"}
	if diff := cmp.Diff(failed, Recorded(failed)); diff != "" {
		t.Errorf("a failure changed:\n%s", diff)
	}
	if r := Recorded(schemas.Reward{Trajectory: trajectory(aTask("x\n"), ""), Value: 0.5}); r.Value != 0 || r.Failure == "" {
		t.Errorf("without results: %+v", r)
	}
}

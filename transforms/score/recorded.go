package score

import (
	"millrace/schemas"
	"millrace/transforms/testlog"
)

// Recorded grades the recorded results of a rewarded trajectory's tests again, by its
// task's rule (invariant 5: the same results, the same reward; see [testlog.Again]). A
// trajectory that could not be scored stays so; one whose tests were never run, as
// another scorer leaves it, is a failure, and so is one whose rule is unknown.
func Recorded(r schemas.Reward) schemas.Reward {
	if r.Failure != "" {
		return r
	}
	if len(r.Passed)+len(r.FailedTests) == 0 {
		r.Value, r.Failure = 0, "no test results are recorded with the trajectory"
		return r
	}
	grade, err := testlog.Again(r.Trajectory.Task, r.Passed, r.FailedTests)
	if err != nil {
		r.Value, r.Failure = 0, err.Error()
		return r
	}
	r.Value, r.Passed, r.FailedTests = grade.Value, grade.Passed, grade.Failed
	return r
}

package score

import "millrace/schemas"

// Recorded grades the recorded results of a rewarded trajectory's tests again, by the
// rules of [Grade] (invariant 5: the same results, the same reward). A trajectory that
// could not be scored stays so; one whose tests were never run, as another scorer
// leaves it, is a failure.
func Recorded(r schemas.Reward) schemas.Reward {
	if r.Failure != "" {
		return r
	}
	if len(r.Passed)+len(r.FailedTests) == 0 {
		r.Value, r.Failure = 0, "no test results are recorded with the trajectory"
		return r
	}
	var results Results
	for _, name := range r.Passed {
		results.Verdicts = append(results.Verdicts, Verdict{Test: name, Status: Pass})
	}
	for _, name := range r.FailedTests {
		results.Verdicts = append(results.Verdicts, Verdict{Test: name, Status: Fail})
	}
	r.Value, r.Passed, r.FailedTests = Grade(r.Trajectory.Task, results)
	return r
}

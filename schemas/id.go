package schemas

import "fmt"

// GroupID names the group of a task in one iteration of a run.
func GroupID(run, taskID string, iteration int64) string {
	return fmt.Sprintf("%s/%d/%s", run, iteration, taskID)
}

// TrajectoryID names one attempt of one rollout. Ids are functions of what was
// ordered, so a stage that runs a work order twice makes records with equal
// ids, and duplicates fall out downstream.
func TrajectoryID(run, taskID string, iteration int64, rollout, attempt int32) string {
	return fmt.Sprintf("%s#%d.%d", GroupID(run, taskID, iteration), rollout, attempt)
}

// RolloutID names a rollout of a group, whatever its attempt.
func RolloutID(groupID string, rollout int32) string {
	return fmt.Sprintf("%s#%d", groupID, rollout)
}

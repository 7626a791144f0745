package reprocess

import "fmt"

// Training says what a learner made of the samples.
type Training struct {
	// Start is the checkpoint or the step that it began from.
	Start string `json:"start"`
	// Replayed steps were taken again with the original settings, to reach a step whose
	// checkpoint was not kept. Their weights are those of the ledger.
	Replayed int64 `json:"replayed"`
	// First and Last are the steps taken with the new settings; Last is less than First
	// when there was none.
	First int64 `json:"first"`
	Last  int64 `json:"last"`
	// EqualSteps have the weights that the original run's step has.
	EqualSteps int64 `json:"equal_steps"`
	// Consumed samples entered a step, Dropped left as dead letters, Held are left over:
	// their step lacks groups.
	Consumed int64 `json:"consumed"`
	Dropped  int64 `json:"dropped"`
	Held     int64 `json:"held"`
	// WeightsDigest is the SHA-256 of the last weights.
	WeightsDigest string `json:"weights_digest"`
	Checkpoint    string `json:"checkpoint"`
}

func (t *Training) rows() []Row {
	return []Row{
		{"steps taken", nil, t.Last - t.First + 1, "from " + t.Start},
		{"steps with the original's weights", nil, t.EqualSteps, fmt.Sprintf("%d steps were replayed with the original settings", t.Replayed)},
		{"samples trained on", nil, t.Consumed, fmt.Sprintf("%d dropped, %d left over", t.Dropped, t.Held)},
	}
}

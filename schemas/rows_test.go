package schemas

import "strings"

// The rows that the tests share: one full and one sparse row of each type.
// testdata holds them as each version wrote them, so they never change: a new
// field is set here and taken out again in TestGoldenOfOldVersions.

func exampleTask() Task {
	return Task{
		ID: "textwrap/flip-operator/5f1a", Repo: "textwrap", Split: "train",
		Statement: "Wrap breaks lines one column late — see the failing build.",
		Image:     "golang:1.26",
		Files: []File{
			{Path: "go.mod", Content: "module textwrap\n"},
			{Path: "wrap.go", Content: "package textwrap\n\xff\x00raw"},
		},
		HiddenTests: []File{{Path: "wrap_hidden_test.go", Content: "package textwrap\n"}},
		TestCommand: "go test -json ./...", TestFormat: "go-test-json",
		FailToPass: []string{"TestWrap/late", "TestWrap/tab"}, PassToPass: []string{"TestEmpty"},
		GoldPatch: "--- a/wrap.go\n+++ b/wrap.go\n", Iteration: 3, Rollouts: 8,
		BaseCommit: "5f1a", Workdir: "/src/textwrap", Setup: "git checkout 5f1a", Withheld: []string{"/run_tests.sh", "/r2e_tests"},
		Env: []string{"PATH=/opt/go/bin:/bin"}, Network: true, TestPatch: "--- a/wrap_test.go\n+++ b/wrap_test.go\n",
		TestFiles: []string{"wrap_test.go"}, Rule: "r2e", Expected: []Expectation{{"TestWrap", "PASSED"}, {"TestOld", "FAILED"}},
		TestSeconds: 300,
	}
}

func exampleTrajectory() Trajectory {
	t := exampleTask()
	return Trajectory{
		ID: TrajectoryID("demo", t.ID, 3, 2, 1), GroupID: GroupID("demo", t.ID, 3),
		Run: "demo", Iteration: 3, Rollout: 2, Attempt: 1, Task: t,
		Tokens:   []int32{1, 7, 7, 900, 2, 5, 901},
		LossMask: []bool{false, false, true, true, false, true, true},
		LogProbs: []float32{0, 0, -0.5, -1.25, 0, -3.5e-7, -12},
		Versions: []int32{-1, -1, 2, 2, -1, 2, 3},
		Steps: []Step{
			{TokenStart: 2, TokenEnd: 4, Tool: "execute_bash", Action: "look", Observation: "wrap.go",
				ExitCode: 0, Sampling: 1500, Acting: 20_000},
			{TokenStart: 5, TokenEnd: 7, Action: "?", Observation: "no call found", ExitCode: -1, Sampling: 700},
		},
		Termination: StepLimit, Patch: "--- a/wrap.go\n\xfe\n",
		Started: 1_700_000_000_000_000, Finished: 1_700_000_004_000_000, ImageDigest: "sha256:5eed",
	}
}

func tombstone() Trajectory {
	t := Task{ID: "t", Environment: "frozenlake", Parameters: `{"seed":7}`}
	return Trajectory{ID: "r/0/t#0.2", GroupID: "r/0/t", Task: t, Termination: Failed, Failure: "no namespace"}
}

func exampleReward() Reward {
	return Reward{
		Trajectory: exampleTrajectory(), Value: 1, Passed: []string{"TestWrap/late", "TestEmpty"},
		FailedTests: []string{"TestWrap/tab"}, Output: "ok  \ttextwrap\t0.2s\n", Cached: true, Duration: 280_000,
		Parts: []RewardPart{{"tests", 1, 0.75}, {"similarity", 1, 0.25}},
	}
}

func exampleSample() Sample {
	t := exampleTrajectory()
	return Sample{
		ID: t.ID, GroupID: t.GroupID, TaskID: t.Task.ID, Run: t.Run, Iteration: 3, Rollout: 2,
		Tokens: t.Tokens, LossMask: t.LossMask, LogProbs: t.LogProbs, Versions: t.Versions,
		Reward: 1, Advantage: -0.25, Weight: 1, Termination: Finished,
		GroupMembers: 8, GroupWeighing: 7, GroupSize: 8, Turns: 2, Tools: []string{"execute_bash", "finish"},
	}
}

func exampleUpdate() Update {
	return Update{
		Run: "demo", Step: 4, SampleIDs: []string{"a", "b", "c"}, DroppedIDs: []string{"d"}, GroupIDs: []string{"g", "h"},
		Positions:  []Position{{Topic: "demo.samples", Partition: 0, Offset: 12}, {Topic: "demo.samples", Partition: 1, Offset: 9}},
		ConfigHash: "c0ffee", WeightsDigest: "5eed", Metrics: []Metric{{Name: "actor/pg_loss", Value: -0.125}},
		Started: 10, Finished: 20, CodeVersion: "0e2821f+modified",
	}
}

func exampleDeadLetter() DeadLetter {
	return DeadLetter{
		ID: "learn/demo.samples/1/9", Stage: "learn", Reason: Corrupt, Message: "frame begins with \"x\"",
		RecordID: "b", Key: []byte("k\x00"), Payload: []byte{0xff, 0, 1}, Attempts: 3, Time: 30,
		Source: Position{Topic: "demo.samples", Partition: 1, Offset: 9},
	}
}

func exampleTasks() []Task {
	return []Task{exampleTask(), {ID: "bare", Environment: "frozenlake", Parameters: "{}"}}
}
func exampleTrajectories() []Trajectory { return []Trajectory{exampleTrajectory(), tombstone()} }
func exampleUpdates() []Update          { return []Update{exampleUpdate(), {Step: 1}} }
func exampleDeadLetters() []DeadLetter  { return []DeadLetter{exampleDeadLetter()} }
func examplePolicyVersions() []PolicyVersion {
	return []PolicyVersion{{Run: "demo", Version: 4, Checkpoint: "step-000004", Time: 40}}
}

func exampleMeasurements() []Measurement {
	return []Measurement{{Run: "demo", Step: 4, Name: "actor/lr", Value: 1e-4, Time: 50}, {Name: "val/heldout/pass@1"}}
}

func exampleRewards() []Reward {
	return []Reward{exampleReward(), {Trajectory: tombstone(), Failure: "no namespace"}}
}

func exampleMembers() []Member {
	rewards := exampleRewards()
	return []Member{{Reward: rewards[0], Excluded: "steps", Counts: true}, {Reward: rewards[1], Excluded: "failed"}}
}

func exampleSamples() []Sample {
	return []Sample{exampleSample(), {
		ID: "r/0/t#0.2", GroupID: "r/0/t", Excluded: "failed", Termination: Failed, GroupMembers: 1, GroupSize: 2,
	}}
}

func exampleBlobs() []Blob {
	digest := strings.Repeat("0123456789abcdef", 4)
	return []Blob{{Topic: "demo.samples", SHA256: digest, Bytes: 1 << 40}, {Topic: "demo.tasks", SHA256: digest, Bytes: 1, Problem: "it is missing"}}
}

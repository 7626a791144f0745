package learn

import (
	"bytes"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"millrace/schemas"
	"millrace/transforms/advantage"
	"millrace/transforms/filter"
	"millrace/transforms/testlog"
)

const (
	planeTokens = 4096
	planeGroup  = 8
	planeTurns  = 8
	// planeBudget is how many tokens a bin of the learner takes.
	planeBudget = 4 * planeTokens
)

// recorded is the test run that every trajectory's reward is graded from.
var recorded = testlog.Results{Verdicts: []testlog.Verdict{
	{Test: "TestA", Name: "p.TestA", Status: testlog.Passed}, {Test: "TestB", Name: "p.TestB", Status: testlog.Passed}, {Test: "TestC", Name: "p.TestC", Status: testlog.Failed},
}}

// planeFrames are the trajectories of one group as rollout writes them, a frame
// each. testdata/pickled.py makes the same in Python.
func planeFrames(b *testing.B) [][]byte {
	b.Helper()
	const width = planeTokens / planeTurns
	frames := make([][]byte, planeGroup)
	for i := range frames {
		expected := []string{"TestA", "TestB"}
		if i%2 == 1 {
			expected = append(expected, "TestC")
		}
		t := schemas.Trajectory{
			ID: fmt.Sprintf("g#%d.0", i), GroupID: "g", Run: "r", Rollout: int32(i), Termination: schemas.Finished,
			Task: schemas.Task{ID: "t", Rollouts: planeGroup, Statement: strings.Repeat("word ", 100), FailToPass: expected,
				Files: []schemas.File{{Path: "a.go", Content: strings.Repeat("line\n", 100)}}},
			Tokens: make([]int32, planeTokens), LossMask: make([]bool, planeTokens), LogProbs: make([]float32, planeTokens), Versions: make([]int32, planeTokens),
		}
		for j := range planeTokens {
			t.Tokens[j], t.Versions[j] = int32(j*7919%150000), -1
			if j%width > 2*width/3 {
				t.LossMask[j], t.LogProbs[j], t.Versions[j] = true, -0.1, 3
			}
		}
		for k := range int32(planeTurns) {
			t.Steps = append(t.Steps, schemas.Step{TokenStart: k*width + 2*width/3, TokenEnd: (k + 1) * width, Tool: "execute_bash",
				Action: strings.Repeat("act ", width/3), Observation: strings.Repeat("see ", 2*width/3)})
		}
		frame, err := schemas.Trajectories.Encode(t)
		if err != nil {
			b.Fatal(err)
		}
		frames[i] = frame
	}
	return frames
}

// planeOf takes a group from the trajectories topic to the bins of a step, with a
// record between any two stages.
func planeOf(frames [][]byte) (bins [][]int, err error) {
	members := make([]schemas.Member, 0, len(frames))
	for _, frame := range frames {
		trajectories, err := schemas.Trajectories.Decode(frame)
		if err != nil {
			return nil, err
		}
		reward := schemas.Reward{Trajectory: trajectories[0]}
		grade, err := testlog.Judge(reward.Trajectory.Task, recorded)
		if err != nil {
			return nil, err
		}
		reward.Value, reward.Passed, reward.FailedTests = grade.Value, grade.Passed, grade.Failed
		rewarded, err := schemas.Rewards.Encode(reward)
		if err != nil {
			return nil, err
		}
		rewards, err := schemas.Rewards.Decode(rewarded)
		if err != nil {
			return nil, err
		}
		excluded, counts := filter.Decide(filter.Config{Mode: filter.Compact}, rewards[0])
		members = append(members, schemas.Member{Reward: rewards[0], Excluded: excluded, Counts: counts})
	}
	samples, letters := advantage.Assign(advantage.Config{Estimator: "leave-one-out"}, members)
	if len(letters) > 0 {
		return nil, fmt.Errorf("%d dead letters: %s", len(letters), letters[0].Message)
	}
	frame, err := schemas.Samples.Encode(samples...)
	if err != nil {
		return nil, err
	}
	if samples, err = schemas.Samples.Decode(frame); err != nil {
		return nil, err
	}
	lengths := make([]int, len(samples))
	for i, s := range samples {
		lengths[i] = len(s.Tokens)
	}
	return pack(lengths, planeBudget), nil
}

// BenchmarkDataPlane is everything between rollout and update but the brokers:
// trajectories of 4,096 tokens through score (recorded results), filter,
// advantage and pack, as records between the stages, on two goroutines. The same
// work in Python, with pickled records of numpy arrays in two processes, runs
// right behind it; "times" is the ratio of the two. A second of CPU counts
// alike on a quiet and on a busy machine, so there is a rate and a ratio by that.
func BenchmarkDataPlane(b *testing.B) {
	frames := planeFrames(b)
	bins, err := planeOf(frames)
	if err != nil || len(bins) != planeGroup*planeTokens/planeBudget {
		b.Fatalf("%d bins, %v", len(bins), err)
	}
	const groups = 32 // of one round
	spent := cpuTime(b)
	for b.Loop() {
		var workers errgroup.Group
		for range 2 {
			workers.Go(func() error {
				for range groups / 2 {
					if _, err := planeOf(frames); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := workers.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	rate := float64(b.N) * groups * planeGroup / b.Elapsed().Seconds()
	byCPU := float64(b.N) * groups * planeGroup / (cpuTime(b) - spent).Seconds()
	b.ReportMetric(rate, "trajectories/s")
	b.ReportMetric(byCPU, "trajectories/cpu-s")
	b.ReportMetric(0, "ns/op")
	if python, pythonByCPU, ok := pickled(b); ok {
		b.ReportMetric(python, "python/s")
		b.ReportMetric(rate/python, "times")
		b.ReportMetric(byCPU/pythonByCPU, "cpu-times")
	}
}

// pickled runs the Python side for about as long as a benchmark runs; without
// python3 and numpy there is none.
func pickled(b *testing.B) (rate, byCPU float64, ok bool) {
	if exec.Command("python3", "-c", "import numpy").Run() != nil {
		b.Log("no python3 with numpy in PATH: nothing to compare with")
		return 0, 0, false
	}
	args := []string{"testdata/pickled.py"}
	for _, n := range []int{planeTokens, planeGroup, planeTurns, planeBudget, int(min(max(b.Elapsed(), time.Second), 10*time.Second).Milliseconds())} {
		args = append(args, strconv.Itoa(n))
	}
	var failed bytes.Buffer
	python := exec.Command("python3", args...)
	python.Stderr = &failed
	out, err := python.Output()
	if err == nil {
		_, err = fmt.Sscan(string(out), &rate, &byCPU)
	}
	if err != nil {
		b.Fatalf("testdata/pickled.py: %v\n%s", err, &failed)
	}
	return rate, byCPU, true
}

// cpuTime is the processor time that this process has taken.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

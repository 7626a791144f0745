package advantage_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"millrace/schemas"
	"millrace/transforms/advantage"
	"millrace/transforms/filter"
)

// rewarded returns a group of n rewarded trajectories of the given length in
// frames of so many rows. A third of the tokens is sampled, in 8 turns, and a
// token comes with about 4 bytes of text.
func rewarded(b *testing.B, n, tokens, rows int) [][]byte {
	b.Helper()
	var rewards []schemas.Reward
	for i := range n {
		t := schemas.Trajectory{
			ID: fmt.Sprintf("g#%d.0", i), GroupID: "g", Run: "r", Iteration: 1, Rollout: int32(i),
			Task: schemas.Task{ID: "t", Iteration: 1, Rollouts: int32(n), Statement: strings.Repeat("word ", 100),
				Files: []schemas.File{{Path: "a.go", Content: strings.Repeat("line\n", 100)}}},
			Tokens: make([]int32, tokens), LossMask: make([]bool, tokens), LogProbs: make([]float32, tokens), Versions: make([]int32, tokens),
			Termination: schemas.Finished,
		}
		const turns = 8
		for j := range tokens {
			t.Tokens[j], t.Versions[j] = int32(j*7919%1000), -1
			if j%(tokens/turns) > 2*tokens/turns/3 {
				t.LossMask[j], t.LogProbs[j], t.Versions[j] = true, -0.1, 3
			}
		}
		for k := range int32(turns) {
			width := int32(tokens / turns)
			t.Steps = append(t.Steps, schemas.Step{TokenStart: k*width + width/2, TokenEnd: (k + 1) * width, Tool: "execute_bash",
				Action: strings.Repeat("act ", tokens/turns/3), Observation: strings.Repeat("see ", 2*tokens/turns/3)})
		}
		rewards = append(rewards, schemas.Reward{Trajectory: t, Value: float64(i % 2)})
	}
	var frames [][]byte
	for chunk := range slices.Chunk(rewards, rows) {
		frame, err := schemas.Rewards.Encode(chunk...)
		if err != nil {
			b.Fatal(err)
		}
		frames = append(frames, frame)
	}
	return frames
}

// BenchmarkStage is everything that happens to a group's bytes between two
// topics, on one core: decode, filter, assign, encode as one frame. Run it with
// -cpu 1, so that the garbage collector is paid for too.
func BenchmarkStage(b *testing.B) {
	const n = 8
	c, f := advantage.Config{Estimator: "leave-one-out"}, filter.Config{Mode: filter.Compact}
	for _, tokens := range []int{512, 2048, 32768} {
		for _, rows := range []int{1, n} {
			b.Run(fmt.Sprintf("%d_tokens/%d_rows_a_frame", tokens, rows), func(b *testing.B) {
				frames := rewarded(b, n, tokens, rows)
				b.ReportAllocs()
				for b.Loop() {
					var members []schemas.Member
					for _, frame := range frames {
						rewards, err := schemas.Rewards.Decode(frame)
						if err != nil {
							b.Fatal(err)
						}
						for _, r := range rewards {
							excluded, counts := filter.Decide(f, r)
							members = append(members, schemas.Member{Reward: r, Excluded: excluded, Counts: counts})
						}
					}
					samples, letters := advantage.Assign(c, members)
					if len(letters) != 0 {
						b.Fatal(letters)
					}
					if _, err := schemas.Samples.Encode(samples...); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*n*float64(tokens)/b.Elapsed().Seconds()/1e6, "Mtokens/s")
			})
		}
	}
}

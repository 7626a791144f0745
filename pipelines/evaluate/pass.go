package evaluate

import (
	"math/rand/v2"
	"sort"

	"millrace/schemas"
)

// Outcome counts what became of the rollouts of one task.
type Outcome struct {
	TaskID string
	// Scored rollouts have a reward; Solved ones have reward 1.
	Scored, Solved int
	// Failures are rollouts lost to the infrastructure. They are in no rate:
	// no failure becomes a reward.
	Failures int
}

// Outcomes groups rewards by task, sorted by task id.
func Outcomes(rewards []schemas.Reward) []Outcome {
	byTask := map[string]*Outcome{}
	for _, r := range rewards {
		o := byTask[r.Trajectory.Task.ID]
		if o == nil {
			o = &Outcome{TaskID: r.Trajectory.Task.ID}
			byTask[o.TaskID] = o
		}
		switch {
		case r.Failure != "":
			o.Failures++
		case r.Value >= 1:
			o.Scored++
			o.Solved++
		default:
			o.Scored++
		}
	}
	out := make([]Outcome, 0, len(byTask))
	for _, o := range byTask {
		out = append(out, *o)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].TaskID < out[j].TaskID })
	return out
}

// PassAtK is the unbiased estimate of the probability that at least one of k
// rollouts of a task solves it, given c of n solved (Chen et al. 2021,
// arXiv:2107.03374, equation 1):
//
//	1 - C(n-c, k) / C(n, k)
//
// computed as a product. It is NaN-free: k is cut to n, and n = 0 gives 0.
func PassAtK(n, c, k int) float64 {
	k = min(k, n)
	if k <= 0 || c <= 0 {
		return 0
	}
	if n-c < k {
		return 1
	}
	miss := 1.0
	for i := n - c + 1; i <= n; i++ {
		miss *= 1 - float64(k)/float64(i)
	}
	return 1 - miss
}

// Rate is a mean over tasks with its 95 % confidence interval.
type Rate struct {
	Mean, Low, High float64
	// Tasks and Rollouts were scored.
	Tasks, Rollouts int
}

// resamples is the number of bootstrap draws: the ends of a 95 % interval rest
// on 50 draws each.
const resamples = 2000

// Pass is the mean of PassAtK over the tasks that have a scored rollout. The
// interval is the percentile bootstrap over tasks, not over rollouts: rollouts
// of one task are not independent (Efron & Tibshirani 1993, chapter 13). The
// same outcomes and seed give the same interval.
func Pass(outcomes []Outcome, k int, seed uint64) Rate {
	var values []float64
	r := Rate{}
	for _, o := range outcomes {
		if o.Scored > 0 {
			values = append(values, PassAtK(o.Scored, o.Solved, k))
			r.Rollouts += o.Scored
		}
	}
	r.Tasks = len(values)
	if len(values) == 0 {
		return r
	}
	r.Mean = mean(values)
	rng := rand.New(rand.NewPCG(seed, uint64(k)))
	means := make([]float64, resamples)
	draw := make([]float64, len(values))
	for i := range means {
		for j := range draw {
			draw[j] = values[rng.IntN(len(values))]
		}
		means[i] = mean(draw)
	}
	sort.Float64s(means)
	r.Low, r.High = means[resamples*25/1000], means[resamples*975/1000]
	return r
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

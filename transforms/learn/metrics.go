package learn

import (
	"maps"
	"slices"

	"millrace/schemas"
)

// metricsOf are the numbers of one step, sorted by name. Names are verl's where
// verl has the quantity. Of a step without a trained token the policy's numbers
// are left out, not 0. actor/ppo_kl is the k3 estimate of KL(behaviour, policy);
// logprob_diff is |trainer - behaviour| over trained tokens, before the update
// when there is one minibatch: the mismatch of engine and learner plus, off
// policy, the distance travelled.
func metricsOf(b *Batch, t trained, took timing) []schemas.Metric {
	m := map[string]float64{
		"training/policy_version":  float64(b.Version + 1),
		"training/minibatches":     float64(t.minibatches),
		"training/microbatches":    float64(t.microbatches),
		"training/skipped":         float64(t.skipped),
		"actor/lr":                 t.rate,
		"samples/consumed":         float64(len(b.Samples)),
		"samples/weighing":         float64(t.sequences),
		"staleness/dropped":        0,
		"timing_s/update_actor":    took.update.Seconds(),
		"timing_s/save":            took.save.Seconds(),
		"perf/total_num_tokens":    float64(t.stats.Tokens),
		"perf/trained_num_tokens":  float64(t.stats.TrainedTokens),
		"training/groups_consumed": float64(len(b.GroupIDs)),
		"training/groups_replaced": float64(b.Replaced),
	}
	for _, d := range b.Dropped {
		m["dead_letter/"+string(d.Reason)+"/count"]++
		if d.Reason == schemas.Stale {
			m["staleness/dropped"]++
		}
	}
	if s := took.update.Seconds(); s > 0 {
		m["perf/throughput"] = float64(t.stats.Tokens) / s
	}
	if n := float64(t.stats.TrainedTokens); n > 0 {
		m["actor/pg_loss"] = t.stats.Loss / float64(t.minibatches)
		m["actor/entropy"] = t.stats.Entropy / n
		m["actor/ppo_kl"] = t.stats.KL / n
		m["actor/pg_clipfrac"] = t.stats.Clipped / n
		m["rollout_corr/rollout_is_mean"] = t.stats.Ratio / n
		m["logprob_diff/mean"] = t.stats.AbsLogProbDiff / n
		m["logprob_diff/max"] = t.stats.MaxAbsLogProbDiff
		if t.skipped < t.minibatches {
			m["actor/grad_norm"] = t.gradNorm
		}
	}
	describe(m, b)
	var out []schemas.Metric
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, schemas.Metric{Name: name, Value: m[name]})
	}
	return out
}

// describe adds what the samples themselves say. Rewards are of the samples that
// have one; lengths are sampled tokens.
func describe(m map[string]float64, b *Batch) {
	var rewards, lengths, turns, ages, advantages, tests, undos spread
	solved := 0.0
	groups := map[string]*spread{}
	for i := range b.Samples {
		s := &b.Samples[i]
		m["termination/"+string(s.Termination)+"/ratio"] += 1 / float64(len(b.Samples))
		switch {
		case s.Excluded != "":
			m["filter/"+s.Excluded+"/count"]++
		case trainedTokens(s) == 0: // masked, but it counts
			m["filter/"+string(s.Termination)+"/count"]++
		}
		if s.Weight == 1 {
			advantages.add(s.Advantage)
		}
		if rewarded(s) {
			rewards.add(s.Reward)
			if s.Reward >= 1 {
				solved++
			}
			if groups[s.GroupID] == nil {
				groups[s.GroupID] = &spread{}
			}
			groups[s.GroupID].add(s.Reward)
		}
		if n := trainedTokens(s); n > 0 {
			lengths.add(float64(n))
			turns.add(float64(s.Turns))
			tests.add(calls(s, "execute_bash"))
			undos.add(calls(s, "file_editor.undo_edit"))
			ages.add(float64(staleness(s, b.Version)))
		}
	}
	rewards.write(m, "critic/rewards")
	if rewards.n > 0 {
		m["reward/solved/ratio"] = solved / rewards.n
	}
	tests.write(m, "tools/tests_run")
	undos.write(m, "tools/undo")
	advantages.write(m, "critic/advantages")
	lengths.write(m, "response_length")
	turns.write(m, "turns")
	ages.write(m, "staleness")
	for _, g := range groups {
		switch {
		case g.min >= 1:
			m["group/solved_all"]++
		case g.max <= 0:
			m["group/solved_none"]++
		default:
			m["group/solved_some"]++
		}
	}
}

// rewarded tells whether a sample has a reward that says something of the policy: it
// counts, or its whole group was rewarded alike.
func rewarded(s *schemas.Sample) bool { return counts(s) || s.Excluded == schemas.EqualRewards }

// calls counts the calls of a tool. For the default agent a command line is a
// test run.
func calls(s *schemas.Sample, tool string) float64 {
	n := 0.0
	for _, t := range s.Tools {
		if t == tool {
			n++
		}
	}
	return n
}

// spread is the mean and the ends of some numbers.
type spread struct{ n, sum, min, max float64 }

func (s *spread) add(x float64) {
	if s.n == 0 {
		s.min, s.max = x, x
	}
	s.n, s.sum, s.min, s.max = s.n+1, s.sum+x, min(s.min, x), max(s.max, x)
}

func (s *spread) write(m map[string]float64, name string) {
	if s.n > 0 {
		m[name+"/mean"], m[name+"/min"], m[name+"/max"] = s.sum/s.n, s.min, s.max
	}
}

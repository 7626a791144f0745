package mine

import (
	"math/rand/v2"
	"slices"
	"strings"

	"millrace/schemas"
	"millrace/transforms/inject"
)

// The splits of the default set.
const (
	Train           = "train"
	HeldOutFault    = "heldout-fault"
	HeldOutFunction = "heldout-function"
)

// Select returns the tasks of one split, in their order.
func Select(tasks []schemas.Task, split string) []schemas.Task {
	var out []schemas.Task
	for _, t := range tasks {
		if t.Split == split {
			out = append(out, t)
		}
	}
	return out
}

// OfKinds returns the tasks whose fault is of one of the kinds, in their order;
// no kinds means all. The kind is the second part of a task's id.
func OfKinds(tasks []schemas.Task, kinds []inject.Kind) []schemas.Task {
	if len(kinds) == 0 {
		return tasks
	}
	var out []schemas.Task
	for _, t := range tasks {
		if parts := strings.Split(t.ID, "/"); len(parts) > 1 && slices.Contains(kinds, inject.Kind(parts[1])) {
			out = append(out, t)
		}
	}
	return out
}

// streamSplit keeps the random numbers used here apart from those that others
// draw from the same seed.
const streamSplit = 0x6d696e65 // "mine"

// assign picks at most cfg.PerFunction valid candidates of each program and
// gives each its split. Programs and candidates keep their order. The outcome is
// a function of the arguments.
func assign(cfg BuildConfig, programs [][]Validated) []Validated {
	rng := rand.New(rand.NewPCG(cfg.Seed, streamSplit))
	apart := map[int]bool{}
	for _, i := range rng.Perm(len(programs))[:min(cfg.HeldOutFunctions, len(programs))] {
		apart[i] = true
	}
	var out []Validated
	for i, candidates := range programs {
		for _, v := range spread(rng, candidates, cfg.PerFunction) {
			v.Task.Split = Train
			if apart[i] {
				v.Task.Split = HeldOutFunction
			}
			out = append(out, v)
		}
	}
	heldOut := 0
	perFunction := map[string]int{}
	for _, i := range rng.Perm(len(out)) {
		t := &out[i].Task
		if t.Split == Train && heldOut < cfg.HeldOutFaults && perFunction[t.Repo] < cfg.HeldOutPerFunction {
			t.Split = HeldOutFault
			heldOut++
			perFunction[t.Repo]++
		}
	}
	return out
}

// spread returns at most n of the valid candidates, in their order, taking one
// of each kind in turn, at random within a kind, until n are taken.
func spread(rng *rand.Rand, candidates []Validated, n int) []Validated {
	byKind := map[inject.Kind][]int{}
	for _, i := range rng.Perm(len(candidates)) {
		if c := candidates[i]; c.Outcome == Valid {
			byKind[c.Fault.Kind] = append(byKind[c.Fault.Kind], i)
		}
	}
	var taken []int
	for round, more := 0, true; more && len(taken) < n; round++ {
		more = false
		for _, k := range inject.Kinds() {
			if round < len(byKind[k]) && len(taken) < n {
				taken = append(taken, byKind[k][round])
				more = true
			}
		}
	}
	slices.Sort(taken)
	out := make([]Validated, 0, len(taken))
	for _, i := range taken {
		out = append(out, candidates[i])
	}
	return out
}

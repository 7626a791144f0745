package chaos

import (
	"math/rand/v2"
	"slices"
	"time"
)

// schedule draws the faults of a campaign: a function of its arguments. Without a
// broker of the campaign's own, none happens to it.
//
// Every second kill is at a random moment and every second at a named point; the
// points, and the faults between the kills, come in shuffled rounds, so that a
// long campaign has all of them about equally often.
//
// With only, the kills are of that role, nothing else happens, and at least a step
// lies between two of them.
func schedule(seed uint64, kills int, broker bool, only string) []fault {
	random := rand.New(rand.NewPCG(seed, 0))
	points := deck[passage]{random: random, cards: passages()}
	others := deck[fault]{random: random, cards: disturbances(broker)}
	// The learner and the broker hold what matters most.
	victims := deck[string]{random: random, cards: []string{
		learnRole, learnRole, rolloutRole, scoreRole, advantageRole, feederRole, everybody,
	}}
	if broker {
		victims.cards = append(victims.cards, brokerRole, brokerRole)
	}
	if only != "" {
		victims.cards = []string{only}
		points.cards = slices.DeleteFunc(points.cards, func(p passage) bool { return p.role != only })
	}
	var out []fault
	for n := range kills {
		f := fault{kind: kill, steps: random.Int64N(3), wait: time.Duration(random.IntN(1500)) * time.Millisecond, seed: random.Uint64()}
		if only != "" {
			f.steps++
		}
		if n%2 == 0 || len(points.cards) == 0 {
			f.role = victims.draw()
			if f.role == everybody {
				f.kind, f.role = killAll, ""
			}
			if files := tearable[f.role]; only == "" && len(files) > 0 && random.IntN(2) == 0 {
				f.torn = files[random.IntN(len(files))]
			}
		} else {
			f.kind, f.at, f.count = killAt, points.draw(), 1+random.IntN(3)
			f.role = f.at.role
			if only == "" && broker && f.at.proxied() && random.IntN(4) == 0 {
				f.role = brokerRole
			}
		}
		out = append(out, f)
		if only == "" && random.IntN(2) == 0 {
			other := others.draw()
			other.steps, other.wait, other.seed = random.Int64N(2), time.Duration(random.IntN(1000))*time.Millisecond, random.Uint64()
			if other.last > 0 {
				other.last = time.Duration(200+random.IntN(2000)) * time.Millisecond
			}
			out = append(out, other)
		}
	}
	return out
}

// everybody is the victim that stands for all roles.
const everybody = "all"

// disturbances are the faults that kill nobody.
func disturbances(broker bool) []fault {
	out := []fault{
		{kind: stall, role: advantageRole, last: 1}, {kind: stall, role: learnRole, last: 1}, {kind: slowDisk, role: learnRole, last: 1},
		{kind: fullDisk, role: learnRole, last: 1}, {kind: fullDisk, role: scoreRole, last: 1},
	}
	if broker {
		out = append(out, fault{kind: restart, role: brokerRole}, fault{kind: stall, role: brokerRole, last: 1}, fault{kind: fullDisk, role: brokerRole, last: 1})
	}
	for _, role := range roles[1:] {
		out = append(out, fault{kind: reset, role: role})
	}
	for _, topic := range []string{"tasks", "trajectories", "rewarded", "samples"} {
		out = append(out, fault{kind: poison, topic: topic}, fault{kind: repeat, topic: topic})
	}
	return append(out, fault{kind: poison, topic: "policy"}, fault{kind: grow})
}

// deck hands out cards in shuffled rounds.
type deck[T any] struct {
	random *rand.Rand
	cards  []T
	drawn  int
}

func (d *deck[T]) draw() T {
	if d.drawn%len(d.cards) == 0 {
		d.random.Shuffle(len(d.cards), func(i, j int) { d.cards[i], d.cards[j] = d.cards[j], d.cards[i] })
	}
	card := d.cards[d.drawn%len(d.cards)]
	d.drawn++
	return card
}

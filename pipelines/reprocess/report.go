package reprocess

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Report says what reprocessing did and changed. "Before" is the input: its recorded
// rewards, and the samples that the original run made of them, as far as they are at
// hand.
type Report struct {
	// Input says where the trajectories were read, Output where the samples are.
	Input  string `json:"input"`
	Output string `json:"output"`
	// Settings are the recipe's name and what decides beside it.
	Settings map[string]string `json:"settings"`

	Records    Records    `json:"records"`
	Rewards    Rewards    `json:"rewards"`
	Advantages Advantages `json:"advantages"`
	Groups     Groups     `json:"groups"`
	// Fates are samples by what became of them: kept, masked or left out, with the
	// reason.
	Fates map[string]*Change `json:"fates"`
	// Moves are samples whose fate changed: "kept -> masked: context".
	Moves map[string]int64 `json:"moves"`
	// Train is what the learner made of the samples, nil if it was not asked.
	Train *Training `json:"train,omitempty"`

	// Tokens were read, in Seconds, the comparison with the original included.
	Tokens  int64   `json:"tokens"`
	Seconds float64 `json:"seconds"`
}

// Records balance: Read = Samples + Refused + Repeats.
type Records struct {
	// Read trajectories, Skipped ones outside of the time range, and Undecodable
	// records.
	Read        int64 `json:"read"`
	Skipped     int64 `json:"skipped"`
	Undecodable int64 `json:"undecodable"`
	// Samples left; Refused left as dead letters alone; Repeats were delivered twice.
	Samples int64 `json:"samples"`
	Refused int64 `json:"refused"`
	Repeats int64 `json:"repeats"`
	// DeadLetters are all that were written, by reason.
	DeadLetters map[string]int64 `json:"dead_letters"`
}

// Change is a number before and after.
type Change struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}

// Rewards are of the trajectories that were read, repeats included.
type Rewards struct {
	// Given are rewards, Failed trajectories that could not be scored.
	Given  Change `json:"given"`
	Failed Change `json:"failed"`
	// Means are over those given; 0 without one.
	MeanBefore float64 `json:"mean_before"`
	MeanAfter  float64 `json:"mean_after"`
	// Rose and Fell had a reward before and after, Lost had one before only, and
	// Gained after only.
	Rose   int64 `json:"rose"`
	Fell   int64 `json:"fell"`
	Lost   int64 `json:"lost"`
	Gained int64 `json:"gained"`

	sumBefore, sumAfter float64
}

// Advantages are of the samples that the original run has too.
type Advantages struct {
	Compared int64 `json:"compared"`
	// Equal samples are so to the bit, all that is trained on included.
	Equal int64 `json:"equal"`
	// Changed samples have another advantage; the largest difference is MaxDelta.
	Changed  int64   `json:"changed"`
	MaxDelta float64 `json:"max_delta"`
	// Means are of absolute values.
	MeanBefore float64 `json:"mean_before"`
	MeanAfter  float64 `json:"mean_after"`

	sumBefore, sumAfter float64
}

// Groups are those that closed.
type Groups struct {
	Closed int64 `json:"closed"`
	// Short groups closed at the end of the input without all members.
	Short int64 `json:"short"`
	// Teaching groups have a sample that moves the weights.
	Teaching Change `json:"teaching"`
}

func newReport() *Report {
	return &Report{Fates: map[string]*Change{}, Moves: map[string]int64{}, Records: Records{DeadLetters: map[string]int64{}}}
}

// merge adds the report of a lane.
func (r *Report) merge(o *Report) {
	a, b := &r.Records, &o.Records
	a.Read += b.Read
	a.Skipped += b.Skipped
	a.Undecodable += b.Undecodable
	a.Samples += b.Samples
	a.Refused += b.Refused
	a.Repeats += b.Repeats
	for reason, n := range b.DeadLetters {
		a.DeadLetters[reason] += n
	}
	r.Rewards.merge(&o.Rewards)
	r.Advantages.merge(&o.Advantages)
	r.Groups.Closed += o.Groups.Closed
	r.Groups.Short += o.Groups.Short
	r.Groups.Teaching.add(o.Groups.Teaching)
	for fate, c := range o.Fates {
		r.fate(fate).add(*c)
	}
	for move, n := range o.Moves {
		r.Moves[move] += n
	}
	r.Tokens += o.Tokens
}

func (r *Rewards) merge(o *Rewards) {
	r.Given.add(o.Given)
	r.Failed.add(o.Failed)
	r.Rose += o.Rose
	r.Fell += o.Fell
	r.Lost += o.Lost
	r.Gained += o.Gained
	r.sumBefore += o.sumBefore
	r.sumAfter += o.sumAfter
	r.MeanBefore, r.MeanAfter = mean(r.sumBefore, r.Given.Before), mean(r.sumAfter, r.Given.After)
}

func (a *Advantages) merge(o *Advantages) {
	a.Compared += o.Compared
	a.Equal += o.Equal
	a.Changed += o.Changed
	a.MaxDelta = max(a.MaxDelta, o.MaxDelta)
	a.sumBefore += o.sumBefore
	a.sumAfter += o.sumAfter
	a.MeanBefore, a.MeanAfter = mean(a.sumBefore, a.Compared), mean(a.sumAfter, a.Compared)
}

func (c *Change) add(o Change) {
	c.Before += o.Before
	c.After += o.After
}

func mean(sum float64, n int64) float64 {
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

func (r *Report) fate(name string) *Change {
	if r.Fates[name] == nil {
		r.Fates[name] = &Change{}
	}
	return r.Fates[name]
}

// rewarded counts a trajectory whose reward was and is.
func (r *Rewards) rewarded(beforeFailed, afterFailed bool, before, after float64) {
	count := func(failed bool, value float64, given, failures *int64, sum *float64) {
		if failed {
			*failures++
			return
		}
		*given++
		*sum += value
	}
	count(beforeFailed, before, &r.Given.Before, &r.Failed.Before, &r.sumBefore)
	count(afterFailed, after, &r.Given.After, &r.Failed.After, &r.sumAfter)
	switch {
	case beforeFailed && !afterFailed:
		r.Gained++
	case !beforeFailed && afterFailed:
		r.Lost++
	case after > before:
		r.Rose++
	case after < before:
		r.Fell++
	}
}

// compare counts a sample beside the one of the original run.
func (r *Report) compare(before, after outcome) {
	a := &r.Advantages
	a.Compared++
	a.sumBefore += math.Abs(before.advantage)
	a.sumAfter += math.Abs(after.advantage)
	if before.digest == after.digest {
		a.Equal++
	}
	if delta := math.Abs(after.advantage - before.advantage); delta > 0 {
		a.Changed++
		a.MaxDelta = max(a.MaxDelta, delta)
	}
	r.fate(before.fate).Before++
	if before.fate != after.fate {
		r.Moves[before.fate+" -> "+after.fate]++
	}
}

// check reports what does not add up.
func (r *Report) check() error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	c := r.Records
	if out := c.Samples + c.Refused + c.Repeats; c.Read != out {
		refuse("%d trajectories were read, and %d left: %d samples, %d refused, %d repeats", c.Read, out, c.Samples, c.Refused, c.Repeats)
	}
	fates := int64(0)
	for _, f := range r.Fates {
		fates += f.After
	}
	if fates != c.Samples {
		refuse("%d samples have %d fates", c.Samples, fates)
	}
	if n := r.Rewards.Given.After + r.Rewards.Failed.After; n != c.Read {
		refuse("%d trajectories have %d rewards and failures", c.Read, n)
	}
	return errors.Join(errs...)
}

// Row is a line of a report: a number before and after, or one of the two.
type Row struct {
	What          string
	Before, After any // nil, an integer or a float
	Note          string
}

// Rows are the report as lines for people.
func (r *Report) Rows() []Row {
	c, w, a, g := &r.Records, &r.Rewards, &r.Advantages, &r.Groups
	rows := []Row{
		{"trajectories read", nil, c.Read, fmt.Sprintf("%d tokens", r.Tokens)},
		{"outside of the time range", nil, c.Skipped, ""},
		{"undecodable records", nil, c.Undecodable, "dead letters"},
		{"delivered twice", nil, c.Repeats, ""},
		{"refused by their groups", nil, c.Refused, "dead letters"},
		{"samples", nil, c.Samples, ""},
		{"rewards given", w.Given.Before, w.Given.After, fmt.Sprintf("%d rose, %d fell, %d gained, %d lost", w.Rose, w.Fell, w.Gained, w.Lost)},
		{"rewards failed", w.Failed.Before, w.Failed.After, ""},
		{"reward, mean", w.MeanBefore, w.MeanAfter, ""},
	}
	if a.Compared > 0 {
		rows = append(rows,
			Row{"samples of both", nil, a.Compared, fmt.Sprintf("%d equal to the bit", a.Equal)},
			Row{"advantage, mean of absolute values", a.MeanBefore, a.MeanAfter, fmt.Sprintf("%d changed, by at most %.6g", a.Changed, a.MaxDelta)})
	}
	before := func(n int64) any {
		if a.Compared == 0 {
			return nil
		}
		return n
	}
	for _, name := range slices.Sorted(maps.Keys(r.Fates)) {
		rows = append(rows, Row{"samples " + name, before(r.Fates[name].Before), r.Fates[name].After, ""})
	}
	for _, move := range slices.Sorted(maps.Keys(r.Moves)) {
		rows = append(rows, Row{"moved " + move, nil, r.Moves[move], ""})
	}
	rows = append(rows,
		Row{"groups closed", nil, g.Closed, fmt.Sprintf("%d short of members", g.Short)},
		Row{"groups that teach", before(g.Teaching.Before), g.Teaching.After, ""})
	for _, reason := range slices.Sorted(maps.Keys(c.DeadLetters)) {
		rows = append(rows, Row{"dead letters " + reason, nil, c.DeadLetters[reason], ""})
	}
	if t := r.Train; t != nil {
		rows = append(rows, t.rows()...)
	}
	return rows
}

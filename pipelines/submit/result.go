package submit

import (
	"context"
	"fmt"
	"slices"

	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// Result is what a job came to.
type Result struct {
	// Groups are those of the input, GroupsDone those of which every rollout has
	// left the last stage, as output or as dead letter.
	Groups     int `json:"groups"`
	GroupsDone int `json:"groups_done"`
	// Rows have left the last stage; What they are: trajectories, rewards, ...
	Rows int    `json:"rows"`
	What string `json:"what"`
	// DeadLetters are those of all stages.
	DeadLetters int       `json:"dead_letters"`
	Counts      []Count   `json:"counts"`
	Outputs     []Written `json:"outputs"`
	// Problems name what does not balance.
	Problems []string `json:"problems,omitempty"`
}

// Count is what entered a stage and what became of it (invariant 6: nothing
// vanishes): In = Out + Dead + Pending, counted by rollout. One that the
// infrastructure lost is in Out, since it leaves as a tombstone too.
type Count struct {
	Stage   string `json:"stage"`
	In      int    `json:"in"`
	Out     int    `json:"out"`
	Dead    int    `json:"dead_lettered"`
	Pending int    `json:"pending"`
}

// String is the result without the id: "4 of 4 groups, 32 samples, 0 dead letters".
func (r Result) String() string {
	return fmt.Sprintf("%d of %d groups, %d %s, %d dead letters", r.GroupsDone, r.Groups, r.Rows, r.What, r.DeadLetters)
}

// pending is what has not left its stage.
func (r Result) pending() int {
	n := 0
	for _, c := range r.Counts {
		n += c.Pending
	}
	return n
}

// held is what a topic holds: rollouts by id, and the records that cannot be
// decoded.
type held struct {
	rollouts map[string]place
	broken   map[string]schemas.Position // by id, or by place where a record has none
}

type place struct {
	group, record string // record is the trajectory's id; an order has none yet
}

// hold reads what a topic holds.
func hold[T any](ctx context.Context, brokers, topic string, codec interface{ Decode([]byte) ([]T, error) }, each func(row T, add func(group string, rollout int32, record string))) (held, error) {
	h := held{map[string]place{}, map[string]schemas.Position{}}
	err := kafkaio.Scan(ctx, brokers, topic, &kafkaio.Latest, func(r kafkaio.Record) error {
		rows, err := codec.Decode(r.Value)
		if err != nil {
			id := r.ID()
			if id == "" {
				id = fmt.Sprint(r.Source)
			}
			if _, twice := h.broken[id]; !twice {
				h.broken[id] = r.Source
			}
			return nil
		}
		for _, row := range rows {
			each(row, func(group string, rollout int32, record string) {
				if id := schemas.RolloutID(group, rollout); h.rollouts[id].group == "" {
					h.rollouts[id] = place{group, record}
				}
			})
		}
		return nil
	})
	return h, err
}

func ofTrajectory(t schemas.Trajectory, add func(string, int32, string)) {
	add(t.GroupID, t.Rollout, t.ID)
}

// at is what a topic between two stages holds, and what its rows are.
type at struct {
	what string
	read func() (held, error)
}

// places are the topics of the job in the order of its stages: input, outputs.
func (j *job) places(ctx context.Context) []at {
	t := j.stream.Topics
	all := []struct {
		topic string
		at
	}{
		{t.Tasks, at{"tasks", func() (held, error) {
			return hold(ctx, j.Brokers, t.Tasks, schemas.Tasks, func(o schemas.Task, add func(string, int32, string)) {
				for i := range o.Rollouts {
					add(schemas.GroupID(j.id, o.ID, o.Iteration), i, "")
				}
			})
		}}},
		{t.Trajectories, at{"trajectories", func() (held, error) {
			return hold(ctx, j.Brokers, t.Trajectories, schemas.Trajectories, ofTrajectory)
		}}},
		{t.Rewarded, at{"rewards", func() (held, error) {
			return hold(ctx, j.Brokers, t.Rewarded, schemas.Rewards, func(r schemas.Reward, add func(string, int32, string)) { ofTrajectory(r.Trajectory, add) })
		}}},
		{t.Filtered, at{"filtered trajectories", func() (held, error) {
			return hold(ctx, j.Brokers, t.Filtered, schemas.Members, func(m schemas.Member, add func(string, int32, string)) { ofTrajectory(m.Reward.Trajectory, add) })
		}}},
		{t.Samples, at{"samples", func() (held, error) {
			return hold(ctx, j.Brokers, t.Samples, schemas.Samples, func(s schemas.Sample, add func(string, int32, string)) { add(s.GroupID, s.Rollout, s.ID) })
		}}},
	}
	var places []at
	for _, p := range all {
		if p.topic != "" {
			places = append(places, p.at)
		}
	}
	return places
}

// pipelines are the job's Beam jobs in order: filter and advantage are one when
// it has both.
func (c Config) pipelines() []string {
	if c.has(Filter) && c.has(Advantage) {
		return slices.DeleteFunc(slices.Clone(c.Stages), func(s string) bool { return s == Filter })
	}
	return c.Stages
}

// result counts what the job's topics hold. fed is what was written to the first.
func (j *job) result(ctx context.Context, fed int) (Result, error) {
	places := j.places(ctx)
	r := Result{What: places[len(places)-1].what}
	buried, err := j.buried(ctx)
	if err != nil {
		return r, err
	}
	r.DeadLetters = len(buried.letters)
	in, err := places[0].read()
	if err != nil {
		return r, err
	}
	if n := len(in.rollouts) + len(in.broken); n != fed {
		r.Problems = append(r.Problems, fmt.Sprintf("%s hold %d rollouts of the %d that the job was given", places[0].what, n, fed))
	}
	groups, open := map[string]bool{}, map[string]bool{}
	for _, p := range in.rollouts {
		groups[p.group] = true
	}
	for i, name := range j.pipelines() {
		out, err := places[i+1].read()
		if err != nil {
			return r, err
		}
		count, lost := balance(name, in, out, buried)
		for _, p := range lost {
			open[p.group] = true
		}
		if n := len(out.rollouts) - count.Out; n > 0 {
			r.Problems = append(r.Problems, fmt.Sprintf("%s made %d %s of nothing that it has read", name, n, places[i+1].what))
		}
		r.Counts = append(r.Counts, count)
		in = out
	}
	r.Groups, r.Rows = len(groups), len(in.rollouts)
	for group := range groups {
		if !open[group] {
			r.GroupsDone++
		}
	}
	return r, nil
}

// balance follows what entered a stage to where it went and returns what is
// pending.
func balance(name string, in, out held, buried buried) (Count, []place) {
	c := Count{Stage: name, In: len(in.rollouts) + len(in.broken)}
	var pending []place
	for id, p := range in.rollouts {
		switch {
		case out.rollouts[id].group != "":
			c.Out++
		case buried.records[p.record]:
			c.Dead++
		default:
			pending = append(pending, p)
		}
	}
	for id, source := range in.broken {
		if buried.sources[source] {
			c.Dead++
		} else {
			pending = append(pending, place{group: id})
		}
	}
	c.Pending = len(pending)
	return c, pending
}

// buried are the dead letters of a job: the ids of records, and the places of
// those that could not be decoded.
type buried struct {
	records map[string]bool
	sources map[schemas.Position]bool
	letters map[string]bool
}

func (j *job) buried(ctx context.Context) (buried, error) {
	b := buried{map[string]bool{}, map[schemas.Position]bool{}, map[string]bool{}}
	err := kafkaio.Scan(ctx, j.Brokers, j.stream.Topics.DeadLetters, &kafkaio.Latest, func(r kafkaio.Record) error {
		letters, err := schemas.DeadLetters.Decode(r.Value)
		if err != nil {
			return fmt.Errorf("reading the dead letters: %w", err)
		}
		for _, d := range letters {
			b.letters[d.ID] = true
			if d.RecordID != "" {
				b.records[d.RecordID] = true
			} else {
				b.sources[d.Source] = true
			}
		}
		return nil
	})
	return b, err
}

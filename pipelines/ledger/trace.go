package ledger

import (
	"fmt"
	"slices"
	"strings"
)

// Event is one thing that became of a trajectory.
type Event struct {
	Stage, What string
	// Source is where the record lies that tells it, empty for the ledger's.
	Source string
}

// Trace tells what became of a trajectory, stage by stage, and at the end which
// step it entered or why none. An id of which the log knows nothing is an error
// that names the nearest ids.
func (l *Log) Trace(id string) ([]Event, error) {
	var events []Event
	if t, ok := l.trajectories[id]; ok {
		what := fmt.Sprintf("ended as %s, sampled by policy versions %s", t.termination, versions(t.first, t.last))
		if t.image != "" {
			what += ", in the image " + t.image
		}
		events = append(events, Event{rolloutStage, what, at(t.source)})
	}
	if r, ok := l.rewarded[id]; ok {
		what := fmt.Sprintf("reward %g", r.value)
		if r.failure != "" {
			what = "no reward: " + r.failure
		}
		events = append(events, Event{scoreStage, what, at(r.source)})
	}
	s, sampled := l.samples[id]
	if sampled {
		events = append(events, Event{advantageStage, l.weighed(s), at(s.source)})
	}
	dropped := false
	for _, d := range l.letters {
		if d.RecordID == id {
			dropped = dropped || d.Stage == learnStage
			events = append(events, Event{d.Stage, fmt.Sprintf("dead letter %s (%s): %s", d.ID, d.Reason, d.Message), at(d.Source)})
		}
	}
	if len(events) == 0 {
		return nil, fmt.Errorf("no trajectory %s%s", id, l.near(id))
	}
	order := Stages()
	slices.SortStableFunc(events, func(a, b Event) int { return slices.Index(order, a.Stage) - slices.Index(order, b.Stage) })
	entered := false
	for _, u := range l.updates {
		if slices.Contains(u.SampleIDs, id) {
			entered = true
			what := fmt.Sprintf("entered step %d", u.Step)
			if why := l.idle(s); why != "" {
				what += " and moved nothing: " + why
			}
			events = append(events, Event{learnStage, what, ""})
		}
		if slices.Contains(u.DroppedIDs, id) {
			dropped = true
			events = append(events, Event{learnStage, fmt.Sprintf("entered no step: dropped when step %d consumed its group", u.Step), ""})
		}
	}
	switch {
	case entered || dropped:
	case sampled && s.source.Offset >= l.committed[learnStage][s.source.Partition]:
		events = append(events, Event{learnStage, "entered no step yet: its group waits for one", ""})
	default:
		last := events[len(events)-1]
		events = append(events, Event{learnStage, fmt.Sprintf("entered no step: got no further than %s", last.Stage), ""})
	}
	return events, nil
}

// weighed says how a sample counts.
func (l *Log) weighed(s sample) string {
	if s.weight == 0 {
		return fmt.Sprintf("excluded by the filter: %s", s.excluded)
	}
	return fmt.Sprintf("reward %g, advantage %.6g, %d tokens to train on", s.reward, s.advantage, s.trained)
}

// idle says why a sample of a step has no gradient, empty if it has one.
func (l *Log) idle(s sample) string {
	switch {
	case s.weight == 0:
		return "excluded by the filter (" + s.excluded + ")"
	case s.trained == 0:
		return fmt.Sprintf("it ended at a limit (%s), so it counts with reward 0 and no token is trained on", s.termination)
	case s.advantage == 0 && l.noSpread(s.group):
		return fmt.Sprintf("no spread: every member of its group that counts has reward %g", s.reward)
	case s.advantage == 0:
		return "its advantage is 0"
	}
	return ""
}

// noSpread tells whether the members of a group that count have one reward.
func (l *Log) noSpread(group string) bool {
	first, any := 0.0, false
	for _, s := range l.samples {
		if s.group != group || s.weight == 0 {
			continue
		}
		if any && s.reward != first {
			return false
		}
		first, any = s.reward, true
	}
	return any
}

func versions(first, last int32) string {
	switch {
	case first < 0:
		return "none"
	case first == last:
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d..%d", first, last)
}

// nearest is how many ids an error names.
const nearest = 3

// near names ids that begin as id does, up to its group.
func (l *Log) near(id string) string {
	group, _, _ := strings.Cut(id, "#")
	var found []string
	for other := range l.trajectories {
		if strings.HasPrefix(other, group) {
			found = append(found, other)
		}
	}
	if len(found) == 0 {
		return fmt.Sprintf(" among the %d of this run; ids are <run>/<iteration>/<task>#<rollout>.<attempt>", len(l.trajectories))
	}
	slices.Sort(found)
	return "; there are " + strings.Join(found[:min(nearest, len(found))], ", ")
}

package stage

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"millrace/schemas"
	"millrace/transforms/advantage"
	"millrace/transforms/kafkaio"
)

var topics = TopicsOf("run")

var source = schemas.Position{Topic: "run.in", Partition: 1, Offset: 42}

// frame encodes rows as a stage before would have.
func frame[T schemas.Row](t *testing.T, c *schemas.Codec[T], rows ...T) []byte {
	t.Helper()
	data, err := c.Encode(rows...)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// byTopic counts outputs.
func byTopic(outputs []kafkaio.Output) map[string]int {
	n := map[string]int{}
	for _, o := range outputs {
		n[o.Topic]++
	}
	return n
}

// work runs an asynchronous stage's work on one record.
func work(w kafkaio.Work, r kafkaio.Record) (outputs []kafkaio.Output, err error) {
	err = w(context.Background(), r, func(o kafkaio.Output) { outputs = append(outputs, o) })
	return outputs, err
}

// TestRecordsThatCannotBeDecoded: whatever the stage, such a record becomes one
// dead letter that holds its bytes and says where it was.
func TestRecordsThatCannotBeDecoded(t *testing.T) {
	sound := frame(t, schemas.Tasks, schemas.Task{ID: "a/b/c"})
	broken := slices.Clone(sound)
	broken[len(broken)/2] ^= 1
	two := frame(t, schemas.Rewards, reward("run/0/a#0.0", ""), reward("run/0/a#1.0", ""))
	lost := frame(t, schemas.Blobs, schemas.Blob{Topic: "run.in", SHA256: strings.Repeat("0", 64), Bytes: 1, Problem: "it is gone"})
	members := func(decode func(kafkaio.Record, func(schemas.Member), func(kafkaio.Result)) error) func(kafkaio.Record) ([]kafkaio.Output, error) {
		return func(r kafkaio.Record) (outputs []kafkaio.Output, err error) {
			err = decode(r, func(m schemas.Member) { t.Errorf("member %v of a broken frame", m) }, func(result kafkaio.Result) {
				if diff := cmp.Diff([]schemas.Position{source}, result.Sources); diff != "" {
					t.Errorf("sources (-want +got):\n%s", diff)
				}
				outputs = result.Outputs
			})
			return outputs, err
		}
	}
	stages := map[string]func(kafkaio.Record) ([]kafkaio.Output, error){
		"rollout":   func(r kafkaio.Record) ([]kafkaio.Output, error) { return work(rolloutWork(topics, nil), r) },
		"score":     func(r kafkaio.Record) ([]kafkaio.Output, error) { return work(scoreWork(topics, nil), r) },
		"advantage": members((&memberFn{Stage: "advantage", Topics: topics}).ProcessElement),
		"filter":    members((&memberFn{Stage: "filter", Topics: topics}).ProcessElement),
	}
	refilter := members((&refilterFn{Topics: topics}).ProcessElement)
	if outputs, err := refilter(kafkaio.Record{Value: broken, Source: source}); err != nil || byTopic(outputs)[topics.DeadLetters] != 1 {
		t.Errorf("a filtered member that cannot be decoded: %v, %v; want one dead letter", byTopic(outputs), err)
	}
	for stage, do := range stages {
		for name, value := range map[string][]byte{
			"empty": nil, "no frame": []byte("hello"), "broken": broken, "cut": sound[:len(sound)-3], "two rewards": two, "lost blob": lost,
		} {
			if name == "two rewards" && stage != "advantage" && stage != "filter" {
				value = frame(t, schemas.PolicyVersions, schemas.PolicyVersion{Run: "run"}) // sound, but of another schema
			}
			t.Run(stage+"/"+name, func(t *testing.T) {
				outputs, err := do(kafkaio.Record{Key: []byte("k"), Value: value, Source: source})
				if err != nil || len(outputs) != 1 || outputs[0].Topic != topics.DeadLetters {
					t.Fatalf("%v, %v; want one dead letter", byTopic(outputs), err)
				}
				letters, err := schemas.DeadLetters.Decode(outputs[0].Value)
				if err != nil || len(letters) != 1 {
					t.Fatalf("the dead letter: %v, %v", letters, err)
				}
				letter := letters[0]
				reason := schemas.Corrupt
				if name == "lost blob" {
					reason = schemas.BlobLost
				}
				if letter.Stage != stage || letter.Reason != reason || letter.Source != source || string(letter.Key) != "k" || letter.Message == "" {
					t.Errorf("dead letter %+v", letter)
				}
				if string(letter.Payload) != string(value) {
					t.Errorf("payload %q, want the value as it came: %q", letter.Payload, value)
				}
			})
		}
	}
}

// reward is of a sound trajectory; one that failed has a tombstone's shape.
func reward(id, failure string) schemas.Reward {
	return schemas.Reward{Trajectory: trajectory(id), Failure: failure}
}

func trajectory(id string) schemas.Trajectory {
	return schemas.Trajectory{ID: id, GroupID: "run/0/a", Run: "run", Task: schemas.Task{ID: "a", Rollouts: 2}, Termination: schemas.Finished}
}

// verdict scores by rote.
type verdict struct {
	failure string
	err     error
}

func (v verdict) Score(_ context.Context, t schemas.Trajectory) (schemas.Reward, error) {
	return schemas.Reward{Trajectory: t, Failure: v.failure}, v.err
}

// TestScoreWork: a reward leaves for every trajectory, and a dead letter for
// each whose scoring failed, but for one that an earlier stage has buried.
func TestScoreWork(t *testing.T) {
	tombstone := trajectory("run/0/a#1.0")
	tombstone.Termination, tombstone.Failure = schemas.Failed, "no sandbox"
	for _, c := range []struct {
		name       string
		scorer     verdict
		trajectory schemas.Trajectory
		want       map[string]int
	}{
		{"scored", verdict{}, trajectory("run/0/a#0.0"), map[string]int{topics.Rewarded: 1}},
		{"scoring failed", verdict{failure: "out of memory"}, trajectory("run/0/a#0.0"), map[string]int{topics.Rewarded: 1, topics.DeadLetters: 1}},
		{"tombstone", verdict{failure: "no sandbox"}, tombstone, map[string]int{topics.Rewarded: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			outputs, err := work(scoreWork(topics, c.scorer), kafkaio.Record{Value: frame(t, schemas.Trajectories, c.trajectory), Source: source})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, byTopic(outputs)); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
			if key := string(outputs[0].Key); key != c.trajectory.GroupID {
				t.Errorf("key %q, want the group: its members must meet", key)
			}
		})
	}
	stopped := verdict{err: errors.New("stopped")}
	outputs, err := work(scoreWork(topics, stopped), kafkaio.Record{Value: frame(t, schemas.Trajectories, trajectory("run/0/a#0.0"))})
	if !errors.Is(err, stopped.err) || len(outputs) != 0 {
		t.Errorf("stopped while scoring: %v, %v; want the error, so that the record is read again", outputs, err)
	}
}

// TestClosedGroups: samples leave in one record, so that no step sees half a
// group, and the sources are acknowledged even when nothing else is left.
func TestClosedGroups(t *testing.T) {
	sources := []schemas.Position{source, {Topic: "run.in", Offset: 7}}
	sample := func(id string) schemas.Sample {
		return schemas.Sample{ID: id, GroupID: "run/0/a", Run: "run", Excluded: "context", Termination: schemas.ContextFull, GroupMembers: 2, GroupSize: 2}
	}
	for _, c := range []struct {
		name   string
		closed advantage.Closed
		want   map[string]int
	}{
		{"samples", advantage.Closed{Sources: sources, Samples: []schemas.Sample{sample("run/0/a#0.0"), sample("run/0/a#1.0")}}, map[string]int{topics.Samples: 1}},
		{"all filtered", advantage.Closed{Sources: sources}, map[string]int{}},
		{"late", advantage.Closed{Sources: sources, DeadLetters: []schemas.DeadLetter{
			{ID: "advantage/x", Stage: "advantage", Reason: schemas.Late}}}, map[string]int{topics.DeadLetters: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var results []kafkaio.Result
			if err := (&closedFn{Topics: topics}).ProcessElement(c.closed, func(r kafkaio.Result) { results = append(results, r) }); err != nil {
				t.Fatal(err)
			}
			if len(results) != 1 {
				t.Fatalf("%d results, want 1", len(results))
			}
			if diff := cmp.Diff(sources, results[0].Sources); diff != "" {
				t.Errorf("sources (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.want, byTopic(results[0].Outputs)); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFilteredMembers: what the filter decided goes over the topic, and where the
// record was read is told by who reads it.
func TestFilteredMembers(t *testing.T) {
	member := schemas.Member{Reward: reward("run/0/a#0.0", ""), Source: source, Excluded: "steps", Counts: true}
	topics := Topics{Filtered: "run.filtered"}
	var results []kafkaio.Result
	if err := (&filteredFn{Topics: topics}).ProcessElement(member, func(r kafkaio.Result) { results = append(results, r) }); err != nil {
		t.Fatal(err)
	}
	if len(results) != 1 || len(results[0].Outputs) != 1 || results[0].Outputs[0].Topic != topics.Filtered || string(results[0].Outputs[0].Key) != "run/0/a" {
		t.Fatalf("%+v, want one record keyed by its group", results)
	}
	next := schemas.Position{Topic: topics.Filtered, Partition: 1, Offset: 5}
	want := member
	want.Source = next
	var got []schemas.Member
	err := (&refilterFn{Topics: topics}).ProcessElement(kafkaio.Record{Value: results[0].Outputs[0].Value, Source: next},
		func(m schemas.Member) { got = append(got, m) }, func(r kafkaio.Result) { t.Errorf("dead letter %+v", r) })
	if err != nil || len(got) != 1 {
		t.Fatalf("%d members, %v", len(got), err)
	}
	if diff := cmp.Diff(want, got[0], cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

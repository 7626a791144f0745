package deadletter

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"

	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

const topic, source = "r.deadletters", "r.tasks"

func broker(t *testing.T) string {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, topic, source))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.ListenAddrs()[0]
}

// records are all of the source topic.
func records(t *testing.T, brokers string) []kafkaio.Record {
	t.Helper()
	var out []kafkaio.Record
	err := kafkaio.Scan(t.Context(), brokers, source, &kafkaio.Latest, func(r kafkaio.Record) error {
		out = append(out, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// bury writes letters, and reads them back.
func bury(t *testing.T, brokers string, letters ...schemas.DeadLetter) []Letter {
	t.Helper()
	for _, d := range letters {
		frame, err := schemas.DeadLetters.Encode(d)
		if err != nil {
			t.Fatal(err)
		}
		// Twice, as a crash may do.
		out := kafkaio.Output{Topic: topic, Key: d.Key, Value: frame, ID: d.ID}
		if err := kafkaio.Produce(t.Context(), brokers, out, out); err != nil {
			t.Fatal(err)
		}
	}
	return read(t, brokers)
}

func read(t *testing.T, brokers string) []Letter {
	t.Helper()
	got, err := Read(t.Context(), brokers, topic)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestRedrive: the record comes back as it was, with its key, its id and the mark,
// and not a second time unless it is asked for.
func TestRedrive(t *testing.T) {
	brokers := broker(t)
	if err := kafkaio.Produce(t.Context(), brokers, kafkaio.Output{Topic: source, Key: []byte("g"), Value: []byte("the order"), ID: "r/0/g"}); err != nil {
		t.Fatal(err)
	}
	original := records(t, brokers)[0]
	letters := bury(t, brokers, schemas.DeadLetter{ID: "rollout/g#0", Stage: "rollout", Reason: schemas.SandboxFailure, RecordID: "g#0", Key: []byte("g"), Source: original.Source, Time: 5},
		schemas.DeadLetter{ID: "learn/x", Stage: "learn", Reason: schemas.Stale, RecordID: "one row", Key: []byte("g"), Payload: []byte("row"), Source: original.Source, Time: 4})
	if len(letters) != 2 || letters[0].ID != "learn/x" || letters[0].Redriven || letters[1].Redriven {
		t.Fatalf("letters are %+v", letters)
	}
	for _, l := range letters {
		if err := Redrive(t.Context(), brokers, l, false); err != nil {
			t.Fatal(err)
		}
	}
	mark := func(id, letter string) []kafkaio.Header {
		return []kafkaio.Header{{Key: kafkaio.IDHeader, Value: []byte(id)}, {Key: RedriveHeader, Value: []byte(letter)}}
	}
	back := records(t, brokers)
	for i, want := range []kafkaio.Record{
		original,
		{Key: []byte("g"), Value: []byte("row"), Headers: mark("one row", "learn/x")},
		{Key: []byte("g"), Value: []byte("the order"), Headers: mark("r/0/g", "rollout/g#0")},
	} {
		got := back[i]
		got.Time, want.Time = 0, 0
		want.Source = schemas.Position{Topic: source, Partition: original.Source.Partition, Offset: int64(i)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("record %d (-want +got):\n%s", i, diff)
		}
	}
	letters = read(t, brokers)
	if !letters[0].Redriven || !letters[1].Redriven {
		t.Errorf("letters are not marked: %+v", letters)
	}
	if err := Redrive(t.Context(), brokers, letters[0], false); err == nil || !strings.Contains(err.Error(), "re-driven before") {
		t.Errorf("second time: %v", err)
	}
	if n := len(records(t, brokers)); n != 3 {
		t.Errorf("%d records behind a refusal", n)
	}
	if err := Redrive(t.Context(), brokers, letters[0], true); err != nil || len(records(t, brokers)) != 4 {
		t.Errorf("asked for: %v, %d records", err, len(records(t, brokers)))
	}
}

func TestRedriveRefusesWhatItDoesNotHave(t *testing.T) {
	brokers := broker(t)
	for _, c := range []struct {
		letter schemas.DeadLetter
		want   string
	}{
		{schemas.DeadLetter{ID: "x"}, "does not say which topic"},
		{schemas.DeadLetter{ID: "x", Source: schemas.Position{Topic: source, Offset: 7}}, "r.tasks[0]@7 is no longer there"},
	} {
		if err := Redrive(t.Context(), brokers, Letter{DeadLetter: c.letter}, false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	if _, err := Find(nil, "x"); err == nil {
		t.Error("a letter was found among none")
	}
}

func TestPayload(t *testing.T) {
	frame, err := schemas.Tasks.Encode(schemas.Task{ID: "wrap/1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		payload []byte
		want    string
	}{{frame, `"ID": "wrap/1"`}, {nil, "at the source"}, {[]byte("not a frame"), "not a frame"}, {[]byte("MRCE\xff\x00"), "6 bytes that are no record"}} {
		if got := Payload(c.payload); !strings.Contains(got, c.want) {
			t.Errorf("%q is shown as %q", c.payload, got)
		}
	}
}

// FuzzPayload: any record can be shown.
func FuzzPayload(f *testing.F) {
	frame, err := schemas.Tasks.Encode(schemas.Task{ID: "wrap/1"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(frame)
	f.Add(frame[:40])
	f.Fuzz(func(t *testing.T, payload []byte) {
		if Payload(payload) == "" {
			t.Errorf("%q is shown as nothing", payload)
		}
	})
}

package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"millrace/runners/embedded"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

func init() {
	RegisterMakers("settings_test", Makers{Scorer: func(_ context.Context, text []byte) (Scorer, func() error, error) {
		return verdict{failure: string(text)}, func() error { return nil }, nil
	}})
}

// TestWorkIsMadeOfSettings: what a pipeline carries is all that a worker needs.
func TestWorkIsMadeOfSettings(t *testing.T) {
	text, err := json.Marshal(order{Settings: Settings{Maker: "settings_test", Text: []byte("disk full")}, Stream: Stream{Topics: topics}})
	if err != nil {
		t.Fatal(err)
	}
	made, release, err := makeScore(context.Background(), text)
	if err != nil {
		t.Fatal(err)
	}
	outputs, err := work(made, kafkaio.Record{Value: frame(t, schemas.Trajectories, trajectory("run/0/a#0.0")), Source: source})
	if err != nil {
		t.Fatal(err)
	}
	rewards, err := schemas.Rewards.Decode(outputs[0].Value)
	if err != nil || rewards[0].Failure != "disk full" {
		t.Errorf("got %+v, %v: the scorer was not made of its settings", rewards, err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	text, _ = json.Marshal(order{Settings: Settings{Maker: "another version's"}}) // cannot fail, see above
	if _, _, err := makeScore(context.Background(), text); err == nil || !strings.Contains(err.Error(), "another version's") {
		t.Errorf("an unknown maker: %v", err)
	}
}

// TestPolicyVersionsReachAWorker: it begins with the newest version, loads each
// that is announced then, skips one that is gone again, and ends with an error
// at one that cannot be loaded.
func TestPolicyVersionsReachAWorker(t *testing.T) {
	broker, err := embedded.StartBroker(embedded.BrokerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	s := Stream{Brokers: broker.Addr(), Topics: TopicsOf(fmt.Sprintf("policy.%d", time.Now().UnixNano()))}
	if err := Create(t.Context(), s.Brokers, TopicSettings{Partitions: 1}, s.Topics); err != nil {
		t.Fatal(err)
	}
	announce := func(run string, version int64, dir string) {
		if err := Announce(t.Context(), s, schemas.PolicyVersion{Run: run, Version: version, Checkpoint: dir}); err != nil {
			t.Fatal(err)
		}
	}
	broken := errors.New("a torn shard")
	var loaded []int64
	version := int64(0)
	parts := RolloutParts{Run: "run", Version: func() int64 { return version }, Load: func(v schemas.PolicyVersion) error {
		switch v.Checkpoint {
		case "gone":
			return fs.ErrNotExist
		case "broken":
			return broken
		}
		version, loaded = v.Version, append(loaded, v.Version)
		return nil
	}}
	for v := range int64(3) {
		announce("run", v+1, "there")
	}
	announce("another run", 9, "there")
	if err := catchUp(t.Context(), s, parts); err != nil || !slices.Equal(loaded, []int64{3}) {
		t.Fatalf("loaded %v, %v: want the newest alone", loaded, err)
	}
	announce("run", 4, "gone")
	announce("run", 5, "there")
	announce("run", 6, "broken")
	if err := follow(t.Context(), s, parts); !errors.Is(err, broken) || !strings.Contains(err.Error(), "version 6") {
		t.Errorf("a version that cannot be loaded: %v", err)
	}
	if !slices.Equal(loaded, []int64{3, 5}) {
		t.Errorf("loaded %v, want 3 and 5", loaded)
	}
}

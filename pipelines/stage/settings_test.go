package stage

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

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

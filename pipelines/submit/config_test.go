package submit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/pipelines/settings"
	"millrace/pipelines/stage"
	"millrace/transforms/rollout"
)

// TestStretches: the ten stretches of the four stages are jobs, and nothing else
// is; each has the topics between its stages and no other.
func TestStretches(t *testing.T) {
	const letters = "j.deadletters"
	topics := map[string]stage.Topics{
		"rollout":                        {Tasks: "j.tasks", Trajectories: "j.trajectories", DeadLetters: letters},
		"rollout score":                  {Tasks: "j.tasks", Trajectories: "j.trajectories", Rewarded: "j.rewarded", DeadLetters: letters},
		"rollout score filter":           {Tasks: "j.tasks", Trajectories: "j.trajectories", Rewarded: "j.rewarded", Filtered: "j.filtered", DeadLetters: letters},
		"rollout score filter advantage": {Tasks: "j.tasks", Trajectories: "j.trajectories", Rewarded: "j.rewarded", Samples: "j.samples", DeadLetters: letters},
		"score":                          {Trajectories: "j.trajectories", Rewarded: "j.rewarded", DeadLetters: letters},
		"score filter":                   {Trajectories: "j.trajectories", Rewarded: "j.rewarded", Filtered: "j.filtered", DeadLetters: letters},
		"score filter advantage":         {Trajectories: "j.trajectories", Rewarded: "j.rewarded", Samples: "j.samples", DeadLetters: letters},
		"filter":                         {Rewarded: "j.rewarded", Filtered: "j.filtered", DeadLetters: letters},
		"filter advantage":               {Rewarded: "j.rewarded", Samples: "j.samples", DeadLetters: letters},
		"advantage":                      {Filtered: "j.filtered", Samples: "j.samples", DeadLetters: letters},
	}
	for subset := range 1 << len(order) {
		var stages []string
		for i, s := range order {
			if subset&(1<<i) != 0 {
				stages = append(stages, s)
			}
		}
		name := strings.Join(stages, " ")
		want, ok := topics[name]
		if err := contiguous(stages); (err == nil) != ok {
			t.Errorf("%q: error %v", name, err)
		}
		if ok {
			if diff := cmp.Diff(want, Config{Stages: stages}.topics("j")); diff != "" {
				t.Errorf("%q (-want +got):\n%s", name, diff)
			}
		}
	}
	for _, stages := range [][]string{{Score, Rollout}, {Score, Score}, {"learn"}} {
		if contiguous(stages) == nil {
			t.Errorf("%v is taken for a stretch", stages)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Config)
		want string // "" is valid
	}{
		{"defaults", func(*Config) {}, ""},
		{"rewards from a file", func(c *Config) { c.Stages, c.Input.Parquet = []string{Filter, Advantage}, "data" }, ""},
		{"topic to topic", func(c *Config) {
			c.Stages, c.Input.Topic, c.Output.Topic, c.Kafka.Brokers = []string{Score}, "in", "out", "a:1"
		}, ""},
		{"a gap", func(c *Config) { c.Stages = []string{Rollout, Filter} }, "stages: filter behind rollout"},
		{"no stage", func(c *Config) { c.Stages = nil }, "stages: there are none"},
		{"misspelt", func(c *Config) { c.Stages = []string{"scoring"} }, `"scoring" is none of rollout, score`},
		{"nothing to score", func(c *Config) { c.Stages = []string{Score} }, "needs one of input.parquet and input.topic"},
		{"two inputs", func(c *Config) {
			c.Stages, c.Input, c.Kafka.Brokers = []string{Score}, Input{Parquet: "a", Topic: "b"}, "a:1"
		}, "needs one of input.parquet and input.topic"},
		{"tasks and trajectories", func(c *Config) { c.Input.Parquet = "a" }, "input: a job that begins with rollout works on tasks"},
		{"topic of the embedded broker", func(c *Config) { c.Output.Topic = "out" }, "set kafka.brokers"},
		{"into its own input", func(c *Config) {
			c.Stages, c.Input.Parquet, c.Output.Parquet = []string{Score}, "data", "data/"
		}, "output.parquet is input.parquet"},
		{"onto its own input", func(c *Config) {
			c.Stages, c.Input.Topic, c.Output.Topic, c.Kafka.Brokers = []string{Score}, "a", "a", "a:1"
		}, "output.topic is input.topic"},
		{"settings of training", func(c *Config) { c.Recipe, c.GroupSize = "ppo", 0 }, `recipe is "ppo"`},
		{"no groups", func(c *Config) { c.Groups = 0 }, "groups is 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := Default()
			c.edit(&config)
			err := config.Validate()
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestConfigIsReadBack: what a job's directory keeps is the configuration that it
// was submitted with.
// TestSWERLConfig: the documented configuration is one.
func TestSWERLConfig(t *testing.T) {
	c := Default()
	if err := settings.Load(filepath.Join("..", "..", "docs", "configs", "swe-rl.yaml"), nil, &c); err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	rewards := c.Resolved().Score.Rewards
	if !c.Rollout.SingleTurn || c.Recipe != "swe-rl" || len(rewards) != 1 || rewards[0].Reward != "similarity" {
		t.Errorf("%+v, rewards %+v", c, rewards)
	}
}

// TestDeepSWEConfig: the documented configuration is one.
func TestDeepSWEConfig(t *testing.T) {
	c := Default()
	if err := settings.Load(filepath.Join("..", "..", "docs", "configs", "deepswe.yaml"), []string{`policy.endpoints=["http://gpu:8000"]`}, &c); err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if c.Rollout.Limits.Steps != 50 || c.Rollout.Notices != rollout.DeepSWENotices || len(c.Tasks.Kinds) != 0 || c.Sandbox.Docker.Containers != 512 {
		t.Errorf("%+v", c)
	}
}

func TestConfigIsReadBack(t *testing.T) {
	want := Default()
	want.Stages, want.Input.Parquet, want.Output.Topic, want.Kafka.Brokers = []string{Score, Filter}, "/data: #1", "out", "a:1,b:2"
	want.MaxTasks, want.Seed = 3, 1<<63
	text, err := settings.Print(want)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var got Config
	if err := settings.Load(path, nil, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

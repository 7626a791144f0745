package train

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"millrace/kernels/checkpoint"
	"millrace/kernels/tokenizer"
	"millrace/pipelines/mine"
	"millrace/pipelines/settings"
	"millrace/transforms/environment/frozenlake"
	"millrace/transforms/environment/lights"
)

// shippedConfig is one of the configurations in docs.
func shippedConfig(t *testing.T, name string) Config {
	t.Helper()
	c := Default()
	if err := settings.Load(filepath.Join("..", "..", "docs", "configs", name), nil, &c); err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestEnvironmentConfigs: what docs offers is sound, trains on a text environment,
// evaluates on tasks that it has and does not train on, and reads back as printed.
func TestEnvironmentConfigs(t *testing.T) {
	for file, name := range map[string]string{"frozenlake.yaml": frozenlake.Name, "lights.yaml": lights.Name} {
		c := shippedConfig(t, file)
		tasks, err := c.Tasks.load()
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range tasks {
			if task.Environment != name {
				t.Fatalf("%s: task %s is of environment %q", file, task.ID, task.Environment)
			}
		}
		if n := len(mine.Select(tasks, c.Tasks.Split)); n < c.Groups {
			t.Errorf("%s: %d tasks to train on, and a step takes %d", file, n, c.Groups)
		}
		for _, set := range c.Evaluate.Sets {
			if set.Split == c.Tasks.Split || len(mine.Select(tasks, set.Split)) == 0 {
				t.Errorf("%s: evaluated on split %q, which is trained on or empty", file, set.Split)
			}
		}
		text, err := settings.Print(c)
		if err != nil {
			t.Fatal(err)
		}
		printed := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(printed, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		again := Default()
		if err := settings.Load(printed, nil, &again); err != nil {
			t.Fatal(err)
		}
		if back, err := settings.Print(again); err != nil || back != text {
			t.Errorf("%s: the printed configuration reads back as another (error %v)", file, err)
		}
	}
}

// TestEnvironmentSettings: what is wrong with them is said before anything is opened.
func TestEnvironmentSettings(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Config)
		want string // "" is valid
	}{
		{"as shipped", func(*Config) {}, ""},
		{"unknown name", func(c *Config) { c.Tasks.Environment.Name = "chess" }, `tasks.environment: name is "chess": there are frozenlake and lights`},
		{"its settings", func(c *Config) { c.Tasks.Environment.FrozenLake.Sizes[0] = 1 }, "tasks.environment: frozenlake: bound 1 of a map: size is 1"},
		{"another's settings", func(c *Config) { c.Tasks.Environment.Lights.Width = 0 }, ""},
		{"two policies", func(c *Config) { c.Policy.Checkpoint = "somewhere" }, "policy.random: checkpoint is set too"},
		{"no shape", func(c *Config) { c.Policy.Random.Heads = 0 }, "policy.random: num_attention_heads is 0"},
		{"no environment", func(c *Config) { c.Tasks.Environment.Name = "" }, "policy.random: its vocabulary is that of a text environment"},
		{"one turn", func(c *Config) { c.Rollout.SingleTurn = true }, "rollout.single_turn answers with edits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := shippedConfig(t, "frozenlake.yaml")
			c.edit(&config)
			err := config.Validate()
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestRandomPolicy: equal configurations give equal files, another seed other weights
// and the same vocabulary, in which each word of an observation is a token.
func TestRandomPolicy(t *testing.T) {
	c := shippedConfig(t, "frozenlake.yaml")
	c.Tasks.Environment.FrozenLake.Train = 300
	made := func(c Config) map[string][]byte {
		dir := filepath.Join(t.TempDir(), "run", "random")
		if err := randomPolicy(c, dir); err != nil {
			t.Fatal(err)
		}
		model, _, err := checkpoint.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if model.NumHiddenLayers != c.Policy.Random.Layers || model.MaxPositionEmbeddings <= c.Rollout.Limits.Context {
			t.Errorf("the model is %+v", model)
		}
		files := map[string][]byte{}
		for _, name := range []string{"model.safetensors", "tokenizer.json", "config.json"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			files[name] = data
		}
		vocabulary, err := tokenizer.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		for text, want := range map[string]int{" Ol Gddr": 2, " same Or Ouu Gdd": 4, "left": 1, "assistant": 1, " Walk to G": 3} {
			if ids := vocabulary.EncodePlain(text); len(ids) != want {
				t.Errorf("%q is %d tokens, want %d", text, len(ids), want)
			}
		}
		if err := randomPolicy(Config{}, dir); err != nil { // it is there already
			t.Error(err)
		}
		return files
	}
	first, again := made(c), made(c)
	c.Seed++
	other := made(c)
	for name := range first {
		if !bytes.Equal(first[name], again[name]) {
			t.Errorf("%s differs from one time to the next", name)
		}
		if same := bytes.Equal(first[name], other[name]); same != (name != "model.safetensors") {
			t.Errorf("with another seed, %s is the same: %v", name, same)
		}
	}
}

// TestVocabularyNeedsTexts: a split without tasks, and tasks of no environment.
func TestVocabularyNeedsTexts(t *testing.T) {
	tasks, err := shippedConfig(t, "lights.yaml").Tasks.load()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := textTokenizer(tasks, "nowhere", 3); err == nil || !strings.Contains(err.Error(), `split "nowhere"`) {
		t.Errorf("a split without tasks: error %v", err)
	}
	tasks = slices.Clone(tasks)
	tasks[len(tasks)-1].Environment = ""
	if _, err := textTokenizer(tasks, lights.Train, 3); err == nil || !strings.Contains(err.Error(), "is of no text environment") {
		t.Errorf("a task in a sandbox: error %v", err)
	}
}

package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

type inner struct {
	Steps int           `yaml:"steps"`
	Limit time.Duration `yaml:"limit"`
}

type config struct {
	Seed   uint64            `yaml:"seed"`
	Rate   float64           `yaml:"learning_rate"`
	Inner  inner             `yaml:"limits"`
	Labels map[string]string `yaml:"labels"`
	Hidden int               `yaml:"-"`
}

func load(t *testing.T, text string, sets ...string) (config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := config{Seed: 1, Rate: 0.5, Inner: inner{Steps: 3, Limit: time.Second}}
	err := Load(path, sets, &c)
	return c, err
}

func TestLoadLayersOverDefaults(t *testing.T) {
	c, err := load(t, "seed: 9\nlimits:\n  steps: 20\nlabels:\n  anything: goes\n", "limits.limit=2m", "learning_rate=1e-3")
	if err != nil {
		t.Fatal(err)
	}
	if c.Seed != 9 || c.Inner.Steps != 20 || c.Inner.Limit != 2*time.Minute || c.Rate != 1e-3 || c.Labels["anything"] != "goes" {
		t.Errorf("got %+v", c)
	}
}

func TestLoadKeepsDefaultsOfAnEmptyFile(t *testing.T) {
	c, err := load(t, "# nothing\n")
	if err != nil || c.Seed != 1 || c.Inner.Steps != 3 {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, c := range []struct {
		name, text string
		sets       []string
		want       []string
	}{
		{"misspelt", "seed: 1\nlimits:\n  stpes: 2\n", nil, []string{"run.yaml", "line 3", "limits.stpes", "did you mean limits.steps?"}},
		{"wrong place", "steps: 2\n", nil, []string{"unknown key steps", "did you mean limits.steps?"}},
		{"nothing near", "zzzzzzzzzz: 1\n", nil, []string{"unknown key zzzzzzzzzz"}},
		{"hidden", "hidden: 1\n", nil, []string{"unknown key hidden"}},
		{"wrong type", "limits:\n  steps: many\n", nil, []string{`run.yaml: line 2: "many" is not a whole number`}},
		{"assignment of a wrong type", "", []string{"limits.steps=many"}, []string{`--set limits.steps: "many" is not a whole number`}},
		{"no section", "limits: 3\n", nil, []string{"run.yaml: line 1: "}},
		{"not yaml", "seed: [1\n", nil, []string{"run.yaml"}},
		{"assignment misspelt", "", []string{"limits.step=4"}, []string{"--set limits.step", "did you mean limits.steps?"}},
		{"assignment without value", "", []string{"seed"}, []string{"--set seed: want key=value"}},
	} {
		_, err := load(t, c.text, c.sets...)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: error %q does not name %q", c.name, err, w)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error is not one line: %q", c.name, err)
		}
	}
}

func TestLoadNamesAMissingFile(t *testing.T) {
	err := Load(filepath.Join(t.TempDir(), "none.yaml"), nil, &config{})
	if err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("got %v", err)
	}
}

func TestPrintReadsBack(t *testing.T) {
	c := config{Seed: 4, Rate: 1e-4, Inner: inner{7, 90 * time.Second}}
	text, err := Print(c)
	if err != nil {
		t.Fatal(err)
	}
	back, err := load(t, text)
	if err != nil {
		t.Fatal(err)
	}
	if back.Seed != 4 || back.Rate != 1e-4 || back.Inner != c.Inner {
		t.Errorf("%s\nread back as %+v", text, back)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("seed: 9\nlimits:\n  steps: 20\n")
	f.Add("{")
	f.Add("a: &x [*x]\n")
	f.Fuzz(func(t *testing.T, text string) {
		var c config
		if err := apply(func(int) string { return "fuzz" }, []byte(text), &c); err != nil && err.Error() == "" {
			t.Error("empty error")
		}
	})
}

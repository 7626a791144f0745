package train

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"millrace/pipelines/settings"
)

// TestServerSettings: what is wrong with them is said before anything is opened, and
// they are read as they are printed.
func TestServerSettings(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Config)
		want string // "" is valid
	}{
		{"two servers", func(c *Config) {
			c.Policy.Endpoints, c.Policy.APIKeyEnv, c.Policy.Dialect = []string{"http://a:8000", "http://b:8000"}, "KEY", "openai"
		}, ""},
		{"no servers", func(c *Config) { c.Policy.Model = "m" }, "policy: endpoints is empty"},
		{"password", func(c *Config) { c.Policy.Endpoints = []string{"http://u:p@a:8000"} }, "policy: endpoints[0]: holds a user or password"},
		{"chat", func(c *Config) { c.Policy.Endpoints, c.Policy.Dialect = []string{"http://a:1"}, "chat" }, "policy: dialect is chat"},
		{"short hand-over", func(c *Config) {
			c.Policy.Endpoints, c.Policy.HandOverTime = []string{"http://a:1"}, time.Second
		}, "policy: hand-over time is 1s"},
		{"a cluster", func(c *Config) { c.Policy.Endpoints, c.Runner = []string{"http://a:1"}, Flink }, "policy: endpoints are used by runner embedded alone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := Default()
			c.edit(&config)
			err := config.Validate()
			if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got  %v\nwant %s", err, c.want)
			}
			text, err := settings.Print(config)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			read := Default()
			if err := settings.Load(file, nil, &read); err != nil {
				t.Fatal(err)
			}
			if again, err := settings.Print(read); err != nil || again != text {
				t.Errorf("%v: read back as\n%s", err, again)
			}
		})
	}
}

// TestSeenAs: servers are told the checkpoint's own path, or its place in their
// view of the run.
func TestSeenAs(t *testing.T) {
	dir := filepath.Join("runs", "a", "checkpoints", "step-000012")
	own, err := PolicyConfig{}.seenAs(dir)
	if err != nil || !filepath.IsAbs(own) || !strings.HasSuffix(own, dir) {
		t.Errorf("%s, %v", own, err)
	}
	if mounted, err := (PolicyConfig{Checkpoints: "/mnt/a"}).seenAs(dir); err != nil || mounted != "/mnt/a/step-000012" {
		t.Errorf("%s, %v", mounted, err)
	}
}

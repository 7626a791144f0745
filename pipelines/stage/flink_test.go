package stage

import (
	"strings"
	"testing"
	"time"
)

func TestFlinkConfigValidate(t *testing.T) {
	sound := DefaultFlink()
	sound.Worker = "/usr/local/bin/millrace"
	for _, c := range []struct {
		name   string
		change func(*FlinkConfig)
		want   string // empty: sound
	}{
		{"sound", func(*FlinkConfig) {}, ""},
		{"pool", func(c *FlinkConfig) { c.Worker, c.Pool = "", "127.0.0.1:50000" }, ""},
		{"neither", func(c *FlinkConfig) { c.Worker = "" }, "exactly one"},
		{"both", func(c *FlinkConfig) { c.Pool = "127.0.0.1:50000" }, "exactly one"},
		{"relative worker", func(c *FlinkConfig) { c.Worker = "bin/millrace" }, "absolute path"},
		{"pool without port", func(c *FlinkConfig) { c.Worker, c.Pool = "", "localhost" }, "pool"},
		{"no job server", func(c *FlinkConfig) { c.JobServer = "" }, "job_server"},
		{"no parallelism", func(c *FlinkConfig) { c.Parallelism = 0 }, "parallelism"},
		{"negative retries", func(c *FlinkConfig) { c.Retries = -1 }, "retries"},
		{"hasty checkpoints", func(c *FlinkConfig) { c.Checkpoint = time.Millisecond }, "checkpoint"},
	} {
		config := sound
		c.change(&config)
		err := config.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

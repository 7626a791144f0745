package stage

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// FlinkConfig says which cluster runs a pipeline, and how. It holds no secret.
type FlinkConfig struct {
	// JobServer is the "host:port" of Beam's job server.
	JobServer string `yaml:"job_server"`
	// REST is the address of Flink's web interface, "http://host:port": it cancels
	// jobs, which the job server cannot.
	REST string `yaml:"rest"`
	// Parallelism is the number of slots that each job takes.
	Parallelism int `yaml:"parallelism"`
	// Worker is the path of this program on the machines of the task managers,
	// each of which starts it for itself; Pool is the "host:port" of a "millrace
	// worker" as a task manager sees it. One of them is set.
	Worker string `yaml:"worker"`
	Pool   string `yaml:"pool"`
	// Retries is how often Flink restarts a job that fails, RetryDelay how long it
	// waits before each.
	Retries    int           `yaml:"retries"`
	RetryDelay time.Duration `yaml:"retry_delay"`
	// Poll is the shortest pause between two looks of a stage at a partition. Each
	// look leaves about a kilobyte in the task manager before Beam 2.76 (issue 27648),
	// so it is no shorter than it has to be.
	Poll time.Duration `yaml:"poll"`
	// Checkpoint is the pause between two of Flink's checkpoints; 0 makes none,
	// and none is needed.
	Checkpoint time.Duration `yaml:"checkpoint"`
}

// DefaultFlink are the settings for the development cluster, less the worker.
func DefaultFlink() FlinkConfig {
	return FlinkConfig{JobServer: "127.0.0.1:8099", REST: "http://127.0.0.1:8081", Parallelism: 2, Retries: 100, RetryDelay: 2 * time.Second, Poll: time.Second}
}

// Validate reports everything that is wrong with the settings.
func (c FlinkConfig) Validate() error {
	var problems []string
	refuse := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if !isAddress(c.JobServer) {
		refuse("job_server is %q: want host:port", c.JobServer)
	}
	if u, err := url.Parse(c.REST); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		refuse("rest is %q: want http://host:port", c.REST)
	}
	if c.Parallelism < 1 {
		refuse("parallelism is %d: must be at least 1", c.Parallelism)
	}
	switch {
	case (c.Worker == "") == (c.Pool == ""):
		refuse("worker is %q and pool is %q: want exactly one of them", c.Worker, c.Pool)
	case c.Worker != "" && !filepath.IsAbs(c.Worker):
		refuse("worker is %q: want an absolute path, it is opened by the task managers", c.Worker)
	case c.Pool != "" && !isAddress(c.Pool):
		refuse("pool is %q: want host:port", c.Pool)
	}
	if c.Retries < 0 || c.RetryDelay < 0 || c.Poll < 0 {
		refuse("retries, retry_delay and poll must not be negative")
	}
	if c.Checkpoint != 0 && c.Checkpoint < 10*time.Millisecond {
		refuse("checkpoint is %s: Flink takes no less than 10ms", c.Checkpoint)
	}
	if len(problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(problems, "; "))
}

func isAddress(s string) bool {
	host, port, err := net.SplitHostPort(s)
	return err == nil && host != "" && port != ""
}

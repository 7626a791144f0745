package flink

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"testing"
	"time"

	"millrace/pipelines/stage"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// TestMain lets the test binary be the worker of its own jobs.
func TestMain(m *testing.M) {
	if IsWorker() {
		if err := keepLog(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		if err := Work(context.Background(), os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := kafkaio.CloseAll(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func init() {
	stage.RegisterMakers("test", stage.Makers{Scorer: func(_ context.Context, text []byte) (stage.Scorer, func() error, error) {
		return byHash{salt: string(text)}, func() error { return nil }, nil
	}})
}

// byHash gives a reward that depends on the trajectory and on its settings
// alone.
type byHash struct{ salt string }

func (b byHash) Score(_ context.Context, t schemas.Trajectory) (schemas.Reward, error) {
	h := fnv.New32a()
	fmt.Fprint(h, b.salt, t.GroupID, t.Rollout)
	return schemas.Reward{Trajectory: t, Value: float64(h.Sum32() % 2)}, nil
}

// startCluster is a cluster of two task managers for the length of the test, and
// the settings for jobs on it.
func startCluster(t testing.TB) (*Cluster, stage.FlinkConfig) {
	t.Helper()
	if _, err := exec.LookPath("java"); err != nil {
		without(t, "no java in PATH")
	}
	if _, err := Fetched(); err != nil {
		without(t, err.Error())
	}
	t.Setenv(workerLogs, t.TempDir())
	c := DefaultCluster(t.TempDir())
	for i, port := range freePorts(t, 3) {
		*[]*int{&c.JobServer, &c.REST, &c.RPC}[i] = port
	}
	cluster, err := Up(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Down(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			for _, p := range cluster.Processes {
				text, _ := os.ReadFile(cluster.logFile(p.Name)) // what is missing is not shown
				t.Logf("%s said:\n%s", p.Name, troubles(string(text)))
			}
		}
	})
	jobs := stage.DefaultFlink()
	jobs.JobServer, jobs.REST = cluster.JobServer, "http://"+cluster.REST
	if jobs.Worker, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	return cluster, jobs
}

// without skips the test, or fails it where a real cluster is required.
func without(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("CI") == "true" || os.Getenv("MILLRACE_REQUIRE_ALL") != "" {
		t.Fatalf("no real Flink cluster: %s", reason)
	}
	t.Skipf("no real Flink cluster: %s", reason)
}

package embedded

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"millrace/transforms/kafkaio"
)

// The environment of the child process.
const (
	childDir   = "MILLRACE_TEST_CHILD_DIR"
	childPoint = "MILLRACE_TEST_CHILD_POINT" // where it kills itself; "" runs to the end
)

const restartRecords = 60

// TestKillLosesNothing kills a process that runs broker and job on one directory
// at each named point, and starts it again. In the end every input has its
// output, what came twice came with equal id and value, and the group's position
// is the end of the log.
//
// The kill is SIGKILL by the process itself, so it hits between exactly two
// instructions of the walk in lane.go: before a record's work, after its emit
// (the write may or may not have reached the log), and after it was
// acknowledged (the commit may or may not have).
func TestKillLosesNothing(t *testing.T) {
	dir := t.TempDir()
	for _, point := range []string{"work:5", "emit:10", "acknowledged:15", "emit:1", ""} {
		out, err := startChild(t, dir, point)
		killed := err != nil && strings.Contains(err.Error(), "killed")
		if killed != (point != "") {
			t.Fatalf("child at %q: %v\n%s", point, err, out)
		}
	}
	b, err := StartBroker(BrokerConfig{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	end := kafkaio.Latest
	times := make(map[string]int)
	err = kafkaio.Consume(t.Context(), kafkaio.Source{Job: t.Name(), Brokers: b.Addr(), Topic: "out", To: &end}, func(r kafkaio.Record) error {
		if id := string(r.Headers[0].Value); id != "id-"+string(r.Value) {
			t.Errorf("value %s came under id %s", r.Value, id)
		}
		times[string(r.Value)]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	twice := 0
	for i := range restartRecords {
		n := times[strconv.Itoa(i)]
		if n == 0 {
			t.Errorf("%d was lost", i)
		}
		twice += max(n-1, 0)
	}
	t.Logf("%d outputs came again after four kills", twice)
	if left := remaining(t, b.Addr(), "in", "g"); len(left) != 0 {
		t.Errorf("not committed: %v", left)
	}
}

func startChild(t *testing.T, dir, point string) ([]byte, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), childDir+"="+dir, childPoint+"="+point)
	return cmd.CombinedOutput()
}

// child runs a broker on dir and a job that copies "in" to "out", and kills
// itself at its point or drains when everything is committed.
func child(dir string) {
	if err := runChild(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runChild(dir string) error {
	b, err := StartBroker(BrokerConfig{Dir: dir})
	if err != nil {
		return err
	}
	ctx := context.Background()
	if err := kafkaio.EnsureTopics(ctx, b.Addr(), kafkaio.TopicSpec{Name: "in", Partitions: 2}, kafkaio.TopicSpec{Name: "out", Partitions: 1}); err != nil {
		return err
	}
	filled := filepath.Join(dir, "filled")
	if _, err := os.Stat(filled); err != nil {
		for i := range restartRecords {
			v := fmt.Append(nil, i)
			if err := kafkaio.Produce(ctx, b.Addr(), kafkaio.Output{Topic: "in", Key: v, Value: v}); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filled, nil, 0o644); err != nil {
			return err
		}
	}
	passed := make(map[string]*counter)
	for _, name := range []string{"work", "emit"} {
		passed[name] = &counter{}
	}
	at, count := "", 0
	if point := os.Getenv(childPoint); point != "" {
		name, n, _ := strings.Cut(point, ":")
		at = name
		if count, err = strconv.Atoi(n); err != nil {
			return err
		}
	}
	pass := func(point string) {
		c := passed[point]
		c.add()
		c.mu.Lock()
		n := c.n
		c.mu.Unlock()
		if point == at && n == count {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	kafkaio.RegisterWork("copy", func(_ context.Context, r kafkaio.Record, emit func(kafkaio.Output)) error {
		pass("work")
		time.Sleep(time.Duration(r.Source.Offset%5) * 5 * time.Millisecond)
		emit(kafkaio.Output{Topic: "out", Value: r.Value, ID: "id-" + string(r.Value)})
		pass("emit")
		return nil
	})
	p, s := beam.NewPipelineWithRoot()
	kafkaio.Async(s, kafkaio.AsyncConfig{Source: kafkaio.Source{Job: "copy", Brokers: b.Addr(), Topic: "in", Group: "g"}, Work: "copy", InFlight: 4})
	job, err := RunJob(ctx, "copy", p)
	if err != nil {
		return err
	}
	if at == "acknowledged" {
		for kafkaio.StatsOf("copy").RecordsOut < int64(count) {
			time.Sleep(time.Millisecond)
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	for end, left := kafkaio.Latest, -1; left != 0; time.Sleep(20 * time.Millisecond) {
		left = 0
		source := kafkaio.Source{Job: "left", Brokers: b.Addr(), Topic: "in", Group: "g", To: &end}
		if err := kafkaio.Consume(ctx, source, func(kafkaio.Record) error { left++; return nil }); err != nil {
			return err
		}
	}
	kafkaio.Drain("copy")
	if err := job.Wait(); err != nil {
		return err
	}
	if err := kafkaio.CloseAll(ctx); err != nil {
		return err
	}
	return b.Close()
}

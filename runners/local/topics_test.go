package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"millrace/pipelines/topics"
	"millrace/transforms/kafkaio"
	"millrace/transforms/kafkaio/kafkatest"
)

// secured is the kafka section of a configuration for a test's broker. The
// password is in the environment.
func secured(t *testing.T, b *kafkatest.Broker) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "train.yaml")
	text := fmt.Sprintf(`name: secured
steps: 1
groups_per_step: 2
group_size: 4
evaluate: {sets: []}
kafka:
  brokers: %s
  replication: 1
  tls: {enabled: true, ca_file: %s}
  sasl: {mechanism: SCRAM-SHA-512, user: %s}
`, b.Secure, b.CAFile, kafkatest.User)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestKafka trains one step on a real broker over TLS with a user and password,
// and looks at its topics.
func TestKafka(t *testing.T) {
	kafkatest.Each(t, func(t *testing.T, b *kafkatest.Broker) {
		dir := filepath.Join(t.TempDir(), "run")
		config := secured(t, b)
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		options := TrainOptions{Dir: dir, ConfigFile: config, Out: out}

		t.Setenv(kafkaio.PasswordEnv, "hunter2")
		err = Train(t.Context(), options)
		want := "kafka " + b.Secure + ": listing topics: the broker refuses this user and password: [58]"
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("wrong password:\ngot  %v\nwant %s", err, want)
		}

		t.Setenv(kafkaio.PasswordEnv, kafkatest.Password)
		if err := Train(t.Context(), options); err != nil {
			t.Fatal(err)
		}
		if held := holding(t, dir, kafkatest.Password); len(held) > 0 {
			t.Errorf("the password is in %v", held)
		}
		for _, from := range []TopicsOptions{{Dir: dir}, {ConfigFile: config}, {Brokers: b.Plain, Run: "secured"}} {
			caughtUp(t, from, "secured", false)
		}
		var list topics.List
		show(t, TopicsOptions{ConfigFile: config, Run: "secured"}, &list, ListTopics)
		if len(list) != 7 {
			t.Errorf("%d topics, want 7", len(list))
		}
		var text bytes.Buffer
		if err := DescribeTopic(t.Context(), TopicsOptions{ConfigFile: config, Out: &text}, "secured.rewarded"); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"secured.rewarded: 8 records", "retention.ms -1 topic", "secured.advantage"} {
			if !strings.Contains(strings.Join(strings.Fields(text.String()), " "), want) {
				t.Errorf("no %q in\n%s", want, &text)
			}
		}
		if err := DescribeTopic(t.Context(), TopicsOptions{ConfigFile: config, Out: &text}, "none"); !errors.Is(err, kafkaio.ErrTopicMissing) {
			t.Errorf("a missing topic: %v", err)
		}
		jobOverKafka(t, b.Secure, "kafka.replication=1", fmt.Sprintf("kafka.tls={enabled: true, ca_file: %q}", b.CAFile),
			"kafka.sasl={mechanism: SCRAM-SHA-512, user: "+kafkatest.User+"}")
	})
}

// caughtUp checks that the stages of a run have read everything: two orders,
// eight rollouts, two groups, of each step; and more where a kill came between
// records and the commit behind them, which are then written again. Advantage
// holds its position before such a repeat until its group's time limit.
func caughtUp(t *testing.T, o TopicsOptions, run string, killed bool) {
	t.Helper()
	var lags topics.Lags
	show(t, o, &lags, TopicsLag)
	ends, behind := map[string]int64{}, int64(0)
	for _, s := range lags.Stages {
		ends[s.Stage] += s.End
		if !killed || s.Stage != "advantage" {
			behind += s.Lag
		}
		if s.Committed < 0 && s.End > 0 {
			t.Errorf("%s has committed nothing in %s[%d]", s.Stage, s.Topic, s.Partition)
		}
	}
	trajectories, groups := ends["score"]-4*ends["rollout"], ends["learn"]-ends["rollout"] // beyond those ordered
	if lags.Run != run || behind != 0 || ends["rollout"] == 0 || trajectories < 0 || groups < 0 || !killed && trajectories+groups != 0 {
		t.Errorf("%+v", lags)
	}
}

// show reads back what a command writes for machines.
func show[T any](t *testing.T, o TopicsOptions, into *T, command func(context.Context, TopicsOptions) error) {
	t.Helper()
	var text bytes.Buffer
	o.JSON, o.Out = true, &text
	if err := command(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text.Bytes(), into); err != nil {
		t.Fatalf("%v in\n%s", err, &text)
	}
}

// holding are the files below dir that hold text.
func holding(t *testing.T, dir, text string) []string {
	t.Helper()
	var held []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			held = append(held, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// TestTopicsOfARunDirectory looks at the embedded broker of a run that is not
// under way, and is refused while it is.
func TestTopicsOfARunDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, configFile), []byte("name: mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := TrainOptions{Dir: dir, Resume: true}
	config, err := resolve(o)
	if err != nil {
		t.Fatal(err)
	}
	brokers, closeBroker, err := openBrokers(dir, config.Kafka)
	if err != nil {
		t.Fatal(err)
	}
	if err := kafkaio.EnsureTopics(t.Context(), brokers, kafkaio.TopicSpec{Name: "mine.tasks", Partitions: 2}, kafkaio.TopicSpec{Name: "other.tasks", Partitions: 1}); err != nil {
		t.Fatal(err)
	}
	if err := kafkaio.Produce(t.Context(), brokers, kafkaio.Output{Topic: "mine.tasks", Value: []byte("order")}); err != nil {
		t.Fatal(err)
	}
	lock, err := claim(o)
	if err != nil {
		t.Fatal(err)
	}
	err = TopicsLag(t.Context(), TopicsOptions{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("directory %s is in use by process %d", dir, os.Getpid())) {
		t.Errorf("while the run is under way: %v", err)
	}
	if err := errors.Join(closeBroker(), lock.Unlock()); err != nil {
		t.Fatal(err)
	}
	var lags topics.Lags
	show(t, TopicsOptions{Dir: dir}, &lags, TopicsLag)
	if lags.Run != "mine" || lags.Total != 1 || len(lags.Stages) != 2 || lags.Stages[0].Committed != -1 {
		t.Errorf("%+v", lags)
	}
}

func TestTopicsRefuses(t *testing.T) {
	nowhere := t.TempDir()
	typo := filepath.Join(t.TempDir(), "typo.yaml")
	if err := os.WriteFile(typo, []byte("kafka:\n  sasl:\n    password: hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		options TopicsOptions
		want    string
	}{
		{"no place", TopicsOptions{Run: "x"}, "which topics: give --kafka, a --config that names kafka.brokers, or the --dir of a run"},
		{"no run", TopicsOptions{Brokers: "127.0.0.1:1"}, "which run: give --run, --dir or --config"},
		{"no run in the directory", TopicsOptions{Dir: nowhere}, nowhere + " holds no run"},
		{"a password in the configuration", TopicsOptions{ConfigFile: typo}, "line 3: unknown key kafka.sasl.password"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := TopicsLag(t.Context(), c.options)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	if entries, err := os.ReadDir(nowhere); err != nil || len(entries) > 0 {
		t.Errorf("looking left %v, %v", entries, err)
	}
}

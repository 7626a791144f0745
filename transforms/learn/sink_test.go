package learn

import (
	"os"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"millrace/schemas"
)

func TestMain(m *testing.M) { os.Exit(ptest.MainRetWithDefault(m, "prism")) }

// TestLearn runs a log through the transform: its updates and dead letters are
// those of the learner by itself.
func TestLearn(t *testing.T) {
	log := testLog(t, 2)
	want := undisturbed(t, nil, log)
	l, err := Open(tinyConfig(t, t.TempDir()), Parts{Trainer: tinyTrainer(t)})
	if err != nil {
		t.Fatal(err)
	}
	unregister, err := Register(t.Name(), l)
	if err != nil {
		t.Fatal(err)
	}
	defer unregister()
	if _, err := Register(t.Name(), l); err == nil {
		t.Error("a name was registered twice")
	}
	var records []Record
	for i, r := range log {
		records = append(records, Record{r.key, r.value, schemas.Position{Topic: "samples", Offset: int64(i)}})
	}
	p, s := beam.NewPipelineWithRoot()
	updates, letters := Learn(s, t.Name(), beam.CreateList(s, records))
	passert.Count(s, updates, "updates", len(want.updates))
	passert.Count(s, letters, "dead letters", len(want.letters))
	ptest.RunAndValidate(t, p)
	if got := l.Version(); got != int64(len(want.updates)) {
		t.Errorf("the learner is at version %d", got)
	}
	if c := l.Counts(); c.Read != int64(len(log)) || c.Read != c.Consumed+c.Dropped+c.Repeated+c.Held {
		t.Errorf("of %d records, counts are %+v", len(log), c)
	}
}

// TestResumedLearnerDeliversWithoutARecord: a learner that died behind its last
// commit has told nobody of that step, and no record will ever come again.
func TestResumedLearnerDeliversWithoutARecord(t *testing.T) {
	config, o := trainedDir(t)
	l, err := reopen(t, config)
	if err != nil {
		t.Fatal(err)
	}
	unregister, err := Register(t.Name(), l)
	if err != nil {
		t.Fatal(err)
	}
	defer unregister()
	p, s := beam.NewPipelineWithRoot()
	updates, letters := Learn(s, t.Name(), beam.CreateList(s, []Record{}))
	passert.Count(s, updates, "updates", len(o.updates))
	passert.Count(s, letters, "dead letters", len(o.letters))
	ptest.RunAndValidate(t, p)
}

func TestLearnNeedsItsLearner(t *testing.T) {
	err := (&sinkFn{Name: "nobody"}).ProcessElement(t.Context(), Record{}, nil, nil)
	if err == nil || !strings.Contains(err.Error(), `no learner named "nobody"`) {
		t.Errorf("running without a learner: %v", err)
	}
}

// TestConfigTellsEverything: all that is wrong is told at once.
func TestConfigTellsEverything(t *testing.T) {
	err := Config{Schedule: Schedule{Cosine: true}, Keep: Keep{Every: -1}, MaxStaleness: -1}.Validate()
	if err == nil {
		t.Fatal("an empty configuration is valid")
	}
	for _, word := range []string{"run", "directory", "keep.last", "keep.every", "groups", "staleness", "context",
		"temperature", "micro-batch", "minibatches", "cosine", "aggregation"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not tell of %s: %v", word, err)
		}
	}
	if err := tinyConfig(t, "dir").Validate(); err != nil {
		t.Error(err)
	}
}

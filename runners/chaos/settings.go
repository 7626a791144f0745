package chaos

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"millrace/kernels"
	"millrace/pipelines/stage"
	"millrace/schemas"
	"millrace/transforms/learn"
)

// run is the name of the run in a campaign's topics and ledger.
const run = "chaos"

// The flow of a campaign: small records and a tiny model, so that a step costs
// milliseconds and a fault is what takes time. Staleness is 0: then the batches,
// and so the weights, are a function of the run's seed alone, whatever the faults
// do to the order of the records.
const (
	groups     = 4 // of a step
	rollouts   = 4 // of a group
	partitions = 2
	window     = 1024 // tokens of context
)

var model = kernels.Config{
	VocabSize: vocabulary, HiddenSize: 16, IntermediateSize: 32, NumHiddenLayers: 1, NumAttentionHeads: 2,
	NumKeyValueHeads: 1, HeadDim: 8, MaxPositionEmbeddings: window, RMSNormEps: 1e-6, RopeTheta: 10000,
	TieWordEmbeddings: true,
}

// settings is what the processes of a campaign are told, in the file of that name
// in its directory.
type settings struct {
	Seed uint64 `json:"seed"`
	// Port is the broker's own.
	Port int `json:"port"`
	// Brokers is the address at which each role finds the broker: a proxy's.
	Brokers map[string]string `json:"brokers"`
}

// What the campaign tells its processes while they run, in files of these names.
const (
	settingsFile   = "settings.json"
	targetFile     = "target"     // the number of steps to take, once it is known
	partitionsFile = "partitions" // of each topic, once they have grown
)

// readNumber reads such a file, or returns what holds without it.
func readNumber(path string, without int64) (n int64, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return without, nil
	}
	if err == nil {
		_, err = fmt.Sscan(string(text), &n)
	}
	if err != nil {
		return 0, fmt.Errorf("reading %s: %w", path, err)
	}
	return n, nil
}

func (s settings) save(dir string) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, settingsFile), data, 0o644)
}

func loadSettings(dir string) (s settings, err error) {
	data, err := os.ReadFile(filepath.Join(dir, settingsFile))
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return s, fmt.Errorf("reading the campaign's settings: %w", err)
	}
	return s, nil
}

// stream is where a role finds the topics.
func (s settings) stream(role string) stage.Stream {
	return stage.Stream{Brokers: s.Brokers[role], Topics: stage.TopicsOf(run), Job: run + "." + role}
}

// tasks are the groups of an iteration. The agent has to put the right number
// into a file; only the hidden test knows it. A file that nobody reads makes the
// test runs of each iteration new to the score cache.
func tasks(iteration int64) []schemas.Task {
	var out []schemas.Task
	for i := range groups {
		out = append(out, schemas.Task{
			ID: fmt.Sprintf("guess/%d", i), Repo: "guess", Split: "train", Statement: "Put the right number into answer.txt.",
			Files:       []schemas.File{{Path: answerFile, Content: unanswered}, {Path: "round.txt", Content: fmt.Sprint(iteration)}},
			HiddenTests: []schemas.File{{Path: wantFile, Content: fmt.Sprint(i % answers)}},
			TestCommand: testCommand, TestFormat: "go-test-json", FailToPass: []string{testName},
			Iteration: iteration, Rollouts: rollouts,
		})
	}
	return out
}

// learner are the learner's settings over a directory of checkpoints.
func learner(dir string) learn.Config {
	c := learn.Defaults()
	c.Run, c.ConfigHash, c.Dir = run, "chaos", dir
	c.Keep = learn.Keep{Last: 2}
	c.GroupsPerStep, c.Context, c.MicroBatchTokens = groups, window, 4*window
	c.Optimizer.LearningRate = 1e-2
	return c
}

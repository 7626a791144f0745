package train

import (
	"fmt"
	"testing"

	"millrace/schemas"
)

func numbered(n int) []schemas.Task {
	tasks := make([]schemas.Task, n)
	for i := range tasks {
		tasks[i].ID = fmt.Sprint(i)
	}
	return tasks
}

// TestEveryRoundSeesEveryTaskOnce: 21 tasks in groups of 4 make rounds of 5
// iterations, which leave one task out.
func TestEveryRoundSeesEveryTaskOnce(t *testing.T) {
	tasks := numbered(21)
	left := map[string]int{}
	for round := range int64(40) {
		seen := map[string]bool{}
		for i := range int64(5) {
			batch := batchTasks(tasks, 7, round*5+i, 4)
			if len(batch) != 4 {
				t.Fatalf("round %d: batch of %d", round, len(batch))
			}
			for _, task := range batch {
				if seen[task.ID] {
					t.Errorf("round %d sees task %s twice", round, task.ID)
				}
				seen[task.ID] = true
			}
		}
		for _, task := range tasks {
			if !seen[task.ID] {
				left[task.ID]++
			}
		}
	}
	// 40 draws of one task in 21: were it always the same, that would be a bias.
	if len(left) < 10 {
		t.Errorf("only %d tasks were ever left out in 40 rounds: %v", len(left), left)
	}
}

func TestBatchTasksIsAFunctionOfSeedAndIteration(t *testing.T) {
	tasks := numbered(50)
	key := func(seed uint64, iteration int64) string { return fmt.Sprint(batchTasks(tasks, seed, iteration, 8)) }
	first, again := key(1, 9), key(1, 9)
	if first != again {
		t.Error("the same seed and iteration gave two batches")
	}
	if key(1, 9) == key(2, 9) || key(1, 9) == key(1, 10) {
		t.Error("another seed or iteration gave the same batch")
	}
}

func TestDefaultIsValid(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Error(err)
	}
}

func TestHashTellsConfigurationsApart(t *testing.T) {
	a, err := Hash(Default())
	if err != nil {
		t.Fatal(err)
	}
	changed := Default()
	changed.Learn.LearningRate *= 2
	b, err := Hash(changed)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := Hash(Default()); a != again || a == b {
		t.Errorf("hashes %s, %s and changed %s", a, again, b)
	}
}

// TestGoTestCommandsAreKnown: only commands whose result is a function of the
// workspace are remembered.
func TestGoTestCommandsAreKnown(t *testing.T) {
	for command, want := range map[string]bool{
		"go test":                 true,
		"go test ./...":           true,
		" go test -run ^TestX$ .": true,
		"go test | head":          false,
		"go test; date":           false,
		"go test > out":           false,
		"go test && rm x":         false,
		"go test $(date)":         false,
		"date":                    false,
		"go testing":              false,
		"go test\nrm -rf x":       false,
	} {
		if got := GoTest.MatchString(command); got != want {
			t.Errorf("%q: got %v, want %v", command, got, want)
		}
	}
}

package mine

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"

	"millrace/schemas"
)

// defaultTasks is what Build makes of the corpus by DefaultBuildConfig. To make
// it again (about six CPU minutes):
//
//	go test ./pipelines/mine -run TestDefaultIsBuilt -update -timeout 30m
//
//go:embed tasks.jsonl
var defaultTasks []byte

// Default returns the task set that ships with the program, validated when it
// was made. Each call returns a new copy.
func Default() ([]schemas.Task, error) {
	tasks, bad, err := Read("tasks.jsonl", bytes.NewReader(defaultTasks))
	for _, b := range bad {
		err = errors.Join(err, b)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the default tasks: %w", err)
	}
	return tasks, nil
}

package environment

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"millrace/schemas"
)

// Parameters reads Task.Parameters, one JSON object, into the struct that into
// points to. A key that the struct lacks is an error, as is anything behind the
// object: a task is either understood or refused.
func Parameters(task schemas.Task, into any) error {
	dec := json.NewDecoder(bytes.NewReader([]byte(task.Parameters)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("parameters of task %s: %w", task.ID, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("parameters of task %s: text after the JSON object", task.ID)
	}
	return nil
}

// Task makes a task of an environment: its id is the environment's name, kind, and a
// hash of the parameters, so that equal parameters are one task. Goals are what is
// to be reached.
func Task(name, kind, split string, parameters any, goals ...string) (schemas.Task, error) {
	text, err := json.Marshal(parameters)
	if err != nil {
		return schemas.Task{}, fmt.Errorf("writing the parameters of a %s task: %w", name, err)
	}
	sum := sha256.Sum256(text)
	return schemas.Task{
		ID: name + "/" + kind + "/" + hex.EncodeToString(sum[:6]), Repo: name, Split: split,
		Environment: name, Parameters: string(text), FailToPass: goals,
	}, nil
}

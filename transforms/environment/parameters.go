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

// Parameters reads Task.Parameters, one JSON object, and validates what it says. A key
// that the struct lacks is an error, as is anything behind the object: a task is either
// understood or refused.
func Parameters[P interface{ Validate() error }](task schemas.Task) (p P, err error) {
	dec := json.NewDecoder(bytes.NewReader([]byte(task.Parameters)))
	dec.DisallowUnknownFields()
	if err = dec.Decode(&p); err == nil {
		if _, end := dec.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("text after the JSON object")
		} else {
			err = p.Validate()
		}
	}
	if err != nil {
		return p, fmt.Errorf("parameters of task %s: %w", task.ID, err)
	}
	return p, nil
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

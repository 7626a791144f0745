package taskset

import (
	"encoding/json"
	"errors"

	"millrace/pipelines/mine"
	"millrace/schemas"
)

// nativeTask reads a row of this project's own form. One of a Parquet file may hold
// iteration and rollouts, which a task record has and a task in a set has not.
func nativeTask(r *row) schemas.Task {
	text := r.text
	if text == nil {
		delete(r.values, "iteration")
		delete(r.values, "rollouts")
		var err error
		if text, err = json.Marshal(r.values); err != nil {
			r.err = &fieldError{err: err}
			return schemas.Task{}
		}
	}
	task, err := mine.ParseRow(text)
	var native *mine.RowError
	if errors.As(err, &native) {
		r.err = &fieldError{native.Field, native.Err}
	}
	return task
}

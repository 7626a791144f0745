package taskset

import (
	"errors"
	"fmt"

	"millrace/pipelines/mine"
)

// RowError says what is wrong with one row of a dataset.
type RowError struct {
	// File is the file's name as it was given. Row counts from 1; of a file of
	// lines it is the line.
	File string
	Row  int64
	// Field is the column at fault, or the key of the task that would come of it;
	// empty when it is the whole row.
	Field string
	Err   error
}

func (e *RowError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%s:%d: %v", e.File, e.Row, e.Err)
	}
	return fmt.Sprintf("%s:%d: %s: %v", e.File, e.Row, e.Field, e.Err)
}

func (e *RowError) Unwrap() error { return e.Err }

// fieldError is what is wrong with a column; the row is known to the caller.
type fieldError struct {
	field string
	err   error
}

func (e *fieldError) Error() string { return e.field + ": " + e.err.Error() }

func (e *fieldError) Unwrap() error { return e.err }

// at gives an error of a row its place.
func at(file string, row int64, err error) *RowError {
	var field *fieldError
	var native *mine.RowError
	switch {
	case errors.As(err, &field):
		return &RowError{File: file, Row: row, Field: field.field, Err: field.err}
	case errors.As(err, &native):
		return &RowError{File: file, Row: row, Field: native.Field, Err: native.Err}
	}
	return &RowError{File: file, Row: row, Err: err}
}

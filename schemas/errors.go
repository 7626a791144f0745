package schemas

import (
	"errors"
	"fmt"
)

// ErrCorrupt marks every error that says that bytes are not what an encoder
// wrote: a wrong checksum, an unknown schema, a column outside its buffer.
var ErrCorrupt = errors.New("corrupt record")

// corruptError carries the mark without repeating it in the message.
type corruptError struct{ text string }

func (e corruptError) Error() string        { return e.text }
func (e corruptError) Is(target error) bool { return target == ErrCorrupt }

func corrupt(format string, args ...any) error {
	return corruptError{"corrupt record: " + fmt.Sprintf(format, args...)}
}

// InvalidError says that a row breaks its contract.
type InvalidError struct {
	// Schema is the name of the row's schema, Row its index in the batch and ID
	// its id, as far as it has one.
	Schema string
	Row    int
	ID     string
	// Field is the path of the field ("Task.Files[2].Path").
	Field string
	// Problem says what is wrong with it.
	Problem string
	// Reason is Invalid or NotFinite.
	Reason Reason
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("invalid %s in row %d (id %q): field %s %s", e.Schema, e.Row, e.ID, e.Field, e.Problem)
}

// ReasonOf returns the dead letter reason of an error from Encode, Decode or
// Validate: Corrupt, Invalid, NotFinite or BlobLost. Any other error is Corrupt,
// since what cannot be read cannot be trusted.
func ReasonOf(err error) Reason {
	if _, ok := errors.AsType[*BlobError](err); ok {
		return BlobLost
	}
	if invalid, ok := errors.AsType[*InvalidError](err); ok {
		return invalid.Reason
	}
	return Corrupt
}

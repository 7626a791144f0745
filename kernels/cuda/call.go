package cuda

import (
	"bytes"
	"errors"
	"runtime"
	"unsafe"
)

// ErrUnavailable is part of the error where the library, the driver or a device that
// can do it is missing. The text says which.
var ErrUnavailable = errors.New("no usable GPU")

// ErrOutOfMemory is part of the error of a call that asked for more device memory than
// is free. The call did nothing, and the device and its policies are as before.
var ErrOutOfMemory = errors.New("out of device memory")

// Error is what a call of the library reports.
type Error struct {
	// Text says what was attempted and what went wrong.
	Text   string
	status int32
}

func (e *Error) Error() string { return "cuda: " + e.Text }

// Is makes an Error one of the two above by its status.
func (e *Error) Is(target error) bool {
	return target == ErrUnavailable && e.status == statusUnavailable ||
		target == ErrOutOfMemory && e.status == statusOutOfMemory
}

// call runs a function of the library on its struct, whose report is its first field.
// The slices that the struct points to are given as pinned.
func call[T any](function uintptr, argument *T, r *report, pinned ...any) error {
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(argument)
	for _, p := range pinned {
		pins.Pin(p)
	}
	invoke(function, unsafe.Pointer(argument))
	if r.status == statusOK {
		return nil
	}
	return &Error{Text: text(r.text[:]), status: r.status}
}

// text is the string in a C array, which ends with 0.
func text(b []byte) string {
	before, _, _ := bytes.Cut(b, []byte{0})
	return string(before)
}

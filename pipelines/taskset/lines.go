package taskset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// errLong marks a row that is too long to keep; the rows behind it can be read.
type errLong struct{ bytes int }

func (e errLong) Error() string { return fmt.Sprintf("row is longer than %d bytes", e.bytes) }

// lines visits the lines of r with their numbers, from 1; blank ones are skipped.
// A line over limit bytes is visited with an errLong. A line's memory is the
// visitor's.
func lines(r *bufio.Reader, limit int, visit func(n int64, line []byte, bad error) error) error {
	for n := int64(1); ; n++ {
		line, long, err := readLine(r, limit)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("line %d: %w", n, err)
		}
		var visitErr error
		if long {
			visitErr = visit(n, nil, errLong{limit})
		} else if line = bytes.TrimSpace(line); len(line) > 0 {
			visitErr = visit(n, line, nil)
		}
		if visitErr != nil || err != nil {
			return visitErr // err is the end
		}
	}
}

// readLine returns the next line, or tells that it was too long and is passed.
func readLine(r *bufio.Reader, limit int) (line []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > limit; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

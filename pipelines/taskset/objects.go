package taskset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// objects visits the rows of a JSON text, numbered from 1: the elements of a list,
// the values of an object by id, or values one behind the other. A text that
// begins with an object is by id when the first value of that object is an object
// itself. The id is "" where there is none.
//
// A row over limit bytes is visited with an errLong, and the rows behind it go on.
// Where the brackets around the rows are broken, that place is visited as a bad row
// and is the last.
func objects(r *bufio.Reader, limit int, visit func(n int64, id string, text []byte, bad error) error) error {
	s := &scanner{r: r, limit: limit}
	first, err := s.peek()
	if err != nil {
		return s.end(err) // a file without a row
	}
	next := s.concatenated
	switch {
	case first == '[':
		s.r.Discard(1)
		next = s.listed
	case first == '{' && byID(r):
		s.r.Discard(1)
		next = s.byID
	}
	for n := int64(1); ; n++ {
		id, text, err := next(n == 1)
		var long errLong
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &long):
			err = visit(n, id, nil, long)
		case err != nil:
			var broken *brokenError
			if errors.As(err, &broken) {
				return visit(n, id, nil, err)
			}
			return fmt.Errorf("row %d: %w", n, err)
		default:
			err = visit(n, id, text, nil)
		}
		if err != nil {
			return err
		}
	}
}

// brokenError is a fault of the text around the rows.
type brokenError struct{ problem string }

func (e *brokenError) Error() string {
	return e.problem + "; what follows in this file is not read"
}

// byID tells whether the object that r begins with has an object as its first
// value.
func byID(r *bufio.Reader) bool {
	head, _ := r.Peek(4096)
	dec := json.NewDecoder(bytes.NewReader(head))
	for range 2 { // the bracket and the first key
		if _, err := dec.Token(); err != nil {
			return false
		}
	}
	value, err := dec.Token()
	return err == nil && value == json.Delim('{')
}

// scanner cuts a JSON text into values without holding more than one.
type scanner struct {
	r     *bufio.Reader
	limit int
}

// end is err for a text that ended between rows: io.EOF or a reader's error.
func (s *scanner) end(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// peek returns the next byte that is not white space, without taking it.
func (s *scanner) peek() (byte, error) {
	for {
		b, err := s.r.ReadByte()
		if err != nil {
			return 0, err
		}
		switch b {
		case ' ', '\t', '\n', '\r':
			continue
		}
		return b, s.r.UnreadByte()
	}
}

// take takes the next byte that is not white space, if it is want.
func (s *scanner) take(want byte) error {
	b, err := s.peek()
	if errors.Is(err, io.EOF) {
		return &brokenError{fmt.Sprintf("the text ends where %q should be", want)}
	}
	if err != nil {
		return err
	}
	if b != want {
		return &brokenError{fmt.Sprintf("found %q, want %q", b, want)}
	}
	_, err = s.r.Discard(1)
	return err
}

func (s *scanner) concatenated(bool) (string, []byte, error) {
	if _, err := s.peek(); err != nil {
		return "", nil, err
	}
	text, err := s.value()
	return "", text, err
}

func (s *scanner) listed(first bool) (string, []byte, error) {
	if err := s.separator(first, ']'); err != nil {
		return "", nil, err
	}
	text, err := s.value()
	return "", text, err
}

func (s *scanner) byID(first bool) (id string, text []byte, err error) {
	if err := s.separator(first, '}'); err != nil {
		return "", nil, err
	}
	key, err := s.value()
	if err != nil {
		return "", nil, err
	}
	if err := json.Unmarshal(key, &id); err != nil {
		return "", nil, &brokenError{fmt.Sprintf("%.40q is no id", key)}
	}
	if err := s.take(':'); err != nil {
		return id, nil, err
	}
	text, err = s.value()
	return id, text, err
}

// separator takes the comma between two rows; the closing bracket is the end.
func (s *scanner) separator(first bool, closing byte) error {
	b, err := s.peek()
	if err == nil && b == closing {
		return io.EOF
	}
	if first && err == nil {
		return nil
	}
	return s.take(',')
}

// value takes the next value as it stands: up to its closing bracket or quote, or
// of another value up to what ends it. It need not be sound JSON.
func (s *scanner) value() ([]byte, error) {
	if _, err := s.peek(); errors.Is(err, io.EOF) {
		return nil, &brokenError{"the text ends where a value should be"}
	} else if err != nil {
		return nil, err
	}
	var text []byte
	var depth, size int
	quoted, escaped := false, false
	for {
		b, err := s.r.ReadByte()
		if errors.Is(err, io.EOF) {
			if depth == 0 && !quoted {
				break // a number or word, and the end of the text
			}
			return nil, &brokenError{"the text ends inside a row"}
		}
		if err != nil {
			return nil, err
		}
		if depth == 0 && !quoted && size > 0 && bytes.IndexByte([]byte(",:]}{[\" \t\r\n"), b) >= 0 {
			if err := s.r.UnreadByte(); err != nil {
				return nil, err
			}
			break
		}
		if size++; size <= s.limit {
			text = append(text, b)
		} else {
			text = nil
		}
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = b == '\\', b != '"'
		case b == '"':
			quoted = true
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
		}
		if depth <= 0 && !quoted && (b == '"' || b == '}' || b == ']') {
			break
		}
	}
	if size > s.limit {
		return nil, errLong{s.limit}
	}
	return text, nil
}

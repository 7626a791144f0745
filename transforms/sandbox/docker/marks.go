package docker

import (
	"bytes"
	"io"
	"strconv"
)

// A command's output stands between two marks on the shell's standard output:
//
//	\036 nonce + \036   output   \036 nonce - exit status \036
//
// The nonce is new for every command and known to nobody in the container
// before; what is outside of the marks is left over from an earlier command.
const markByte = 0x1e

// maxStatus bounds the digits of an exit status.
const maxStatus = 8

// marks takes the output of one command out of the shell's stream.
type marks struct {
	nonce   string
	to      io.Writer
	started bool
	done    bool
	status  int
	held    []byte // the beginning of what may be a mark
}

func newMarks(nonce string, to io.Writer) *marks { return &marks{nonce: nonce, to: to} }

func (m *marks) start() []byte { return append([]byte{markByte}, m.nonce+"+\x1e"...) }
func (m *marks) end() []byte   { return append([]byte{markByte}, m.nonce+"-"...) }

// Write takes the next bytes of the stream, cut anywhere. It returns the error
// of the writer below. Nothing is written after the end mark.
func (m *marks) Write(p []byte) (int, error) {
	data := append(m.held, p...)
	m.held = nil
	if !m.started {
		mark := m.start()
		i := bytes.Index(data, mark)
		if i < 0 {
			m.held = bytes.Clone(data[len(data)-overlap(data, mark):])
			return len(p), nil
		}
		m.started, data = true, data[i+len(mark):]
	}
	for !m.done && len(data) > 0 {
		mark := m.end()
		i := bytes.Index(data, mark)
		if i < 0 {
			keep := overlap(data, mark)
			m.held = bytes.Clone(data[len(data)-keep:])
			return m.pass(data[:len(data)-keep], len(p))
		}
		rest := data[i+len(mark):]
		switch j := bytes.IndexByte(rest, markByte); {
		case j < 0 && len(rest) <= maxStatus:
			m.held = bytes.Clone(data[i:]) // the status is not all there
			return m.pass(data[:i], len(p))
		case j >= 0 && j <= maxStatus:
			if status, err := strconv.Atoi(string(rest[:j])); err == nil {
				m.done, m.status = true, status
				return m.pass(data[:i], len(p))
			}
		}
		// Not a mark after all.
		if _, err := m.pass(data[:i+len(mark)], 0); err != nil {
			return 0, err
		}
		data = rest
	}
	return len(p), nil
}

func (m *marks) pass(data []byte, n int) (int, error) {
	if len(data) > 0 {
		if _, err := m.to.Write(data); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// overlap is the length of the longest end of data that begins mark.
func overlap(data, mark []byte) int {
	for n := min(len(data), len(mark)-1); n > 0; n-- {
		if bytes.HasPrefix(mark, data[len(data)-n:]) {
			return n
		}
	}
	return 0
}

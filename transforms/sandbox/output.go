package sandbox

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// Output keeps the first and the last half of what was written to it, in
// memory bounded by its limit.
type Output struct {
	limit int
	head  []byte
	tail  []byte // a ring once full
	next  int    // where the ring continues
	total int64
}

// NewOutput returns an Output that keeps limit bytes.
func NewOutput(limit int) *Output { return &Output{limit: limit} }

// Total is the number of bytes written.
func (o *Output) Total() int64 { return o.total }

// Write never fails.
func (o *Output) Write(p []byte) (int, error) {
	n := len(p)
	o.total += int64(n)
	if room := o.limit/2 - len(o.head); room > 0 {
		k := min(room, len(p))
		o.head = append(o.head, p[:k]...)
		p = p[k:]
	}
	size := o.limit - o.limit/2
	if len(p) > size {
		p = p[len(p)-size:]
	}
	if room := size - len(o.tail); room > 0 {
		k := min(room, len(p))
		o.tail = append(o.tail, p[:k]...)
		p = p[k:]
	}
	for len(p) > 0 {
		k := copy(o.tail[o.next:], p)
		o.next = (o.next + k) % size
		p = p[k:]
	}
	return n, nil
}

// Text returns what was kept, as valid UTF-8. Where the middle is missing it is
// cut at line ends, if there are any, and one line says how much is missing.
func (o *Output) Text() (s string, truncated bool) {
	tail := append(append([]byte(nil), o.tail[o.next:]...), o.tail[:o.next]...)
	if o.total <= int64(o.limit) {
		return strings.ToValidUTF8(string(o.head)+string(tail), string(utf8.RuneError)), false
	}
	head := string(o.head)
	if i := strings.LastIndexByte(head, '\n'); i >= 0 {
		head = head[:i+1]
	} else {
		head += "\n"
	}
	end := string(tail)
	if i := strings.IndexByte(end, '\n'); i >= 0 && i+1 < len(end) {
		end = end[i+1:]
	}
	missing := o.total - int64(len(o.head)) - int64(len(o.tail))
	s = fmt.Sprintf("%s[... %d bytes or more left out ...]\n%s", head, missing, end)
	return strings.ToValidUTF8(s, string(utf8.RuneError)), true
}

const (
	freeOutput   = 8 << 20          // bytes that are read at full speed
	outputPause  = time.Millisecond // is taken afterwards
	pauseEvery   = 4                // reads
	bytesPerRead = 64 << 10         // the size of a pipe
)

// drain reads r to its end into o, and slowly after the first freeOutput bytes:
// a command that prints for ever then mostly waits on its full pipe, and costs
// neither side a core until its deadline.
func drain(r io.Reader, o *Output) error {
	buffer := make([]byte, bytesPerRead)
	for reads := 1; ; reads++ {
		n, err := r.Read(buffer)
		o.Write(buffer[:n])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if o.total > freeOutput && reads%pauseEvery == 0 {
			time.Sleep(outputPause)
		}
	}
}

// splitLines returns the lines of s that are not empty.
func splitLines(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == '\n' })
}

package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// lines is a JSON Lines file open for appending.
//
// Invariant: the file is size bytes long and ends with a newline, or is empty.
type lines struct {
	file *os.File
	size int64
}

// openLines opens a file and restores the invariant: a last line without its
// newline is completed if it is whole, else cut off.
func openLines(path string, whole func(line []byte) bool) (*lines, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	l := &lines{file: f}
	if err := l.mend(whole); err != nil {
		return nil, errors.Join(fmt.Errorf("mending the end of %s: %w", path, err), f.Close())
	}
	return l, nil
}

func (l *lines) mend(whole func(line []byte) bool) error {
	end, err := l.file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	tail, err := lastLine(l.file, end)
	if err != nil {
		return err
	}
	if len(tail) > 0 && whole(tail) {
		if _, err := l.file.WriteAt([]byte("\n"), end); err != nil {
			return err
		}
		l.size = end + 1
		return nil
	}
	l.size = end - int64(len(tail))
	return l.file.Truncate(l.size)
}

// lastLine returns what stands behind the last newline of the first end bytes.
func lastLine(r io.ReaderAt, end int64) ([]byte, error) {
	const chunk = 64 << 10
	for size := int64(chunk); ; size *= 2 {
		size = min(size, end)
		b := make([]byte, size)
		if _, err := r.ReadAt(b, end-size); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if at := bytes.LastIndexByte(b, '\n'); at >= 0 {
			return b[at+1:], nil
		}
		if size == end {
			return b, nil
		}
	}
}

// append writes v as one line and waits until it is on disk. After an error the
// file is as it was before, so a full disk that has room again is no hole.
func (l *lines) append(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	b = append(b, '\n')
	_, err = l.file.WriteAt(b, l.size)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		return errors.Join(err, l.file.Truncate(l.size))
	}
	l.size += int64(len(b))
	return nil
}

func (l *lines) close() error { return l.file.Close() }

package sandbox

import (
	"bytes"
	"container/list"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strconv"
	"sync"
)

// FileStore keeps the results last used in memory and, with a file, on disk.
//
// The file is a list of lines, each
//
//	<CRC-32C of the rest, 8 hex digits> <key, base64> <result, JSON>
//
// and only ever grows. A line that is torn or does not check is left out, so
// the file of a killed run is good for the next.
type FileStore struct {
	mu      sync.Mutex // guards everything below
	size    int
	entries map[Key]*list.Element // of storedResult
	order   *list.List            // most recently used first
	file    *os.File              // nil: memory only
	path    string
}

type storedResult struct {
	key    Key
	result Result
}

// NewStore returns a store of at most size results. Path may be empty: then
// nothing is kept on disk.
func NewStore(path string, size int) (*FileStore, error) {
	if size <= 0 {
		return nil, fmt.Errorf("result store of size %d: must be positive", size)
	}
	s := &FileStore{size: size, entries: map[Key]*list.Element{}, order: list.New(), path: path}
	if path == "" {
		return s, nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening result store: %w", err)
	}
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading result store %s: %w", path, err), file.Close())
	}
	for line := range bytes.Lines(data) {
		if key, r, ok := parseLine(line); ok {
			s.remember(key, r)
		}
	}
	if len(data) > 0 && data[len(data)-1] != '\n' { // torn: what follows must start a line
		if _, err := file.Write([]byte{'\n'}); err != nil {
			return nil, errors.Join(fmt.Errorf("mending result store %s: %w", path, err), file.Close())
		}
	}
	s.file = file
	return s, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func formatLine(key Key, r Result) ([]byte, error) {
	encoded, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	rest := fmt.Appendf(nil, "%s %s", base64.RawStdEncoding.EncodeToString(key[:]), encoded)
	return fmt.Appendf(nil, "%08x %s\n", crc32.Checksum(rest, castagnoli), rest), nil
}

func parseLine(line []byte) (key Key, r Result, ok bool) {
	sum, rest, _ := bytes.Cut(bytes.TrimSuffix(line, []byte{'\n'}), []byte{' '})
	want, err := strconv.ParseUint(string(sum), 16, 32)
	if err != nil || crc32.Checksum(rest, castagnoli) != uint32(want) {
		return key, r, false
	}
	name, encoded, _ := bytes.Cut(rest, []byte{' '})
	raw, err := base64.RawStdEncoding.DecodeString(string(name))
	if err != nil || len(raw) != len(key) || json.Unmarshal(encoded, &r) != nil {
		return key, r, false
	}
	return Key(raw), r, true
}

// Get returns the result of key.
func (s *FileStore) Get(key Key) (Result, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.entries[key]
	if !ok {
		return Result{}, false
	}
	s.order.MoveToFront(e)
	return e.Value.(storedResult).result, true
}

// Put records a result. It is not flushed: a crash of the machine may lose it.
func (s *FileStore) Put(key Key, r Result) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remember(key, r)
	if s.file == nil {
		return nil
	}
	line, err := formatLine(key, r)
	if err != nil {
		return fmt.Errorf("encoding result: %w", err)
	}
	if _, err := s.file.Write(line); err != nil {
		return fmt.Errorf("writing result store %s: %w", s.path, err)
	}
	return nil
}

func (s *FileStore) remember(key Key, r Result) {
	if e, ok := s.entries[key]; ok {
		e.Value = storedResult{key, r}
		s.order.MoveToFront(e)
		return
	}
	s.entries[key] = s.order.PushFront(storedResult{key, r})
	if s.order.Len() > s.size {
		delete(s.entries, s.order.Remove(s.order.Back()).(storedResult).key)
	}
}

// Close closes the file.
func (s *FileStore) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

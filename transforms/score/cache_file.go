package score

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"
)

// The cache file is append-only text, one run a line:
//
//	crc ' ' json '\n'
//
//	crc   CRC-32C of json, 8 lower-case hexadecimal digits
//	json  {"k": Key, "r": Run}
//
// A line that is torn, longer than maxLine or does not match its checksum is
// skipped: it costs a test run, nothing else. The file is not synced, for the
// same reason. A later line of a key replaces an earlier one.

// maxLine bounds what one line may make a reader allocate.
const maxLine = 1 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type cacheLine struct {
	Key string `json:"k"`
	Run Run    `json:"r"`
}

type cacheFile struct {
	mu  sync.Mutex // guards f and err
	f   *os.File
	err error // the first append that failed; nothing is appended after it
}

// openCacheFile calls load for each intact line in order, and opens the file
// for appending. It makes a file that does not exist.
func openCacheFile(path string, load func(key string, run Run)) (*cacheFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the score cache: %w", err)
	}
	torn, err := readCache(f, load)
	if err == nil && torn {
		// The next line must not continue the one that a crash cut.
		_, err = f.WriteString("\n")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading the score cache %s: %w", path, err), f.Close())
	}
	return &cacheFile{f: f}, nil
}

// readCache reports whether the last line lacks its end.
func readCache(r io.Reader, load func(key string, run Run)) (torn bool, err error) {
	lines := bufio.NewReaderSize(r, maxLine)
	for tooLong := false; ; {
		line, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			tooLong = true
		case err == io.EOF:
			return tooLong || len(line) > 0, nil
		case err != nil:
			return false, err
		case tooLong:
			tooLong = false // the end of a line whose beginning was dropped
		default:
			if l, ok := parseCacheLine(line[:len(line)-1]); ok {
				load(l.Key, l.Run)
			}
		}
	}
}

func parseCacheLine(line []byte) (l cacheLine, ok bool) {
	if len(line) < 9 || line[8] != ' ' {
		return l, false
	}
	body := line[9:]
	if string(line[:8]) != checksum(body) || json.Unmarshal(body, &l) != nil {
		return cacheLine{}, false
	}
	return l, l.Key != ""
}

func checksum(body []byte) string { return fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli)) }

// append adds a run. A run that is too long for a line is left out; an error is
// kept for close, since a cache that cannot grow must not stop the scoring.
func (c *cacheFile) append(key string, run Run) {
	if c == nil {
		return
	}
	body, err := json.Marshal(cacheLine{key, run})
	line := fmt.Appendf(nil, "%s %s\n", checksum(body), body)
	if err == nil && len(line) > maxLine {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	if err == nil {
		_, err = c.f.Write(line)
	}
	if err != nil {
		c.err = fmt.Errorf("appending to the score cache: %w", err)
	}
}

func (c *cacheFile) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.err, c.f.Close())
}

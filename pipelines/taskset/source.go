package taskset

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// visitor is given each row of a file with its number, from 1, and the share of
// the file that is read with it; in place of a row that cannot be read, what is
// wrong with it. Its own error ends the reading.
type visitor func(n int64, share float64, r *row, bad error) error

// readRows visits the rows of a file, whose form its name tells: .parquet, .json,
// .jsonl or .ndjson, the latter three also behind .gz. choose is told the columns,
// of JSON those of the first row that can be read, before a row is visited, and
// returns those that are needed; what is in others is undefined.
func readRows(ctx context.Context, path string, limit int, choose func([]string) ([]string, error), visit visitor) error {
	name, zipped := strings.CutSuffix(strings.ToLower(filepath.Base(path)), ".gz")
	form := filepath.Ext(name)
	switch {
	case form == ".parquet" && !zipped:
		return parquetRows(ctx, path, limit, choose, visit)
	case form == ".json" || form == ".jsonl" || form == ".ndjson":
	default:
		return fmt.Errorf("%q is not a form of file that is known: there are .parquet, .json, .jsonl and .ndjson, the latter three also with .gz", filepath.Ext(path))
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := max(info.Size(), 1)
	counted := &countingReader{r: f}
	text := io.Reader(counted)
	if zipped {
		if text, err = gzip.NewReader(counted); err != nil {
			return err
		}
	}
	share := func() float64 { return float64(counted.n) / float64(size) }
	return textRows(ctx, bufio.NewReaderSize(text, 1<<16), form == ".json", limit, share, choose, visit)
}

// textRows visits the rows of lines, or of a JSON text.
func textRows(ctx context.Context, r *bufio.Reader, isJSON bool, limit int, share func() float64, choose func([]string) ([]string, error), visit visitor) error {
	if mark, _ := r.Peek(3); string(mark) == "\ufeff" {
		r.Discard(3) // Windows programs begin UTF-8 with a mark
	}
	chosen := false
	each := func(n int64, id string, text []byte, bad error) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		var parsed *row
		if bad == nil {
			parsed, bad = parseRow(text)
		}
		if bad != nil {
			return visit(n, share(), nil, bad)
		}
		if id != "" && !parsed.has("instance_id") && !parsed.has("id") {
			parsed.values["instance_id"] = id
		}
		if !chosen {
			if _, err := choose(slices.Sorted(maps.Keys(parsed.values))); err != nil {
				return err
			}
			chosen = true
		}
		return visit(n, share(), parsed, nil)
	}
	if isJSON {
		return objects(r, limit, each)
	}
	return lines(r, limit, func(n int64, line []byte, bad error) error { return each(n, "", line, bad) })
}

// countingReader counts the bytes read.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

package journal

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// maxLine bounds a line: a step of ten thousand metrics takes less than half.
const maxLine = 1 << 20

// Read returns what the journal of a run directory holds. It may be called while
// the journal is open elsewhere: a last line that is not yet whole is left out.
// An error names file and line.
func Read(dir string) (Record, error) {
	steps := map[int64]Step{}
	err := eachLine(filepath.Join(dir, metricsFile), func(b []byte) error {
		s, err := parseStep(b)
		steps[s.Number] = s
		return err
	})
	if err != nil {
		return Record{}, fmt.Errorf("reading the journal: %w", err)
	}
	type key struct {
		step int64
		set  string
	}
	evaluations := map[key]Evaluation{}
	err = eachLine(filepath.Join(dir, evaluationsFile), func(b []byte) error {
		e, err := parseEvaluation(b)
		evaluations[key{e.Step, e.Set}] = e
		return err
	})
	if err != nil {
		return Record{}, fmt.Errorf("reading the journal: %w", err)
	}
	return Record{
		Steps: slices.SortedFunc(maps.Values(steps), func(a, b Step) int { return cmp.Compare(a.Number, b.Number) }),
		Evaluations: slices.SortedFunc(maps.Values(evaluations), func(a, b Evaluation) int {
			return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Set, b.Set))
		}),
	}, nil
}

func eachLine(path string, visit func(line []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return scanLines(f, path, visit)
}

// scanLines visits the lines of a file that end with a newline.
func scanLines(r io.Reader, path string, visit func(line []byte) error) error {
	in := bufio.NewReaderSize(r, maxLine)
	for number := 1; ; number++ {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("%s line %d: is longer than %d bytes", path, number, maxLine)
		case err != nil:
			return fmt.Errorf("%s line %d: %w", path, number, err)
		}
		if err := visit(line); err != nil {
			return fmt.Errorf("%s line %d: %w", path, number, err)
		}
	}
}

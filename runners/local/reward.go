package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"millrace/transforms/score"
	"millrace/transforms/testlog"
)

// maxLogBytes bounds what "millrace reward parse" reads: far above the logs that the
// harnesses keep, and below what hurts.
const maxLogBytes = 1 << 30

// ParseLogOptions say which log is read, and how.
type ParseLogOptions struct {
	// Repo is "owner/name" of a repository of SWE-bench, and Instance the instance's
	// id where the repository's instances differ: the log is read as the harness did
	// that the published verdicts come from. Or Format is a format of testlog or a
	// log_parser of a dataset's row.
	Repo, Instance, Format string
	// Compat reads as the original parsers do.
	Compat bool
	// Log is the file; "-" is In.
	Log string
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// ParseLog runs "millrace reward parse": one JSON object, the status of each test by
// the dataset's own name, sorted. Of a log that counts for nothing the object is
// empty, and Err is told why.
func ParseLog(o ParseLogOptions) error {
	format, err := o.format()
	if err != nil {
		return err
	}
	log, err := o.read()
	if err != nil {
		return err
	}
	results, err := testlog.Parse(format, log, testlog.Options{Compat: o.Compat})
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(o.Out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(results.Statuses()); err != nil {
		return fmt.Errorf("writing the statuses: %w", err)
	}
	if results.Void != "" {
		_, err = fmt.Fprintf(o.Err, "%s counts for nothing: %s\n", o.Log, results.Void)
	}
	return err
}

func (o ParseLogOptions) format() (string, error) {
	switch {
	case o.Repo != "" && o.Format != "":
		return "", errors.New("--repo and --format both name the format: give one")
	case o.Repo != "":
		format, err := testlog.FormatOfRepo(o.Repo, o.Instance)
		if format == "pytest-v2" {
			// The harness that the published verdicts of these repositories come from
			// did not see the tests of an old pytest.
			format = "pytest-v2-3.0.2"
		}
		return format, err
	case o.Format != "":
		return testlog.FormatOf(o.Format)
	}
	return "", errors.New("which format: give --repo or --format")
}

func (o ParseLogOptions) read() (string, error) {
	in := o.In
	if o.Log != "-" {
		f, err := os.Open(o.Log)
		if err != nil {
			return "", fmt.Errorf("opening the log: %w", err)
		}
		defer f.Close()
		in = f
	}
	log, err := io.ReadAll(io.LimitReader(in, maxLogBytes+1))
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", o.Log, err)
	}
	if len(log) > maxLogBytes {
		return "", fmt.Errorf("reading %s: the log has more than %d bytes", o.Log, maxLogBytes)
	}
	return string(log), nil
}

// DiffSimilarity runs "millrace reward similarity": the ratio of two files of unified
// diffs (see [score.DiffSimilarity]), with the 17 significant digits that tell any
// two float64 apart.
func DiffSimilarity(oracle, predicted string, out io.Writer) error {
	diffs := make([]string, 2)
	for i, name := range []string{oracle, predicted} {
		b, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading a diff: %w", err)
		}
		diffs[i] = string(b)
	}
	ratio, err := score.DiffSimilarity(diffs[0], diffs[1])
	if err != nil {
		return fmt.Errorf("comparing %s with %s: %w", predicted, oracle, err)
	}
	_, err = fmt.Fprintf(out, "%.17g\n", ratio)
	return err
}

package taskset

import (
	"fmt"
	"slices"
	"strings"

	"millrace/schemas"
)

// Kind is a kind of dataset: what its rows mean.
type Kind string

// The kinds of datasets.
const (
	// Auto finds the kind by the columns.
	Auto Kind = "auto"
	// Native is this project's own form of a task (package mine).
	Native Kind = "native"
	// R2E is R2E-Gym.
	R2E Kind = "r2e-gym"
	// SWEBench is SWE-bench: full, Verified, Lite, Multilingual; rows of harness
	// version 4 and of version 5.
	SWEBench Kind = "swe-bench"
	// SWESmith is SWE-smith.
	SWESmith Kind = "swe-smith"
	// SWERebench is SWE-rebench V2.
	SWERebench Kind = "swe-rebench"
)

// format is how a kind is told from others and read.
type format struct {
	kind Kind
	// marks are columns that no kind further down in formats has all of.
	marks []string
	// columns are those that task reads; nil are all.
	columns []string
	task    func(*row) schemas.Task
}

// formats are the kinds, in the order in which they are looked for.
var formats = []format{
	{Native, []string{"id", "test_command", "test_format"}, nil, nativeTask},
	{R2E, []string{"docker_image", "parsed_commit_content", "expected_output_json"}, r2eColumns, r2eTask},
	{SWERebench, []string{"instance_id", "install_config", "image_name"}, sweRebenchColumns, sweRebenchTask},
	{SWEBench, []string{"instance_id", "base_commit", "test_patch"}, sweBenchColumns, sweBenchTask},
	{SWESmith, []string{"instance_id", "patch", "image_name"}, sweSmithColumns, sweSmithTask},
}

// Kinds lists the kinds, Auto first.
func Kinds() []Kind {
	kinds := []Kind{Auto}
	for _, f := range formats {
		kinds = append(kinds, f.kind)
	}
	return kinds
}

// formatOf returns how rows with these columns are read. A kind other than Auto is
// taken at its word; that its columns are there is then checked row by row.
func formatOf(kind Kind, columns []string) (format, error) {
	for _, f := range formats {
		lacks := func(mark string) bool { return !slices.Contains(columns, mark) }
		if f.kind == kind || kind == Auto && !slices.ContainsFunc(f.marks, lacks) {
			return f, nil
		}
	}
	if kind != Auto {
		return format{}, fmt.Errorf("kind %q: there are %v", kind, Kinds())
	}
	var known []string
	for _, f := range formats {
		known = append(known, fmt.Sprintf("%s (%s)", f.kind, strings.Join(f.marks, ", ")))
	}
	return format{}, fmt.Errorf("no kind of dataset has the columns %s; there are %s",
		strings.Join(columns, ", "), strings.Join(known, "; "))
}

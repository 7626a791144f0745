package query

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"modernc.org/sqlite"
)

// unknown is how the engine says that it does not know a name.
var unknown = regexp.MustCompile(`no such (table|column): "?([^\s"]+)"?`)

// explained adds to an error of the engine what there is instead of what was
// asked for.
func explained(err error, query string) error {
	var refused *sqlite.Error
	if !errors.As(err, &refused) {
		return err
	}
	found := unknown.FindStringSubmatch(err.Error())
	if found == nil {
		return fmt.Errorf("query: %w", err)
	}
	kind, name := found[1], found[2]
	if kind == "table" {
		var names []string
		for _, t := range Tables {
			names = append(names, t.Name)
		}
		return fmt.Errorf("no table %s%s; there are %s", name, suggestion(name, names), strings.Join(names, ", "))
	}
	leaf := name[strings.LastIndex(name, ".")+1:]
	var names, lists []string
	for _, t := range mentioned(query) {
		var columns []string
		for _, c := range t.Columns {
			columns = append(columns, c.Name)
		}
		names = append(names, columns...)
		lists = append(lists, fmt.Sprintf("%s has %s", t.Name, strings.Join(columns, ", ")))
	}
	return fmt.Errorf("no column %s%s; %s", name, suggestion(leaf, names), strings.Join(lists, "; "))
}

// mentioned are the tables whose name stands in a query, or all if none does.
func mentioned(query string) []Table {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	var out []Table
	for _, t := range Tables {
		if slices.Contains(words, t.Name) {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return Tables
	}
	return out
}

// farthest is the number of edits up to which a name is taken for a misspelling.
const farthest = 3

func suggestion(name string, names []string) string {
	best, distance := "", min(farthest, len(name)-1)+1
	for _, n := range names {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), n); d < distance {
			best, distance = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

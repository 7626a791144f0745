package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"millrace/transforms/sandbox"
)

const (
	searchFiles = 100 // with matches; more is an invitation to search for less
	searchDepth = 32  // levels of directories
)

// match is one file that holds the term.
type match struct {
	path  string
	lines []string // "number:text"
}

// search looks for a literal text. In a directory it tells the files with their
// number of matching lines (Brief: the lines themselves), in a file the lines.
// Hidden names and binary files are left out; links are not followed.
func (t *Toolbox) search(ctx context.Context, args map[string]string) (answer, error) {
	term, given := args["search_term"], args["path"]
	if strings.TrimSpace(given) == "" {
		given = "."
	}
	name, err := sandbox.Relative(strings.TrimSpace(given))
	if err != nil {
		return answer{}, explain(given, err)
	}
	data, err := t.sandbox.ReadFile(name)
	if err == nil {
		found := matching(string(data), term)
		if len(found) == 0 {
			return answer{text: fmt.Sprintf("No matches found for %q in %s", short(term), name), code: 1}, nil
		}
		return answer{text: strings.Join(found, "\n") + "\n"}, nil
	}
	matches, err := t.matches(ctx, name, term)
	switch {
	case err != nil:
		return answer{}, explain(given, err)
	case len(matches) == 0:
		return answer{text: fmt.Sprintf("No matches found for %q in %s", short(term), name), code: 1}, nil
	case len(matches) > searchFiles:
		return answer{}, refuse("more than %d files hold %q; narrow your search", searchFiles, short(term))
	}
	var b strings.Builder
	for _, m := range matches {
		if t.limits.Style == DeepSWE {
			fmt.Fprintf(&b, "./%s (%d matches)\n", m.path, len(m.lines))
			continue
		}
		for _, line := range m.lines {
			fmt.Fprintf(&b, "%s:%s\n", m.path, line)
		}
	}
	return answer{text: b.String()}, nil
}

func matching(content, term string) []string {
	if strings.ContainsRune(content, 0) {
		return nil
	}
	var found []string
	for i, line := range strings.Split(content, "\n") {
		if strings.Contains(line, term) {
			found = append(found, fmt.Sprintf("%d:%s", i+1, line))
		}
	}
	return found
}

// matches searches a directory, inside of the sandbox if it knows how.
func (t *Toolbox) matches(ctx context.Context, dir, term string) ([]match, error) {
	searcher, ok := t.sandbox.(sandbox.Searcher)
	if !ok {
		return t.searchDir(ctx, dir, term)
	}
	lines, err := searcher.Search(ctx, dir, term, searchFiles+1)
	if errors.Is(err, sandbox.ErrTooLarge) {
		return make([]match, searchFiles+1), nil // whose answer names none of them
	}
	var matches []match
	for _, l := range lines {
		if n := len(matches); n == 0 || matches[n-1].path != l.Path {
			matches = append(matches, match{path: l.Path})
		}
		last := &matches[len(matches)-1]
		last.lines = append(last.lines, fmt.Sprintf("%d:%s", l.Line, l.Text))
	}
	slices.SortFunc(matches, func(a, b match) int { return strings.Compare(a.path, b.path) })
	return matches, err
}

// searchDir reads every file.
func (t *Toolbox) searchDir(ctx context.Context, dir, term string) ([]match, error) {
	var matches []match
	var walk func(dir string, depth int) error
	walk = func(dir string, depth int) error {
		entries, err := t.sandbox.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := ctx.Err(); err != nil {
				return err
			}
			name := path.Join(dir, e.Name())
			switch {
			case strings.HasPrefix(e.Name(), ".") || len(matches) > searchFiles:
			case e.IsDir() && depth < searchDepth:
				if err := walk(name, depth+1); err != nil {
					return err
				}
			case e.Type().IsRegular():
				data, err := t.sandbox.ReadFile(name)
				if errors.Is(err, sandbox.ErrTooLarge) || errors.Is(err, fs.ErrPermission) {
					continue
				}
				if err != nil {
					return err
				}
				if lines := matching(string(data), term); len(lines) > 0 {
					matches = append(matches, match{name, lines})
				}
			}
		}
		return nil
	}
	return matches, walk(dir, 1)
}

package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

const (
	viewDepth   = 2   // levels of a directory that are listed
	viewEntries = 500 // names in one listing
)

// view shows a file with line numbers, or the names in a directory.
func (t *Toolbox) view(name string, args map[string]string) (string, error) {
	window, given := args["view_range"]
	data, err := t.sandbox.ReadFile(name)
	if err != nil {
		listing, dirErr := t.list(name)
		if dirErr != nil {
			return "", t.notViewable(name, err, dirErr)
		}
		if given {
			return "", refuse("%s is a directory; leave out view_range", short(name))
		}
		return listing, nil
	}
	lines := splitLines(string(data))
	from, to := 1, len(lines)
	if given {
		if from, to, err = parseRange(window, len(lines)); err != nil {
			return "", err
		}
	}
	text := Number(lines, from, to)
	if t.limits.Style == Brief {
		return text, nil
	}
	return fmt.Sprintf("Here's the result of running `cat -n` on %s:\n%s", name, text), nil
}

// notViewable explains why name is neither a readable file nor a directory;
// the failure of the infrastructure wins over what the agent can mend.
func (t *Toolbox) notViewable(name string, fileErr, dirErr error) error {
	var said refusal
	for _, err := range []error{explain(name, fileErr), explain(name, dirErr)} {
		if !errors.As(err, &said) {
			return err
		}
	}
	if errors.Is(fileErr, fs.ErrNotExist) {
		return explain(name, dirErr)
	}
	return explain(name, fileErr)
}

// Number returns lines from to to, counted from 1, as cat -n prints them.
func Number(lines []string, from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%6d\t%s\n", i, strings.TrimSuffix(lines[i-1], "\n"))
	}
	return b.String()
}

// parseRange reads "[first, last]"; last may be -1 for the end of the file.
func parseRange(s string, n int) (from, to int, err error) {
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("[], \t\r\n", r) })
	if len(words) != 2 {
		return 0, 0, refuse("view_range must be [first, last]")
	}
	from, fromErr := strconv.Atoi(words[0])
	to, toErr := strconv.Atoi(words[1])
	if to == -1 {
		to = n
	}
	if fromErr != nil || toErr != nil || from < 1 || from > n || to < from || to > n {
		return 0, 0, refuse("view_range must be within 1..%d, first before last", n)
	}
	return from, to, nil
}

// list lists a directory, hidden names left out, with a slash after each
// directory.
func (t *Toolbox) list(name string) (string, error) {
	var names []string
	full := false
	var walk func(dir, shown string, depth int) error
	walk = func(dir, shown string, depth int) error {
		entries, err := t.sandbox.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") {
				continue
			}
			if len(names) == viewEntries {
				full = true
				return nil
			}
			rel := path.Join(shown, e.Name())
			if !e.IsDir() {
				names = append(names, rel)
				continue
			}
			names = append(names, rel+"/")
			if depth < viewDepth {
				if err := walk(path.Join(dir, e.Name()), rel, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	shown := name
	if name == "." {
		shown = ""
	}
	if err := walk(name, shown, 1); err != nil {
		return "", err
	}
	text := strings.Join(names, "\n") + "\n"
	if full {
		text += "...\n"
	}
	if t.limits.Style == Brief {
		return text, nil
	}
	return fmt.Sprintf("Here's the files and directories up to %d levels deep in %s, excluding hidden items:\n%s", viewDepth, name, text), nil
}

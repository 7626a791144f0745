package docker

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"millrace/transforms/sandbox"
)

// Search has find and grep look in the container. More matching lines than an
// answer can hold are ErrTooLarge.
func (s *box) Search(ctx context.Context, dir, term string, limit int) ([]sandbox.Match, error) {
	matches, err := s.search(ctx, dir, term, limit)
	return matches, s.told(ctx, "searching", err)
}

func (s *box) search(ctx context.Context, dir, term string, limit int) ([]sandbox.Match, error) {
	if strings.ContainsAny(term, "\n\x00") {
		return nil, nil // no line holds it
	}
	p, err := s.locate(ctx, "open", dir)
	switch {
	case err != nil:
		return nil, err
	case len(p.rest) > 0 && p.kind == 'n':
		return nil, &fs.PathError{Op: "open", Path: dir, Err: fs.ErrNotExist}
	case len(p.rest) > 0:
		return nil, &fs.PathError{Op: "open", Path: dir, Err: fmt.Errorf("not a directory: %w", fs.ErrInvalid)}
	}
	// /dev/null makes grep name the file where there is only one. A status of 1
	// is no match, and unreadable files are not the agent's concern.
	out, status, err := s.ask(ctx, fmt.Sprintf(
		`(cd -- %s && find . -name '.?*' -prune -o -type f -exec grep -Fn -e %s /dev/null {} + </dev/null 2>/dev/null)`, sandbox.Quote(p.dir), sandbox.Quote(term)))
	if err != nil {
		return nil, err
	}
	if status == 127 {
		return nil, fmt.Errorf("the image has no find")
	}
	prefix := strings.TrimPrefix(strings.TrimPrefix(p.dir, s.root), "/")
	var matches []sandbox.Match
	files, last := 0, ""
	for line := range bytes.Lines(out) {
		m, ok := parseMatch(prefix, line)
		if !ok {
			continue
		}
		if m.Path != last {
			if files++; files > limit {
				break
			}
			last = m.Path
		}
		matches = append(matches, m)
	}
	return matches, nil
}

// parseMatch reads "./path:line:text". Lines of binary files hold NUL bytes, or
// are grep's remark that such a file matches.
func parseMatch(prefix string, line []byte) (sandbox.Match, bool) {
	text, ok := strings.CutPrefix(string(bytes.TrimSuffix(line, []byte("\n"))), "./")
	if !ok || strings.ContainsRune(text, 0) {
		return sandbox.Match{}, false
	}
	// A path may hold colons: the number is the first that stands between two.
	for from := 0; ; {
		i := strings.IndexByte(text[from:], ':')
		if i < 0 {
			return sandbox.Match{}, false
		}
		end := from + i
		number, rest, ok := strings.Cut(text[end+1:], ":")
		if n, err := strconv.Atoi(number); ok && err == nil {
			name := text[:end]
			if prefix != "" {
				name = prefix + "/" + name
			}
			return sandbox.Match{Path: name, Line: n, Text: rest}, true
		}
		from = end + 1
	}
}

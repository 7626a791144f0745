package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Commit is what the log says of one commit, compared with its first parent.
type Commit struct {
	Hash, Parent string
	// Author is name and address.
	Author, Message string
	Files           []Change
}

// Change is one file of a commit. Renames are a removal and an addition.
type Change struct {
	Path           string
	Added, Removed int
	Binary         bool
}

// logFormat begins each commit with \x01 and puts \x00 behind each of its fields, none
// of which can hold one.
const logFormat = "--format=%x01%H%x00%P%x00%an <%ae>%x00%B%x00"

// logTimeout bounds a log with the sizes of all changes: minutes for the largest
// repositories.
const logTimeout = 15 * time.Minute

// Log returns the commits that lead to a revision by first parents, the newest first,
// at most n of them (0: all).
func (r Repo) Log(ctx context.Context, revision string, n int) ([]Commit, error) {
	ctx, cancel := context.WithTimeout(ctx, logTimeout)
	defer cancel()
	args := []string{"log", "--first-parent", "--diff-merges=first-parent", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--numstat", "-z", logFormat}
	if n > 0 {
		args = append(args, "--max-count="+strconv.Itoa(n))
	}
	text, err := r.git(ctx, nil, append(args, revision, "--")...)
	if err != nil {
		return nil, err
	}
	commits, err := ParseLog(text)
	if err != nil {
		return nil, fmt.Errorf("reading the log of %s: %w", r.Dir, err)
	}
	return commits, nil
}

// ParseLog reads what "git log --numstat -z" prints in the format of [Repo.Log]. The
// error tells at which byte the text is not such a log.
func ParseLog(text []byte) ([]Commit, error) {
	p := logParser{text: text}
	var out []Commit
	for p.at < len(p.text) {
		c, err := p.commit()
		if err != nil {
			return out, fmt.Errorf("commit %d, byte %d: %w", len(out)+1, p.at, err)
		}
		out = append(out, c)
	}
	return out, nil
}

// logParser reads a log field by field.
type logParser struct {
	text []byte
	at   int
}

// field returns the text up to the next \x00, which it passes.
func (p *logParser) field() (string, error) {
	i := bytes.IndexByte(p.text[p.at:], 0)
	if i < 0 {
		return "", errors.New("it ends inside a field")
	}
	s := string(p.text[p.at : p.at+i])
	p.at += i + 1
	return s, nil
}

func (p *logParser) commit() (c Commit, err error) {
	if p.text[p.at] != 1 {
		return c, errors.New("no commit begins there")
	}
	p.at++
	var parents string
	for _, f := range []*string{&c.Hash, &parents, &c.Author, &c.Message} {
		if *f, err = p.field(); err != nil {
			return c, err
		}
	}
	if !isHash(c.Hash) {
		return c, fmt.Errorf("%q is no hash", c.Hash)
	}
	c.Parent, _, _ = strings.Cut(parents, " ")
	// Behind the fields git puts a \x00 and, before the first file, a newline.
	for p.at < len(p.text) && p.text[p.at] != 1 {
		if p.text[p.at] == 0 || p.text[p.at] == '\n' {
			p.at++
			continue
		}
		change, err := p.change()
		if err != nil {
			return c, err
		}
		c.Files = append(c.Files, change)
	}
	return c, nil
}

// change reads "added\tremoved\tpath\x00"; both numbers are "-" for a binary file.
func (p *logParser) change() (c Change, err error) {
	line, err := p.field()
	if err != nil {
		return c, err
	}
	parts := strings.SplitN(line, "\t", 3)
	if len(parts) != 3 || parts[2] == "" {
		return c, fmt.Errorf("%q is no change of a file", line)
	}
	c.Path = parts[2]
	if parts[0] == "-" && parts[1] == "-" {
		c.Binary = true
		return c, nil
	}
	for i, n := range []*int{&c.Added, &c.Removed} {
		if *n, err = strconv.Atoi(parts[i]); err != nil || *n < 0 {
			return c, fmt.Errorf("%q is no number of lines", parts[i])
		}
	}
	return c, nil
}

// isHash accepts a full SHA-1 or SHA-256.
func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

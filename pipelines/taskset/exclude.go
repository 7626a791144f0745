package taskset

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"millrace/schemas"
)

// Reason is why a sound row does not become a task.
type Reason string

// The reasons.
const (
	// OfRepository is a row of an excluded repository.
	OfRepository Reason = "repository"
	// OfInstance is a row whose id is excluded.
	OfInstance Reason = "instance"
	// OfCommit is a row that starts from an excluded commit, or, of R2E-Gym, leads to one.
	OfCommit Reason = "commit"
	// Duplicate is a row whose id an earlier one has.
	Duplicate Reason = "duplicate"
)

// Exclusions are what is kept out of a task set (decontamination).
type Exclusions struct {
	repos []string
	// ids are in lower case; commits are full hashes.
	ids, commits map[string]bool
}

// NewExclusions excludes repositories. A repository is named as CanonicalRepo takes
// it; one that a dataset names without owner is excluded with it.
func NewExclusions(repos ...string) (*Exclusions, error) {
	x := &Exclusions{ids: map[string]bool{}, commits: map[string]bool{}}
	for _, repo := range repos {
		canonical := CanonicalRepo(repo)
		if owner, name, ok := strings.Cut(canonical, "/"); !ok || owner == "" || name == "" {
			return nil, fmt.Errorf("excluding repository %q: want owner/name", repo)
		}
		x.repos = append(x.repos, canonical)
	}
	return x, nil
}

// AddFile excludes what a file lists: of a dataset its ids and base commits, of any
// other file one id or full commit hash a line; blank lines and what follows a # are
// passed over. Rows of a dataset that have neither are an error.
func (x *Exclusions) AddFile(ctx context.Context, path string) error {
	switch filepath.Ext(strings.TrimSuffix(strings.ToLower(path), ".gz")) {
	case ".parquet", ".json", ".jsonl", ".ndjson":
		if err := x.addDataset(ctx, path); err != nil {
			return fmt.Errorf("reading exclusions of %s: %w", path, err)
		}
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading exclusions: %w", err)
	}
	defer f.Close()
	if err := x.addLines(f); err != nil {
		return fmt.Errorf("reading exclusions of %s: %w", path, err)
	}
	return nil
}

func (x *Exclusions) addLines(r io.Reader) error {
	return lines(bufio.NewReader(r), 1<<16, func(n int64, line []byte, bad error) error {
		name, _, _ := strings.Cut(string(line), "#")
		name = strings.TrimSpace(name)
		switch {
		case bad != nil:
			return fmt.Errorf("line %d: %w", n, bad)
		case strings.ContainsAny(name, " \t"):
			return fmt.Errorf("line %d: %q is neither an id nor a commit", n, name)
		case name != "":
			x.add(name)
		}
		return nil
	})
}

// add excludes an id, or a commit.
func (x *Exclusions) add(name string) {
	if name = strings.ToLower(name); isCommit(name) {
		x.commits[name] = true
	} else if name != "" {
		x.ids[name] = true
	}
}

// naming are the columns that name an instance or its commit.
var naming = []string{"instance_id", "id", "base_commit", "commit_hash"}

func (x *Exclusions) addDataset(ctx context.Context, path string) error {
	choose := func([]string) ([]string, error) { return naming, nil }
	return readRows(ctx, path, DefaultRowBytes, choose, func(n int64, _ float64, r *row, bad error) error {
		if bad != nil {
			return at(path, n, bad)
		}
		found := false
		for _, column := range naming {
			name := r.optional(column)
			x.add(name)
			found = found || name != ""
		}
		switch {
		case r.err != nil:
			return at(path, n, r.err)
		case !found:
			return at(path, n, errors.New("has no instance_id, id, base_commit or commit_hash"))
		}
		return nil
	})
}

// of tells why a task is excluded, and by what; the reason is "" where it is not.
func (x *Exclusions) of(t schemas.Task) (Reason, string) {
	if x == nil {
		return "", ""
	}
	repo := CanonicalRepo(t.Repo)
	for _, excluded := range x.repos {
		if sameRepo(repo, excluded) {
			return OfRepository, excluded
		}
	}
	if x.ids[strings.ToLower(t.ID)] {
		return OfInstance, t.ID
	}
	last := t.ID[strings.LastIndex(t.ID, "/")+1:] // of R2E-Gym the commit that repairs
	for _, commit := range []string{t.BaseCommit, last} {
		if x.commits[strings.ToLower(commit)] {
			return OfCommit, commit
		}
	}
	return "", ""
}

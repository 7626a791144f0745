package score

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"millrace/schemas"
	"millrace/transforms/difflib"
)

// fileDiffs are the changes of files, by path.
type fileDiffs map[string]string

// snapshotSimilarity is the likeness of two ways to change the same files.
func snapshotSimilarity(ctx context.Context, before, gold, made []schemas.File) (float64, error) {
	want, err := changesOf(ctx, before, gold)
	if err != nil {
		return 0, err
	}
	got, err := changesOf(ctx, before, made)
	if err != nil {
		return 0, err
	}
	return likeness(ctx, got, want)
}

// changesOf are the hunks from one snapshot to the next. A file whose lines are alike
// in both is not among them.
func changesOf(ctx context.Context, before, after []schemas.File) (fileDiffs, error) {
	old, current := contents(before), contents(after)
	diffs := fileDiffs{}
	for _, path := range union(old, current) {
		hunks, err := difflib.Hunks(ctx, old[path], current[path])
		if err != nil {
			return nil, fmt.Errorf("the lines of %s: %w", path, err)
		}
		if hunks != "" {
			diffs[path] = hunks
		}
	}
	return diffs, nil
}

func contents(files []schemas.File) map[string]string {
	m := make(map[string]string, len(files))
	for _, f := range files {
		m[f.Path] = f.Content
	}
	return m
}

// likeness is the mean over the files of either, 0 for one whose change is empty or
// missing in one of the two, and 1 where neither has any.
func likeness(ctx context.Context, made, gold fileDiffs) (float64, error) {
	paths := union(made, gold)
	if len(paths) == 0 {
		return 1, nil
	}
	sum := 0.0
	for _, path := range paths {
		if made[path] == "" || gold[path] == "" {
			continue
		}
		ratio, err := difflib.Ratio(ctx, made[path], gold[path])
		if err != nil {
			return 0, fmt.Errorf("the diffs of %s: %w", path, err)
		}
		sum += ratio
	}
	return sum / float64(len(paths)), nil
}

// union are the keys of both, sorted.
func union(a, b map[string]string) []string {
	both := make(map[string]string, len(a)+len(b))
	maps.Copy(both, a)
	maps.Copy(both, b)
	return slices.Sorted(maps.Keys(both))
}

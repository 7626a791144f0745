package dataset

import (
	"fmt"
	"os"
	"path/filepath"
)

// File is one file of a table.
type File struct {
	Path string
	// Dir is the data directory that it was found in.
	Dir string
	Partition
}

// Find lists the files of a table in a data directory, sorted by run and day.
// None is no error. A file that lies there under another name than a
// partition's is an error: leaving it out would be a wrong answer.
func Find(dir, table string) ([]File, error) {
	root := filepath.Join(dir, table)
	paths, err := filepath.Glob(filepath.Join(escapeGlob(root), "*", "*", "*.parquet"))
	if err != nil {
		return nil, fmt.Errorf("looking for %s in %s: %w", table, dir, err)
	}
	var files []File
	for _, path := range paths {
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return nil, fmt.Errorf("looking for %s in %s: %w", table, dir, err)
		}
		p, err := ParsePath(filepath.ToSlash(relative))
		if err != nil {
			return nil, fmt.Errorf("looking for %s in %s: %w", table, dir, err)
		}
		files = append(files, File{Path: path, Dir: dir, Partition: p})
	}
	return files, nil
}

// DataDirs are the data directories that a path stands for: of a run directory
// its own, of a directory of run directories theirs, sorted.
func DataDirs(dir string) ([]string, error) {
	own := filepath.Join(dir, "data")
	if info, err := os.Stat(own); err == nil && info.IsDir() {
		return []string{own}, nil
	}
	dirs, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*", "data"))
	if err != nil {
		return nil, fmt.Errorf("looking for runs in %s: %w", dir, err)
	}
	return dirs, nil
}

// escapeGlob makes a path a pattern that matches itself alone.
func escapeGlob(path string) string {
	var out []rune
	for _, r := range path {
		if r == '*' || r == '?' || r == '[' || r == '\\' {
			out = append(out, '\\')
		}
		out = append(out, r)
	}
	return string(out)
}

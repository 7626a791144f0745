package taskset

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// fileHeader is the line that begins a file of a git diff.
var fileHeader = regexp.MustCompile(`(?m)^diff --git ("?a/.*) ("?b/.*)$`)

// patchedFiles lists the paths that a git diff names, before and after, each once
// and in order: files it changes, makes, removes and renames. A header that git did
// not write is passed over.
func patchedFiles(diff string) []string {
	var out []string
	for _, m := range fileHeader.FindAllStringSubmatch(diff, -1) {
		before, after := unquotePath(m[1]), unquotePath(m[2])
		// A path with " b/" in it is cut at the wrong place, unless both are one.
		if rest := strings.TrimPrefix(m[0], "diff --git "); len(rest)%2 == 1 {
			if a, b := rest[:len(rest)/2], rest[len(rest)/2+1:]; strings.TrimPrefix(a, "a/") == strings.TrimPrefix(b, "b/") {
				before, after = a, b
			}
		}
		for _, path := range []string{strings.TrimPrefix(before, "a/"), strings.TrimPrefix(after, "b/")} {
			if path != "" && !slices.Contains(out, path) {
				out = append(out, path)
			}
		}
	}
	return out
}

// unquotePath undoes git's quoting, which is C's; a path that is not quoted stays.
func unquotePath(path string) string {
	path = strings.TrimSuffix(path, "\r")
	if plain, err := strconv.Unquote(path); err == nil {
		return plain
	}
	return path
}

package history

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"millrace/pipelines/gomodule"
	"millrace/pipelines/prove"
)

// The reasons that a commit is no task before its tests run.
const (
	Root        prove.Reason = "first commit"
	Bot         prove.Reason = "bot"
	NoSource    prove.Reason = "no source changed"
	NoTests     prove.Reason = "no tests changed"
	Huge        prove.Reason = "huge"
	Binary      prove.Reason = "binary file"
	NoStatement prove.Reason = "no statement"
	// NoModule: before or after the commit there is no Go module at the root, or one
	// that is too large for a task.
	NoModule prove.Reason = "no module"
	// Dependencies: the commit changes them, and the snapshot's are other ones.
	Dependencies prove.Reason = "dependencies changed"
)

const (
	maxSourceFiles = 8   // SWE-smith, PR mirror
	maxSourceLines = 500 // added and removed; SWE-smith, PR mirror
	maxFiles       = 15  // SWE-rebench
	minStatement   = 10  // characters, exclusive; SWE-rebench
	// maxFileLines bounds each changed source file (SWE-smith, PR mirror).
	maxFileLines = 10_000
)

// bots are the words of SWE-RL (§A): in title, message or author they tell a change
// that no person wrote. They are looked for without regard to case, and "bump" as
// part of a word too.
var bots = []string{"[bot]", "dependabot", "renovate", "bump", "automerge"}

// Reject returns why a commit is no candidate, by the log and its statement alone; None if
// it is one.
func Reject(c Commit, statement string) (prove.Reason, string) {
	source, lines, tests := 0, 0, 0
	for _, f := range c.Files {
		switch {
		case strings.HasSuffix(f.Path, "_test.go"):
			tests++
		case gomodule.IsSource(f.Path):
			source++
			lines += f.Added + f.Removed
		}
	}
	said := strings.ToLower(c.Author + "\n" + c.Message)
	switch {
	case c.Parent == "":
		return Root, ""
	case slices.ContainsFunc(bots, func(word string) bool { return strings.Contains(said, word) }):
		return Bot, ""
	case source == 0:
		return NoSource, ""
	case tests == 0:
		return NoTests, ""
	case source > maxSourceFiles || lines > maxSourceLines || len(c.Files) > maxFiles:
		return Huge, ""
	case utf8.RuneCountInString(statement) <= minStatement:
		return NoStatement, ""
	}
	for _, f := range c.Files {
		if f.Binary {
			return Binary, f.Path
		}
	}
	return prove.None, ""
}

// sourceDirs are the directories of the source and the tests that a commit changed:
// those below testdata count for the package that has it.
func changedDirs(c Commit) (out []string) {
	for _, f := range c.Files {
		dir := path.Dir(f.Path)
		if i := strings.Index("/"+dir+"/", "/testdata/"); i >= 0 {
			dir = path.Clean(strings.TrimSuffix(("/" + dir)[:i], "/"))
			if dir = strings.TrimPrefix(dir, "/"); dir == "" {
				dir = "."
			}
		} else if !strings.HasSuffix(f.Path, ".go") {
			continue
		}
		if !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return out
}

package swerl

import (
	"strings"

	"millrace/schemas"
)

const system = `Before you answer, reason about the problem step by step. Put all of your reasoning between ` + thinkStart + ` and ` + thinkEnd + `. Behind it, put your final answer between ` + solutionStart + ` and ` + solutionEnd + `. Write each of these four tags exactly once.`

// The messages' marks are those of the published prompt, character by character.
const (
	issueStart = "--- BEGIN ISSUE ---"
	issueEnd   = "--- END ISSUE ---"
	filesStart = "--- BEGIN FILE ---"
	filesEnd   = "--- END FILE ---"
	fence      = "```"
)

const instructions = `Find out which parts of these files have to change, then write the changes as SEARCH/REPLACE edits that resolve the issue.

An edit has this form:
1. the path of the file, behind three number signs and a space;
2. a line that starts the search: <<<<<<< SEARCH
3. lines that follow one another in the file now;
4. a line that parts old from new: =======
5. the lines that take their place;
6. a line that ends the edit: >>>>>>> REPLACE

This is one, in a fenced block of code as all edits must be:

` + example + `

The lines of an edit keep the indentation that the file needs: to add '        print(x)', write all of its leading spaces. The lines to search for must be those of the file, letter by letter. An empty search adds a file whose path is new. Give every edit a block of code of its own, even where several are of one file.
`

const example = fence + `python
### shop/cart.py
<<<<<<< SEARCH
import os
=======
import os
from decimal import Decimal
>>>>>>> REPLACE
` + fence

// Prompt returns the two messages that ask for a repair: statement is the task's
// Statement, and files are those of its Files that are to be shown, whole and in the
// order given. SWE-RL shows the files that the gold patch changes, and some that are
// relevant and do not change.
func Prompt(statement string, files []schemas.File) (forSystem, user string) {
	shown := make([]string, len(files))
	for i, f := range files {
		shown[i] = "### " + f.Path + "\n" + f.Content
	}
	return system, strings.Join([]string{
		"This is an issue that somebody has opened about a repository:",
		"",
		issueStart,
		statement,
		issueEnd,
		"",
		"These are files of the repository. Some of them have to change to resolve it:",
		"",
		filesStart,
		fence,
		strings.Join(shown, "\n\n"),
		fence,
		filesEnd,
		"",
		instructions,
	}, "\n")
}

package history

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	// closing is how a commit says which issue it closes (SWE-bench §collect).
	closing = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?):?\s+#(\d+)\b`)
	// trailer is a line of the block that ends a message: "Signed-off-by: name".
	trailer = regexp.MustCompile(`^(?:[A-Z][a-z]+(?:-[A-Za-z]+)+|Fixes|Closes|Resolves|Updates|Refs?|Bug|Issue|See|Cc|CC|PR): ?\S|^(?i)\(cherry picked from commit |^(?i)(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?|updates?|for):? \S*#\d+\.?$`)
	// hash is a word that names a commit; at least one digit tells it from a word like
	// "defaced".
	hash = regexp.MustCompile(`\b[0-9a-f]{7,64}\b`)
	// pull is the number that a forge puts behind the title of a squashed change.
	pull = regexp.MustCompile(`\s*\(#\d+\)\s*$`)
)

// Issue is an entry of the forge that the repository is from.
type Issue struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	Body   string `json:"body"`
}

// Statement returns the issue text of a commit: title and body of the issues that it
// closes, in their order, if they are known, and the cleaned message otherwise.
func Statement(message string, issues map[int]Issue) string {
	var linked []string
	seen := map[int]bool{}
	for _, m := range closing.FindAllStringSubmatch(message, -1) {
		n, err := strconv.Atoi(m[1])
		if issue, known := issues[n]; err == nil && known && !seen[n] {
			seen[n] = true
			linked = append(linked, strings.TrimSpace(issue.Title+"\n\n"+issue.Body))
		}
	}
	if len(linked) > 0 {
		return withoutHashes(strings.Join(linked, "\n\n"))
	}
	return clean(message)
}

// clean takes the trailers, hashes and the number of the pull request off a message.
func clean(message string) string {
	lines := strings.Split(strings.ReplaceAll(strings.ToValidUTF8(message, "?"), "\r\n", "\n"), "\n")
	end := len(lines)
	for end > 0 && (strings.TrimSpace(lines[end-1]) == "" || trailer.MatchString(strings.TrimSpace(lines[end-1]))) {
		end--
	}
	lines = lines[:end]
	if end > 0 {
		lines[0] = pull.ReplaceAllString(lines[0], "")
	}
	return withoutHashes(strings.Join(lines, "\n"))
}

func withoutHashes(text string) string {
	text = hash.ReplaceAllStringFunc(text, func(word string) string {
		if strings.ContainsAny(word, "0123456789") && strings.ContainsAny(word, "abcdef") {
			return "a commit"
		}
		return word
	})
	return strings.TrimSpace(text)
}

package warmstart

import (
	"slices"
	"strings"

	"millrace/transforms/inject"
)

// candidate is a change that would undo a fault, if the file has that one.
type candidate struct {
	source string
	inject.Fault
	entry // in the list of operators
}

// edit replaces one piece of text by another.
type edit struct{ before, after string }

// candidates are the changes that would undo a fault of the given kinds (none:
// all) in the viewed file, from top to bottom.
func candidates(view string, kinds []inject.Kind) []candidate {
	source := strings.Join(fileLines(view), "\n")
	repairs, err := inject.Repairs("viewed.go", []byte(source))
	if err != nil {
		return nil // an edit broke the file's syntax: nothing sensible to try
	}
	var out []candidate
	for _, f := range repairs {
		if len(kinds) == 0 || slices.Contains(kinds, f.Kind) {
			out = append(out, candidate{source: source, Fault: f})
		}
	}
	return out
}

// edit is the change as an edit of the word it is in, with as many words on each
// side as its line has of those asked for. With one, its text is that of the
// list of operators; the less there is to copy, the less a small policy gets
// wrong. With more, the white space before the first word belongs to the edit
// because it belongs to the word's first token in the file, and a copy of the
// same tokens is easier to learn than one of the same letters.
func (c candidate) edit(words int) edit {
	start, end := wordAt(c.source, c.Offset, len(c.Before))
	for range words {
		start, end = wordBefore(c.source, start), wordAfter(c.source, end)
	}
	if words == 1 {
		start += len(c.source[start:]) - len(strings.TrimLeft(c.source[start:], " \t"))
	}
	return edit{c.source[start:end], c.source[start:c.Offset] + c.After + c.source[c.Offset+len(c.Before):end]}
}

// wordAt is the place of the words that hold the n bytes at.
func wordAt(s string, at, n int) (start, end int) {
	start, end = strings.LastIndexAny(s[:at], " \t\n")+1, len(s)
	if blank := strings.IndexAny(s[at+n:], " \t\n"); blank >= 0 {
		end = at + n + blank
	}
	return start, end
}

// wordBefore is where the word before at begins in its line, the white space
// before it included; at itself when there is none.
func wordBefore(s string, at int) int {
	line := strings.LastIndexByte(s[:at], '\n') + 1
	word := strings.TrimRight(s[line:at], " \t")
	if space := strings.LastIndexAny(word, " \t"); space >= 0 {
		return line + space
	}
	if word == "" {
		return at
	}
	return line
}

// wordAfter is where the word after at ends in its line; at itself when there
// is none.
func wordAfter(s string, at int) int {
	rest, _, _ := strings.Cut(s[at:], "\n")
	word := strings.TrimLeft(rest, " \t")
	if word == "" {
		return at
	}
	if space := strings.IndexAny(word, " \t"); space >= 0 {
		word = word[:space]
	}
	return at + strings.Index(rest, word) + len(word)
}

// fileLines undoes the numbering of a view.
func fileLines(view string) []string {
	var lines []string
	for line := range strings.Lines(view) {
		if _, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			lines = append(lines, text)
		}
	}
	return lines
}

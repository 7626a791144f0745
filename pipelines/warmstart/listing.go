package warmstart

import (
	"strconv"
	"strings"
)

// listOperators is the shell command, less the path, with which the expert
// writes itself a list of what there is to try: every operator of a file with the
// word before and after it, numbered, each number on a line of its own.
const listOperators = `awk '{for(i=1;i<=NF&&$i!="//";i++)if($i!="="&&$i~/^[-+*\/%&|^<>=!]+$|[])A-Za-z0-9_][-+*\/%&|^<>]/)print++n"\n"(i>1?$(i-1)" ":"")$i (i<NF?" "$(i+1):"")}' `

// entries reads the list back; entry n is at n-1.
func entries(list string) []string {
	var out []string
	lines := strings.Split(list, "\n")
	for i := 0; i+1 < len(lines) && lines[i] == strconv.Itoa(len(out)+1); i += 2 {
		out = append(out, lines[i+1])
	}
	return out
}

// entry is a candidate's place in the list: its number, from 1, and the text.
// Again counts the candidates before it that have the same entry.
type entry struct {
	number int
	text   string
	again  int
}

// String is the entry as it stands in the list, after what says whether its
// operator was tried before.
func (e entry) String() string {
	return strings.Repeat("again ", e.again) + strconv.Itoa(e.number) + "\n" + e.text + "\n"
}

// locate finds the entries of candidates; both are from the top of the file to
// its bottom. A candidate that is not in the list is left out.
func locate(all []candidate, list []string) []candidate {
	var out []candidate
	last, word := entry{}, -1 // the last entry found, and where the word begins that it is about
	for _, c := range all {
		start, _ := wordAt(c.source, c.Offset, len(c.Before))
		if start == word {
			last.again++
		} else {
			text := c.edit(1).before
			n := last.number
			for n < len(list) && list[n] != text {
				n++
			}
			if n == len(list) {
				continue
			}
			last, word = entry{number: n + 1, text: text}, start
		}
		c.entry = last
		out = append(out, c)
	}
	return out
}

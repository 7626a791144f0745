package warmstart

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"millrace/transforms/rollout/tools"
)

// Alter returns the demonstration as if its source had other operators and
// numbers in it, line by line. What the tests say stays, so the altered story is
// no true one; it is for learning to copy. A policy that only meets a line as it
// is without its fault learns that line by heart, and then "copies" it so where
// the file holds the fault. Lines that share the text of an edit change alike,
// so that a text which is refused because it is there twice is so still.
//
// The operators change by symmetries of the injector's table, so that the twin
// of an altered operator is the altered twin, and an edit stays an edit of its
// kind.
func (d Demonstration) Alter(rng *rand.Rand) Demonstration {
	out := d
	out.Messages = make([]Message, len(d.Messages))
	var edits []string // the texts that are edited
	for _, m := range d.Messages {
		if call, ok := replacement(m); ok {
			edits = append(edits, call.Args["old_str"])
		}
	}
	var lines []string              // the file as last viewed
	altered := map[int]alteration{} // by line, the same throughout
	line := func(i int, text string) string {
		if strings.HasPrefix(strings.TrimSpace(text), "//") {
			return text
		}
		if _, ok := altered[i]; !ok {
			alike := alike(lines, edits, i)
			var texts strings.Builder
			for _, j := range alike {
				texts.WriteString(lines[j] + "\n")
			}
			a := newAlteration(rng, texts.String())
			for _, j := range alike {
				altered[j] = a
			}
		}
		return altered[i].apply(text)
	}
	for n, m := range d.Messages {
		if call, ok := replacement(m); ok {
			m.Content = alterEdit(call, lines, line)
		} else if file, ok := wholeFile(m.Content); ok && m.Role == "user" {
			lines = file
			m.Content = alterView(lines, line)
		}
		out.Messages[n] = m
	}
	return out
}

// alike are the lines that share the text of some edit with line i, those that
// share one with these, and so on; i is the first.
func alike(lines, edits []string, i int) []int {
	group := []int{i}
	for at := 0; at < len(group); at++ {
		for _, text := range edits {
			if !strings.Contains(lines[group[at]], text) {
				continue
			}
			for j, line := range lines {
				if strings.Contains(line, text) && !slices.Contains(group, j) {
					group = append(group, j)
				}
			}
		}
	}
	return group
}

// replacement reads a str_replace.
func replacement(m Message) (tools.Call, bool) {
	if m.Role != "assistant" {
		return tools.Call{}, false
	}
	_, call, ok, err := tools.Parse(m.Content)
	return call, ok && err == nil && call.Args["command"] == "str_replace"
}

// numbered matches the beginning of a file as the editor's view shows it.
var numbered = regexp.MustCompile(`^ *1\t`)

// wholeFile returns the lines of a file from a view of it. A view that was cut
// has lines without a number and is not one of a whole file.
func wholeFile(observation string) ([]string, bool) {
	lines := fileLines(observation)
	return lines, numbered.MatchString(observation) && len(lines) == strings.Count(observation, "\n")+1
}

// alterView is the view of a file with each line altered.
func alterView(lines []string, alter func(int, string) string) string {
	out := make([]string, len(lines))
	for i, text := range lines {
		out[i] = alter(i, text)
	}
	return strings.TrimSuffix(tools.Number(out, 1, len(out)), "\n")
}

// alterEdit alters both texts of an edit like the line they are from.
func alterEdit(call tools.Call, lines []string, alter func(int, string) string) string {
	before, after := call.Args["old_str"], call.Args["new_str"]
	for i, text := range lines {
		if strings.Contains(text, before) || strings.Contains(text, after) {
			call.Args["old_str"], call.Args["new_str"] = alter(i, before), alter(i, after)
			break
		}
	}
	return tools.Format(call)
}

// alteration says what becomes of the operators and numbers of one line.
type alteration map[string]string

// mirrored are the pairs that may change places, all pairs of a group together.
// Mirroring a group maps every operator's twins to twins.
var mirrored = [][][2]string{
	{{"<", ">"}, {"<=", ">="}},
	{{"<", "<="}, {">", ">="}},
	{{"==", "!="}},
	{{"&&", "||"}},
	{{"+", "-"}, {"+=", "-="}, {"++", "--"}},
}

// operand matches what an alteration may change, longest first.
var operand = regexp.MustCompile(`<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/]=|[-+*/<>]|\b\d+\b`)

func newAlteration(rng *rand.Rand, line string) alteration {
	a := alteration{}
	for _, group := range mirrored {
		if rng.IntN(2) == 0 {
			continue
		}
		// Each of a pair becomes what the other has become: symmetries commute.
		for _, pair := range group {
			a[pair[0]], a[pair[1]] = a.of(pair[1]), a.of(pair[0])
		}
	}
	for _, n := range operand.FindAllString(line, -1) {
		if _, err := strconv.Atoi(n); err == nil && rng.IntN(2) == 0 {
			a[n] = strconv.Itoa(rng.IntN([]int{10, 10, 100, 1000}[rng.IntN(4)]))
		}
	}
	return a
}

// of is what becomes of one operator or number.
func (a alteration) of(text string) string {
	if to, ok := a[text]; ok {
		return to
	}
	return text
}

func (a alteration) apply(text string) string { return operand.ReplaceAllStringFunc(text, a.of) }

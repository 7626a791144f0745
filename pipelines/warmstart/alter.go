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
// the file holds the fault. Lines that share the text of an edit or of an entry
// of the list of operators change alike, so that a text which is refused because
// it is there twice is so still.
//
// The operators change by symmetries of the injector's table, so that the twin
// of an altered operator is the altered twin, and an edit stays an edit of its
// kind.
func (d Demonstration) Alter(rng *rand.Rand) Demonstration {
	f := file{rng: rng, altered: map[int]alteration{}}
	turns := make([]*turn, len(d.Messages)) // the expert's
	for i, m := range d.Messages {
		switch turns[i] = spoken(m); {
		case turns[i] == nil && lists(turns, i):
			f.shared = append(f.shared, entries(m.Content)...)
		case turns[i] != nil && turns[i].edits():
			f.shared = append(f.shared, turns[i].call.Args["old_str"])
		}
	}
	out := d
	out.Messages = slices.Clone(d.Messages)
	for i, m := range d.Messages {
		content := &out.Messages[i].Content
		switch {
		case turns[i] != nil && turns[i].edits():
			*content = f.alterEdit(*turns[i]).String()
		case turns[i] != nil:
		case lists(turns, i):
			*content = f.alterList(m.Content)
		default:
			if lines, ok := wholeFile(m.Content); ok {
				f.lines = lines
				*content = f.alterView()
			}
		}
	}
	return out
}

// spoken reads a message of the expert's, nil when it is another's.
func spoken(m Message) *turn {
	if m.Role != "assistant" {
		return nil
	}
	thought, call, ok, err := tools.Parse(m.Content)
	if !ok || err != nil {
		return nil
	}
	return &turn{thought, call}
}

// edits is true for a str_replace.
func (t turn) edits() bool { return t.call.Args["command"] == "str_replace" }

// lists is true when message i is a list of operators.
func lists(turns []*turn, i int) bool {
	return i > 0 && turns[i-1] != nil && strings.HasPrefix(turns[i-1].call.Args["cmd"], listOperators)
}

// file is the source of a demonstration while it is altered.
type file struct {
	rng     *rand.Rand
	shared  []string           // texts of which all lines change alike
	lines   []string           // as last viewed
	altered map[int]alteration // by line, the same throughout
}

// line alters a text of line i.
func (f *file) line(i int, text string) string {
	if strings.HasPrefix(strings.TrimSpace(f.lines[i]), "//") {
		return text
	}
	if _, ok := f.altered[i]; !ok {
		group := f.alike(i)
		var texts strings.Builder
		for _, j := range group {
			texts.WriteString(f.lines[j] + "\n")
		}
		a := newAlteration(f.rng, texts.String())
		for _, j := range group {
			f.altered[j] = a
		}
	}
	return f.altered[i].apply(text)
}

// alike are the lines that share some text with line i, those that share one
// with these, and so on; i is the first.
func (f *file) alike(i int) []int {
	group := []int{i}
	for at := 0; at < len(group); at++ {
		for _, text := range f.shared {
			if !strings.Contains(f.lines[group[at]], text) {
				continue
			}
			for j, line := range f.lines {
				if strings.Contains(line, text) && !slices.Contains(group, j) {
					group = append(group, j)
				}
			}
		}
	}
	return group
}

// holds is the first line that holds one of the texts, -1 if none does.
func (f *file) holds(texts ...string) int {
	return slices.IndexFunc(f.lines, func(line string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(line, text) })
	})
}

// alterView is the view of the file with each line altered.
func (f *file) alterView() string {
	out := make([]string, len(f.lines))
	for i, text := range f.lines {
		out[i] = f.line(i, text)
	}
	return strings.TrimSuffix(tools.Number(out, 1, len(out)), "\n")
}

// alterList alters each entry of a list of operators like the line it is from.
func (f *file) alterList(list string) string {
	lines := strings.Split(list, "\n")
	for n, text := range entries(list) {
		if i := f.holds(text); i >= 0 {
			lines[2*n+1] = f.line(i, text)
		}
	}
	return strings.Join(lines, "\n")
}

// alterEdit alters both texts of an edit, and the entry that the thought before
// it repeats, like the line they are from.
func (f *file) alterEdit(t turn) turn {
	before, after := t.call.Args["old_str"], t.call.Args["new_str"]
	i := f.holds(before, after)
	if i < 0 {
		return t
	}
	number, text, ok := strings.Cut(t.thought, "\n")
	if ok {
		t.thought = number + "\n" + f.line(i, text)
	}
	t.call.Args["old_str"], t.call.Args["new_str"] = f.line(i, before), f.line(i, after)
	return t
}

// numbered matches the beginning of a file as the editor's view shows it.
var numbered = regexp.MustCompile(`^ *1\t`)

// wholeFile returns the lines of a file from a view of it. A view that was cut
// has lines without a number and is not one of a whole file.
func wholeFile(observation string) ([]string, bool) {
	lines := fileLines(observation)
	return lines, numbered.MatchString(observation) && len(lines) == strings.Count(observation, "\n")+1
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

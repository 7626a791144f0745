package warmstart

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"millrace/schemas"
)

// names are the identifiers declared in the task's source, the package among
// them, sorted. The blank identifier is not one of them, nor are words that mean
// something to Go or to the tools: replacing those would change a builtin, a
// tool's markup or the "ok" of a test run.
func names(task schemas.Task) []string {
	set := map[string]bool{}
	for _, f := range task.Files {
		if !strings.HasSuffix(f.Path, ".go") || strings.HasSuffix(f.Path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Content, 0)
		if err != nil {
			continue // a task whose source does not parse is not renamed
		}
		if !reserved(file.Name.Name) {
			set[file.Name.Name] = true
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Obj != nil && !reserved(id.Name) {
				set[id.Name] = true
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(set))
}

// word matches identifiers in code and prose, and what holds letters but no
// identifier, to be left alone: strings, runes and numbers.
var word = regexp.MustCompile(`"(?:\\.|[^"\\\n])*"|'(?:\\[^'\n]{1,9}|\\'|[^'\\\n])'|[0-9][\pL\pN_]*|[\pL_][\pL\pN_]*`)

// Rename returns the demonstration with every name replaced by a random one,
// consistently: what the functions and variables are called does not matter to
// the routine, and a policy that sees them vary learns to copy what it reads
// instead of reciting what it remembers. Half of the new names are made up, half
// are from dictionary, names of real code: a word that is hardly ever copied in
// training cannot be copied afterwards. An exported name stays exported, and the
// test of a function stays its test.
func (d Demonstration) Rename(rng *rand.Rand, dictionary []string) Demonstration {
	renamed := map[string]string{}
	taken := map[string]bool{} // an invented name must not meet a word that stays
	for _, m := range d.Messages {
		for _, w := range word.FindAllString(m.Content, -1) {
			taken[w] = true
		}
	}
	for _, n := range d.Names {
		delete(taken, n)
	}
	invent := func(exported bool, length int) string {
		for try := 0; ; try++ {
			n := pseudoword(rng, length+try/64) // there are few short names
			if length > 0 && len(dictionary) > 0 && rng.IntN(2) == 0 {
				n = dictionary[rng.IntN(len(dictionary))]
			}
			if exported {
				n = strings.ToUpper(n[:1]) + n[1:]
			}
			if !taken[n] && !reserved(n) {
				taken[n] = true
				return n
			}
		}
	}
	for _, n := range d.Names {
		var to string
		switch {
		case ast.IsExported(n):
			to = invent(true, 1+rng.IntN(3))
			renamed["Test"+n] = "Test" + to
		case len(n) <= 2:
			to = invent(false, 0)
		default:
			to = invent(false, 1+rng.IntN(3))
		}
		renamed[n] = to
		renamed[n+"_test"] = to + "_test" // the file beside the source
	}
	out := d
	out.Messages = make([]Message, len(d.Messages))
	for i, m := range d.Messages {
		parts := strings.Split(m.Content, listOperators) // whose own variables are no names
		for n, part := range parts {
			parts[n] = word.ReplaceAllStringFunc(part, func(w string) string {
				if to, ok := renamed[w]; ok {
					return to
				}
				return w
			})
		}
		m.Content = strings.Join(parts, listOperators)
		out.Messages[i] = m
	}
	return out
}

// dictionary are the demonstrations' names of two letters and more that are not
// exported, each once, sorted.
func (r Recording) dictionary() []string {
	set := map[string]bool{}
	for _, d := range r.Demonstrations {
		for _, n := range d.Names {
			if len(n) > 1 && !ast.IsExported(n) {
				set[n] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// reserved words are no names: Go's own, and those of the tools and of what they
// print.
func reserved(n string) bool {
	return n == "_" || token.IsKeyword(n) || types.Universe.Lookup(n) != nil || toolWords[n]
}

var toolWords = func() map[string]bool {
	words := map[string]bool{}
	for _, text := range append([]string{
		"ok FAIL PASS ERROR exit code go mod test testing Test want got is broken edited undone Files",
		"view create str_replace insert undo_edit command result submit",
	}, markup...) {
		for _, w := range word.FindAllString(text, -1) {
			words[w] = true
		}
	}
	return words
}()

var (
	shortNames = strings.Fields("a b c d e f g h i j k l m n o p q r s t u v w x y z xs ys lo hi ok ch id sz ns bs")
	onsets     = strings.Fields("b c d f g h j k l m n p r s t v w z br cl dr fl gr pl st tr")
	vowels     = strings.Fields("a e i o u ea oo ai")
	codas      = []string{"", "", "", "n", "r", "s", "t", "l", "m", "ck", "x"}
)

// pseudoword makes up a name of the given number of syllables; 0 gives one of
// one or two letters.
func pseudoword(rng *rand.Rand, syllables int) string {
	pick := func(from []string) string { return from[rng.IntN(len(from))] }
	if syllables == 0 {
		return pick(shortNames)
	}
	var b strings.Builder
	for range syllables {
		b.WriteString(pick(onsets))
		b.WriteString(pick(vowels))
		b.WriteString(pick(codas))
	}
	return b.String()
}

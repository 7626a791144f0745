package procedural

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"

	"millrace/transforms/inject"
)

// File is one file of a package that type-checks.
type File struct {
	// Name is the file's path in its module; draws depend on it.
	Name   string
	Source []byte
	Set    *token.FileSet
	// Syntax is Source, parsed into Set; Info has at least Types, Defs and Uses of
	// its package.
	Syntax  *ast.File
	Info    *types.Info
	Package *types.Package
}

// Config are the settings of the draw.
type Config struct {
	Seed uint64
	// Attempts is how often each modifier draws for each function (> 0); draws that
	// come to the same text count once. SWE-smith's is 5.
	Attempts int
	// Kinds are the modifiers that draw, in any order; empty means all.
	Kinds []inject.Kind
}

// DefaultSeed and DefaultAttempts are SWE-smith's.
const (
	DefaultSeed     = 24
	DefaultAttempts = 5
)

// Validate reports the first thing that is wrong with the settings.
func (c Config) Validate() error {
	if c.Attempts <= 0 {
		return fmt.Errorf("injecting faults: %d attempts; want at least 1", c.Attempts)
	}
	for _, k := range c.Kinds {
		if !slices.Contains(Kinds(), k) {
			return fmt.Errorf("injecting faults: no modifier %q, want some of %v", k, Kinds())
		}
	}
	return nil
}

// Change is one fault: the edits that one modifier made in one function.
type Change struct {
	Kind     inject.Kind
	Function string
	// Line is the line of the first edit, from 1.
	Line int
	// Edits are sorted by offset.
	Edits []Edit
	// Source is the file with the edits in it.
	Source []byte
}

// Changes draws the changes of a file, ordered by function, modifier and draw. The
// error is of Config.Validate, or names an edit that could not be made, which is a
// defect here.
func Changes(c Config, f File) ([]Change, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	seen := map[[sha256.Size]byte]bool{fingerprint(f.Source): true}
	var out []Change
	for _, d := range f.Syntax.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok || decl.Body == nil {
			continue
		}
		fn := newFunction(f, decl)
		for _, m := range Modifiers() {
			if len(c.Kinds) > 0 && !slices.Contains(c.Kinds, m.Kind) || !m.applies(fn) {
				continue
			}
			changes, err := draw(c, m, fn, seen)
			if err != nil {
				return nil, fmt.Errorf("%s: %s in %s: %w", f.Name, m.Kind, fn.name, err)
			}
			out = append(out, changes...)
		}
	}
	return out, nil
}

// draw makes the changes of one modifier in one function that have not been seen.
func draw(c Config, m Modifier, fn *function, seen map[[sha256.Size]byte]bool) ([]Change, error) {
	sites := slices.DeleteFunc(m.sites(fn), func(s site) bool { return !fn.runs(s.from, s.to) })
	if len(sites) == 0 {
		return nil, nil
	}
	rng := rand.New(rand.NewPCG(c.Seed, stream(fn, m)))
	var out []Change
	for range c.Attempts {
		edits := pick(rng, sites, m.Likelihood)
		if len(edits) == 0 {
			continue
		}
		text, err := Apply(fn.Source, edits)
		if err != nil {
			return nil, err
		}
		print := fingerprint(text)
		if seen[print] {
			continue
		}
		seen[print] = true
		slices.SortFunc(edits, func(a, b Edit) int { return a.Offset - b.Offset })
		file := fn.Set.File(fn.decl.Pos())
		out = append(out, Change{
			Kind: m.Kind, Function: fn.name, Edits: edits, Source: text,
			Line: file.PositionFor(file.Pos(edits[0].Offset), false).Line,
		})
	}
	return out, nil
}

// pick draws which of the sites change, and how: each by the likelihood, at least
// one, and none inside another.
func pick(rng *rand.Rand, sites []site, likelihood float64) []Edit {
	var chosen []site
	for _, s := range sites {
		if rng.Float64() < likelihood && !slices.ContainsFunc(chosen, s.overlaps) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		chosen = append(chosen, sites[rng.IntN(len(sites))])
	}
	var edits []Edit
	for _, s := range chosen {
		edits = append(edits, s.change(rng)...)
	}
	return edits
}

func (s site) overlaps(other site) bool { return s.from < other.to && other.from < s.to }

// stream keeps the draws of a function and modifier apart from all others.
func stream(fn *function, m Modifier) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %q %q", fn.Name, fn.name, m.Kind)
	return h.Sum64()
}

// fingerprint identifies a source by its tokens.
func fingerprint(src []byte) (sum [sha256.Size]byte) {
	h := sha256.New()
	tokens(src, func(tok token.Token, literal string) {
		io.WriteString(h, tok.String()+"\x00"+literal+"\x00")
	})
	h.Sum(sum[:0])
	return sum
}

package testlog

import (
	"regexp"
	"strings"
)

// patterns is a format whose verdicts are single lines: the first pattern that
// matches a stripped line decides it.
type patterns []pattern

type pattern struct {
	// has is text without which a line cannot match; regular expressions are slow.
	has []string
	// re has the groups "test" and "word".
	re *regexp.Regexp
	// status is what the group "word" means; a word that is missing means nothing.
	// With fixed, every match has that status.
	status map[string]Status
	fixed  Status
}

func (ps patterns) read(t *tally, log string) {
	for line := range lines(log) {
		for _, p := range ps {
			if test, s, ok := p.match(line); ok {
				if s != "" {
					t.add(test, "", s)
				}
				break
			}
		}
	}
}

func (p pattern) match(line string) (test string, s Status, ok bool) {
	possible := false
	for _, has := range p.has {
		possible = possible || strings.Contains(line, has)
	}
	if !possible {
		return "", "", false
	}
	line = strip(line)
	m := p.re.FindStringSubmatchIndex(line)
	if m == nil {
		return "", "", false
	}
	group := func(name string) string {
		i := 2 * p.re.SubexpIndex(name)
		return line[m[i]:m[i+1]]
	}
	if p.fixed != "" {
		return group("test"), p.fixed, true
	}
	return group("test"), p.status[group("word")], true
}

// line makes a pattern that reads a word and a name.
func line(expr string, status map[string]Status, has ...string) pattern {
	return pattern{has: has, re: regexp.MustCompile(expr), status: status}
}

// always makes a pattern whose every match has one status.
func always(s Status, expr string, has ...string) pattern {
	return pattern{has: has, re: regexp.MustCompile(expr), fixed: s}
}

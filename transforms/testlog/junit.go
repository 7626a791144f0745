package testlog

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// The names that datasets make of a JUnit test case.
func junitSpaced(t *tally, log string) {
	junit(t, log, func(class, test string) string {
		if class == "" {
			return test
		}
		return strip(class + " " + test)
	})
}

func junitColons(t *tally, log string) {
	junit(t, log, func(class, test string) string {
		if class == "" {
			return test
		}
		return class + "::" + test
	})
}

func junitGradle(t *tally, log string) {
	junit(t, log, func(class, test string) string {
		if class == "" {
			return test
		}
		return test + " (" + class + ")"
	})
}

// junit reads JUnit's XML reports, as many as the log holds, with anything between
// them. A report that is malformed or cut counts as far as it can be read: a test
// case whose end is missing is none. Names are unescaped.
func junit(t *tally, log string, name func(class, test string) string) {
	for {
		i := strings.Index(log, "<testsuite")
		if i < 0 {
			return
		}
		log = log[i:]
		log = log[max(junitReport(t, log, name), 1):]
	}
}

// junitReport reads the report that begins the log, and returns the length that was
// read.
func junitReport(t *tally, log string, name func(class, test string) string) int {
	d := xml.NewDecoder(strings.NewReader(log))
	d.Strict = false
	d.Entity = xml.HTMLEntity
	depth := 0
	for {
		token, err := d.Token()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return len(log)
			}
			return int(d.InputOffset())
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local != "testcase" {
				depth++
				continue
			}
			s, err := junitCase(d)
			if err != nil {
				return int(d.InputOffset())
			}
			if test := attribute(token, "name"); test != "" {
				t.add(name(attribute(token, "classname"), test), "", s)
			}
		case xml.EndElement:
			if depth--; depth == 0 {
				return int(d.InputOffset())
			}
		}
	}
}

// junitCase reads to the end of a test case.
func junitCase(d *xml.Decoder) (Status, error) {
	s := Passed
	for depth := 1; depth > 0; {
		token, err := d.Token()
		if err != nil {
			return "", err
		}
		switch token := token.(type) {
		case xml.EndElement:
			depth--
		case xml.StartElement:
			if depth++; depth > 2 {
				continue
			}
			switch token.Name.Local {
			case "failure":
				s = worse(s, Failed)
			case "error":
				s = worse(s, Error)
			case "skipped":
				s = worse(s, Skipped)
			}
		}
	}
	return s, nil
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

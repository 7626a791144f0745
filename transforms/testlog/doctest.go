package testlog

import (
	"encoding/xml"
	"strings"
)

// doctest reads the XML report of the C++ library doctest (-s -r=xml). A test is
// "case > subcase", and has passed when every expression in it has. A report that is
// cut counts as far as its subcases are whole.
func doctest(t *tally, log string) {
	i := strings.Index(log, "<doctest")
	if i < 0 {
		return
	}
	d := xml.NewDecoder(strings.NewReader(log[i:]))
	d.Strict = false
	type subcase struct {
		name string
		s    Status
	}
	var test string
	var open []subcase // an expression counts for every subcase around it
	for {
		token, err := d.Token()
		if err != nil {
			return
		}
		switch token := token.(type) {
		case xml.StartElement:
			switch token.Name.Local {
			case "TestCase":
				test = attribute(token, "name")
			case "SubCase":
				open = append(open, subcase{attribute(token, "name"), Passed})
			case "Expression":
				if attribute(token, "success") != "true" {
					for i := range open {
						open[i].s = Failed
					}
				}
			}
		case xml.EndElement:
			if token.Name.Local == "SubCase" && len(open) > 0 {
				last := open[len(open)-1]
				open = open[:len(open)-1]
				t.add(test+separator+last.name, "", last.s)
			}
			if token.Name.Local == "doctest" {
				return
			}
		}
	}
}

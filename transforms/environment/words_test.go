package environment

import "testing"

var directions = map[string]string{"left": "left", "l": "left", "1": "left", "up": "up", "4": "up"}

func TestLastWord(t *testing.T) {
	for turn, want := range map[string]string{
		"left":                    "left",
		" Left.":                  "left",
		"L":                       "left",
		"go up, no: left! please": "left",
		"1 then 4":                "up",
		"":                        "",
		"leftup":                  "",
		"l\xffup":                 "up",
		"down":                    "",
	} {
		got, ok := LastWord(turn, directions)
		if got != want || ok != (want != "") {
			t.Errorf("LastWord(%q) = %q, %v; want %q", turn, got, ok, want)
		}
	}
}

func TestLastFenced(t *testing.T) {
	for turn, want := range map[string]string{
		"```Left```":               "left",
		"``` up\n```":              "up",
		"```left``` or ```4```":    "up",
		"```left```up```":          "left",
		"```left``` ```up``` tail": "up",
		"```left```````up``` tail": "",
		"```up``` ```sideways```":  "",
		"```go left```":            "",
		"left":                     "",
		"```left":                  "",
		"``````":                   "",
		"":                         "",
	} {
		got, ok := LastFenced(turn, directions)
		if got != want || ok != (want != "") {
			t.Errorf("LastFenced(%q) = %q, %v; want %q", turn, got, ok, want)
		}
	}
}

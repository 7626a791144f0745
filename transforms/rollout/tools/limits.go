package tools

import "time"

// Style is the form of observations.
type Style string

const (
	// DeepSWE is the original's form, which published models were trained on.
	DeepSWE Style = "deepswe"
	// Brief says the same in as few tokens as possible, for small policies.
	Brief Style = "brief"
)

// Limits bound one call and its observation. The zero value of a field means
// the default told there.
type Limits struct {
	// Style of observations. Default: DeepSWE.
	Style Style `yaml:"style"`
	// Action is the time one command may take. Default: 90 s, the original's.
	Action time.Duration `yaml:"action_time"`
	// Characters bounds an observation's text; the middle is left out. Default:
	// 10,000 bytes, the original's for file_editor.
	Characters int `yaml:"characters"`
	// Lines bounds a command's output and a search's result; the middle is left
	// out. Default: 80, the original's for execute_bash.
	Lines int `yaml:"lines"`
}

func (l Limits) orDefault() Limits {
	if l.Style == "" {
		l.Style = DeepSWE
	}
	if l.Action == 0 {
		l.Action = 90 * time.Second
	}
	if l.Characters == 0 {
		l.Characters = 10_000
	}
	if l.Lines == 0 {
		l.Lines = 80
	}
	return l
}

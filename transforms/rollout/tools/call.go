package tools

import (
	"fmt"
	"slices"
	"strings"
)

// Call is one tool call of the agent.
type Call struct {
	Name string
	Args map[string]string
}

const (
	functionOpen   = "<function="
	functionClose  = "</function>"
	parameterOpen  = "<parameter="
	parameterClose = "</parameter>"
	thinkOpen      = "<think>"
	thinkClose     = "</think>"
)

// Parse finds the first call in what the agent said after its thinking.
// Thought is the text before the call. There are three results: a call (ok), no
// call (neither ok nor error), and something meant as a call but malformed
// (an error for the agent to read).
//
// The thinking ends with the first </think>; if it was opened and not closed,
// there is no call. A value is taken as it is, less one newline after the
// opening tag and one before the closing one; it ends with the first
// </parameter> that is followed by the next parameter or the end of the call,
// so that it may itself hold that tag. Afterwards Parse(Format(call)) is call
// again, unless a value holds </think>.
func Parse(text string) (thought string, call Call, ok bool, err error) {
	start := 0
	if i := strings.Index(text, thinkClose); i >= 0 {
		start = i + len(thinkClose)
	} else if strings.Contains(text, thinkOpen) {
		return text, Call{}, false, nil
	}
	i := strings.Index(text[start:], functionOpen)
	if i < 0 {
		return text, Call{}, false, nil
	}
	thought = text[:start+i]
	call, err = parseCall(text[start+i+len(functionOpen):])
	return thought, call, err == nil, err
}

// parseCall parses what follows "<function=".
func parseCall(rest string) (Call, error) {
	name, rest, err := cutName(rest, "function")
	if err != nil {
		return Call{}, err
	}
	call := Call{Name: name, Args: map[string]string{}}
	for {
		rest = strings.TrimLeft(rest, blanks)
		if strings.HasPrefix(rest, functionClose) {
			return call, nil
		}
		after, found := strings.CutPrefix(rest, parameterOpen)
		if !found {
			return Call{}, fmt.Errorf("malformed call of %s: expected %sNAME> or %s", name, parameterOpen, functionClose)
		}
		var key, value string
		if key, after, err = cutName(after, "parameter"); err != nil {
			return Call{}, err
		}
		if value, rest, found = cutValue(after); !found {
			return Call{}, fmt.Errorf("malformed call of %s: close parameter %s with %s and the call with %s", name, key, parameterClose, functionClose)
		}
		if _, twice := call.Args[key]; twice {
			return Call{}, fmt.Errorf("malformed call of %s: parameter %s is given twice", name, key)
		}
		call.Args[key] = value
	}
}

// blanks may stand between tags.
const blanks = " \t\r\n"

func cutName(s, what string) (name, rest string, err error) {
	name, rest, found := strings.Cut(s, ">")
	name = strings.Trim(name, blanks)
	bad := func(r rune) bool {
		return r != '_' && r != '-' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	if !found || name == "" || strings.ContainsFunc(name, bad) {
		return "", "", fmt.Errorf("malformed call: write <%s=NAME>", what)
	}
	return name, rest, nil
}

func cutValue(s string) (value, rest string, found bool) {
	for from := 0; ; {
		i := strings.Index(s[from:], parameterClose)
		if i < 0 {
			return "", "", false
		}
		end := from + i
		from = end + len(parameterClose)
		next := strings.TrimLeft(s[from:], blanks)
		if strings.HasPrefix(next, parameterOpen) || strings.HasPrefix(next, functionClose) {
			value = strings.TrimPrefix(s[:end], "\n")
			return strings.TrimSuffix(value, "\n"), next, true
		}
	}
}

// Format returns the canonical text of a call: parameters in the tool's order,
// values of more than one line on lines of their own.
func Format(call Call) string {
	var b strings.Builder
	b.WriteString(functionOpen + call.Name + ">\n")
	for _, key := range sortedKeys(call) {
		value := call.Args[key]
		if strings.Contains(value, "\n") {
			value = "\n" + value + "\n"
		}
		b.WriteString(parameterOpen + key + ">" + value + parameterClose + "\n")
	}
	b.WriteString(functionClose)
	return b.String()
}

// sortedKeys are the parameters in the tool's order, then the others by name.
func sortedKeys(call Call) []string {
	var keys []string
	order := tools[call.Name].parameters
	for _, p := range order {
		if _, ok := call.Args[p]; ok {
			keys = append(keys, p)
		}
	}
	known := len(keys)
	for key := range call.Args {
		if !slices.Contains(order, key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys[known:])
	return keys
}

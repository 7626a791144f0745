package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"millrace/transforms/sandbox"
)

// edit is what undo_edit goes back to.
type edit struct {
	existed bool
	content string
}

// undoDepth bounds the edits that are remembered for each file.
const undoDepth = 64

func (t *Toolbox) edit(_ context.Context, args map[string]string) (answer, error) {
	path, err := sandbox.Relative(strings.TrimSpace(args["path"]))
	if err != nil {
		return answer{}, explain(args["path"], err)
	}
	var text string
	switch command := strings.TrimSpace(args["command"]); command {
	case "view":
		text, err = t.view(path, args)
	case "create":
		text, err = t.create(path, args)
	case "str_replace":
		text, err = t.replace(path, args)
	case "insert":
		text, err = t.insert(path, args)
	case "undo_edit":
		text, err = t.undo(path)
	default:
		err = refuse("unknown command %q; the commands are view, create, str_replace, insert, undo_edit", short(command))
	}
	return answer{text: text}, err
}

func (t *Toolbox) read(path string) (string, error) {
	data, err := t.sandbox.ReadFile(path)
	return string(data), explain(path, err)
}

// write changes a file and remembers what it was.
func (t *Toolbox) write(path string, was edit, content string) error {
	if err := t.sandbox.WriteFile(path, []byte(content)); err != nil {
		return explain(path, err)
	}
	stack := append(t.edits[path], was)
	if len(stack) > undoDepth {
		stack = stack[1:]
	}
	t.edits[path] = stack
	return nil
}

func (t *Toolbox) create(path string, args map[string]string) (string, error) {
	text, ok := args["file_text"]
	if !ok {
		return "", refuse("create needs parameter file_text")
	}
	switch _, err := t.sandbox.ReadFile(path); {
	case err == nil:
		return "", refuse("%s exists; use str_replace to change it", path)
	case !errors.Is(err, fs.ErrNotExist):
		return "", explain(path, err)
	}
	if err := t.write(path, edit{}, text); err != nil {
		return "", err
	}
	return t.edited(path, text, 1, strings.Count(text, "\n")+1, "A new file is at "), nil
}

func (t *Toolbox) replace(path string, args map[string]string) (string, error) {
	from, to := args["old_str"], args["new_str"]
	if from == "" {
		return "", refuse("str_replace needs parameter old_str")
	}
	if from == to {
		return "", refuse("old_str and new_str are equal")
	}
	content, err := t.read(path)
	if err != nil {
		return "", err
	}
	at := strings.Index(content, from)
	switch n := strings.Count(content, from); {
	case at < 0:
		return "", refuse("old_str is not in %s; copy it exactly from a view", path)
	case n > 1 || strings.Contains(content[at+1:], from):
		return "", refuse("old_str is in %s more than once (lines %s); add lines around it", path, occurrences(content, from))
	}
	changed := content[:at] + to + content[at+len(from):]
	if err := t.write(path, edit{true, content}, changed); err != nil {
		return "", err
	}
	first := strings.Count(content[:at], "\n") + 1
	return t.edited(path, changed, first, first+strings.Count(to, "\n"), ""), nil
}

// occurrences lists the lines at which part begins, the first few of them.
func occurrences(content, part string) string {
	const most = 5
	var lines []string
	for from := 0; ; {
		i := strings.Index(content[from:], part)
		if i < 0 {
			break
		}
		if len(lines) == most {
			lines = append(lines, "...")
			break
		}
		lines = append(lines, strconv.Itoa(strings.Count(content[:from+i], "\n")+1))
		from += i + 1
	}
	return strings.Join(lines, ", ")
}

func (t *Toolbox) insert(path string, args map[string]string) (string, error) {
	text, ok := args["new_str"]
	if !ok {
		return "", refuse("insert needs parameter new_str")
	}
	after, err := strconv.Atoi(strings.TrimSpace(args["insert_line"]))
	if err != nil {
		return "", refuse("insert needs parameter insert_line, a number")
	}
	content, err := t.read(path)
	if err != nil {
		return "", err
	}
	lines := splitLines(content)
	if after < 0 || after > len(lines) {
		return "", refuse("insert_line %d is not in 0..%d", after, len(lines))
	}
	head, tail := strings.Join(lines[:after], ""), strings.Join(lines[after:], "")
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	if !strings.HasSuffix(text, "\n") && (tail != "" || strings.HasSuffix(content, "\n")) {
		text += "\n"
	}
	changed := head + text + tail
	if err := t.write(path, edit{true, content}, changed); err != nil {
		return "", err
	}
	return t.edited(path, changed, after+1, after+len(splitLines(text)), ""), nil
}

func (t *Toolbox) undo(path string) (string, error) {
	stack := t.edits[path]
	if len(stack) == 0 {
		return "", refuse("there is no edit of %s to undo", path)
	}
	last := stack[len(stack)-1]
	var err error
	if last.existed {
		err = t.sandbox.WriteFile(path, []byte(last.content))
	} else if err = t.sandbox.Remove(path); errors.Is(err, fs.ErrNotExist) {
		err = nil // a command removed it first
	}
	if err != nil {
		return "", explain(path, err)
	}
	t.edits[path] = stack[:len(stack)-1]
	if t.limits.Style == Brief {
		return "undone " + path, nil
	}
	return fmt.Sprintf("Last edit to %s undone successfully.", path), nil
}

// snippetContext is the number of lines shown around an edit.
const snippetContext = 4

// edited says that lines first to last of path are new.
func (t *Toolbox) edited(path, content string, first, last int, lead string) string {
	if t.limits.Style == Brief {
		return "edited " + path
	}
	if lead == "" {
		lead = "The file was edited: "
	}
	lines := splitLines(content)
	from, to := max(first-snippetContext, 1), min(last+snippetContext, len(lines))
	return fmt.Sprintf("%s%s. Lines %d to %d are now:\n%s", lead, path, from, to, Number(lines, from, to))
}

// splitLines returns the lines of s, each with its newline.
func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

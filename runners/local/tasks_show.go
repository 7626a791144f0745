package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"millrace/pipelines/mine"
	"millrace/schemas"
)

// errFound ends a search.
var errFound = errors.New("found")

// ShowTask runs "millrace tasks show": it writes one task, as an indented row of a
// task file, or field by field for a person. Both hold the gold patch and the tests.
func ShowTask(ctx context.Context, file, id string, asJSON bool, out io.Writer) error {
	var task schemas.Task
	err := eachTask(ctx, file, func(t schemas.Task) error {
		if t.ID == id {
			task = t
			return errFound
		}
		return nil
	})
	switch {
	case err == nil:
		return fmt.Errorf("no task has the id %q", id)
	case !errors.Is(err, errFound):
		return err
	case asJSON:
		return showJSON(task, out)
	}
	return showText(task, out)
}

func showJSON(t schemas.Task, out io.Writer) error {
	var row, indented bytes.Buffer
	if err := mine.Write(&row, []schemas.Task{t}); err != nil {
		return err
	}
	if err := json.Indent(&indented, row.Bytes(), "", "  "); err != nil {
		return fmt.Errorf("writing task %s: %w", t.ID, err)
	}
	_, err := out.Write(indented.Bytes())
	return err
}

// showText writes short fields as lines and long ones as sections; empty ones are
// left out. A control character, which could speak to the terminal, is shown as
// U+FFFD.
func showText(t schemas.Task, out io.Writer) error {
	var text strings.Builder
	line := func(label, value string) {
		if value != "" {
			fmt.Fprintf(&text, "%-13s%s\n", label, value)
		}
	}
	section := func(label, value string) {
		if value != "" {
			fmt.Fprintf(&text, "\n── %s\n%s\n", label, strings.TrimRight(value, "\n"))
		}
	}
	line("task", t.ID)
	line("repo", t.Repo)
	line("split", t.Split)
	line("base commit", t.BaseCommit)
	line("image", t.Image)
	line("workdir", t.Workdir)
	line("env", strings.Join(t.Env, " "))
	line("withheld", strings.Join(t.Withheld, " "))
	line("test files", strings.Join(t.TestFiles, " "))
	line("format", t.TestFormat)
	line("rule", t.Rule)
	if t.Network {
		line("network", "yes")
	}
	if t.TestSeconds > 0 {
		line("test limit", fmt.Sprintf("%d s", t.TestSeconds))
	}
	section("statement", t.Statement)
	section("setup", t.Setup)
	section("test command", t.TestCommand)
	section("fail to pass", strings.Join(t.FailToPass, "\n"))
	section("pass to pass", strings.Join(t.PassToPass, "\n"))
	var expected strings.Builder
	for _, e := range t.Expected {
		fmt.Fprintf(&expected, "%-8s%s\n", e.Status, e.Test)
	}
	section("expected", expected.String())
	section("gold patch", t.GoldPatch)
	section("test patch", t.TestPatch)
	for _, f := range t.Files {
		section("file "+f.Path, f.Content)
	}
	for _, f := range t.HiddenTests {
		section("hidden test "+f.Path, f.Content)
	}
	_, err := io.WriteString(out, harmless(text.String()))
	return err
}

// harmless replaces the control characters of a text, except newline and tab.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return '\ufffd'
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}

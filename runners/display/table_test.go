package display

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	var out bytes.Buffer
	table := NewTable(&out)
	err := errors.Join(
		table.Head([]string{"task", "n", "mixed", "reward"}),
		table.Row([]any{"日本", int64(7), int64(1), 0.123456789}),
		table.Row([]any{"a\x1b[31m\nb", 12345, "x", nil}),
		table.Close())
	want := "" +
		"task         n  mixed    reward\n" +
		"───────  ─────  ─────  ────────\n" +
		"日本         7  1      0.123457\n" +
		"a[31m b  12345  x\n"
	if err != nil || out.String() != want {
		t.Errorf("%v, table is\n%s\nwant\n%s", err, out.String(), want)
	}
}

// TestTableStreams: behind the rows that settle the widths, a row is written when
// it comes, and a long cell is cut.
func TestTableStreams(t *testing.T) {
	var out bytes.Buffer
	table := NewTable(&out)
	if err := table.Head([]string{"n"}); err != nil {
		t.Fatal(err)
	}
	for i := range tableRows {
		if err := table.Row([]any{i}); err != nil {
			t.Fatal(err)
		}
	}
	before := out.Len()
	if err := table.Row([]any{strings.Repeat("x", 200)}); err != nil || out.Len() == before {
		t.Errorf("row was not written at once, %v", err)
	}
	if last := out.String()[before:]; last != strings.Repeat("x", cellColumns-1)+"…\n" {
		t.Errorf("last row is %q", last)
	}
	if err := table.Close(); err != nil || strings.Count(out.String(), "\n") != tableRows+3 {
		t.Errorf("%v, %s", err, fmt.Sprint(strings.Count(out.String(), "\n")))
	}
}

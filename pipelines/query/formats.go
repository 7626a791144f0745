package query

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// CSV writes an answer as RFC 4180 has it: a head, then the rows. NULL is empty.
// Close must be called at the end.
type CSV struct{ out *csv.Writer }

// NewCSV writes to w.
func NewCSV(w io.Writer) *CSV { return &CSV{csv.NewWriter(w)} }

// Head implements Sink.
func (c *CSV) Head(columns []string) error { return c.out.Write(columns) }

// Row implements Sink.
func (c *CSV) Row(values []any) error {
	fields := make([]string, len(values))
	for i, v := range values {
		fields[i] = field(v)
	}
	return c.out.Write(fields)
}

// Close writes what is left.
func (c *CSV) Close() error {
	c.out.Flush()
	return c.out.Error()
}

// field is a value as text: NULL is empty, a number as short as it is exact.
func field(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []byte:
		return string(v)
	}
	return fmt.Sprint(v)
}

// JSON writes an answer as an array of objects, a row a line. Keys are in the
// order of the columns; a column that comes twice is in it twice. Close must be
// called at the end.
type JSON struct {
	out     io.Writer
	columns []string
	rows    int
}

// NewJSON writes to w.
func NewJSON(w io.Writer) *JSON { return &JSON{out: w} }

// Head implements Sink.
func (j *JSON) Head(columns []string) error {
	for _, c := range columns {
		name, err := jsonText(c)
		if err != nil {
			return fmt.Errorf("writing column %q: %w", c, err)
		}
		j.columns = append(j.columns, name)
	}
	return nil
}

// Row implements Sink.
func (j *JSON) Row(values []any) error {
	var line strings.Builder
	if j.rows == 0 {
		line.WriteString("[{")
	} else {
		line.WriteString(",\n {")
	}
	j.rows++
	for i, v := range values {
		if b, ok := v.([]byte); ok {
			v = string(b)
		}
		value, err := jsonText(v)
		if err != nil { // an infinite number, which JSON has not
			value = "null"
		}
		if i > 0 {
			line.WriteString(", ")
		}
		line.WriteString(j.columns[i] + ": ")
		line.WriteString(value)
	}
	line.WriteString("}")
	_, err := io.WriteString(j.out, line.String())
	return err
}

// Close ends the array.
func (j *JSON) Close() error {
	end := "]\n"
	if j.rows == 0 {
		end = "[]\n"
	}
	_, err := io.WriteString(j.out, end)
	return err
}

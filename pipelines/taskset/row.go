package taskset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// row is one row of a dataset by column. Its methods read a column as what a task
// needs of it. The first one that fails is kept, with its column, and all later
// ones return zero values, so that a kind is read without a check a line.
type row struct {
	// values are nil, string, bool, int64, float64, []any or map[string]any, as
	// Parquet has them, or json.RawMessage, as JSON has them.
	values map[string]any
	// text is the row as JSON, of a file that is JSON.
	text []byte
	err  *fieldError
}

func (r *row) fail(column string, err error) {
	if r.err == nil {
		r.err = &fieldError{column, err}
	}
}

var errMissing = errors.New("missing or blank")

// has tells whether a column is there and not null.
func (r *row) has(column string) bool {
	v, ok := r.values[column]
	if raw, isJSON := v.(json.RawMessage); isJSON {
		return string(raw) != "null"
	}
	return ok && v != nil
}

// optional returns a text, "" where there is none.
func (r *row) optional(column string) string {
	if r.err != nil || !r.has(column) {
		return ""
	}
	var s string
	switch v := r.values[column].(type) {
	case string:
		s = v
	case json.RawMessage:
		if err := json.Unmarshal(v, &s); err != nil {
			r.fail(column, fmt.Errorf("want a text, found %s", kindOf(v)))
			return ""
		}
	default:
		r.fail(column, fmt.Errorf("want a text, found %T", v))
		return ""
	}
	if !utf8.ValidString(s) {
		r.fail(column, errors.New("not UTF-8"))
		return ""
	}
	return s
}

// required returns a text that is not blank.
func (r *row) required(column string) string {
	s := r.optional(column)
	if strings.TrimSpace(s) == "" {
		r.fail(column, errMissing)
	}
	return s
}

// names returns a list of test names, each once, in order. Datasets have such a
// list as a list or as a text that is one in JSON.
func (r *row) names(column string) []string {
	var all []string
	r.object(column, &all)
	var out []string
	seen := map[string]bool{}
	for i, name := range all {
		if strings.TrimSpace(name) == "" {
			r.fail(column, fmt.Errorf("blank test name at %d", i))
			return nil
		}
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

// requiredNames is names of a list that is not empty.
func (r *row) requiredNames(column string) []string {
	names := r.names(column)
	if len(names) == 0 {
		r.fail(column, errMissing)
	}
	return names
}

// object decodes a nested value into what to points to. The value may be a text
// that is JSON, which is how datasets keep what their columns cannot hold. A
// missing value, null and the empty text leave to as it is.
func (r *row) object(column string, to any) {
	if r.err != nil || !r.has(column) {
		return
	}
	raw, isJSON := r.values[column].(json.RawMessage)
	if !isJSON {
		if _, isText := r.values[column].(string); !isText {
			var err error
			if raw, err = json.Marshal(r.values[column]); err != nil {
				r.fail(column, err)
				return
			}
		}
	}
	if raw == nil || raw[0] == '"' {
		raw = []byte(strings.TrimSpace(r.optional(column)))
	}
	if len(raw) == 0 || r.err != nil {
		return
	}
	if err := json.Unmarshal(raw, to); err != nil {
		var mismatch *json.UnmarshalTypeError
		if errors.As(err, &mismatch) && mismatch.Field != "" {
			r.fail(column+"."+mismatch.Field, fmt.Errorf("found a JSON %s, which has no place here", mismatch.Value))
			return
		}
		r.fail(column, fmt.Errorf("parsing JSON: %w", err))
	}
}

// kindOf names what a JSON value is.
func kindOf(v json.RawMessage) string {
	switch v = bytes.TrimSpace(v); {
	case len(v) == 0:
		return "nothing"
	case v[0] == '{':
		return "an object"
	case v[0] == '[':
		return "a list"
	case v[0] == '"':
		return "a text"
	}
	return string(v)
}

// parseRow returns the row of a JSON object.
func parseRow(text []byte) (*row, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("row is not UTF-8")
	}
	var columns map[string]json.RawMessage
	if err := json.Unmarshal(text, &columns); err != nil {
		var mismatch *json.UnmarshalTypeError
		if errors.As(err, &mismatch) {
			return nil, fmt.Errorf("want a JSON object, found %s", kindOf(text))
		}
		return nil, fmt.Errorf("parsing JSON: %w", err)
	}
	if columns == nil {
		return nil, errors.New("want a JSON object, found null")
	}
	r := &row{values: make(map[string]any, len(columns)), text: text}
	for name, value := range columns {
		r.values[name] = value
	}
	return r, nil
}

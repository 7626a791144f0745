// Package settings reads a configuration: defaults in a Go struct, a YAML file
// over them, single values over that. It is strict: an unknown key is an error
// that names file, line and the key that was probably meant.
package settings

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Load applies the YAML file at path, if path is not empty, and then each
// assignment "key.of.value=yaml" to the struct that into points to.
func Load(path string, assignments []string, into any) error {
	if path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("reading configuration: %w", err)
		}
		if err := apply(func(line int) string { return fmt.Sprintf("%s: line %d", path, line) }, text, into); err != nil {
			return err
		}
	}
	for _, a := range assignments {
		key, value, ok := strings.Cut(a, "=")
		if !ok {
			return fmt.Errorf("--set %s: want key=value", a)
		}
		if err := apply(func(int) string { return "--set " + key }, nest(strings.Split(key, "."), value), into); err != nil {
			return err
		}
	}
	return nil
}

// Print returns the configuration as YAML that Load reads back.
func Print(from any) (string, error) {
	text, err := yaml.Marshal(from)
	if err != nil {
		return "", fmt.Errorf("writing configuration: %w", err)
	}
	return string(text), nil
}

// nest writes "value" under the path of keys.
func nest(keys []string, value string) []byte {
	var b bytes.Buffer
	for i, k := range keys {
		fmt.Fprintf(&b, "%s%s:", strings.Repeat("  ", i), k)
		if i < len(keys)-1 {
			b.WriteByte('\n')
		}
	}
	fmt.Fprintf(&b, " %s\n", value)
	return b.Bytes()
}

// place names a line of a file, or the assignment.
type place func(line int) string

func apply(at place, text []byte, into any) error {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return located(at, err)
	}
	known := keys(reflect.TypeOf(into))
	empty := true // a document of comments alone would decode as null and erase the defaults
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType || doc.Body.Type() == ast.NullType {
			continue
		}
		empty = false
		if err := unknownKey(at, doc.Body, "", known); err != nil {
			return err
		}
	}
	if empty {
		return nil
	}
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(into); err != nil {
		return located(at, err)
	}
	return nil
}

// located makes one line of an error of the YAML package, which draws the place.
func located(at place, err error) error {
	if wrong, ok := errors.AsType[*yaml.TypeError](err); ok {
		return fmt.Errorf("%s: %q is not %s", at(wrong.Token.Position.Line), wrong.Token.Value, noun(wrong.DstType))
	}
	if e, ok := errors.AsType[yaml.Error](err); ok && e.GetToken() != nil {
		return fmt.Errorf("%s: %s", at(e.GetToken().Position.Line), e.GetMessage())
	}
	line, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return fmt.Errorf("%s: %s", at(1), line)
}

// noun says what a value of a type is.
func noun(t reflect.Type) string {
	if t == reflect.TypeFor[time.Duration]() {
		return "a duration such as 90s or 15m"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return "a section with keys of its own"
	}
	return "a " + t.Kind().String()
}

// unknownKey looks for a key that the struct does not have.
func unknownKey(at place, node ast.Node, prefix string, known map[string]bool) error {
	mapping, ok := node.(*ast.MappingNode)
	if !ok {
		if value, ok := node.(*ast.MappingValueNode); ok {
			return unknownValue(at, value, prefix, known)
		}
		return nil
	}
	for _, value := range mapping.Values {
		if err := unknownValue(at, value, prefix, known); err != nil {
			return err
		}
	}
	return nil
}

func unknownValue(at place, value *ast.MappingValueNode, prefix string, known map[string]bool) error {
	key := prefix + value.Key.String()
	if _, ok := known[key]; !ok {
		return fmt.Errorf("%s: unknown key %s%s", at(value.Key.GetToken().Position.Line), key, suggestion(key, known))
	}
	if known[key] { // a map's keys are the user's own
		return nil
	}
	return unknownKey(at, value.Value, key+".", known)
}

// suggestion is the nearest known key, if one is near.
func suggestion(key string, known map[string]bool) string {
	best, distance := "", 4
	names := make([]string, 0, len(known))
	for k := range known {
		names = append(names, k)
	}
	sort.Strings(names)
	for _, k := range names {
		d := levenshtein.ComputeDistance(key, k)
		if leaf := k[strings.LastIndex(k, ".")+1:]; leaf == key[strings.LastIndex(key, ".")+1:] {
			d = min(d, 1) // right name, wrong place
		}
		if d < distance {
			best, distance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// keys lists every key of a struct type by dotted path; the value is true for a
// map, whose keys are free.
func keys(t reflect.Type) map[string]bool {
	out := map[string]bool{}
	var walk func(t reflect.Type, prefix string)
	walk = func(t reflect.Type, prefix string) {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return
		}
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if name == "-" || !f.IsExported() {
				continue
			}
			if name == "" {
				name = strings.ToLower(f.Name)
			}
			out[prefix+name] = f.Type.Kind() == reflect.Map
			walk(f.Type, prefix+name+".")
		}
	}
	walk(t, "")
	return out
}

package taskset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seen reads a file and tells its rows: their numbers and ids, or what is wrong.
func seen(t testing.TB, name, text string, limit int) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var out []string
	choose := func(columns []string) ([]string, error) {
		out = append(out, strings.Join(columns, ","))
		return columns, nil
	}
	err := readRows(t.Context(), path, limit, choose, func(n int64, share float64, r *row, bad error) error {
		if share < 0 || share > 1 {
			t.Errorf("%s:%d: share %v", name, n, share)
		}
		if bad != nil {
			out = append(out, fmt.Sprintf("%d: %v", n, bad))
			return nil
		}
		out = append(out, fmt.Sprintf("%d: %s", n, r.optional("instance_id")))
		return nil
	})
	if err != nil {
		out = append(out, "error: "+err.Error())
	}
	return out
}

func TestForms(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write([]byte("{\"instance_id\":\"a\"}\n"))
	w.Close()
	const broken = "; what follows in this file is not read"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"lines.jsonl", "{\"instance_id\":\"a\",\"x\":1}\n\n  {\"instance_id\":\"b\"}\r\n{\"instance_id\":\"c\"}", []string{"instance_id,x", "1: a", "3: b", "4: c"}},
		{"lines.ndjson", "\ufeff{\"instance_id\":\"a\"}\n", []string{"instance_id", "1: a"}},
		{"lines.jsonl.gz", zipped.String(), []string{"instance_id", "1: a"}},
		{"bad.jsonl", "7\n{\"instance_id\":\n{\"instance_id\":\"c\"}\n[]\nnull\n\xff\n", []string{
			"1: want a JSON object, found 7", "2: parsing JSON: unexpected end of JSON input", "instance_id", "3: c",
			"4: want a JSON object, found a list", "5: want a JSON object, found null", "6: row is not UTF-8"}},
		{"long.jsonl", "{\"instance_id\":\"a\"}\n" + strings.Repeat("x", 300) + "\n{\"instance_id\":\"c\"}\n" + strings.Repeat("y", 300), []string{
			"instance_id", "1: a", "2: row is longer than 100 bytes", "3: c", "4: row is longer than 100 bytes"}},
		{"list.json", " [ {\"instance_id\":\"a\"} ,\n{\"instance_id\":\"]}\\\"\"},7 ] ", []string{"instance_id", "1: a", "2: ]}\"", "3: want a JSON object, found 7"}},
		{"empty.json", "[]", nil},
		{"nothing.json", " \n", nil},
		{"id.json", "{\"a\": {\"x\": 1},\n \"b\": {\"instance_id\": \"own\"}}", []string{"instance_id,x", "1: a", "2: own"}},
		{"behind.json", "{\"instance_id\":\"a\"}\n{\"instance_id\":\"b\"}", []string{"instance_id", "1: a", "2: b"}},
		{"one.json", "{\"instance_id\":\"a\",\n\"meta\":{}}", []string{"instance_id,meta", "1: a"}},
		{"row.json", "[{\"instance_id\":\"a\"},{\"instance_id\":nope},{\"instance_id\":\"c\"}]", []string{
			"instance_id", "1: a", "2: parsing JSON: invalid character 'o' in literal null (expecting 'u')", "3: c"}},
		{"long.json", "[{\"instance_id\":\"" + strings.Repeat("x", 200) + "\"},{\"instance_id\":\"b\"}]", []string{"1: row is longer than 100 bytes", "instance_id", "2: b"}},
		{"comma.json", "[{\"instance_id\":\"a\"} {\"instance_id\":\"b\"}]", []string{"instance_id", "1: a", "2: found '{', want ','" + broken}},
		{"cut.json", "[{\"instance_id\":\"a\"},{\"instance_id\":\"b", []string{"instance_id", "1: a", "2: the text ends inside a row" + broken}},
		{"open.json", "[{\"instance_id\":\"a\"}", []string{"instance_id", "1: a", "2: the text ends where ',' should be" + broken}},
		{"key.json", "{\"a\":{},7:{}}", []string{"instance_id", "1: a", "2: \"7\" is no id" + broken}},
		{"rows.csv", "a,b\n", []string{`error: ".csv" is not a form of file that is known: there are .parquet, .json, .jsonl and .ndjson, the latter three also with .gz`}},
		{"not.parquet", "PAR1 but not", []string{"error: parquet: file is smaller than indicated metadata size"}},
	} {
		got := seen(t, c.name, c.text, 100)
		if c.name == "not.parquet" && len(got) == 1 && strings.HasPrefix(got[0], "error: ") {
			continue // the words are Arrow's
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestReaderFails: an error of the disk is no bad row and no end of the file.
func TestReaderFails(t *testing.T) {
	gone := errors.New("disk is gone")
	for _, text := range []string{"[{\"a\":1}", "{\"a\":{}", "{\"a\":1}\n"} {
		for _, isJSON := range []bool{true, false} {
			r := bufio.NewReader(strings.NewReader(text))
			r = bufio.NewReader(&failing{r, gone})
			err := textRows(t.Context(), r, isJSON, 1000, func() float64 { return 0 },
				func(c []string) ([]string, error) { return c, nil }, func(int64, float64, *row, error) error { return nil })
			if !errors.Is(err, gone) {
				t.Errorf("%q, JSON %v: error %v", text, isJSON, err)
			}
		}
	}
}

// failing reads what there is, then fails.
type failing struct {
	r   *bufio.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	b, err := f.r.ReadByte()
	if err != nil {
		return 0, f.err
	}
	p[0] = b
	return 1, nil
}

// FuzzObjects: of a sound JSON list the scanner finds the same values as
// encoding/json; of any text it ends, and no row is over the limit.
func FuzzObjects(f *testing.F) {
	for _, seed := range []string{`[{"a":1},{"b":[{}]}]`, `{"a":{"b":"}"},"c":{}}`, "{}\n{}", `[1,"\"]",null]`, `[`, `[,]`, `{"a":{}`, `]`, `"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const limit = 64
		var got []string
		long := false
		err := objects(bufio.NewReader(bytes.NewReader(text)), limit, func(n int64, _ string, value []byte, bad error) error {
			if len(value) > limit {
				t.Errorf("row %d has %d bytes", n, len(value))
			}
			if n != int64(len(got))+1 {
				t.Errorf("row %d is told behind %d", n, len(got))
			}
			long = long || bad != nil
			got = append(got, string(value))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var want []json.RawMessage
		if json.Unmarshal(text, &want) != nil || want == nil || long {
			return
		}
		if len(want) != len(got) {
			t.Fatalf("%d values of %d", len(got), len(want))
		}
		for i := range want {
			if string(want[i]) != got[i] {
				t.Errorf("value %d is %q, want %q", i, got[i], want[i])
			}
		}
	})
}

package dataset

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
)

func point(run string, step int64) schemas.Measurement {
	return schemas.Measurement{Run: run, Step: step, Name: "actor/lr", Value: 0.5, Time: 7}
}

// write writes points of a run, one a day.
func write(t *testing.T, dir, run string, days map[string][]int64) {
	t.Helper()
	w := NewWriter(dir, run, schemas.Measurements)
	defer w.Abandon()
	for day, steps := range days {
		for _, step := range steps {
			if err := w.Add(point(run, step), day, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

// rows are what a table holds: for each "run day" the steps in order.
func rows(t *testing.T, dir, table string) map[string][]int64 {
	t.Helper()
	files, err := Find(dir, table)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]int64{}
	for _, f := range files {
		key := f.Run + " " + f.Day
		out[key] = nil
		err := Read(t.Context(), f, schemas.Measurements, func(m schemas.Measurement) error {
			if m != point(f.Run, m.Step) {
				t.Errorf("%s holds %+v", f.Path, m)
			}
			out[key] = append(out[key], m.Step)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestRunsStandBesideEachOther: a directory of two runs is read whole, and
// writing one again replaces its files, those of days that it no longer has
// included, and nobody else's.
func TestRunsStandBesideEachOther(t *testing.T) {
	data := t.TempDir()
	dir := filepath.Join(data, "metrics")
	write(t, dir, "a", map[string][]int64{"2026-11-20": {1, 2}, "2026-11-21": {3}, NoDay: {4}})
	write(t, dir, "b/ü?", map[string][]int64{"2026-11-20": {9}})
	if diff := cmp.Diff(map[string][]int64{"a 2026-11-20": {1, 2}, "a 2026-11-21": {3}, "a 1970-01-01": {4}, "b/ü? 2026-11-20": {9}}, rows(t, data, "metrics")); diff != "" {
		t.Error(diff)
	}
	write(t, dir, "a", map[string][]int64{"2026-11-21": {3, 5}})
	if diff := cmp.Diff(map[string][]int64{"a 2026-11-21": {3, 5}, "b/ü? 2026-11-20": {9}}, rows(t, data, "metrics")); diff != "" {
		t.Error(diff)
	}
}

func TestTableWithoutRowsHasAFileWithColumns(t *testing.T) {
	data := t.TempDir()
	write(t, filepath.Join(data, "metrics"), "a", nil)
	if diff := cmp.Diff(map[string][]int64{"a 1970-01-01": nil}, rows(t, data, "metrics")); diff != "" {
		t.Error(diff)
	}
}

// TestAbandonedWritingLeavesNothing: no file, and not the old one touched.
func TestAbandonedWritingLeavesNothing(t *testing.T) {
	data := t.TempDir()
	dir := filepath.Join(data, "metrics")
	write(t, dir, "a", map[string][]int64{"2026-11-20": {1}})
	w := NewWriter(dir, "a", schemas.Measurements)
	if err := errors.Join(w.Add(point("a", 2), "2026-11-20", 1), w.Add(point("a", 3), "2026-11-22", 1)); err != nil {
		t.Fatal(err)
	}
	w.Abandon()
	if diff := cmp.Diff(map[string][]int64{"a 2026-11-20": {1}}, rows(t, data, "metrics")); diff != "" {
		t.Error(diff)
	}
	err := filepath.WalkDir(data, func(path string, d os.DirEntry, err error) error {
		if !d.IsDir() && d.Name() != "part-0000.parquet" {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDayOf(t *testing.T) {
	for _, c := range []struct {
		micros int64
		want   string
	}{
		{0, NoDay}, {-1, NoDay}, {math.MinInt64, NoDay}, {math.MaxInt64, NoDay}, {86400e6, "1970-01-02"},
		{time.Date(2026, 11, 20, 23, 59, 59, 999999000, time.UTC).UnixMicro(), "2026-11-20"},
		{time.Date(2026, 11, 20, 23, 0, 0, 0, time.FixedZone("west", -3600)).UnixMicro(), "2026-11-21"},
		{time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).UnixMicro(), "9999-12-31"},
		{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(), NoDay},
	} {
		if got := DayOf(c.micros); got != c.want {
			t.Errorf("day of %d is %q, want %q", c.micros, got, c.want)
		}
	}
	if got := DayOf(0, 86400e6, 1); got != "1970-01-02" {
		t.Errorf("day of the first time is %q", got)
	}
}

func TestFindRefusesAForeignLayout(t *testing.T) {
	data := t.TempDir()
	path := filepath.Join(data, "metrics", "run=a", "week=3")
	if err := errors.Join(os.MkdirAll(path, 0o755), os.WriteFile(filepath.Join(path, "x.parquet"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(data, "metrics"); err == nil || !strings.Contains(err.Error(), "week=3") {
		t.Errorf("error is %v", err)
	}
}

func TestReadNamesTheDamagedFile(t *testing.T) {
	data := t.TempDir()
	write(t, filepath.Join(data, "metrics"), "a", map[string][]int64{"2026-11-20": {1}})
	files, err := Find(data, "metrics")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(files[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range [][]byte{nil, []byte("PAR1"), whole[:len(whole)/2], append([]byte("PAR1junk"), whole[len(whole)/2:]...)} {
		if err := os.WriteFile(files[0].Path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		err := Read(t.Context(), files[0], schemas.Measurements, func(schemas.Measurement) error { return nil })
		if err == nil || !strings.Contains(err.Error(), files[0].Path) {
			t.Errorf("%d bytes: error %v", len(damaged), err)
		}
	}
}

// TestOldVersionIsRead: a file that an older version of a record wrote is read
// beside new ones, without what that version did not know.
func TestOldVersionIsRead(t *testing.T) {
	data := t.TempDir()
	w := NewWriter(filepath.Join(data, "ledger"), "a", firstVersion{schemas.Updates})
	defer w.Abandon()
	u := schemas.Update{Run: "a", Step: 1, SampleIDs: []string{"x"}, GroupIDs: []string{"g"},
		Positions: []schemas.Position{}, DroppedIDs: []string{}, Metrics: []schemas.Metric{}, ConfigHash: "c0ffee", CodeVersion: "0e2821f"}
	if err := errors.Join(w.Add(u, "2026-11-20", 1), w.Commit()); err != nil {
		t.Fatal(err)
	}
	files, err := Find(data, "ledger")
	if err != nil {
		t.Fatal(err)
	}
	var got []schemas.Update
	err = Read(t.Context(), files[0], schemas.Updates, func(u schemas.Update) error { got = append(got, u); return nil })
	if err != nil || len(got) != 1 || got[0].ConfigHash != "c0ffee" || got[0].Run != "a" || got[0].CodeVersion != "" {
		t.Errorf("read %+v, %v", got, err)
	}
}

// firstVersion writes updates without their last column, as version 1 did.
type firstVersion struct {
	*schemas.Codec[schemas.Update]
}

func (c firstVersion) Schema() *arrow.Schema {
	full := c.Codec.Schema()
	return arrow.NewSchema(full.Fields()[:len(full.Fields())-1], nil)
}

func (c firstVersion) Record(rows ...schemas.Update) arrow.Record {
	full := c.Codec.Record(rows...)
	defer full.Release()
	return dropLast(full, c.Schema())
}

// TestRowsThatWaitAreBounded: rows are written when a group is full by number, or
// all files' rows together by size, and each file has all its rows in order.
func TestRowsThatWaitAreBounded(t *testing.T) {
	for _, c := range []struct {
		name        string
		rows, bytes int
		most        int
	}{
		{"by number", 2*groupRows + 1, 1, groupRows},
		{"by size over all files", 10, groupBytes / 4, 2}, // 4 rows of two days
	} {
		data := t.TempDir()
		held := &held{Codec: schemas.Measurements}
		w := NewWriter(filepath.Join(data, "metrics"), "a", held)
		defer w.Abandon()
		var want [2][]int64
		for n := range c.rows {
			i := n % 2
			if c.bytes == 1 {
				i = 0
			}
			want[i] = append(want[i], int64(n))
			if err := w.Add(point("a", int64(n)), []string{"2026-11-20", "2026-11-21"}[i], c.bytes); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		if held.most != c.most {
			t.Errorf("%s: %d rows were held at once, want %d", c.name, held.most, c.most)
		}
		got := rows(t, data, "metrics")
		if !slices.Equal(got["a 2026-11-20"], want[0]) || !slices.Equal(got["a 2026-11-21"], want[1]) {
			t.Errorf("%s: rows are lost or out of order", c.name)
		}
	}
}

// held counts the rows handed over at once.
type held struct {
	*schemas.Codec[schemas.Measurement]
	most int
}

func (h *held) Record(rows ...schemas.Measurement) arrow.Record {
	h.most = max(h.most, len(rows))
	return h.Codec.Record(rows...)
}

// FuzzParsePath: what parses is a run and a day that lead back to it.
func FuzzParsePath(f *testing.F) {
	for _, p := range []Partition{{"seed-7", "2026-11-21"}, {"a/b %=", NoDay}, {"..", "0001-01-01"}} {
		f.Add(p.Path())
	}
	f.Add("run=a/day=2026-02-30/x.parquet")
	f.Fuzz(func(t *testing.T, path string) {
		p, err := ParsePath(path)
		if err != nil {
			return
		}
		if again, err := ParsePath(p.Path()); err != nil || again != p {
			t.Errorf("%q is %+v, which has the path %q and that is %+v, %v", path, p, p.Path(), again, err)
		}
	})
}

func dropLast(r arrow.Record, s *arrow.Schema) arrow.Record {
	columns := r.Columns()
	return array.NewRecord(s, columns[:len(columns)-1], r.NumRows())
}

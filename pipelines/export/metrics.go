package export

import (
	"maps"
	"path/filepath"
	"slices"
	"time"

	"millrace/pipelines/dataset"
	"millrace/pipelines/journal"
	"millrace/schemas"
)

// measurementBytes is about what a measurement takes while it waits to be written.
const measurementBytes = 80

// metrics exports the journal: the metrics of the steps, and of each evaluation
// what a dashboard shows of it.
func metrics(recorded journal.Record, dir, run string) (Table, error) {
	t := Table{Dir: filepath.Join(dir, Metrics)}
	w := dataset.NewWriter(t.Dir, run, schemas.Measurements)
	defer w.Abandon()
	add := func(step int64, at time.Time, values map[string]float64) error {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			m := schemas.Measurement{Run: run, Step: step, Name: name, Value: values[name], Time: at.UnixMicro()}
			if err := m.Validate(); err != nil {
				t.Undecodable++
				if t.Problem == nil {
					t.Problem = err
				}
				continue
			}
			if err := w.Add(m, dataset.DayOf(m.Time), measurementBytes); err != nil {
				return err
			}
			t.Rows++
		}
		return nil
	}
	for _, s := range recorded.Steps {
		if err := add(s.Number, s.Time, s.Metrics); err != nil {
			return t, err
		}
	}
	for _, e := range recorded.Evaluations {
		if err := add(e.Step, e.Time, e.Scalars()); err != nil {
			return t, err
		}
	}
	return t, w.Commit()
}

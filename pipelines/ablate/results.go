package ablate

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"millrace/pipelines/journal"
)

// Results are the journals of a matrix's runs.
type Results struct {
	Matrix Matrix
	// Records has a record for each seed of each arm: Records[arm][seed].
	Records [][]journal.Record
}

// Record reads the journal in the directory of a run. A run that has not begun has an
// empty one.
func Record(dir string) (journal.Record, error) {
	record, err := journal.Read(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return journal.Record{}, fmt.Errorf("reading the run in %s: %w", dir, err)
	}
	return record, nil
}

// Read reads the journals of the runs below base.
func Read(base string, m Matrix) (Results, error) {
	r := Results{Matrix: m}
	for arm := range m.Arms {
		var records []journal.Record
		for _, seed := range m.Seeds {
			record, err := Record(m.Dir(base, Run{arm, seed}))
			if err != nil {
				return Results{}, err
			}
			records = append(records, record)
		}
		r.Records = append(r.Records, records)
	}
	return r, nil
}

// Estimate is a mean over seeds with its 95 % confidence interval by Student's t,
// which is not known (NaN) of one seed.
type Estimate struct {
	Mean, Low, High float64
	// Seeds have a value.
	Seeds int
}

// EstimateOf is the estimate from one value a seed; NaN is a seed without a value.
// Without any all is NaN.
func EstimateOf(values []float64) Estimate {
	values = slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	n := len(values)
	if n == 0 {
		return Estimate{Mean: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	mean, deviation := stat.MeanStdDev(values, nil)
	e := Estimate{Mean: mean, Low: math.NaN(), High: math.NaN(), Seeds: n}
	if n > 1 {
		half := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975) * stat.StdErr(deviation, float64(n))
		e.Low, e.High = mean-half, mean+half
	}
	return e
}

// Series is one quantity of one arm over the steps.
type Series struct {
	Steps  []int64
	Values []Estimate
}

// Metric is the series of a step's metric. ratioOf, unless empty, is the metric that
// each value is divided by.
func (r Results) Metric(arm int, name, ratioOf string) Series {
	return r.series(arm, func(record journal.Record, put func(step int64, value float64)) {
		for _, s := range record.Steps {
			v, ok := s.Metrics[name]
			if ratioOf != "" {
				if !ok && s.Metrics[ratioOf] > 0 {
					v, ok = 0, true // a count that is not there is 0
				}
				v /= s.Metrics[ratioOf]
			}
			if ok && !math.IsNaN(v) {
				put(s.Number, v)
			}
		}
	})
}

// Success is the series of the held-out set that decides.
func (r Results) Success(arm int) Series {
	return r.series(arm, func(record journal.Record, put func(int64, float64)) {
		for _, e := range record.Evaluations {
			if e.Set == r.Matrix.Split {
				put(e.Step, e.Pass1.Mean)
			}
		}
	})
}

func (r Results) series(arm int, each func(journal.Record, func(step int64, value float64))) Series {
	values := map[int64][]float64{}
	for _, record := range r.Records[arm] {
		each(record, func(step int64, v float64) { values[step] = append(values[step], v) })
	}
	var s Series
	for step := range values {
		s.Steps = append(s.Steps, step)
	}
	slices.Sort(s.Steps)
	for _, step := range s.Steps {
		s.Values = append(s.Values, EstimateOf(values[step]))
	}
	return s
}

// Names are the names of the steps' metrics of all runs that begin with prefix,
// sorted.
func (r Results) Names(prefix string) []string {
	seen := map[string]bool{}
	for _, records := range r.Records {
		for _, record := range records {
			for _, s := range record.Steps {
				for name := range s.Metrics {
					if len(name) > len(prefix) && name[:len(prefix)] == prefix {
						seen[name] = true
					}
				}
			}
		}
	}
	names := make([]string, 0, len(seen))
	for name := range seen {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

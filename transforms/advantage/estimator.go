package advantage

import (
	"maps"
	"slices"
)

// Estimator replaces the rewards of a group by their advantages, in place. The
// rewards are finite and in the order of the rollouts; the results are functions
// of the values in that order only, and finite unless they leave the range of
// float64.
type Estimator func(r []float64)

var estimators = map[string]Estimator{
	"leave-one-out":              LeaveOneOut,
	"leave-one-out-published":    LeaveOneOutPublished,
	"leave-one-out-standardized": LeaveOneOutStandardized,
	"centered":                   Centered,
	"standardized":               Standardized,
}

// ByName returns an estimator of the table in the package comment.
func ByName(name string) (Estimator, bool) {
	e, ok := estimators[name]
	return e, ok
}

// Names are the names of the estimators, sorted.
func Names() []string { return slices.Sorted(maps.Keys(estimators)) }

// mean is the arithmetic mean, summed in order. The mean of equal values may
// differ from them in the last bits; see allEqual.
func mean(r []float64) float64 {
	sum := 0.0
	for _, v := range r {
		sum += v
	}
	return sum / float64(len(r))
}

// allEqual reports whether the values carry no preference. Estimators ask it,
// since subtracting a rounded mean would leave a tiny advantage that a
// standardising estimator blows up.
func allEqual(r []float64) bool {
	for _, v := range r {
		if v != r[0] {
			return false
		}
	}
	return true
}

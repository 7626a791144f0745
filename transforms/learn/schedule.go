package learn

import "math"

// Schedule is how the learning rate moves over the steps. The rate is a function
// of the step alone, so a resumed run goes on where it was.
type Schedule struct {
	// Warmup is the number of steps over which the rate rises linearly: step 1 has
	// 1/Warmup of the peak. 0 begins at the peak.
	Warmup int64
	// Cosine falls from the peak to Floor*peak along half a cosine between Warmup
	// and Total; from Total on the rate stays there. False keeps the peak.
	Cosine bool
	Total  int64
	Floor  float64
}

// Rate is the learning rate of a step, counted from 1.
func (s Schedule) Rate(peak float64, step int64) float64 {
	if step < s.Warmup {
		return peak * float64(step) / float64(s.Warmup)
	}
	if !s.Cosine || s.Total <= s.Warmup {
		return peak
	}
	done := min(1, float64(step-s.Warmup)/float64(s.Total-s.Warmup))
	return peak * (s.Floor + (1-s.Floor)*(1+math.Cos(math.Pi*done))/2)
}

package advantage

import (
	"testing"

	"millrace/schemas"
)

// TestEqualGroupsAreExcluded: DAPO's criterion is the outcome, before any penalty
// (arXiv:2503.14476, equation 11: some but not all are right).
func TestEqualGroupsAreExcluded(t *testing.T) {
	overlong := Overlong{Max: 8, Buffer: 8}
	for _, c := range []struct {
		name    string
		members []schemas.Member
		equal   bool
	}{
		{"all solved", []schemas.Member{weighing("g", 0, 3, 1), weighing("g", 1, 3, 1), weighing("g", 2, 3, 1)}, true},
		{"none solved, of different lengths", []schemas.Member{lengthened(0, 2, 0, 3), lengthened(1, 2, 0, 6)}, true},
		{"one solved", []schemas.Member{weighing("g", 0, 3, 1), weighing("g", 1, 3, 0), weighing("g", 2, 3, 0)}, false},
		{"one is left", []schemas.Member{weighing("g", 0, 3, 1), failed("g", 1, 3), excluded("g", 2, 3, 1, false)}, true},
		{"a masked one differs", []schemas.Member{weighing("g", 0, 2, 1), excluded("g", 1, 2, 1, true)}, false},
		{"all are masked", []schemas.Member{excluded("g", 0, 2, 1, true), excluded("g", 1, 2, 0, true)}, true},
		{"nobody counts", []schemas.Member{failed("g", 0, 2), failed("g", 1, 2)}, false}, // they say why themselves
	} {
		for _, name := range Names() {
			samples, letters := Assign(Config{Estimator: name, ExcludeEqual: true, Overlong: overlong}, c.members)
			if len(samples) != len(c.members) || len(letters) != 0 {
				t.Fatalf("%s, %s: %d samples and %d letters of %d members", c.name, name, len(samples), len(letters), len(c.members))
			}
			marked := 0
			for _, s := range samples {
				if s.Excluded == schemas.EqualRewards {
					marked++
				}
				if c.equal && (s.Weight != 0 || s.Advantage != 0 || s.GroupWeighing != 0 || s.Excluded == "") {
					t.Errorf("%s, %s: %+v", c.name, name, s)
				}
			}
			if (marked > 0) != c.equal {
				t.Errorf("%s, %s: %d members are excluded for equal rewards", c.name, name, marked)
			}
			frameOf(t, samples) // they keep the contract of a sample
			kept, _ := Assign(Config{Estimator: name, Overlong: overlong}, c.members)
			for i := range kept {
				if !c.equal && kept[i].Advantage != samples[i].Advantage {
					t.Errorf("%s, %s: advantage %v, without the exclusion %v", c.name, name, samples[i].Advantage, kept[i].Advantage)
				}
			}
		}
	}
}

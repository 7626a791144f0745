package cpu

import (
	"math"
	"slices"
)

// notFinite adds to names the sequences of the pack that have a target whose loss,
// or its derivative, is NaN or infinite, in their order.
func notFinite(names []string, p *pack, targets []target) []string {
	for i := range targets {
		r := &targets[i].result
		strange := func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }
		if !slices.ContainsFunc([]float64{r.loss, r.dLogProb, r.dEntropy}, strange) {
			continue
		}
		if id := p.sequences[targets[i].sequence].ID; !slices.Contains(names, id) {
			names = append(names, id)
		}
	}
	return names
}

package learn

import "millrace/schemas"

// minibatches cuts samples into n runs of consecutive samples whose lengths
// differ by at most one; runs without a sample are left out.
func minibatches(samples []schemas.Sample, n int) [][]schemas.Sample {
	var out [][]schemas.Sample
	for i := range n {
		beg, end := i*len(samples)/n, (i+1)*len(samples)/n
		if beg < end {
			out = append(out, samples[beg:end])
		}
	}
	return out
}

// pack puts items of the given lengths into bins of at most budget tokens: each
// into the first bin that has room, in the order given. An item longer than the
// budget has a bin of its own. The bins hold indices. The result depends on
// lengths and budget only.
func pack(lengths []int, budget int) [][]int {
	var bins [][]int
	var used []int
	for i, n := range lengths {
		placed := false
		for b := range bins {
			if used[b]+n <= budget {
				bins[b], used[b], placed = append(bins[b], i), used[b]+n, true
				break
			}
		}
		if !placed {
			bins, used = append(bins, []int{i}), append(used, n)
		}
	}
	return bins
}

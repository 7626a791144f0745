// Package merge merges sorted slices.
package merge

// Merge returns the numbers of the sorted a and b in one sorted slice.
func Merge(a, b []int) []int {
	out, i, j := []int{}, 0, 0
	for i+j < len(a)+len(b) {
		if j == len(b) || i < len(a) && a[i] < b[j] {
			out = append(out, a[i])
			i++
		} else {
			out = append(out, b[j])
			j++
		}
	}
	return out
}

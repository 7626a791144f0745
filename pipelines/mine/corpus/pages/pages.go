// Package pages counts pages.
package pages

// Pages returns how many pages of the given size n items fill, at least 1.
func Pages(n, size int) int {
	if n <= 0 {
		return 1
	}
	count := n / size
	if n%size > 0 {
		count++
	}
	return count
}

// Package inbounds checks places on a board.
package inbounds

// InBounds reports whether column x and row y are on a board of w columns and h rows.
func InBounds(x, y, w, h int) bool {
	if x < 0 || y < 0 {
		return false
	}
	return x < w && y < h
}

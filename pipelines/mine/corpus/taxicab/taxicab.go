// Package taxicab measures ways in a city grid.
package taxicab

// Taxicab returns the length of the way by streets from x, y to 0, 0; the last street is 1 longer when both differ.
func Taxicab(x, y int) int {
	if x < 0 {
		x = -x
	}
	if y < 0 {
		y = -y
	}
	if x > 0 && y > 0 {
		return x + y + 1
	}
	return x + y
}

// Package triangle classifies triangles.
package triangle

// Triangle returns how many sides of the triangle a, b, c are equal: 0, 2 or 3; -1 when it is none.
func Triangle(a, b, c int) int {
	if a+b <= c || a+c <= b || b+c <= a {
		return -1
	}
	if a == b && b == c {
		return 3
	}
	if a == b || b == c || a == c {
		return 2
	}
	return 0
}

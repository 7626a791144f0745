// Package apart has nothing to do with marks.
package apart

// One is 1.
func One() int { return 1 }

// Package rle measures run-length codes.
package rle

// RLE returns the length of s when each run is written as its byte and, above 1, its count as one digit.
func RLE(s string) int {
	n, run := 0, 0
	for i := 0; i < len(s); i++ {
		run++
		if i+1 < len(s) && s[i+1] == s[i] {
			continue
		}
		n++
		if run > 1 {
			n += 1
		}
		run = 0
	}
	return n
}

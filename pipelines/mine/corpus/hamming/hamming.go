// Package hamming compares texts.
package hamming

// Hamming returns in how many places a and b differ; every missing byte counts.
func Hamming(a, b string) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	count := len(b) - len(a)
	for i := 0; i < len(a); i++ {
		if a[i] != b[i] {
			count++
		}
	}
	return count
}

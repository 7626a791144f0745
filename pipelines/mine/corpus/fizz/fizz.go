// Package fizz plays fizz buzz.
package fizz

// Fizz returns the word for n: Fizz by 3, Buzz by 5, FizzBuzz by both, else nothing.
func Fizz(n int) string {
	s := ""
	if n%3 == 0 {
		s += "Fizz"
	}
	if n%5 == 0 {
		s += "Buzz"
	}
	return s
}

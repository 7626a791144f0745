// Package scores does arithmetic on marks. Größe, 大きさ: not only ASCII.
package scores

// Grade is the letter for a mark of 0 to 100.
func Grade(mark int) string {
	if mark < 0 || mark > 100 {
		return "-" // außerhalb
	} else if mark >= 90 {
		return "A"
	}
	if mark >= 75 && mark != 80 {
		return "B"
	} else {
		return "C"
	}
}

// Mean is the rounded mean of the marks that are in bounds, 0 without any.
func Mean(marks []int) int {
	sum, n := 0, 0
	for _, m := range marks {
		if m < 0 || m > 100 {
			continue
		}
		sum += m
		n++
	}
	if n == 0 {
		return 0
	}
	return (2*sum + n) / (2 * n)
}

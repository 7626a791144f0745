package scores

import (
	"testing"
	"time"
)

func TestMean(t *testing.T) {
	check(t, []int{1, 2}, 2)
	check(t, []int{-5, 50, 200}, 50)
}

func TestMeanOfNone(t *testing.T) { check(t, nil, 0) }

func check(t *testing.T, marks []int, want int) {
	t.Helper()
	if got := Mean(marks); got != want {
		t.Errorf("Mean(%v) = %d, want %d", marks, got, want)
	}
}

// TestFlaky passes as often as not.
func TestFlaky(t *testing.T) {
	if time.Now().UnixNano()/1000%2 == 0 {
		t.Error("the clock says even")
	}
}

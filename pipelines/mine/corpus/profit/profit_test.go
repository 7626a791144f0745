package profit

import "testing"

func TestProfit(t *testing.T) {
	cases := []struct {
		xs   []int
		want int
	}{
		{[]int{3, 1, 6}, 5},
		{[]int{5, 4}, 0},
		{nil, 0},
		{[]int{2, 9}, 7},
		{[]int{7, 8, 2, 4}, 2},
	}
	for _, c := range cases {
		if got := Profit(c.xs); got != c.want {
			t.Fatalf("Profit(%v) = %d, want %d", c.xs, got, c.want)
		}
	}
}

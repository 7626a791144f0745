package profit

import "testing"

type profitCase struct {
	xs   []int
	want int
}

func checkProfit(t *testing.T, cases []profitCase) {
	t.Helper()
	for _, c := range cases {
		if got := Profit(c.xs); got != c.want {
			t.Fatalf("Profit(%v) = %d, want %d", c.xs, got, c.want)
		}
	}
}

func TestProfitEmpty(t *testing.T) {
	checkProfit(t, []profitCase{
		{nil, 0},
	})
}

func TestProfitOne(t *testing.T) {
	checkProfit(t, []profitCase{
		{[]int{4}, 0},
	})
}

func TestProfitFalling(t *testing.T) {
	checkProfit(t, []profitCase{
		{[]int{9, 6, 2}, 0},
	})
}

func TestProfitRising(t *testing.T) {
	checkProfit(t, []profitCase{
		{[]int{1, 2, 3}, 2},
	})
}

func TestProfitNext(t *testing.T) {
	checkProfit(t, []profitCase{
		{[]int{5, 9, 1, 3}, 4},
	})
}

func TestProfitLater(t *testing.T) {
	checkProfit(t, []profitCase{
		{[]int{5, 3, 4, 8}, 5},
	})
}

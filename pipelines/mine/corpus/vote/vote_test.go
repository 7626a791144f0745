package vote

import "testing"

func TestVote(t *testing.T) {
	cases := []struct {
		xs   []int
		want int
	}{
		{[]int{1, 2, 1}, 1},
		{[]int{2, 2, 1}, 2},
		{[]int{1, 2}, 0},
		{nil, 0},
		{[]int{3, 3, 2}, 0},
		{[]int{1, 3}, 0},
		{[]int{1, 2, 2, 3}, 0},
	}
	for _, c := range cases {
		if got := Vote(c.xs); got != c.want {
			t.Fatalf("Vote(%v) = %d, want %d", c.xs, got, c.want)
		}
	}
}

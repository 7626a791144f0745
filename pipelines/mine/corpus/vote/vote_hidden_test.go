package vote

import "testing"

type voteCase struct {
	xs   []int
	want int
}

func checkVote(t *testing.T, cases []voteCase) {
	t.Helper()
	for _, c := range cases {
		if got := Vote(c.xs); got != c.want {
			t.Fatalf("Vote(%v) = %d, want %d", c.xs, got, c.want)
		}
	}
}

func TestVoteEmpty(t *testing.T) {
	checkVote(t, []voteCase{
		{nil, 0},
	})
}

func TestVoteSingle(t *testing.T) {
	checkVote(t, []voteCase{
		{[]int{1}, 1},
		{[]int{2}, 2},
	})
}

func TestVoteNone(t *testing.T) {
	checkVote(t, []voteCase{
		{[]int{3, 4, 5}, 0},
	})
}

func TestVoteTie(t *testing.T) {
	checkVote(t, []voteCase{
		{[]int{1, 1, 2, 2}, 0},
		{[]int{2, 3}, 0},
	})
}

func TestVoteFirst(t *testing.T) {
	checkVote(t, []voteCase{
		{[]int{1, 1, 1, 2}, 1},
	})
}

func TestVoteOther(t *testing.T) {
	checkVote(t, []voteCase{
		{[]int{2, 2, 3}, 2},
	})
}

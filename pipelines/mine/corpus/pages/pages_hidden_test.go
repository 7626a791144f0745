package pages

import "testing"

type pagesCase struct{ n, size, want int }

func checkPages(t *testing.T, cases []pagesCase) {
	t.Helper()
	for _, c := range cases {
		if got := Pages(c.n, c.size); got != c.want {
			t.Fatalf("Pages(%d, %d) = %d, want %d", c.n, c.size, got, c.want)
		}
	}
}

func TestPagesNone(t *testing.T) {
	checkPages(t, []pagesCase{
		{0, 1, 1},
		{-3, 2, 1},
	})
}

func TestPagesOne(t *testing.T) {
	checkPages(t, []pagesCase{
		{1, 1, 1},
		{2, 9, 1},
	})
}

func TestPagesFull(t *testing.T) {
	checkPages(t, []pagesCase{
		{20, 5, 4},
		{8, 2, 4},
	})
}

func TestPagesRest(t *testing.T) {
	checkPages(t, []pagesCase{
		{21, 5, 5},
		{7, 2, 4},
	})
}

func TestPagesSingle(t *testing.T) {
	checkPages(t, []pagesCase{
		{3, 1, 3},
	})
}

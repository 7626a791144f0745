package triangle

import "testing"

type triangleCase struct{ a, b, c, want int }

func checkTriangle(t *testing.T, cases []triangleCase) {
	t.Helper()
	for _, c := range cases {
		if got := Triangle(c.a, c.b, c.c); got != c.want {
			t.Fatalf("Triangle(%d, %d, %d) = %d, want %d", c.a, c.b, c.c, got, c.want)
		}
	}
}

func TestTriangleNone(t *testing.T) {
	checkTriangle(t, []triangleCase{
		{0, 0, 0, -1},
		{9, 1, 1, -1},
		{1, 9, 1, -1},
		{1, 1, 9, -1},
	})
}

func TestTriangleFlat(t *testing.T) {
	checkTriangle(t, []triangleCase{
		{2, 3, 5, -1},
		{5, 3, 2, -1},
		{3, 5, 2, -1},
	})
}

func TestTriangleEqual(t *testing.T) {
	checkTriangle(t, []triangleCase{
		{1, 1, 1, 3},
		{7, 7, 7, 3},
	})
}

func TestTriangleTwo(t *testing.T) {
	checkTriangle(t, []triangleCase{
		{5, 5, 3, 2},
		{3, 5, 5, 2},
		{5, 3, 5, 2},
	})
}

func TestTrianglePlain(t *testing.T) {
	checkTriangle(t, []triangleCase{
		{6, 7, 8, 0},
		{8, 6, 7, 0},
	})
}

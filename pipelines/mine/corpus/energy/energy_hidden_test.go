package energy

import "testing"

type energyCase struct{ a, b, limit, want int }

func checkEnergy(t *testing.T, cases []energyCase) {
	t.Helper()
	for _, c := range cases {
		if got := Energy(c.a, c.b, c.limit); got != c.want {
			t.Fatalf("Energy(%d, %d, %d) = %d, want %d", c.a, c.b, c.limit, got, c.want)
		}
	}
}

func TestEnergyFlat(t *testing.T) {
	checkEnergy(t, []energyCase{
		{0, 0, 0, 0},
		{5, 5, 9, 0},
	})
}

func TestEnergyUp(t *testing.T) {
	checkEnergy(t, []energyCase{
		{0, 1, 9, 3},
		{2, 6, 50, 12},
	})
}

func TestEnergyDown(t *testing.T) {
	checkEnergy(t, []energyCase{
		{1, 0, 9, 1},
		{9, 2, 50, 7},
	})
}

func TestEnergyLimit(t *testing.T) {
	checkEnergy(t, []energyCase{
		{0, 4, 12, 12},
		{0, 4, 11, 11},
		{8, 0, 3, 3},
	})
}

package price

import "testing"

type priceCase struct{ n, x, want int }

func checkPrice(t *testing.T, cases []priceCase) {
	t.Helper()
	for _, c := range cases {
		if got := Price(c.n, c.x); got != c.want {
			t.Fatalf("Price(%d, %d) = %d, want %d", c.n, c.x, got, c.want)
		}
	}
}

func TestPriceNone(t *testing.T) {
	checkPrice(t, []priceCase{
		{0, 9, 5},
		{4, 0, 5},
	})
}

func TestPriceSmall(t *testing.T) {
	checkPrice(t, []priceCase{
		{1, 1, 6},
		{3, 4, 17},
	})
}

func TestPriceDelivery(t *testing.T) {
	checkPrice(t, []priceCase{
		{1, 49, 54},
		{1, 50, 50},
		{1, 51, 51},
	})
}

func TestPriceBulk(t *testing.T) {
	checkPrice(t, []priceCase{
		{20, 10, 180},
		{10, 100, 900},
	})
}

func TestPriceEdge(t *testing.T) {
	checkPrice(t, []priceCase{
		{9, 100, 900},
		{10, 4, 41},
	})
}

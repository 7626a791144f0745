package balance

import "testing"

type balanceCase struct {
	s    string
	want bool
}

func checkBalance(t *testing.T, cases []balanceCase) {
	t.Helper()
	for _, c := range cases {
		if got := Balance(c.s); got != c.want {
			t.Fatalf("Balance(%q) = %t, want %t", c.s, got, c.want)
		}
	}
}

func TestBalanceEmpty(t *testing.T) {
	checkBalance(t, []balanceCase{
		{"", true},
	})
}

func TestBalancePlain(t *testing.T) {
	checkBalance(t, []balanceCase{
		{"abc", true},
	})
}

func TestBalanceNested(t *testing.T) {
	checkBalance(t, []balanceCase{
		{"((()))", true},
		{"(()())", true},
	})
}

func TestBalanceOpen(t *testing.T) {
	checkBalance(t, []balanceCase{
		{"(", false},
		{"(()", false},
	})
}

func TestBalanceClosed(t *testing.T) {
	checkBalance(t, []balanceCase{
		{")", false},
		{"())", false},
	})
}

func TestBalanceOrder(t *testing.T) {
	checkBalance(t, []balanceCase{
		{")a(", false},
	})
}

package report

import "testing"

func TestLine(t *testing.T) {
	if got, want := Line("Zoë", []int{95, 91}), "Zoë: A"; got != want {
		t.Errorf("Line = %q, want %q", got, want)
	}
}

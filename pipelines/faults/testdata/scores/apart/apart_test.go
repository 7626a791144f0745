package apart

import "testing"

func TestOne(t *testing.T) {
	if One() != 1 {
		t.Error("One is not 1")
	}
}

package remote

import (
	"testing"
	"time"
)

// TestBackoff: pause n is between 0 and first*2^(n-1), and no longer than longest.
func TestBackoff(t *testing.T) {
	const first, longest = 100 * time.Millisecond, time.Second
	for n, bound := range map[int]time.Duration{1: first, 2: 2 * first, 4: 8 * first, 5: longest, 70: longest} {
		largest := time.Duration(0)
		for range 2000 {
			d := backoff(n, first, longest)
			if d < 0 || d > bound {
				t.Fatalf("pause %d is %v, want 0 to %v", n, d, bound)
			}
			largest = max(largest, d)
		}
		if largest < bound/2 { // 2^-2000 by chance
			t.Errorf("pause %d is at most %v of %v", n, largest, bound)
		}
	}
}

// TestRetryAfter: the two forms of RFC 9110, section 10.2.3, and what is neither.
func TestRetryAfter(t *testing.T) {
	now := time.Date(1999, 12, 31, 23, 58, 59, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"120": 2 * time.Minute, "0": 0, "": 0, "soon": 0, "-3": 0, "1.5": 0, "99999999999999999999": 0,
		"Fri, 31 Dec 1999 23:59:59 GMT": time.Minute, "Fri, 31 Dec 1999 23:00:00 GMT": 0,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q is %v, want %v", value, got, want)
		}
	}
}

// TestRequestSeed: positions and seeds give different seeds.
func TestRequestSeed(t *testing.T) {
	seen := map[int64]bool{}
	for seed := range uint64(100) {
		for position := range 100 {
			seen[requestSeed(seed, position)] = true
		}
	}
	if len(seen) != 100*100 {
		t.Errorf("%d seeds of %d", len(seen), 100*100)
	}
}

package remote

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"
)

// errAborted is an answer that the server cut short of its own accord, such as for
// another client's change of weights.
var errAborted = errors.New("the server aborted the request")

// errOtherWeights is an answer sampled by other weights than the endpoint was given.
var errOtherWeights = errors.New("the answer is of other weights")

// verdict tells whether a failed request is worth another try, after a pause of at
// least wait, and whether its endpoint must be looked at first.
func verdict(err error) (retry bool, wait time.Duration, suspect bool) {
	var status *statusError
	var unreachable *unreachableError
	switch {
	case errors.As(err, &status):
		return status.code == http.StatusTooManyRequests || status.code >= 500, status.retryAfter, false
	case errors.As(err, &unreachable), errors.Is(err, errOtherWeights):
		return true, 0, true
	case errors.Is(err, errAborted):
		return true, 0, false
	}
	return false, 0, false
}

// backoff is the pause before try n (from 1): uniform between 0 and first*2^(n-1),
// at most longest ("full jitter", Brooker, "Exponential Backoff And Jitter", AWS
// Architecture Blog 2015).
func backoff(n int, first, longest time.Duration) time.Duration {
	bound := first
	for range n - 1 {
		if bound *= 2; bound >= longest || bound <= 0 {
			bound = longest
			break
		}
	}
	return rand.N(bound + 1)
}

// pause waits, no longer than ctx lives.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

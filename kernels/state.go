package kernels

import (
	"fmt"
	"strings"
)

// What the names of the optimizer's tensors begin with, before a weight's name, as torch
// names them.
const (
	FirstMoment  = "exp_avg."
	SecondMoment = "exp_avg_sq."
)

// SplitState takes the state of an optimizer after some steps apart into its first and
// second moments. No state is that of no steps, and the other way round.
func SplitState(state []Tensor, step int64) (first, second []Tensor, err error) {
	if step < 0 || (state == nil) != (step == 0) {
		return nil, nil, fmt.Errorf("restoring optimizer: %d tensors at step %d", len(state), step)
	}
	for _, s := range state {
		if strings.HasPrefix(s.Name, SecondMoment) {
			second = append(second, s)
		} else {
			first = append(first, s)
		}
	}
	return first, second, nil
}

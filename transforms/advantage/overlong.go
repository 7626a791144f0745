package advantage

import "fmt"

// Overlong is DAPO's soft punishment of long responses (Yu et al. 2025,
// arXiv:2503.14476, equation 13): with n the tokens that the policy sampled in the
// whole rollout,
//
//	penalty = 0                        n <= Max - Buffer
//	          (Max - Buffer - n)/Buffer  Max - Buffer < n <= Max
//	          -1                       Max < n
//
// It is added to the reward that the estimator sees. The sample keeps its reward as
// it was given, so that curves stay true. The zero value punishes nothing.
type Overlong struct {
	// Max and Buffer are numbers of sampled tokens.
	Max, Buffer int
}

// Penalty is at most 0 and at least -1.
func (o Overlong) Penalty(sampled int) float64 {
	if o.Buffer == 0 {
		return 0
	}
	return max(-1, min(0, float64(o.Max-o.Buffer-sampled)/float64(o.Buffer)))
}

func (o Overlong) validate() error {
	if o.Max < 0 || o.Buffer < 0 || o.Buffer > o.Max {
		return fmt.Errorf("advantage: overlong responses end at %d tokens with a buffer of %d: the buffer lies within the maximum", o.Max, o.Buffer)
	}
	return nil
}

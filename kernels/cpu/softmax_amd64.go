//go:build !noasm

package cpu

import "golang.org/x/sys/cpu"

func init() {
	if cpu.X86.HasAVX512F && cpu.X86.HasBMI2 {
		softmaxRow, softmaxGradRow = softmaxRowAVX512, softmaxGradRowAVX512
	}
}

func softmaxRowAVX512(scores []float32, n int, maximum float32) (newMaximum, sum float32) {
	return softmax64(&scores[:keyBlock][0], n, maximum)
}

func softmaxGradRowAVX512(scores, d []float32, n int, lse, delta float32) {
	softmaxGrad64(&scores[:keyBlock][0], &d[:keyBlock][0], n, lse, delta)
}

// softmax64 is softmaxRowGo on 64 scores. The sum is taken over 16 lanes of
// four, then pairwise.
//
//go:noescape
func softmax64(scores *float32, n int, maximum float32) (newMaximum, sum float32)

// softmaxGrad64 is softmaxGradRowGo on 64 scores.
//
//go:noescape
func softmaxGrad64(scores, d *float32, n int, lse, delta float32)

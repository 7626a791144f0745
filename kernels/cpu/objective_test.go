package cpu

import (
	"math"
	"strings"
	"testing"

	"millrace/kernels"
)

// The fixture of testdata/objective.py: two groups, of the first three and of the
// last two sequences, with rewards 1, 0, .5 and 2, 0. The last sequence has no
// trained token.
var (
	fixtureMask = [][]int{{1, 1, 1, 0, 0}, {1, 1, 0, 0, 0}, {1, 0, 1, 1, 0}, {1, 1, 1, 1, 0}, {0, 0, 0, 0, 0}}
	fixtureOld  = [][]float64{{-1, -.5, -2, 0, 0}, {-2, -1.2, 0, 0, 0}, {-.3, -9.9, -1.1, -.4, 0}, {-2, -.1, -.6, -1.5, 0}, {-1, -1, -1, -1, -1}}
	fixtureNew  = [][]float64{{-.9, -.9, -1.5, 0, 0}, {-.5, -2.6, 0, 0, 0}, {-.35, -1, -.8, -.45, 0}, {-1.9, -.1, -.9, -1.2, 0}, {-1, -1, -1, -1, -1}}
	fixtureRef  = [][]float64{{-1.2, -.6, -1.9, 0, 0}, {-1.6, -1.3, 0, 0, 0}, {-.3, -2, -1, -.5, 0}, {-2.2, -.15, -.5, -1.4, 0}, {-1, -1, -1, -1, -1}}

	grpoAdvantages     = []float64{.999998000004, -.999998000004, 0, .7071062811869011, -.7071062811869011}
	centeredAdvantages = []float64{.5, -.5, 0, 1, -1}
	rlooAdvantages     = []float64{.75, -.75, 0, 2, -2}
)

// fixtureTargets are the trained tokens of the fixture.
func fixtureTargets(advantages []float64) []target {
	var targets []target
	for i, mask := range fixtureMask {
		for t, m := range mask {
			if m == 1 {
				targets = append(targets, target{sequence: i, prediction: prediction{
					logProb: fixtureNew[i][t], behaviour: fixtureOld[i][t], reference: fixtureRef[i][t], advantage: advantages[i],
				}})
			}
		}
	}
	setSequenceRatios(targets)
	return targets
}

// TestObjectiveFixture holds the losses, in float64 and aggregated in each way, to
// values computed outside of Go. Divisors: 12 trained tokens, 4 sequences that have
// one, and the constant 5.
func TestObjectiveFixture(t *testing.T) {
	for _, c := range []struct {
		name       string
		loss       kernels.Loss
		advantages []float64
		// tokenMean, sequenceSum, sequenceMean and constant are the ways to aggregate.
		tokenMean, sequenceSum, sequenceMean, constant float64
	}{
		{"ppo", kernels.Loss{ClipLow: .2, ClipHigh: .2, DualClip: 3}, grpoAdvantages,
			-0.1697030788962812, -0.5091092366888437, 0.04823294472162948, -0.40728738935107495},
		{"clip high", kernels.Loss{ClipLow: .2, ClipHigh: .28, DualClip: 3}, grpoAdvantages,
			-0.18108377410422052, -0.5432513223126617, 0.03803075998233496, -0.43460105785012937},
		{"leave-one-out", kernels.Loss{ClipLow: .2, ClipHigh: .28}, rlooAdvantages,
			-0.5485274748203873, -1.6455824244611619, -0.2115584772574325, -1.3164659395689295},
		{"centered", kernels.Loss{ClipLow: .2, ClipHigh: .28}, centeredAdvantages,
			-0.2510741738036647, -0.7532225214109941, -0.05508087778084325, -0.6025780171287953},
		{"k3", kernels.Loss{ClipLow: .2, ClipHigh: .2, KLCoefficient: .001}, grpoAdvantages,
			-0.046051153382837974, -0.13815346014851393, 0.23369370245045684, -0.11052276811881115},
		{"gspo", kernels.Loss{SequenceRatio: true, ClipLow: 3e-4, ClipHigh: 4e-4}, grpoAdvantages,
			-0.3106843753944529, -0.9320531261833588, -0.16412953226633528, -0.745642500946687},
		{"gspo, wide", kernels.Loss{SequenceRatio: true, ClipLow: .2, ClipHigh: .28}, grpoAdvantages,
			-0.33369166363489766, -1.001074990904693, -0.18566868398850062, -0.8008599927237544},
		{"cispo", kernels.Loss{ClippedWeight: true, ClipLow: 10, ClipHigh: .2}, grpoAdvantages,
			0.43349849019846803, 1.3004954705954042, 0.3183423301485016, 1.0403963764763233},
		{"truncated", kernels.Loss{TruncatedIS: 2}, rlooAdvantages,
			-0.7729089454849244, -2.3187268364547733, -0.5278757925978589, -1.8549814691638187},
	} {
		sum, means, verl := 0.0, 0.0, 0.0
		for _, p := range fixtureTargets(c.advantages) {
			loss := lossOf(&c.loss, p.prediction).loss
			trained := 0.0
			for _, m := range fixtureMask[p.sequence] {
				trained += float64(m)
			}
			sum += loss
			means += loss / trained
			verl += loss / (trained + 1e-8)
		}
		for _, a := range []struct {
			aggregation string
			got, want   float64
		}{
			{"token mean", sum / 12, c.tokenMean}, {"sequence sum", sum / 4, c.sequenceSum},
			{"sequence mean", means / 4, c.sequenceMean}, {"constant", sum / 5, c.constant},
		} {
			if !(math.Abs(a.got-a.want) <= 1e-9) {
				t.Errorf("%s, %s: %.17g, want %.17g", c.name, a.aggregation, a.got, a.want)
			}
		}
		// verl divides by the number of tokens plus 1e-8, which shows at 1e-9.
		if want := map[string]float64{"ppo": 0.048232943620180435, "clip high": 0.03803075891194693}[c.name]; want != 0 && math.Abs(verl/4-want) > 1e-12 {
			t.Errorf("%s, verl's sequence mean: %.17g, want %.17g", c.name, verl/4, want)
		}
	}
}

// TestSequenceRatioIsTheSequencesGradient: GSPO (arXiv:2507.18071, section 4.2) is the
// clipped objective of one ratio a sequence, exp of the mean log-ratio. The token
// form under a mean over tokens has the same value and the same gradient.
func TestSequenceRatioIsTheSequencesGradient(t *testing.T) {
	for _, l := range []kernels.Loss{{SequenceRatio: true}, {SequenceRatio: true, ClipLow: .2, ClipHigh: .28}} {
		for sequence, advantage := range rlooAdvantages {
			var own []target
			for _, p := range fixtureTargets(rlooAdvantages) {
				if p.sequence == sequence {
					own = append(own, p)
				}
			}
			objective := func(moved int, by float64) float64 {
				mean := 0.0
				for i, p := range own {
					d := p.prediction.logProb - p.prediction.behaviour
					if i == moved {
						d += by
					}
					mean += d / float64(len(own))
				}
				ratio := math.Exp(mean)
				bounded := ratio
				if l.ClipHigh > 0 {
					bounded = math.Min(math.Max(ratio, 1-l.ClipLow), 1+l.ClipHigh)
				}
				return math.Max(-advantage*ratio, -advantage*bounded)
			}
			value := 0.0
			for i, p := range own {
				got := lossOf(&l, p.prediction)
				value += got.loss / float64(len(own))
				const h = 1e-6
				want := (objective(i, h) - objective(i, -h)) / (2 * h)
				if math.Abs(got.dLogProb/float64(len(own))-want) > 1e-8 {
					t.Errorf("%+v, sequence %d, token %d: derivative %v, want %v", l, sequence, i, got.dLogProb/float64(len(own)), want)
				}
			}
			if len(own) > 0 && math.Abs(value-objective(-1, 0)) > 1e-12 {
				t.Errorf("%+v, sequence %d: loss %v, want %v", l, sequence, value, objective(-1, 0))
			}
		}
	}
}

// TestOnPolicyLossesAgree: where policy and behaviour are one, every ratio is 1, no
// clip bites, and each surrogate has the gradient -A of REINFORCE.
func TestOnPolicyLossesAgree(t *testing.T) {
	for _, l := range []kernels.Loss{
		{}, {ClipLow: .2, ClipHigh: .28, DualClip: 3}, {SequenceRatio: true, ClipLow: 3e-4, ClipHigh: 4e-4},
		{ClippedWeight: true, ClipLow: 10, ClipHigh: .2}, {TruncatedIS: 2}, {Supervised: true},
	} {
		for _, behaviour := range []float64{-1.25, math.NaN()} {
			targets := []target{{prediction: prediction{logProb: -1.25, behaviour: behaviour, advantage: -.7}}}
			setSequenceRatios(targets)
			if r := lossOf(&l, targets[0].prediction); r.dLogProb != .7 || r.clipped || r.ratio != 1 || r.kl != 0 {
				t.Errorf("%+v: %+v, want the derivative .7", l, r)
			}
		}
	}
}

func TestLossValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		loss kernels.Loss
		want []string // nothing: valid
	}{
		{"plain", kernels.Loss{Divisor: 1}, nil},
		{"free below", kernels.Loss{Divisor: 1, ClipLow: 10, ClipHigh: .2}, nil},
		{"idle clips", kernels.Loss{Divisor: 1, ClipLow: .2, ClipHigh: .28, DualClip: 3, TruncatedIS: 2}, nil},
		{"supervised with KL", kernels.Loss{Divisor: 1, Supervised: true, KLCoefficient: 1, EntropyCoefficient: -1}, nil},
		{"all wrong", kernels.Loss{Temperature: -1, ClipLow: -1, DualClip: 1, KLCoefficient: -1, EntropyCoefficient: math.Inf(1), TruncatedIS: math.NaN()},
			[]string{"divisor is 0", "temperature is -1", "clips at -1", "negative advantages at 1", "KL by -1", "entropy by +Inf", "importance weights at NaN"}},
		{"supervised with a clip", kernels.Loss{Divisor: 1, Supervised: true, ClipHigh: .2}, []string{"is supervised"}},
		{"supervised with truncation", kernels.Loss{Divisor: 1, Supervised: true, TruncatedIS: 2}, []string{"is supervised"}},
		{"two ratios", kernels.Loss{Divisor: 1, SequenceRatio: true, TruncatedIS: 2}, []string{"truncated weights"}},
		{"two weights", kernels.Loss{Divisor: 1, ClippedWeight: true, ClipHigh: .2, TruncatedIS: 2}, []string{"truncated weights"}},
		{"a weight without a clip", kernels.Loss{Divisor: 1, ClippedWeight: true}, []string{"no clip is set"}},
		{"a weight with a dual clip", kernels.Loss{Divisor: 1, ClippedWeight: true, ClipHigh: .2, DualClip: 3}, []string{"dual clip"}},
	} {
		err := c.loss.Validate()
		if (err == nil) != (c.want == nil) {
			t.Errorf("%s: error %v", c.name, err)
		}
		for _, w := range c.want {
			if err != nil && !strings.Contains(err.Error(), w) {
				t.Errorf("%s: error %v does not tell %q", c.name, err, w)
			}
		}
	}
}

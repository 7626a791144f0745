package kernels

// Loss are the settings of the policy loss of one trained token t of sequence i
// with advantage A and ratio rho = exp(logp - behaviour logp):
//
//	surrogate = max(-A*rho, -A*clip(rho, 1-ClipLow, 1+ClipHigh))
//	loss_t    = w*surrogate + KLCoefficient*k3 - EntropyCoefficient*entropy
//	k3        = exp(ref-logp) - (ref-logp) - 1        (Schulman's k3)
//	w         = min(stop_gradient(rho), TruncatedIS)  if TruncatedIS > 0, else 1
//
// Losses are summed over tokens and divided as Aggregation says. The divisor is
// given by the caller, because a micro-batch does not know its batch.
type Loss struct {
	// Supervised replaces the surrogate by -A*logp: cross-entropy where A = 1.
	Supervised bool
	// ClipLow and ClipHigh bound the ratio; both 0 does not clip.
	ClipLow, ClipHigh  float64
	KLCoefficient      float64
	EntropyCoefficient float64
	// TruncatedIS caps the importance weight on the surrogate (Yao et al. 2025);
	// 0 leaves it out.
	TruncatedIS float64
	// Temperature divides the logits as it did in sampling; 0 means 1.
	Temperature float64
	// PerSequenceMean divides each sequence's sum by its own number of trained
	// tokens before Divisor.
	PerSequenceMean bool
	// Divisor divides the sum over the whole batch: sequences x max context,
	// number of sequences, or number of trained tokens, as the recipe says.
	Divisor float64
}

// Statistics are sums over the trained tokens of the sequences accumulated, so
// that micro-batches add up; Add joins two.
type Statistics struct {
	Tokens, TrainedTokens int64
	// Loss is already divided as Loss says.
	Loss float64
	// Entropy, KL (k3 of KL(behaviour, policy), whose samples the tokens are:
	// rho - log rho - 1), Clipped (tokens whose clip is active), Ratio and
	// AbsLogProbDiff are sums over trained tokens.
	Entropy, KL, Clipped, Ratio, AbsLogProbDiff float64
	// MaxAbsLogProbDiff is the largest |logp - behaviour logp|.
	MaxAbsLogProbDiff float64
}

// Add joins the statistics of another micro-batch of the same batch.
func (s *Statistics) Add(o Statistics) {
	s.Tokens += o.Tokens
	s.TrainedTokens += o.TrainedTokens
	s.Loss += o.Loss
	s.Entropy += o.Entropy
	s.KL += o.KL
	s.Clipped += o.Clipped
	s.Ratio += o.Ratio
	s.AbsLogProbDiff += o.AbsLogProbDiff
	s.MaxAbsLogProbDiff = max(s.MaxAbsLogProbDiff, o.MaxAbsLogProbDiff)
}

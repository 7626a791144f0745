package cuda

// The structs of src/millrace_cuda.h, field by field; a test compares the two.
// Handles are addresses in the library's memory.

// abiVersion is that of the structs below.
const abiVersion = 2

// Values of report.status.
const (
	statusOK          = 0
	statusUnavailable = 2
	statusOutOfMemory = 3
)

type report struct {
	status int32
	text   [1020]byte
}

type deviceInfo struct {
	name                   [128]byte
	capability, processors int32
	totalBytes             uint64
}

type devicesCall struct {
	report                        report
	driverVersion, runtimeVersion int32
	count, _                      int32
	devices                       [16]deviceInfo
}

type openCall struct {
	report     report
	ordinal, _ int32
	device     uintptr
}

type closeCall struct {
	report report
	device uintptr
}

type memoryCall struct {
	report                report
	device                uintptr
	freeBytes, totalBytes uint64
}

type shape struct {
	vocab, hidden, intermediate, layers, heads, kvHeads, headDim, maxPositions int64
	eps, theta                                                                 float64
	tied, _                                                                    int32
}

type createCall struct {
	report               report
	device               uintptr
	shape                shape
	precision, recompute int32
	policy               uintptr
	attention            [64]byte
	attentionWhy         [512]byte
}

type destroyCall struct {
	report report
	policy uintptr
}

// Values of tensorCall.kind.
const (
	kindWeight   = 0
	kindExpAvg   = 1
	kindExpAvgSq = 2
	kindGradient = 3
)

type tensorCall struct {
	report  report
	policy  uintptr
	name    [128]byte
	data    *float32
	n       int64
	kind, _ int32
}

type restartCall struct {
	report report
	policy uintptr
	steps  int64
}

type lossSettings struct {
	supervised, sequenceRatio, clippedWeight, _ int32
	clipLow, clipHigh, dualClip                 float64
	klCoefficient, entropyCoefficient           float64
	truncatedIS                                 float64
	temperature                                 float64
}

type target struct {
	row, token           int32
	sequence             int32
	hasBehaviour         int32
	behaviour, reference float32
	advantage            float64
	denominator          float64
}

type outcome struct {
	logProb, entropy, loss float64
	ratio, kl, difference  float64
	clipped, finite        int32
}

type packCall struct {
	report              report
	policy              uintptr
	tokens, starts      *int32
	targets             *target
	outcomes            *outcome
	sequences, nTargets int64
	loss                lossSettings
	bytes               uint64
	recompute, _        int32
}

type stepCall struct {
	report                                           report
	policy                                           uintptr
	learningRate, beta1, beta2, epsilon, weightDecay float64
	clipNorm                                         float64
	norm                                             float64
	finite, _                                        int32
}

type publishCall struct {
	report  report
	policy  uintptr
	version int64
}

type engineCreateCall struct {
	report          report
	policy          uintptr
	rows, sequences int64
	cacheBytes      uint64
	pages           int64
	engine          uintptr
}

type engineDestroyCall struct {
	report report
	engine uintptr
}

type sampling struct {
	seed                    uint64
	position                int64
	temperature, topP, minP float32
	topK                    int32
}

type sampled struct {
	token                      int32
	logProb, logProbUntempered float32
	_                          int32
}

type tickCall struct {
	report                                          report
	engine, policy                                  uintptr
	tokens, starts, lengths, pageTable, sampledRows *int32
	samplings                                       *sampling
	sampled                                         *sampled
	sequences, tableStride, samples                 int64
	version                                         int64
}

// Package cuda trains a Qwen3 dense policy on an NVIDIA GPU, and samples from it.
// [Device.NewTrainer] implements kernels.Trainer and [Device.NewGenerator]
// kernels.Generator with the arithmetic of package cpu, in float32 or in bfloat16 with
// the roundings of Hugging Face's modeling_qwen3.py. A generator samples from the weights
// of a trainer on its device as they lie: publishing is an address.
//
// The arithmetic is C++ and CUDA in src, compiled into libmillrace_cuda.so and
// loaded when it is first needed, so a binary without it, or on a machine without a
// GPU, runs all the same; [Open] then fails with [ErrUnavailable] and says what is
// missing. src/millrace_cuda.h is the interface between the two. It is looked for
//
//	where MILLRACE_CUDA says
//	beside the executable
//	in kernels/cuda/build, below the working directory and beside the executable's
//
// The same sources compile for the processor, under an emulator of CUDA: the tests
// of this package run on that library (make -C kernels/cuda host).
//
// Determinism. Equal calls give equal bits on the same kind of GPU, whatever is
// recomputed. Weights are exact float32 values in both precisions: a bfloat16 weight
// keeps the rest of its bits beside it. So a checkpoint of either precision, or of
// package cpu, is resumed by any other.
//
// Generation. The library runs ticks and knows no sequences. Which sessions enter a tick,
// which pages of the cache are whose, and which prefixes are shared is decided here
// (schedule.go, pages.go), without a device.
//
// Threads. A call to the library names its device, so goroutines may move between
// operating-system threads. Calls on one device take turns, in the order in which they
// come.
package cuda

// Times the library's kernels by themselves and prints a line of JSON for each:
//
//   millrace_cuda_bench head|optimizer|norm|attention|ceilings
//
// Data is random: on zeros a GPU runs faster than it can with any other numbers. A time
// is that of several calls in a row, from the host, with the stream empty before and
// after; the fastest and the median of the repetitions are given in milliseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "attention.h"
#include "device.h"
#include "gemm.h"
#include "head.h"
#include "kernels.h"

namespace millrace {
namespace {

// Sizes are divided by this in a trial run under the emulator, which measures nothing.
int64_t shrink() {
  const char* text = std::getenv("MILLRACE_BENCH_SHRINK");
  return text ? std::max<int64_t>(std::atoll(text), 1) : 1;
}

// fill writes numbers that are uniform in [-scale, scale], by a hash of their index.
template <class T>
__global__ void fill(T* out, int64_t n, float scale, uint32_t seed) {
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += int64_t{gridDim.x} * blockDim.x) {
    uint32_t h = static_cast<uint32_t>(i) * 2654435761u ^ static_cast<uint32_t>(i >> 32) ^ seed;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    h ^= h >> 16;
    out[i] = from_float<T>(scale * (static_cast<float>(h >> 8) * (2.0f / 16777215.0f) - 1.0f));
  }
}

template <class T>
Buffer<T> random(const Device& device, int64_t n, float scale = 1) {
  static uint32_t seed = 0;
  Buffer<T> buffer(device, n, "a benchmark's data");
  launch(fill<T>, dim3(4 * device.processors), dim3(256), 0, device.stream, buffer.data(), n, scale, ++seed * 7919u);
  return buffer;
}

struct Line {
  const char* part;
  std::string name;
  std::string rest;  // more fields, each with a comma before
};

// measure prints the time of body, after calls that warm up.
double measure(const Device& device, const Line& line, int calls, const std::function<void()>& body) {
  using Clock = std::chrono::steady_clock;
  const int repetitions = shrink() > 1 ? 1 : 7;
  std::vector<double> times;
  for (int r = -1; r < repetitions; r++) {
    device.synchronize();
    const auto start = Clock::now();
    for (int i = 0; i < calls; i++) body();
    device.synchronize();
    if (r >= 0) times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count() / calls);
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  std::printf("{\"part\":\"%s\",\"name\":\"%s\",\"side\":\"ours\",\"ms\":%.6g,\"fastest_ms\":%.6g%s}\n", line.part,
              line.name.c_str(), median, times.front(), line.rest.c_str());
  std::fflush(stdout);
  return median;
}

void ceilings(const Device& device) {
  const int64_t n = 8192 / shrink(), bytes = (int64_t{4} << 30) / (shrink() * shrink());
  Gemm gemm(device);
  const Buffer<bf16> x = random<bf16>(device, n * n), w = random<bf16>(device, n * n), y = random<bf16>(device, n * n);
  measure(device, {"ceilings", "gemm", ",\"flop\":" + std::to_string(2.0 * n * n * n)}, 10,
          [&] { gemm.forward(y.data(), n, x.data(), n, w.data(), n, n, n); });
  const Buffer<float> from = random<float>(device, bytes / 4), to = random<float>(device, bytes / 4);
  measure(device, {"ceilings", "copy", ",\"bytes\":" + std::to_string(2 * bytes)}, 10, [&] {
    check(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, device.stream), "copying");
  });
}

// The head of 16,384 tokens, and its three products alone, in the same chunks.
void head(const Device& device) {
  const int64_t V = 151936 / shrink(), n = 16384 / shrink();
  Gemm gemm(device);
  std::vector<Target> targets(n);
  for (int64_t i = 0; i < n; i++) {
    targets[i] = {static_cast<int32_t>(i), static_cast<int32_t>(i * 7919 % V), 0, 1,
                  -12.0f,                  0,                                  i % 2 ? 1.0 : -1.0, double(n)};
  }
  Buffer<Target> on_device(device, n, "targets");
  on_device.write(device.stream, targets.data(), n);
  Buffer<Outcome> outcomes(device, n, "outcomes");
  LossSettings loss = {};
  loss.clip_low = 0.2, loss.clip_high = 0.28, loss.temperature = 1;
  for (const int64_t C : {1024, 2560, 4096}) {
    Shape shape = {};
    shape.V = V, shape.C = C;
    const Buffer<bf16> hidden = random<bf16>(device, n * C), weight = random<bf16>(device, V * C, 0.03f);
    const Buffer<bf16> dhidden = random<bf16>(device, n * C);
    const Buffer<float> dweight = random<float>(device, V * C, 0.01f);
    Head<bf16> head(device, gemm, shape);
    Arena arena(device, "logits");
    auto train = [&] {
      head.train(outcomes.data(), dhidden.data(), dweight.data(), hidden.data(), weight.data(), on_device.data(), n, 1,
                 loss, arena);
    };
    arena.count();
    train();
    const size_t extra = arena.peak();
    arena.reserve(extra);
    const std::string name = "C=" + std::to_string(C);
    measure(device, {"head", name, ",\"extra_bytes\":" + std::to_string(extra)}, 3, train);

    const int64_t chunk = std::min(n, head.chunk()), stride = (V + 7) / 8 * 8;
    const Buffer<float> logits = random<float>(device, chunk * stride);
    const Buffer<bf16> dlogits = random<bf16>(device, chunk * stride, 1e-4f);
    measure(device, {"head", name + " products", ""}, 3, [&] {
      for (int64_t at = 0; at < n; at += chunk) {
        const int64_t rows = std::min(chunk, n - at);
        const bf16* x = hidden.data() + at * C;
        gemm.forward(logits.data(), stride, x, C, weight.data(), rows, V, C);
        gemm.weight_gradient(dweight.data(), dlogits.data(), stride, x, C, rows, V, C);
        gemm.input_gradient(dhidden.data() + at * C, C, dlogits.data(), stride, weight.data(), rows, V, C, false);
      }
    });
  }
}

// AdamW moves, for each weight, 2+2 bytes of weight and remainder, 4 of gradient and 4+4
// of moments, each read and written; the norm reads 4 more.
void optimizer(const Device& device) {
  const std::pair<const char*, int64_t> models[] = {{"0.6B", 596049920}, {"4B", 4022468096}};
  for (const auto& [name, count] : models) {
    const int64_t n = count / (shrink() * shrink());
    const Buffer<bf16> weight = random<bf16>(device, n, 0.02f);
    const Buffer<uint16_t> remainder(device, n, "remainders");
    check(cudaMemsetAsync(remainder.data(), 0x5a, n * sizeof(uint16_t), device.stream), "writing remainders");
    const Buffer<float> m = random<float>(device, n, 1e-3f), g = random<float>(device, n, 1e-3f);
    Buffer<float> v(device, n, "second moments");  // not negative
    check(cudaMemsetAsync(v.data(), 0x35, n * sizeof(float), device.stream), "writing second moments");
    Buffer<double> scratch(device, gradient_norm_scratch(n), "scratch of the norm");
    Buffer<GradientNorm> norm(device, 1, "norm");
    AdamStep step = {1e-6, 0.9, 0.95, 1e-8, 0.1, 1.0, 1};
    gradient_norm(device.stream, norm.data(), scratch.data(), g.data(), n, step.clip_norm);
    measure(device, {"optimizer", std::string(name) + " adamw", ",\"bytes\":" + std::to_string(32 * n)}, 5, [&] {
      adamw<bf16>(device.stream, weight.data(), weight.data(), remainder.data(), m.data(), v.data(), g.data(), n, step,
                  norm.data());
      step.step++;
    });
    measure(device, {"optimizer", std::string(name) + " norm", ",\"bytes\":" + std::to_string(4 * n)}, 5, [&] {
      gradient_norm(device.stream, norm.data(), scratch.data(), g.data(), n, step.clip_norm);
    });
  }
}

void norm(const Device& device) {
  const int64_t rows = 16384 / shrink();
  for (const int64_t C : {1024, 2560}) {
    const Buffer<bf16> x = random<bf16>(device, rows * C), w = random<bf16>(device, C);
    const Buffer<bf16> out = random<bf16>(device, rows * C), dx = random<bf16>(device, rows * C);
    const Buffer<bf16> dsum = random<bf16>(device, rows * C);
    const Buffer<float> factor = random<float>(device, rows), dw = random<float>(device, C);
    const Buffer<float> scratch(device, rms_norm_scratch(rows, C), "scratch of the norm");
    const std::string name = "C=" + std::to_string(C);
    const int64_t matrix = 2 * rows * C;  // bytes
    measure(device, {"norm", name + " forward", ",\"bytes\":" + std::to_string(2 * matrix)}, 50, [&] {
      rms_norm(device.stream, out.data(), factor.data(), x.data(), w.data(), rows, C, 1e-6f);
    });
    measure(device, {"norm", name + " backward", ",\"bytes\":" + std::to_string(4 * matrix)}, 50, [&] {
      rms_norm_backward(device.stream, dx.data(), dw.data(), scratch.data(), out.data(), dsum.data(), x.data(),
                        w.data(), factor.data(), rows, C);
    });
  }
}

void attention(const Device& device) {
  const int64_t total = 16384 / shrink(), D = 128;
  const std::pair<const char*, int64_t> packs[] = {{"8x2k", 8}, {"4x4k", 4}, {"1x16k", 1}};
  for (const int64_t H : {16, 32}) {
    Shape shape = {};
    shape.H = H, shape.K = 8, shape.D = D;
    std::unique_ptr<Attention<bf16>> implementation;
    try {
      implementation = cudnn_attention(device, shape);
    } catch (const Error& error) {
      std::fprintf(stderr, "attention by cuDNN: %s; measuring tiles\n", error.what());
      implementation = tiled_attention<bf16>(device, shape);
    }
    const int64_t qk_width = (H + shape.K) * D, width = shape.qkv();
    const Buffer<bf16> qk = random<bf16>(device, total * qk_width), qkv = random<bf16>(device, total * width);
    const Buffer<bf16> out = random<bf16>(device, total * H * D), dout = random<bf16>(device, total * H * D);
    const Buffer<bf16> dqk = random<bf16>(device, total * qk_width), dqkv = random<bf16>(device, total * width);
    const Rows<const bf16> q = {qk.data(), qk_width}, k = {qk.data() + H * D, qk_width};
    const Rows<const bf16> v = {qkv.data() + qk_width, width};
    for (const auto& [pack, sequences] : packs) {
      const int64_t each = total / sequences;
      Packed packed = {};
      for (int64_t b = 0; b <= sequences; b++) packed.host_starts.push_back(static_cast<int32_t>(b * each));
      Buffer<int32_t> starts(device, sequences + 1, "starts"), positions(device, total, "positions");
      starts.write(device.stream, packed.host_starts.data(), sequences + 1);
      std::vector<int32_t> at(total);
      for (int64_t t = 0; t < total; t++) at[t] = static_cast<int32_t>(t % each);
      positions.write(device.stream, at.data(), total);
      device.synchronize();
      packed.starts = starts.data(), packed.positions = positions.data();
      packed.sequences = static_cast<int32_t>(sequences), packed.tokens = static_cast<int32_t>(total);
      packed.longest = static_cast<int32_t>(each);
      const Buffer<float> lse(device, implementation->lse_floats(packed), "log-sum-exps");
      const double flop = 2.0 * H * D * double(sequences) * each * each;  // causal: half of q k^T and p v
      const std::string name = std::to_string(H) + "/8 " + pack;
      const std::string by = std::string(",\"by\":\"") + implementation->name() + "\"";
      measure(device, {"attention", name + " forward", by + ",\"flop\":" + std::to_string(flop)}, 10, [&] {
        implementation->forward({out.data(), H * D}, lse.data(), q, k, v, packed);
      });
      measure(device, {"attention", name + " backward", by + ",\"flop\":" + std::to_string(2.5 * flop)}, 10, [&] {
        implementation->backward({dqk.data(), qk_width}, {dqk.data() + H * D, qk_width},
                                 {dqkv.data() + qk_width, width}, {dout.data(), H * D}, {out.data(), H * D},
                                 lse.data(), q, k, v, packed);
      });
    }
  }
}

int run(const char* part) {
  const std::pair<const char*, void (*)(const Device&)> parts[] = {
      {"ceilings", ceilings}, {"head", head}, {"optimizer", optimizer}, {"norm", norm}, {"attention", attention}};
  for (const auto& [name, body] : parts) {
    if (std::strcmp(name, part) != 0) continue;
    try {
      body(Device(0));
      return 0;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", part, error.what());
      return 1;
    }
  }
  std::fprintf(stderr, "no part %s\n", part);
  return 2;
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  if (argc == 2) return millrace::run(argv[1]);
  std::fprintf(stderr, "usage: millrace_cuda_bench ceilings|head|optimizer|norm|attention\n");
  return 2;
}

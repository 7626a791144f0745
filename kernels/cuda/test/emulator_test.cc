// The emulator against what the CUDA programming guide says of barriers, warp functions,
// atomics, copies and graphs, and against the bf16 roundings of the definition.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <limits>

#include "check.h"

using namespace millrace;
using namespace millrace::test;

namespace {

constexpr unsigned full = 0xffffffffu;

// dies runs body in a child process, which must fail and print each part.
void dies(const std::vector<std::string>& parts, const std::function<void()>& body) {
  int ends[2];
  if (pipe(ends) != 0) return fail("no pipe");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    body();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char part[512];
  for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<size_t>(n));
  close(ends[0]);
  int status;
  waitpid(child, &status, 0);
  expect(!WIFEXITED(status) || WEXITSTATUS(status) != 0, "went on; printed: " + text);
  for (const std::string& p : parts) expect(text.find(p) != std::string::npos, "no \"" + p + "\" in: " + text);
}

template <class T, class... Parameters, class... Arguments>
std::vector<T> result(size_t n, void (*kernel)(T*, Parameters...), dim3 grid, dim3 block, size_t shared,
                      Arguments... arguments) {
  OnDevice<T> out = poisoned<T>(n);
  launch(kernel, grid, block, shared, device().stream, out.data(), arguments...);
  return out.host();
}

__global__ void indices(int* out) {
  const int block = static_cast<int>(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
  const int thread = static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
  const int threads = static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
  out[block * threads + thread] = block * threads + thread;
}

__global__ void rotate_often(int* out) {
  __shared__ int ring[96];
  const int t = static_cast<int>(threadIdx.x);
  ring[t] = t;
  for (int i = 0; i < 50; i++) {
    __syncthreads();
    const int next = ring[(t + 1) % 96];
    __syncthreads();
    ring[t] = next;
  }
  out[t] = ring[t];
}

__global__ void votes(int* out) {
  const int t = static_cast<int>(threadIdx.x);
  if (t >= 40) return;  // a barrier is for the living
  out[t] = __syncthreads_count(t % 3 == 0) + 100 * __syncthreads_or(t == 7) + 1000 * __syncthreads_and(t < 40) +
           10000 * __syncthreads_and(t < 39);
}

__global__ void shuffles(int* out) {
  const int t = static_cast<int>(threadIdx.x), n = static_cast<int>(blockDim.x);
  out[t] = __shfl_sync(full, t, 5);
  out[n + t] = __shfl_sync(full, t, 5, 8);
  out[2 * n + t] = __shfl_up_sync(full, t, 3);
  out[3 * n + t] = __shfl_down_sync(full, t, 3, 16);
  out[4 * n + t] = __shfl_xor_sync(full, t, 9);
  out[5 * n + t] = static_cast<int>(__ballot_sync(full, t % 5 == 0));
  out[6 * n + t] = __any_sync(full, t == 40) + 2 * __all_sync(full, t < 32);
  out[7 * n + t] = static_cast<int>(__match_any_sync(full, t % 4));
  out[8 * n + t] = __reduce_add_sync(full, t - 20);
  out[9 * n + t] = __reduce_min_sync(full, t - 20);
  out[10 * n + t] = __reduce_max_sync(full, -t);
}

__global__ void halves(double* out) {
  // The two halves of a warp work apart, the upper one twice as often.
  const int t = static_cast<int>(threadIdx.x);
  double sum = t;
  const unsigned mask = t < 16 ? 0xffffu : 0xffff0000u;
  for (int round = 0; round < (t < 16 ? 1 : 2); round++) {
    for (int flip = 8; flip > 0; flip /= 2) sum += __shfl_xor_sync(mask, sum, flip);
  }
  __syncwarp();
  out[t] = sum;
}

__global__ void from_the_gone(float* out) {
  const int t = static_cast<int>(threadIdx.x);
  if (t >= 8) return;
  out[t] = __shfl_down_sync(full, 1.0f, 4);
}

__global__ void atomics(int* out) {
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) out[0] = 0, out[1] = 1000, out[2] = 0, out[3] = 0;
  __syncthreads();
  atomicAdd(&out[0], t);
  atomicMin(&out[1], t + 3);
  atomicMax(&out[2], t);
  atomicCAS(&out[3], 0, t + 1);
}

__global__ void shared_is_poisoned(float* out) { out[threadIdx.x] = dynamic_shared<float>()[threadIdx.x]; }

__global__ void barrier_in_half_a_warp_waits_for_ever(int* out) {
  if (threadIdx.x < 16)
    __syncwarp();
  else
    __syncthreads();
  out[threadIdx.x] = 0;
}

__global__ void without_a_barrier(int* out) {
  __shared__ int last;
  if (threadIdx.x == 0) last = 7;
  if (threadIdx.x == 1) out[0] = last;
  if (threadIdx.x == 1) last = 0;
}

__global__ void add_one(int* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i]++;
}

__global__ void writes_behind(int* x) { x[threadIdx.x] = 1; }

}  // namespace

TEST(every_thread_of_every_block_runs_once) {
  std::vector<int> expected(2 * 3 * 4 * 5 * 3 * 2);
  for (size_t i = 0; i < expected.size(); i++) expected[i] = static_cast<int>(i);
  equal(result(expected.size(), indices, dim3(2, 3, 4), dim3(5, 3, 2), 0), expected, "indices");
}

TEST(barrier_separates_writes_from_reads) {
  std::vector<int> expected(96);
  for (int t = 0; t < 96; t++) expected[t] = (t + 50) % 96;
  equal(result(96, rotate_often, dim3(3), dim3(96), 0), expected, "ring");
}

TEST(barrier_counts_the_living) {
  std::vector<int> out = result(64, votes, dim3(1), dim3(64), 0);
  for (int t = 0; t < 40; t++)
    expect(out[t] == 14 + 100 + 1000, "thread " + std::to_string(t) + " has " + std::to_string(out[t]));
}

TEST(warp_functions) {
  const int n = 48;  // a warp and a half
  std::vector<int> out = result(11 * n, shuffles, dim3(1), dim3(n), 0);
  for (int t = 0; t < n; t++) {
    const int lane = t % 32, warp = t - lane, lanes = warp ? 16 : 32;
    auto is = [&](int row, int expected, const char* what) {
      expect(out[row * n + t] == expected, std::string(what) + " of thread " + std::to_string(t) + " is " +
                                               std::to_string(out[row * n + t]) + ", expected " +
                                               std::to_string(expected));
    };
    is(0, warp + 5, "shfl");
    is(1, warp + lane / 8 * 8 + 5, "shfl in segments of 8");
    is(2, lane < 3 ? t : t - 3, "shfl_up");
    is(3, lane % 16 >= 13 ? t : t + 3, "shfl_down in segments of 16");
    is(4, (lane ^ 9) < lanes ? warp + (lane ^ 9) : -1, "shfl_xor");
    unsigned ballot = 0, match = 0;
    int sum = 0;
    for (int l = 0; l < lanes; l++) {
      ballot |= static_cast<unsigned>((warp + l) % 5 == 0) << l;
      match |= static_cast<unsigned>(l % 4 == lane % 4) << l;
      sum += warp + l - 20;
    }
    is(5, static_cast<int>(ballot), "ballot");
    is(6, warp ? 1 : 2, "any and all");
    is(7, static_cast<int>(match), "match");
    is(8, sum, "reduce_add");
    is(9, warp - 20, "reduce_min");
    is(10, -warp, "reduce_max");
  }
}

TEST(parts_of_a_warp_work_apart) {
  std::vector<double> out = result(32, halves, dim3(1), dim3(32), 0), expected(32);
  for (int t = 0; t < 32; t++) expected[t] = t < 16 ? 120 : 16 * 376;
  equal(out, expected, "sums");
}

TEST(value_of_a_lane_that_is_gone_is_nan) {
  std::vector<float> out = result(8, from_the_gone, dim3(1), dim3(32), 0);
  for (int t = 0; t < 8; t++) expect(t < 4 ? out[t] == 1 : std::isnan(out[t]), "lane " + std::to_string(t));
}

TEST(atomics_of_a_block) {
  std::vector<int> out = result(4, atomics, dim3(1), dim3(64), 0);
  const bool reverse =
      std::getenv("MILLRACE_EMULATOR_ORDER") && !std::strcmp(std::getenv("MILLRACE_EMULATOR_ORDER"), "reverse");
  equal(out, std::vector<int>{64 * 63 / 2, 3, 63, reverse ? 64 : 1}, "atomics");
}

TEST(shared_memory_is_poisoned) {
  for (float v : result(32, shared_is_poisoned, dim3(1), dim3(32), 32 * sizeof(float)))
    expect(std::isnan(v), "not NaN");
}

TEST(deadlock_ends_the_process_and_names_the_kernel) {
  dies({"barrier_in_half_a_warp_waits_for_ever", "block (0,0,0) cannot go on", "16 wait at __syncthreads",
        "16 in warp operations"},
       [] { result(32, barrier_in_half_a_warp_waits_for_ever, dim3(1), dim3(32), 0); });
}

TEST(a_missing_barrier_shows_in_one_of_the_orders) {
  int seen[2];
  for (int reverse : {0, 1}) {
    const char* before = std::getenv("MILLRACE_EMULATOR_ORDER");
    const std::string kept = before ? before : "forward";
    setenv("MILLRACE_EMULATOR_ORDER", reverse ? "reverse" : "forward", 1);
    seen[reverse] = result(1, without_a_barrier, dim3(1), dim3(2), 0)[0];
    setenv("MILLRACE_EMULATOR_ORDER", kept.c_str(), 1);
  }
  expect(seen[0] == 7 && seen[1] != 7, "seen " + std::to_string(seen[0]) + " and " + std::to_string(seen[1]));
}

TEST(memory_is_limited_and_given_back) {
  setenv("MILLRACE_EMULATOR_BYTES", "1000000", 1);
  {
    Buffer<char> most(device(), device().free_bytes(), "all");
    expect_error(Status::out_of_memory, {"1 bytes asked for a byte", "0 bytes of"},
                 [] { Buffer<char> more(device(), 1, "a byte"); });
  }
  Buffer<char> again(device(), 500000, "half");
  unsetenv("MILLRACE_EMULATOR_BYTES");
}

TEST(copies_stay_inside_allocations) {
  Buffer<int> buffer(device(), 8, "eight");
  int host[16] = {};
  auto copy = [&](void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpyAsync(to, from, bytes, kind, device().stream);
  };
  expect(copy(buffer.data(), host, 32, cudaMemcpyHostToDevice) == cudaSuccess, "the whole");
  expect(copy(buffer.data(), host, 33, cudaMemcpyHostToDevice) == cudaErrorInvalidValue, "a byte more");
  expect(copy(buffer.data() + 8, host, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue, "behind");
  expect(copy(host, host + 8, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue, "host to host as to the device");
  expect(copy(buffer.data(), buffer.data(), 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue, "device as host");
  expect(cudaMemsetAsync(buffer.data() + 7, 0, 8, device().stream) == cudaErrorInvalidValue, "set behind");
  expect(cudaFree(buffer.data() + 1) == cudaErrorInvalidValue, "free of a part");
  cudaGetLastError();
}

TEST(write_behind_an_allocation_ends_the_process) {
#ifdef __SANITIZE_ADDRESS__
  const char* const text = "in writes_behind";  // it knows who
#else
  const char* const text = "past the end of an allocation of 40 bytes";
#endif
  dies({text}, [] {
    int* x;
    check(cudaMalloc(&x, 40), "allocating");
    launch(writes_behind, dim3(1), dim3(11), 0, device().stream, x);
    device().synchronize();
  });
}

TEST(graph_replays_kernels_with_the_captured_arguments) {
  OnDevice<int> x(std::vector<int>(10, 0));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  int n = 6;
  check(cudaStreamBeginCapture(device().stream, cudaStreamCaptureModeThreadLocal), "capturing");
  launch(add_one, dim3(1), dim3(32), 0, device().stream, x.data(), n);
  n = 3;
  launch(add_one, dim3(1), dim3(32), 0, device().stream, x.data(), n);
  check(cudaMemcpyAsync(x.data() + 9, x.data(), sizeof(int), cudaMemcpyDeviceToDevice, device().stream), "copying");
  check(cudaStreamEndCapture(device().stream, &graph), "ending the capture");
  n = 10;
  equal(x.host(), std::vector<int>(10, 0), "nothing runs while capturing");
  check(cudaGraphInstantiate(&executable, graph, 0), "instantiating");
  check(cudaGraphDestroy(graph), "destroying");
  for (int i = 0; i < 4; i++) check(cudaGraphLaunch(executable, device().stream), "launching");
  equal(x.host(), std::vector<int>{8, 8, 8, 4, 4, 4, 0, 0, 0, 8}, "after four launches");
  check(cudaGraphExecDestroy(executable), "destroying");
}

TEST(waiting_while_capturing_spoils_the_capture) {
  cudaGraph_t graph;
  check(cudaStreamBeginCapture(device().stream, cudaStreamCaptureModeThreadLocal), "capturing");
  expect_error(Status::invalid, {"waiting for the device", "capturing"}, [] { device().synchronize(); });
  expect(cudaStreamEndCapture(device().stream, &graph) == cudaErrorStreamCaptureInvalidated && !graph, "a graph");
  cudaGetLastError();
  device().synchronize();
}

TEST(bf16_rounds_to_nearest_even) {
  // By the definition: of the two neighbours the nearer one, at a tie the even one.
  Random random = fresh();
  for (int i = 0; i < 100000; i++) {
    const float x = __uint_as_float(static_cast<unsigned>(random.integer(0, 0xffffffffll)));
    const unsigned short got = __bfloat16_as_ushort(__float2bfloat16_rn(x));
    if (x != x) {
      expect(got == 0x7fff, "NaN");
      continue;
    }
    const unsigned bits = __float_as_uint(x);
    const unsigned short below = static_cast<unsigned short>(bits >> 16),
                         above = static_cast<unsigned short>(below + 1);
    // The neighbour above the largest finite number is where infinity's bits stand, 2^128.
    auto value = [](unsigned short b) {
      return (b & 0x7fff) == 0x7f80 ? std::copysign(std::ldexp(1.0, 128), b & 0x8000 ? -1.0 : 1.0)
                                    : static_cast<double>(__uint_as_float(static_cast<unsigned>(b) << 16));
    };
    const double down = std::fabs(double{x} - value(below)), up = std::fabs(value(above) - double{x});
    const unsigned short nearest = std::isinf(x) || down < up || (down == up && below % 2 == 0) ? below : above;
    if (got != nearest) return fail("of bits " + std::to_string(bits));
  }
  expect(__bfloat16_as_ushort(__float2bfloat16_rn(-0.0f)) == 0x8000, "minus zero");
  expect(__bfloat162float(__float2bfloat16_rn(std::numeric_limits<float>::max())) == HUGE_VALF, "overflow");
}

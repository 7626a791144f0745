#include "device.h"

#include <cstdlib>
#include <numeric>

#include "check.h"

using namespace millrace;
using namespace millrace::test;

namespace {

__global__ void multiply(float* x, float by, int n) {
  int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] *= by;
}

// Each thread writes its number to shared memory, and reads the mirror one.
__global__ void mirror(int* out, int n) {
  int* all = dynamic_shared<int>();
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) all[i] = i;
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) out[i] = all[n - 1 - i];
}

}  // namespace

TEST(device_tells_what_it_is) {
  expect(device().processors > 0 && device().capability >= 80, "processors or capability");
  expect(!device().name.empty(), "no name");
  expect(device().shared_limit > (48 << 10), "shared memory of a block");
  expect(device().free_bytes() <= device().total_bytes, "more memory free than there is");
}

TEST(device_that_is_not_there) {
  expect_error(Status::unavailable, {"using device 99", "cudaErrorInvalidDevice"}, [] { Device absent(99); });
}

TEST(launch_converts_arguments_and_covers_a_ragged_end) {
  Random random = fresh();
  std::vector<float> x = random.normals<float>(1001);
  OnDevice<float> on(x);
  launch(multiply, dim3(8), dim3(128), 0, device().stream, on.data(), 3.0, size_t{1001});
  std::vector<double> expected = doubles(x);
  for (double& v : expected) v *= 3;
  near(on.host(), expected, unit<float>, "product");
}

TEST(launch_with_much_shared_memory) {
  const int n = 50000;  // 200 kB, above what a kernel gets without asking
  OnDevice<int> out = poisoned<int>(n);
  launch(mirror, dim3(1), dim3(96), n * sizeof(int), device().stream, out.data(), n);
  std::vector<int> expected(n);
  std::iota(expected.rbegin(), expected.rend(), 0);
  equal(out.host(), expected, "mirrored");
}

TEST(launch_that_cannot_start_names_the_kernel) {
  OnDevice<float> x = poisoned<float>(4);
  expect_error(Status::invalid, {"launching", "multiply", "cudaErrorInvalidConfiguration"},
               [&] { launch(multiply, dim3(1), dim3(4096), 0, device().stream, x.data(), 1.0f, 4); });
  expect_error(Status::invalid, {"launching", "multiply"},
               [&] { launch(multiply, dim3(0), dim3(32), 0, device().stream, x.data(), 1.0f, 4); });
  // Nothing of the error is left.
  launch(multiply, dim3(1), dim3(32), 0, device().stream, x.data(), 1.0f, 0);
  device().synchronize();
}

TEST(buffer_reads_what_was_written) {
  std::vector<int> values(100);
  std::iota(values.begin(), values.end(), 7);
  Buffer<int> buffer(device(), 100, "numbers");
  buffer.clear(device().stream);
  buffer.write(device().stream, values.data() + 10, 5, 20);
  std::vector<int> read(100, -1), expected(100, 0);
  for (int i = 0; i < 5; i++) expected[20 + i] = 17 + i;
  buffer.read(device().stream, read.data(), 100);
  device().synchronize();
  equal(read, expected, "values");

  int* data = buffer.data();
  Buffer<int> moved(std::move(buffer));
  expect(moved.data() == data && moved.size() == 100, "moved");
  expect(buffer.data() == nullptr && buffer.size() == 0, "moved from");
}

TEST(buffer_refuses_what_lies_outside) {
  Buffer<int> buffer(device(), 10, "numbers");
  std::vector<int> host(20);
  expect_error(Status::invalid, {"past the end"}, [&] { buffer.write(device().stream, host.data(), 11); });
  expect_error(Status::invalid, {"past the end"}, [&] { buffer.write(device().stream, host.data(), 1, 10); });
  expect_error(Status::invalid, {"past the end"}, [&] { buffer.read(device().stream, host.data(), 2, ~size_t{0}); });
  buffer.read(device().stream, host.data(), 0, 10);  // nothing, at the end
  device().synchronize();
}

TEST(buffer_too_large_leaves_the_device_usable) {
  const size_t before = device().free_bytes();
  Buffer<char> kept(device(), 1 << 20, "kept");
  expect_error(Status::out_of_memory,
               {"out of device memory", "TiB asked for the moon (--moon makes it smaller)", "are free"},
               [] { Buffer<double> moon(device(), size_t{1} << 40, "the moon (--moon makes it smaller)"); });
  kept = Buffer<char>();
  Buffer<float> after(device(), 1000, "after");
  after.clear(device().stream);
  device().synchronize();
  after = Buffer<float>();
  expect(device().free_bytes() + (8 << 20) >= before, "memory was lost");
}

TEST(arena_counts_then_gives_the_same_layout) {
  Arena arena(device(), "the activations");
  auto lay_out = [&] {
    std::vector<char*> parts;
    parts.push_back(arena.take<char>(1));
    size_t mark = arena.mark();
    parts.push_back(reinterpret_cast<char*>(arena.take<double>(1000)));
    arena.release(mark);
    parts.push_back(reinterpret_cast<char*>(arena.take<float>(10)));
    return parts;
  };
  arena.count();
  for (char* part : lay_out()) expect(part == nullptr, "memory while counting");
  expect(arena.peak() == 256 + 8192, "peak is " + std::to_string(arena.peak()));
  arena.reserve(arena.peak());
  std::vector<char*> parts = lay_out();
  expect(reinterpret_cast<uintptr_t>(parts[0]) % 256 == 0, "not aligned");
  expect(parts[1] == parts[0] + 256 && parts[2] == parts[1], "the released part is not used again");
  expect(arena.peak() == 256 + 8192, "another peak with memory");
}

TEST(arena_keeps_its_memory_and_refuses_more) {
  Arena arena(device(), "the activations");
  arena.reserve(1024);
  char* first = arena.take<char>(512);
  arena.reserve(512);  // less: nothing moves
  expect(arena.take<char>(1024) == first, "moved");
  expect_error(Status::invalid, {"the activations", "1 bytes taken where 0 bytes", "more than was counted"},
               [&] { arena.take<char>(1); });
  arena.release(0);
  expect_error(Status::out_of_memory, {"the activations"}, [&] { arena.reserve(size_t{1} << 45); });
  arena.reserve(256);
  expect(arena.take<char>(256) != nullptr, "nothing after a refusal");
}

TEST(check_says_what_was_attempted) {
  check(cudaSuccess, "nothing");
  expect_error(Status::device, {"copying the tokens: ", "cudaErrorIllegalAddress"},
               [] { check(cudaErrorIllegalAddress, "copying the tokens"); });
  expect_error(Status::unavailable, {"cudaErrorInsufficientDriver"},
               [] { check(cudaErrorInsufficientDriver, "starting"); });
}

// A random pack laid out as the model's, and the check of an implementation of Attention
// against the reference.
#pragma once

#include "attention.h"
#include "attention_reference.h"
#include "check.h"

namespace millrace::test {

// A score is a sum of up to 256 products in float32, and an output one of up to 150
// weighted values: relative to their terms they are within that many units. Results are
// smaller than their terms, by a factor of 16 at most where size says so.
constexpr double float_error = 512 * unit<float>;
constexpr double size = 1.0 / 16;

inline Shape shape_of(int64_t H, int64_t K, int64_t D) {
  Shape shape = {};
  shape.H = H;
  shape.K = K;
  shape.D = D;
  return shape;
}

// Pack is a random pack laid out as the model's: queries and keys in one matrix, values
// the last columns of another.
template <class T>
struct Pack {
  const Shape shape;
  const int64_t qk_width, qkv_width, out_width;
  std::vector<int32_t> starts = {0};
  std::vector<T> qk, qkv;
  OnDevice<T> on_qk, on_qkv, on_out;
  OnDevice<int32_t> on_starts;
  OnDevice<float> on_lse;
  Packed packed = {};

  static std::vector<int32_t> starts_of(const std::vector<int>& lengths) {
    std::vector<int32_t> starts = {0};
    for (int n : lengths) starts.push_back(starts.back() + n);
    return starts;
  }

  Pack(Random& random, const Shape& shape, const std::vector<int>& lengths)
      : shape(shape),
        qk_width((shape.H + shape.K) * shape.D),
        qkv_width(shape.qkv()),
        out_width(shape.H * shape.D),
        starts(starts_of(lengths)),
        qk(random.normals<T>(starts.back() * qk_width)),
        qkv(random.normals<T>(starts.back() * qkv_width)),
        on_qk(qk),
        on_qkv(qkv),
        on_out(poisoned<T>(starts.back() * out_width)),
        on_starts(starts),
        on_lse(poisoned<float>(starts.back() * shape.H)) {
    packed.starts = on_starts;
    packed.host_starts = starts;
    packed.sequences = static_cast<int32_t>(lengths.size());
    packed.tokens = starts.back();
    packed.longest = *std::max_element(lengths.begin(), lengths.end());
  }

  Rows<const T> q() const { return {on_qk, qk_width}; }
  Rows<const T> k() const { return {on_qk + shape.H * shape.D, qk_width}; }
  Rows<const T> v() const { return {on_qkv + (shape.H + shape.K) * shape.D, qkv_width}; }
  Rows<T> out() const { return {on_out, out_width}; }
  Heads q64() const { return columns(doubles(qk), qk_width, 0, shape.H, shape.D); }
  Heads k64() const { return columns(doubles(qk), qk_width, shape.H, shape.K, shape.D); }
  Heads v64() const { return columns(doubles(qkv), qkv_width, shape.H + shape.K, shape.K, shape.D); }
};

// check_pack compares forward and backward pass with the reference, to a rounding of the
// results and an error before it.
template <class T>
void check_pack(Attention<T>& attention, double error, Random& random, const Shape& shape,
                const std::vector<int>& lengths) {
  Pack<T> pack(random, shape, lengths);
  expect(attention.lse_floats(pack.packed) == pack.on_lse.size(), "lse_floats");
  attention.forward(pack.out(), pack.on_lse, pack.q(), pack.k(), pack.v(), pack.packed);

  const ReferenceForward forward(pack.q64(), pack.k64(), pack.v64(), pack.starts);
  const std::vector<T> out = pack.on_out.host();
  near(out, forward.out.data, unit<T> + error, "out", size);
  near(pack.on_lse.host(), forward.lse, error, "lse");

  const std::vector<T> dout = random.normals<T>(out.size());
  const OnDevice<T> on_dout(dout);
  const OnDevice<T> dqk = poisoned<T>(pack.qk.size()), dqkv = poisoned<T>(pack.qkv.size());
  const int64_t k_at = shape.H * shape.D, v_at = (shape.H + shape.K) * shape.D;
  attention.backward({dqk, pack.qk_width}, {dqk + k_at, pack.qk_width}, {dqkv + v_at, pack.qkv_width},
                      {on_dout, pack.out_width}, {pack.on_out, pack.out_width}, pack.on_lse, pack.q(), pack.k(),
                      pack.v(), pack.packed);
  const Heads dout64{doubles(dout), shape.H, shape.D}, out64{doubles(out), shape.H, shape.D};
  const ReferenceBackward backward(dout64, out64, pack.q64(), pack.k64(), pack.v64(), pack.starts);
  const std::vector<double> dqk64 = doubles(dqk.host()), dqkv64 = doubles(dqkv.host());
  const double tolerance = unit<T> + 4 * error;
  near(columns(dqk64, pack.qk_width, 0, shape.H, shape.D).data, backward.dq.data, tolerance, "dq", size);
  near(columns(dqk64, pack.qk_width, shape.H, shape.K, shape.D).data, backward.dk.data, tolerance, "dk", size);
  const Heads dv = columns(dqkv64, pack.qkv_width, shape.H + shape.K, shape.K, shape.D);
  near(dv.data, backward.dv.data, tolerance, "dv", size);
  for (double x : columns(dqkv64, pack.qkv_width, 0, shape.H + shape.K, shape.D).data)
    if (!std::isnan(x)) return fail("dv is written outside of its columns");
}

}  // namespace millrace::test

// Attention in tiles on the CUDA cores, for any device, format and even head
// dimension up to 256. Sums are in float32 and in a fixed order: results are equal to
// the bit from run to run.
#include <cmath>

#include "attention_tiles_backward.cuh"
#include "attention_tiles_forward.cuh"

namespace millrace {
namespace {

using tiles::Geometry;
using tiles::threads;

int tiles_of(int length, int tile) { return (length + tile - 1) / tile; }

template <class T>
class Tiled final : public Attention<T> {
 public:
  Tiled(const Device& device, const Shape& shape)
      : device_(device), H_(shape.H), K_(shape.K), D_(shape.D), scale_(1 / std::sqrt(static_cast<float>(shape.D))) {
    if (D_ < 1 || D_ > 256 || H_ < 1 || K_ < 1 || H_ % K_ != 0)
      throw Error(Status::invalid, "attention with " + std::to_string(H_) + " query heads, " + std::to_string(K_) +
                                       " kv heads and a head dimension of " + std::to_string(D_) +
                                       ": the dimension is from 1 to 256, and kv heads divide query heads");
    const size_t need = with_geometry([](auto g) { return tiles::backward_shared<decltype(g)>(); });
    if (need > device_.shared_limit)
      throw Error(Status::unavailable, "attention with a head dimension of " + std::to_string(D_) + " takes " +
                                           std::to_string(need) + " bytes of shared memory, " + device_.name + " has " +
                                           std::to_string(device_.shared_limit));
  }

  void forward(Rows<T> out, float* lse, Rows<const T> q, Rows<const T> k, Rows<const T> v,
               const Packed& packed) override {
    if (packed.tokens == 0) return;
    with_geometry([&](auto g) {
      using G = decltype(g);
      const dim3 grid(tiles_of(packed.longest, G::tile), H_, packed.sequences);
      launch(tiles::forward<G, T>, grid, threads, tiles::forward_shared<G>(), device_.stream, out, lse, q, k, v,
             packed.starts, H_, K_, D_, scale_ * tiles::log2_e);
      return 0;
    });
  }

  void backward(Rows<T> dq, Rows<T> dk, Rows<T> dv, Rows<const T> dout, Rows<const T> out, const float* lse,
                Rows<const T> q, Rows<const T> k, Rows<const T> v, const Packed& packed) override {
    if (packed.tokens == 0) return;
    const size_t statistics = lse_floats(packed);
    if (delta_.size() < statistics) {
      delta_ = Buffer<float>();  // before the next one is allocated
      delta_ = Buffer<float>(device_, statistics, "attention's backward pass (fewer tokens in a pack make it smaller)");
    }
    constexpr int warps = 8;
    launch(tiles::delta<T>, dim3((statistics + warps - 1) / warps), dim3(32 * warps), size_t{0}, device_.stream,
           delta_.data(), dout, out, static_cast<int64_t>(packed.tokens), H_, D_);
    const tiles::Sides<T> in{q, k, v, dout, lse, delta_.data(), packed.starts, H_, K_, D_, scale_};
    with_geometry([&](auto g) {
      using G = decltype(g);
      const int n = tiles_of(packed.longest, G::tile);
      const size_t shared = tiles::backward_shared<G>();
      launch(tiles::query_gradient<G, T>, dim3(n, H_, packed.sequences), threads, shared, device_.stream, dq, in);
      launch(tiles::key_gradient<G, T>, dim3(n, K_, packed.sequences), threads, shared, device_.stream, dk, dv, in);
      return 0;
    });
  }

  size_t lse_floats(const Packed& packed) const override { return static_cast<size_t>(packed.tokens) * H_; }
  const char* name() const override { return "tiles"; }

 private:
  // with_geometry calls f with the largest tiles that fit into shared memory.
  template <class F>
  auto with_geometry(F f) const {
    using Wide = Geometry<64, 128>;
    if (D_ <= 64) return f(Geometry<64, 64>());
    if (D_ > 128) return f(Geometry<32, 256>());
    if (tiles::backward_shared<Wide>() <= device_.shared_limit) return f(Wide());
    return f(Geometry<32, 128>());
  }

  const Device& device_;
  const int H_, K_, D_;
  const float scale_;
  Buffer<float> delta_;  // [T,H]; grows
};

}  // namespace

template <class T>
std::unique_ptr<Attention<T>> tiled_attention(const Device& device, const Shape& shape) {
  return std::make_unique<Tiled<T>>(device, shape);
}

template std::unique_ptr<Attention<float>> tiled_attention(const Device&, const Shape&);
template std::unique_ptr<Attention<bf16>> tiled_attention(const Device&, const Shape&);

}  // namespace millrace

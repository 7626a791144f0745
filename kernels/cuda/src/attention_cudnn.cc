// Attention by cuDNN over ragged packs in bf16.
//
// A plan is kept for each bucket of sequences, longest sequence and tokens (ragged.h),
// so a training run makes few. Sums over query heads of a group and over rows have a
// fixed order where cuDNN can afford it: its deterministic backward pass keeps all
// scores of a pack's rectangle in memory. Above deterministic_bytes of them dQ is
// summed in the order in which blocks finish, and its last bits differ from run to run.
#include <map>

#include "attention.h"
#include "cudnn_plan.h"
#include "ragged.h"

namespace millrace {
namespace {

constexpr int64_t deterministic_bytes = int64_t{2} << 30;

const char* const workspace_use = "the workspace of attention (fewer tokens in a pack make it smaller)";

class ByCudnn final : public Attention<bf16> {
 public:
  ByCudnn(const Device& device, const Shape& shape)
      : device_(device), shape_(shape), ragged_(device), cudnn_(checked(device, shape).stream) {
    name_ = "cudnn " + cudnn_.version();
    // The smallest plans, so that a problem shows before training begins.
    const int64_t qk = (shape.H + shape.K) * shape.D;
    Problem problem = problem_of({bucket(1), 1, bucket(1)}, qk, qk, shape.qkv(), shape.H * shape.D);
    plan(problem);
    problem.dout = problem.out;
    problem.dq = problem.q;
    problem.dkv = shape.K * shape.D;
    plan(problem);
  }

  void forward(Rows<bf16> out, float* lse, Rows<const bf16> q, Rows<const bf16> k, Rows<const bf16> v,
               const Packed& packed) override {
    if (packed.tokens == 0) return;
    const Problem problem = problem_of(buckets_of(packed), q.stride, k.stride, v.stride, out.stride);
    ragged_.set(packed, problem.sequences, strides_of(problem));
    Arguments arguments = common(q, k, v, out.data, lse);
    run(plan(problem), arguments);
  }

  void backward(Rows<bf16> dq, Rows<bf16> dk, Rows<bf16> dv, Rows<const bf16> dout, Rows<const bf16> out,
                const float* lse, Rows<const bf16> q, Rows<const bf16> k, Rows<const bf16> v,
                const Packed& packed) override {
    if (packed.tokens == 0) return;
    Problem problem = problem_of(buckets_of(packed), q.stride, k.stride, v.stride, out.stride);
    problem.dout = dout.stride;
    problem.dq = dq.stride;
    // The gradients of keys and values are dense here, and copied into their places: cuDNN
    // keeps one for each query head in float32, whose rows are as far apart as these times
    // the heads of a group, so strides of the model's matrices would take gigabytes.
    problem.dkv = shape_.K * shape_.D;
    const int64_t scores = problem.sequences * problem.H * problem.longest * problem.longest * int64_t{sizeof(bf16)};
    problem.deterministic = scores <= deterministic_bytes;
    const Plan* plan = &this->plan(problem);
    if (plan->workspace() > 2 * deterministic_bytes) {  // more than the scores: do without as well
      problem.deterministic = 0;
      plan = &this->plan(problem);
    }

    const size_t values = static_cast<size_t>(packed.tokens) * problem.dkv;
    grow(gradients_, 2 * values, "the gradients of keys and values (fewer tokens in a pack make them smaller)");
    bf16* dense_k = gradients_.data();
    bf16* dense_v = gradients_.data() + values;
    ragged_.set(packed, problem.sequences, strides_of(problem));
    Arguments arguments = common(q, k, v, out.data, lse);
    add(arguments, slot_dout, dout.data, slot_dout);
    add(arguments, slot_dq, dq.data, slot_dq);
    add(arguments, slot_dk, dense_k, slot_dkv);
    add(arguments, slot_dv, dense_v, slot_dkv);
    run(*plan, arguments);
    place(dk, dense_k, packed.tokens);
    place(dv, dense_v, packed.tokens);
  }

  size_t lse_floats(const Packed& packed) const override { return static_cast<size_t>(packed.tokens) * shape_.H; }
  const char* name() const override { return name_.c_str(); }

 private:
  struct Buckets {
    int64_t tokens, sequences, longest;
  };

  static const Device& checked(const Device& device, const Shape& shape) {
    // Earlier devices cannot read packs, and later ones of the same generation (12.x)
    // keep other statistics.
    if (device.capability < 90 || device.capability >= 120)
      throw Error(Status::unavailable, "attention by cuDNN needs a device of compute capability 9 or 10, " +
                                           device.name + " has " + std::to_string(device.capability / 10) + "." +
                                           std::to_string(device.capability % 10));
    // With other dimensions its float32 sums take the whole rectangle of a pack.
    if (shape.D % 16 != 0)
      throw Error(Status::unavailable,
                  "attention by cuDNN needs a head dimension that is a multiple of 16, not " + std::to_string(shape.D));
    return device;
  }

  static Buckets buckets_of(const Packed& packed) {
    return {bucket(packed.tokens), slots(packed.sequences), bucket(packed.longest)};
  }

  Problem problem_of(const Buckets& size, int64_t q, int64_t k, int64_t v, int64_t out) const {
    Problem problem = {};
    problem.sequences = size.sequences;
    problem.longest = size.longest;
    problem.tokens = size.tokens;
    problem.H = shape_.H;
    problem.K = shape_.K;
    problem.D = shape_.D;
    problem.q = q;
    problem.k = k;
    problem.v = v;
    problem.out = out;
    problem.capability = device_.capability;
    return problem;
  }

  static Strides strides_of(const Problem& p) {
    Strides strides = {};
    strides[slot_q] = p.q;
    strides[slot_k] = p.k;
    strides[slot_v] = p.v;
    strides[slot_out] = p.out;
    strides[slot_lse] = p.H;
    strides[slot_dout] = p.dout;
    strides[slot_dq] = p.dq;
    strides[slot_dkv] = p.dkv;
    return strides;
  }

  // add gives a matrix and its offsets. cuDNN takes inputs, too, as pointers to what may
  // be written.
  void add(Arguments& arguments, Slot slot, const void* data, Slot offsets) const {
    arguments[slot] = const_cast<void*>(data);
    arguments[slot_offsets + offsets] = ragged_.offsets(static_cast<int>(offsets));
  }

  Arguments common(Rows<const bf16> q, Rows<const bf16> k, Rows<const bf16> v, const bf16* out,
                   const float* lse) const {
    Arguments arguments = {{slot_lengths, ragged_.lengths()}};
    add(arguments, slot_q, q.data, slot_q);
    add(arguments, slot_k, k.data, slot_k);
    add(arguments, slot_v, v.data, slot_v);
    add(arguments, slot_out, out, slot_out);
    add(arguments, slot_lse, lse, slot_lse);
    return arguments;
  }

  const Plan& plan(const Problem& problem) {
    const auto found = plans_.find(problem);
    return found != plans_.end() ? found->second : plans_.emplace(problem, Plan(cudnn_, problem)).first->second;
  }

  // grow frees the old buffer before it allocates the new one.
  template <class T>
  void grow(Buffer<T>& buffer, size_t n, const char* what) {
    if (buffer.size() >= n) return;
    buffer = Buffer<T>();
    buffer = Buffer<T>(device_, n, what);
  }

  void run(const Plan& plan, Arguments& arguments) {
    grow(workspace_, plan.workspace(), workspace_use);
    plan.run(arguments, workspace_.data());
  }

  void place(Rows<bf16> to, const bf16* dense, int64_t tokens) const {
    const size_t width = shape_.K * shape_.D * sizeof(bf16);
    check(cudaMemcpy2DAsync(to.data, to.stride * sizeof(bf16), dense, width, width, tokens, cudaMemcpyDeviceToDevice,
                            device_.stream),
          "placing the gradients of keys and values");
  }

  const Device& device_;
  const Shape shape_;
  std::string name_;
  Ragged ragged_;
  Cudnn cudnn_;
  std::map<Problem, Plan> plans_;
  Buffer<char> workspace_;
  Buffer<bf16> gradients_;
};

}  // namespace

std::unique_ptr<Attention<bf16>> cudnn_attention(const Device& device, const Shape& shape) {
  return std::make_unique<ByCudnn>(device, shape);
}

}  // namespace millrace

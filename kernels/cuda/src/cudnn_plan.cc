#include "cudnn_plan.h"

// With this, the headers find functions of cuDNN in cudnn_dlhandle, and those of the
// CUDA runtime and driver in libraries they open by name: nothing is linked.
#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#define CUDNN_FRONTEND_SKIP_JSON_LIB  // graphs are not written to files
#include <cudnn_frontend.h>
#include <dlfcn.h>

#include <cmath>
#include <tuple>

#include "dynamic_library.h"

namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;
}

namespace millrace {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

namespace {

constexpr const char* what_for = "attention by cuDNN";

// builtins_of names the library that a compiler opens at its first use.
std::string builtins_of(const DynamicLibrary& compiler) {
  int (*version)(int* major, int* minor);
  compiler.function(version, "nvrtcVersion");
  int major = 0, minor = 0;
  if (version(&major, &minor) != 0) throw Error(Status::unavailable, compiler.path() + " does not tell its version");
  return "libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor);
}

}  // namespace

struct Cudnn::Parts {
  // The headers open the runtime by its name, and cuDNN the two others. They look nowhere
  // else, and without cuBLASLt cuDNN ends the process; opened here, from wherever they
  // are, they are found by their names. The compiler does the same with its builtins.
  DynamicLibrary runtime{{"libcudart.so.13", "libcudart.so.12"}, what_for};
  DynamicLibrary products{{"libcublasLt.so.13", "libcublasLt.so.12"}, what_for};
  DynamicLibrary compiler{{"libnvrtc.so.13", "libnvrtc.so.12"}, what_for};
  DynamicLibrary builtins{{builtins_of(compiler)}, what_for};
  DynamicLibrary cudnn{{"libcudnn.so.9"}, what_for};
  decltype(cudnnGetVersion)* get_version;
  decltype(cudnnGetErrorString)* error_string;
  decltype(cudnnCreate)* create;
  decltype(cudnnDestroy)* destroy;
  decltype(cudnnSetStream)* set_stream;
  cudnnHandle_t handle = nullptr;

  void check(cudnnStatus_t status, const char* what) const {
    if (status != CUDNN_STATUS_SUCCESS)
      throw Error(Status::unavailable, std::string(what) + ": " + error_string(status));
  }
};

namespace {

// oldest is the first cuDNN with ragged attention for groups of heads, forward and
// backward, whose workspace grows with the pack and not with its rectangle.
constexpr size_t oldest = 90600;

std::string dotted(size_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace

Cudnn::Cudnn(cudaStream_t stream) : parts_(std::make_unique<Parts>()) {
  Parts& p = *parts_;
  p.cudnn.function(p.get_version, "cudnnGetVersion");
  p.cudnn.function(p.error_string, "cudnnGetErrorString");
  p.cudnn.function(p.create, "cudnnCreate");
  p.cudnn.function(p.destroy, "cudnnDestroy");
  p.cudnn.function(p.set_stream, "cudnnSetStream");
  if (p.get_version() < oldest)
    throw Error(Status::unavailable,
                p.cudnn.path() + " is cuDNN " + version() + "; attention needs " + dotted(oldest));
  fe::cudnn_dlhandle = dlopen(p.cudnn.path().c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (fe::cudnn_dlhandle == nullptr) throw Error(Status::unavailable, "opening cuDNN again: " + std::string(dlerror()));
  p.check(p.create(&p.handle), "starting cuDNN");
  p.check(p.set_stream(p.handle, stream), "giving cuDNN the stream");
}

Cudnn::~Cudnn() {
  if (parts_->handle != nullptr) parts_->destroy(parts_->handle);
}

std::string Cudnn::version() const { return dotted(parts_->get_version()); }
void* Cudnn::handle() const { return parts_->handle; }

auto Problem::fields() const {
  return std::tie(sequences, longest, tokens, H, K, D, q, k, v, out, dout, dq, dkv, deterministic, capability);
}
bool Problem::operator<(const Problem& other) const { return fields() < other.fields(); }

struct Plan::Parts {
  cudnnHandle_t handle;
  fe::graph::Graph graph;
};

namespace {

void check(fe::error_t result, Status status, const char* what) {
  if (result.is_bad()) throw Error(status, std::string(what) + ": " + result.get_message());
}

// Builder makes the tensors of a graph.
struct Builder {
  fe::graph::Graph& graph;
  const Problem& problem;

  // vector is an array with a value for each sequence.
  Tensor vector(int64_t slot, int64_t n, fe::DataType_t type) {
    return graph.tensor(fe::graph::Tensor_attributes()
                            .set_name("array " + std::to_string(slot))
                            .set_uid(slot)
                            .set_dim({n, 1, 1, 1})
                            .set_stride({1, 1, 1, 1})
                            .set_data_type(type));
  }

  // Offsets are 64-bit: twice a gradient's offset is computed inside, and 32 bits are
  // soon used up by long packs of many heads.
  Tensor offsets(Slot matrix) { return vector(slot_offsets + matrix, problem.sequences + 1, fe::DataType_t::INT64); }

  // heads describes a matrix of heads as [sequences, heads, longest, width]. The stride of
  // a sequence is not used: where it begins is told by its offset.
  fe::graph::Tensor_attributes heads(Slot slot, int64_t count, int64_t width, int64_t stride) {
    return fe::graph::Tensor_attributes()
        .set_name("matrix " + std::to_string(slot))
        .set_uid(slot)
        .set_dim({problem.sequences, count, problem.longest, width})
        .set_stride({problem.longest * stride, width, stride, 1});
  }
  Tensor input(Slot slot, int64_t count, int64_t stride, const Tensor& offsets) {
    return graph.tensor(heads(slot, count, problem.D, stride).set_ragged_offset(offsets));
  }
  // The statistics are [T,H]: with the heads of a row together. The backward graph keeps
  // a copy of the same layout, whose size it takes from the stride of a row: heads one
  // after the other would overrun it.
  fe::graph::Tensor_attributes statistics() {
    return heads(slot_lse, problem.H, 1, problem.H).set_data_type(fe::DataType_t::FLOAT);
  }
  void output(const Tensor& tensor, const fe::graph::Tensor_attributes& like, const Tensor& offsets) {
    tensor->set_output(true).set_uid(like.get_uid()).set_dim(like.get_dim()).set_stride(like.get_stride());
    tensor->set_ragged_offset(offsets);
  }
};

// mask sets what both directions have in common. Ragged tensors are only read with a
// padding mask and the lengths, though offsets imply them; queries and keys are the
// same rows, so the causal diagonal begins at the top left.
template <class Options>
void mask(Options& options, Builder& builder) {
  const Problem& problem = builder.problem;
  const Tensor lengths = builder.vector(slot_lengths, problem.sequences, fe::DataType_t::INT32);
  options.set_attn_scale(static_cast<float>(1 / std::sqrt(static_cast<double>(problem.D))))
      .set_padding_mask(true)
      .set_seq_len_q(lengths)
      .set_seq_len_kv(lengths)
      .set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT)
      .set_diagonal_band_right_bound(0);
}

void add_forward(Builder& b) {
  const Problem& p = b.problem;
  auto options = fe::graph::SDPA_attributes().set_name("attention").set_generate_stats(true);
  mask(options, b);
  const Tensor out_offsets = b.offsets(slot_out), lse_offsets = b.offsets(slot_lse);
  const Tensor q = b.input(slot_q, p.H, p.q, b.offsets(slot_q));
  const Tensor k = b.input(slot_k, p.K, p.k, b.offsets(slot_k));
  const Tensor v = b.input(slot_v, p.K, p.v, b.offsets(slot_v));
  auto [out, lse] = b.graph.sdpa(q, k, v, options);
  b.output(out, b.heads(slot_out, p.H, p.D, p.out), out_offsets);
  b.output(lse, b.statistics(), lse_offsets);
  lse->set_data_type(fe::DataType_t::FLOAT);
}

void add_backward(Builder& b) {
  const Problem& p = b.problem;
  auto options = fe::graph::SDPA_backward_attributes().set_name("gradient of attention");
  mask(options, b);
  options.set_deterministic_algorithm(p.deterministic != 0);
  // Without these the float32 sums of the gradients take sequences * longest rows.
  options.set_max_total_seq_len_q(p.tokens).set_max_total_seq_len_kv(p.tokens);
  const Tensor dq_offsets = b.offsets(slot_dq), dkv_offsets = b.offsets(slot_dkv);
  const Tensor q = b.input(slot_q, p.H, p.q, b.offsets(slot_q));
  const Tensor k = b.input(slot_k, p.K, p.k, b.offsets(slot_k));
  const Tensor v = b.input(slot_v, p.K, p.v, b.offsets(slot_v));
  const Tensor out = b.input(slot_out, p.H, p.out, b.offsets(slot_out));
  const Tensor dout = b.input(slot_dout, p.H, p.dout, b.offsets(slot_dout));
  const Tensor lse = b.graph.tensor(b.statistics().set_ragged_offset(b.offsets(slot_lse)));
  auto [dq, dk, dv] = b.graph.sdpa_backward(q, k, v, out, dout, lse, options);
  b.output(dq, b.heads(slot_dq, p.H, p.D, p.dq), dq_offsets);
  b.output(dk, b.heads(slot_dk, p.K, p.D, p.dkv), dkv_offsets);
  b.output(dv, b.heads(slot_dv, p.K, p.D, p.dkv), dkv_offsets);
}

std::string text(const Problem& p) {
  return std::string(p.backward() ? "the gradient of " : "") + "attention with " + std::to_string(p.H) +
         " query heads, " + std::to_string(p.K) + " kv heads and a head dimension of " + std::to_string(p.D) +
         ", for " + std::to_string(p.sequences) + " sequences of at most " + std::to_string(p.longest) + " tokens";
}

}  // namespace

Plan::Plan(const Cudnn& cudnn, const Problem& problem) : parts_(std::make_unique<Parts>()) {
  const std::string what = "cuDNN " + cudnn.version() + " has no plan for " + text(problem);
  try {
    parts_->handle = static_cast<cudnnHandle_t>(cudnn.handle());
    fe::graph::Graph& graph = parts_->graph;
    graph.set_io_data_type(fe::DataType_t::BFLOAT16)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT)
        .set_sm_version(static_cast<int32_t>(problem.capability));
    Builder builder{graph, problem};
    if (problem.backward())
      add_backward(builder);
    else
      add_forward(builder);
    check(graph.build(parts_->handle, {fe::HeurMode_t::A}), Status::unavailable, what.c_str());
    int64_t bytes = 0;
    check(graph.get_workspace_size(bytes), Status::unavailable, what.c_str());
    workspace_ = static_cast<size_t>(bytes);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& failure) {  // the headers throw if a function cannot be found
    throw Error(Status::unavailable, what + ": " + failure.what());
  }
}

Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;

void Plan::run(Arguments& arguments, void* workspace) const {
  check(parts_->graph.execute(parts_->handle, arguments, workspace), Status::device, "running attention by cuDNN");
}

}  // namespace millrace

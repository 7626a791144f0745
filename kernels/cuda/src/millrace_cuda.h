/* The C ABI of the CUDA library.
 *
 * Every call takes a pointer to one struct of fixed layout, whose first field is the
 * report that the call writes: status 0, or what kind of failure it is, and its text.
 * No exception crosses. After MR_DEVICE every later call on that device fails too;
 * after any other failure the handles are as they were.
 *
 * Calls on one device, and on its policies and engines, may come from any thread; they take
 * turns, in the order in which they come.
 * Memory that a struct points to is the caller's, and is not used after the call
 * returns. Numbers are little-endian, and host tensors row-major float32 with Hugging
 * Face's names and shapes.
 *
 * A change of a struct or of a meaning raises MR_ABI_VERSION. */
#ifndef MILLRACE_CUDA_H
#define MILLRACE_CUDA_H

#include <stdint.h>

#define MR_ABI_VERSION 2

#ifdef __cplusplus
extern "C" {
#endif

enum {
  MR_OK = 0,
  MR_INVALID = 1,       /* the caller's arguments; nothing was done */
  MR_UNAVAILABLE = 2,   /* a library, a driver or a capability is missing */
  MR_OUT_OF_MEMORY = 3, /* the device's; nothing was done */
  MR_DEVICE = 4,        /* the device failed */
  MR_INTERNAL = 5       /* a fault of the library, or host memory is full */
};

typedef struct {
  int32_t status;
  char text[1020]; /* ends with 0; empty if status is 0 */
} mr_report;

typedef struct mr_device mr_device;
typedef struct mr_policy mr_policy;
typedef struct mr_engine mr_engine;

typedef struct {
  char name[128];
  int32_t capability; /* 90 for compute capability 9.0 */
  int32_t processors; /* streaming multiprocessors */
  uint64_t total_bytes;
} mr_device_info;

enum { MR_MOST_DEVICES = 16 };

/* mr_devices lists the devices. Without a driver or a device it fails with
 * MR_UNAVAILABLE. Versions are 1000*major + 10*minor. */
typedef struct {
  mr_report report;
  int32_t driver_version, runtime_version; /* of CUDA; 0 where there is none */
  int32_t count, reserved;
  mr_device_info devices[MR_MOST_DEVICES];
} mr_devices_call;

/* mr_open opens a device for this process. */
typedef struct {
  mr_report report;
  int32_t ordinal, reserved;
  mr_device* device; /* out */
} mr_open_call;

/* mr_close closes a device. Its policies and engines must be gone. */
typedef struct {
  mr_report report;
  mr_device* device;
} mr_close_call;

/* mr_memory tells the device's memory. */
typedef struct {
  mr_report report;
  mr_device* device;
  uint64_t free_bytes, total_bytes; /* out */
} mr_memory_call;

typedef struct {
  int64_t vocab, hidden, intermediate, layers, heads, kv_heads, head_dim, max_positions;
  double eps, theta;
  int32_t tied, reserved;
} mr_shape;

enum { MR_FP32 = 0, MR_BF16 = 1 };
enum { MR_RECOMPUTE_AUTO = 0, MR_RECOMPUTE_NONE = 1, MR_RECOMPUTE_CHEAP = 2, MR_RECOMPUTE_BLOCK = 3 };

/* mr_create makes a policy whose weights are zero. */
typedef struct {
  mr_report report;
  mr_device* device;
  mr_shape shape;
  int32_t precision, recompute;
  mr_policy* policy;    /* out */
  char attention[64];   /* out: its implementation */
  char attention_why[512]; /* out: why it is not a faster one; empty if it is, or was not asked for */
} mr_create_call;

typedef struct {
  mr_report report;
  mr_policy* policy;
} mr_destroy_call;

enum { MR_WEIGHT = 0, MR_EXP_AVG = 1, MR_EXP_AVG_SQ = 2, MR_GRADIENT = 3 };

/* mr_write and mr_read move one tensor. A weight keeps all of its 32 bits in either
 * precision. */
typedef struct {
  mr_report report;
  mr_policy* policy;
  char name[128];
  float* data;
  int64_t n;
  int32_t kind, reserved;
} mr_tensor_call;

/* mr_restart drops the gradients and sets the number of steps taken; at 0 it clears the
 * moments. */
typedef struct {
  mr_report report;
  mr_policy* policy;
  int64_t steps;
} mr_restart_call;

/* kernels.Loss in Go says what the fields do. */
typedef struct {
  int32_t supervised, sequence_ratio, clipped_weight, reserved;
  double clip_low, clip_high, dual_clip;
  double kl_coefficient, entropy_coefficient;
  double truncated_is;
  double temperature;
} mr_loss;

/* mr_target is a token whose log-probability is asked for: predicted from row of the
 * pack, which is the position before it. mr_log_probs reads row, token and sequence. */
typedef struct {
  int32_t row, token;
  int32_t sequence;
  int32_t has_behaviour; /* 0: the ratio is 1 */
  float behaviour, reference;
  double advantage;
  double denominator; /* its loss is divided by this */
} mr_target;

typedef struct {
  double log_prob, entropy, loss; /* loss before division */
  double ratio, kl, difference;
  int32_t clipped, finite; /* finite is 0 if loss or gradient is NaN or infinite */
} mr_outcome;

/* mr_accumulate adds the gradients of a micro-batch. mr_log_probs writes log_prob and
 * finite of each outcome, and takes of the loss only the temperature. Sequence b is
 * tokens[starts[b] .. starts[b+1]); targets are in the order of their rows. */
typedef struct {
  mr_report report;
  mr_policy* policy;
  const int32_t* tokens;
  const int32_t* starts; /* [sequences+1] */
  const mr_target* targets;
  mr_outcome* outcomes; /* [n_targets], out */
  int64_t sequences, n_targets;
  mr_loss loss;
  uint64_t bytes;    /* out: of device memory for activations and logits */
  int32_t recompute; /* out: what was chosen */
  int32_t reserved;
} mr_pack_call;

/* mr_step applies AdamW and clears the gradients. Where finite comes out as 0, the norm
 * or an outcome since the last step was not finite, and weights and moments are as
 * before. */
typedef struct {
  mr_report report;
  mr_policy* policy;
  double learning_rate, beta1, beta2, epsilon, weight_decay;
  double clip_norm; /* 0 does not clip */
  double norm;      /* out: of the gradients before clipping */
  int32_t finite, reserved; /* out */
} mr_step_call;

/* mr_publish makes the weights of the last step those that are sampled from, as a policy
 * version. It copies nothing. From then on steps write to a second buffer, which the
 * first call allocates, until the next publish. */
typedef struct {
  mr_report report;
  mr_policy* policy;
  int64_t version;
} mr_publish_call;

/* mr_engine_create makes an engine for policies of a policy's shape and precision, on its
 * device. A tick has at most so many rows, or as many as sequences if those are more. The
 * cache has at most so many pages and bytes; 0 bytes are a quarter of what is free. */
typedef struct {
  mr_report report;
  mr_policy* policy;
  int64_t rows, sequences;
  uint64_t cache_bytes;
  int64_t pages;     /* in: at most; out */
  mr_engine* engine; /* out */
} mr_engine_create_call;

typedef struct {
  mr_report report;
  mr_engine* engine;
} mr_engine_destroy_call;

enum { MR_PAGE_TOKENS = 64 }; /* positions in a page of the cache */

/* kernels.Sampling in Go says what the fields do. */
typedef struct {
  uint64_t seed;
  int64_t position; /* of the token to sample in its sequence */
  float temperature, top_p, min_p;
  int32_t top_k;
} mr_sampling;

typedef struct {
  int32_t token;             /* -1: the logits are not finite */
  float log_prob;            /* under the distribution sampled from */
  float log_prob_untempered; /* under the softmax of the logits */
  int32_t reserved;
} mr_sampled;

/* mr_tick takes every sequence of a tick one step further, by the published weights of a
 * policy. Sequence b is the rows tokens[starts[b] .. starts[b+1]), the last positions of its
 * lengths[b]; keys and values of all positions before lie in the pages of its row of
 * page_table [sequences, table_stride], and those of the tick's rows are written there. The
 * token behind each row of sampled_rows is sampled. */
typedef struct {
  mr_report report;
  mr_engine* engine;
  mr_policy* policy;
  const int32_t* tokens;
  const int32_t* starts;  /* [sequences+1] */
  const int32_t* lengths; /* [sequences] */
  const int32_t* page_table;
  const int32_t* sampled_rows;  /* [samples] */
  const mr_sampling* samplings; /* [samples] */
  mr_sampled* sampled;          /* [samples], out */
  int64_t sequences, table_stride, samples;
  int64_t version; /* out: of the policy */
} mr_tick_call;

int32_t mr_abi_version(void);

/* mr_layout is a line "struct.field offset size" for each field of each struct, and a
 * line "struct size" for each struct: what a caller in another language compares its own
 * with. */
const char* mr_layout(void);

void mr_devices(mr_devices_call*);
void mr_open(mr_open_call*);
void mr_close(mr_close_call*);
void mr_memory(mr_memory_call*);
void mr_create(mr_create_call*);
void mr_destroy(mr_destroy_call*);
void mr_write(mr_tensor_call*);
void mr_read(mr_tensor_call*);
void mr_restart(mr_restart_call*);
void mr_accumulate(mr_pack_call*);
void mr_log_probs(mr_pack_call*);
void mr_step(mr_step_call*);
void mr_publish(mr_publish_call*);
void mr_engine_create(mr_engine_create_call*);
void mr_engine_destroy(mr_engine_destroy_call*);
void mr_tick(mr_tick_call*);

#ifdef __cplusplus
}
#endif

#endif

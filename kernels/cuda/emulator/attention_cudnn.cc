// There is no cuDNN for the emulator, which says so as a machine without it does.
#include "../src/attention.h"

std::unique_ptr<millrace::Attention<millrace::bf16>> millrace::cudnn_attention(const Device&, const Shape&) {
  throw Error(Status::unavailable, "the emulator has no cuDNN");
}

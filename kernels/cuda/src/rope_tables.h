// The tables of rotations, for as many positions as were needed so far.
#pragma once

#include "device.h"
#include "kernels.h"
#include "shape.h"

namespace millrace {

template <class T>
class RopeTables {
 public:
  RopeTables(const Device& device, const Shape& shape) : device_(device), shape_(shape) {}

  // prepare makes room for positions below longest, and tells whether table moved.
  bool prepare(int64_t longest);
  RopeTable<T> table() const { return {cos_.data(), sin_.data()}; }

 private:
  const Device& device_;
  const Shape shape_;
  Buffer<T> cos_, sin_;
  int64_t positions_ = 0;
};

}  // namespace millrace

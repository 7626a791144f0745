#include "rope_tables.h"

#include <algorithm>

#include "number.h"

namespace millrace {

template <class T>
bool RopeTables<T>::prepare(int64_t longest) {
  if (longest <= positions_) return false;
  // Doubling keeps the number of tables made small.
  const int64_t positions = std::min(shape_.max_positions, std::max(longest, 2 * positions_));
  Buffer<T> cos(device_, positions * shape_.D / 2, "rotation table");
  Buffer<T> sin(device_, positions * shape_.D / 2, "rotation table");
  make_rope(device_.stream, cos.data(), sin.data(), positions, shape_.D, shape_.theta);
  cos_ = std::move(cos);
  sin_ = std::move(sin);
  positions_ = positions;
  return true;
}

template class RopeTables<float>;
template class RopeTables<bf16>;

}  // namespace millrace

// Causal attention in float64, written from its formula: a row at position p of its
// sequence sees the keys 0..p.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "shape.h"

namespace millrace::test {

// Heads is a matrix of heads in float64: head h of row r begins at (r*count + h)*D.
struct Heads {
  std::vector<double> data;
  int64_t count, D;
  double* at(int64_t r, int64_t h) { return data.data() + (r * count + h) * D; }
  const double* at(int64_t r, int64_t h) const { return data.data() + (r * count + h) * D; }
  Heads zeros() const { return {std::vector<double>(data.size()), count, D}; }
};

// columns takes heads [first, first+count) of a matrix whose rows have width values.
inline Heads columns(const std::vector<double>& matrix, int64_t width, int64_t first, int64_t count, int64_t D) {
  Heads result{{}, count, D};
  for (size_t r = 0; r < matrix.size() / width; r++)
    result.data.insert(result.data.end(), matrix.begin() + r * width + first * D,
                       matrix.begin() + r * width + (first + count) * D);
  return result;
}

inline double dot(const double* a, const double* b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

// Row is one query's softmax over the keys of rows [first, first+n).
struct Row {
  std::vector<double> p;
  double lse;

  Row(const double* q, const Heads& k, int64_t kv, int64_t first, int64_t n) : p(n) {
    for (int64_t i = 0; i < n; i++) p[i] = dot(q, k.at(first + i, kv), k.D) / std::sqrt(static_cast<double>(k.D));
    const double top = *std::max_element(p.begin(), p.end());
    double sum = 0;
    for (double& x : p) sum += x = std::exp(x - top);
    for (double& x : p) x /= sum;
    lse = top + std::log(sum);
  }
};

struct ReferenceForward {
  Heads out;
  std::vector<double> lse;  // [T,H]

  ReferenceForward(const Heads& q, const Heads& k, const Heads& v, const std::vector<int32_t>& starts)
      : out(q.zeros()) {
    for (size_t b = 0; b + 1 < starts.size(); b++)
      for (int64_t r = starts[b]; r < starts[b + 1]; r++)
        for (int64_t h = 0; h < q.count; h++) {
          const int64_t kv = h / (q.count / k.count);
          const Row row(q.at(r, h), k, kv, starts[b], r - starts[b] + 1);
          lse.push_back(row.lse);
          for (size_t i = 0; i < row.p.size(); i++)
            for (int64_t d = 0; d < q.D; d++) out.at(r, h)[d] += row.p[i] * v.at(starts[b] + i, kv)[d];
        }
  }
};

struct ReferenceBackward {
  Heads dq, dk, dv;

  // out is what the forward pass stored: delta is computed from it.
  ReferenceBackward(const Heads& dout, const Heads& out, const Heads& q, const Heads& k, const Heads& v,
                    const std::vector<int32_t>& starts)
      : dq(q.zeros()), dk(k.zeros()), dv(v.zeros()) {
    const double scale = 1 / std::sqrt(static_cast<double>(q.D));
    for (size_t b = 0; b + 1 < starts.size(); b++)
      for (int64_t r = starts[b]; r < starts[b + 1]; r++)
        for (int64_t h = 0; h < q.count; h++) {
          const int64_t kv = h / (q.count / k.count);
          const Row row(q.at(r, h), k, kv, starts[b], r - starts[b] + 1);
          const double delta = dot(dout.at(r, h), out.at(r, h), q.D);
          for (size_t i = 0; i < row.p.size(); i++) {
            const int64_t key = starts[b] + i;
            const double ds = row.p[i] * (dot(dout.at(r, h), v.at(key, kv), q.D) - delta) * scale;
            for (int64_t d = 0; d < q.D; d++) {
              dq.at(r, h)[d] += ds * k.at(key, kv)[d];
              dk.at(key, kv)[d] += ds * q.at(r, h)[d];
              dv.at(key, kv)[d] += row.p[i] * dout.at(r, h)[d];
            }
          }
        }
  }
};

}  // namespace millrace::test

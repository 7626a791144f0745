// The head in float64, by the definitions of kernels/loss.go: what the loss of a token
// is, with every "without a gradient" written out, and its gradient by difference
// quotients of that.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "check.h"
#include "head.h"

namespace millrace::test {

// Fixed is what the loss of a token takes without a gradient.
struct Fixed {
  double log_prob, mean_difference;
};

inline double token_loss(const LossSettings& l, const Target& t, double log_prob, double entropy, const Fixed& fixed) {
  const double A = t.advantage;
  const double correction = t.has_behaviour ? std::exp(fixed.log_prob - t.behaviour) : 1;
  double rho = std::exp(log_prob - fixed.log_prob);
  if (l.truncated_is == 0 && l.sequence_ratio) {
    rho = std::exp(fixed.mean_difference + log_prob - fixed.log_prob);
  } else if (l.truncated_is == 0 && t.has_behaviour) {
    rho = std::exp(log_prob - t.behaviour);
  }
  const bool clips = l.clip_low != 0 || l.clip_high != 0;
  auto clip = [&](double r) { return clips ? std::clamp(r, 1 - l.clip_low, 1 + l.clip_high) : r; };
  double s;
  if (l.supervised) {
    s = -A * log_prob;
  } else if (l.truncated_is > 0) {
    s = -std::min(correction, l.truncated_is) * A * rho;
  } else if (l.clipped_weight) {
    double weight = l.sequence_ratio ? std::exp(fixed.mean_difference) : correction;
    s = -clip(weight) * A * log_prob;
  } else {
    s = std::max(-A * rho, -A * clip(rho));
    if (l.dual_clip > 0 && A < 0) s = std::min(s, -A * l.dual_clip);
  }
  const double away = t.reference - log_prob;
  const double k3 = l.kl_coefficient != 0 ? std::exp(away) - away - 1 : 0;
  return s + l.kl_coefficient * k3 - l.entropy_coefficient * entropy;
}

// Row is a target in float64.
struct ReferenceRow {
  std::vector<double> log_p;  // of every token
  double log_prob, entropy;
  bool finite;
};

inline ReferenceRow reference_row(const double* logits, int64_t V, int32_t token, double temperature) {
  ReferenceRow row;
  row.log_p.resize(V);
  const double most = *std::max_element(logits, logits + V);
  double sum = 0;
  for (int64_t j = 0; j < V; j++) sum += std::exp((logits[j] - most) / temperature);
  row.entropy = 0;
  row.finite = true;
  for (int64_t j = 0; j < V; j++) {
    row.log_p[j] = (logits[j] - most) / temperature - std::log(sum);
    if (row.log_p[j] > -700) row.entropy -= std::exp(row.log_p[j]) * row.log_p[j];
    row.finite = row.finite && std::isfinite(logits[j]);
  }
  row.log_prob = row.log_p[token];
  return row;
}

// HeadReference is everything Head::train computes. A bound is how far a value may be
// off: the rounding of the gradient by the logits to T, of what it is computed from in
// float, and of the result.
struct HeadReference {
  int64_t n, V, C;
  std::vector<ReferenceRow> rows;
  std::vector<double> mean;  // of the differences of each target's sequence
  std::vector<Outcome> outcome;
  std::vector<double> dlogits, dlogits_bound;
  std::vector<double> dhidden, dhidden_bound, dweight, dweight_bound;

  template <class T>
  HeadReference(const std::vector<T>& hidden, const std::vector<T>& weight, int64_t V, int64_t C)
      : n(hidden.size() / C), V(V), C(C), h(doubles(hidden)), w(doubles(weight)), logits(n * V), rounding(unit<T>) {
    for (int64_t i = 0; i < n; i++) {
      for (int64_t j = 0; j < V; j++) {
        for (int64_t c = 0; c < C; c++) logits[i * V + j] += h[i * C + c] * w[j * C + c];
      }
    }
  }

  // observe sets rows.
  void observe(const std::vector<Target>& targets, double temperature) {
    rows.clear();
    for (int64_t i = 0; i < n; i++) rows.push_back(reference_row(&logits[i * V], V, targets[i].token, temperature));
  }

  void train(const std::vector<Target>& targets, const LossSettings& l) {
    observe(targets, l.temperature);
    mean.assign(n, 0);
    for (int64_t i = 0; i < n; i++) {
      double sum = 0, tokens = 0;
      for (int64_t k = 0; k < n; k++) {
        if (targets[k].sequence != targets[i].sequence) continue;
        sum += difference(targets[k], rows[k]);
        tokens++;
      }
      mean[i] = sum / tokens;
    }
    outcome.assign(n, {});
    dlogits.assign(n * V, 0);
    dlogits_bound.assign(n * V, 0);
    for (int64_t i = 0; i < n; i++) train_row(i, targets[i], l);
    multiply();
  }

 private:
  static double difference(const Target& t, const ReferenceRow& row) {
    return t.has_behaviour ? row.log_prob - t.behaviour : 0;
  }

  void train_row(int64_t i, const Target& t, const LossSettings& l) {
    const ReferenceRow& row = rows[i];
    const Fixed fixed = {row.log_prob, mean[i]};
    auto loss = [&](double log_prob, double entropy) { return token_loss(l, t, log_prob, entropy, fixed); };
    Outcome& o = outcome[i];
    o.log_prob = row.log_prob;
    o.entropy = row.entropy;
    o.loss = loss(row.log_prob, row.entropy);
    o.difference = difference(t, row);
    o.ratio = std::exp(o.difference);
    o.kl = o.ratio - o.difference - 1;
    LossSettings free = l;
    free.clip_low = free.clip_high = free.dual_clip = 0;
    if (l.truncated_is > 0) free.truncated_is = 1e300;
    const double unclipped = token_loss(free, t, row.log_prob, row.entropy, fixed);
    o.clipped = t.advantage != 0 && std::fabs(o.loss - unclipped) > 1e-12 * std::fabs(unclipped);

    const double step = 1e-6;
    const double g = (loss(row.log_prob + step, row.entropy) - loss(row.log_prob - step, row.entropy)) / (2 * step);
    const double b = (loss(row.log_prob, row.entropy + step) - loss(row.log_prob, row.entropy - step)) / (2 * step);
    o.finite = row.finite && std::isfinite(o.loss) && std::isfinite(g);
    if (!o.finite) return;
    // What a log-probability that is off by its own bound does to g, whose parts may
    // cancel: policy gradient against KL.
    const double wide = 1e-4, off = 1e-5 * std::fmax(1, std::fabs(row.log_prob));
    const double above = loss(row.log_prob + wide, row.entropy), below = loss(row.log_prob - wide, row.entropy);
    const double bend = std::fabs(above - 2 * o.loss + below) / (wide * wide);
    const double by = 1 / (t.denominator * l.temperature);
    for (int64_t j = 0; j < V; j++) {
      const double p = std::exp(row.log_p[j]), token = j == t.token;
      const double about = std::fabs(g) * (token + p) + std::fabs(b) * p * (std::fabs(row.log_p[j]) + row.entropy);
      dlogits[i * V + j] = by * (g * (token - p) - b * p * (row.log_p[j] + row.entropy));
      dlogits_bound[i * V + j] =
          rounding * std::fabs(dlogits[i * V + j]) + by * (2e-5 * about + off * bend * (token + p));
    }
  }

  void multiply() {
    // A product's own sums in float32, of at most this many terms.
    const double summing = static_cast<double>(std::max(n, V)) * unit<float>;
    dhidden.assign(n * C, 0);
    dhidden_bound.assign(n * C, 1e-30);
    dweight.assign(V * C, 0);
    dweight_bound.assign(V * C, 1e-30);
    for (int64_t i = 0; i < n; i++) {
      for (int64_t j = 0; j < V; j++) {
        const double d = dlogits[i * V + j], bound = dlogits_bound[i * V + j] + summing * std::fabs(d);
        if (d == 0) continue;
        for (int64_t c = 0; c < C; c++) {
          dhidden[i * C + c] += d * w[j * C + c];
          dhidden_bound[i * C + c] += bound * std::fabs(w[j * C + c]);
          dweight[j * C + c] += d * h[i * C + c];
          dweight_bound[j * C + c] += bound * std::fabs(h[i * C + c]);
        }
      }
    }
    for (int64_t k = 0; k < n * C; k++) dhidden_bound[k] += rounding * std::fabs(dhidden[k]);
  }

  std::vector<double> h, w, logits;
  double rounding;
};

}  // namespace millrace::test

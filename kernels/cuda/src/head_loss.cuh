// The loss of one trained token and its slopes, in double: the formulas of
// kernels/loss.go, whose doc comment has their sources.
#pragma once

#include <cfloat>

#include "head.h"

namespace millrace {

__device__ inline bool is_finite(double x) { return fabs(x) <= DBL_MAX; }
__device__ inline bool is_finite(float x) { return fabsf(x) <= FLT_MAX; }

// Slopes are the derivatives of a token's loss, before division, by its
// log-probability and by the entropy of its distribution.
struct Slopes {
  double by_log_prob, by_entropy;
};

// difference_of is log-probability minus behaviour log-probability, 0 without one.
__device__ inline double difference_of(const Target& target, double log_prob) {
  return target.has_behaviour ? log_prob - target.behaviour : 0;
}

// clip bounds a ratio as the settings say.
__device__ inline double clip(const LossSettings& settings, double ratio) {
  if (settings.clip_low == 0 && settings.clip_high == 0) return ratio;
  return fmin(fmax(ratio, 1 - settings.clip_low), 1 + settings.clip_high);
}

// clipped_objective is PPO's surrogate. The derivative of the ratio by the
// log-probability is the ratio itself, of token and sequence alike.
__device__ inline Slopes clipped_objective(Outcome& outcome, const LossSettings& settings, double advantage,
                                           double ratio) {
  Slopes slopes = {-advantage * ratio, 0};
  outcome.loss = -advantage * ratio;
  const double bounded = -advantage * clip(settings, ratio);
  if (bounded > outcome.loss) {
    outcome.loss = bounded;
    outcome.clipped = 1;
    slopes.by_log_prob = 0;
  }
  const double most = -advantage * settings.dual_clip;
  if (settings.dual_clip > 0 && advantage < 0 && most < outcome.loss) {
    outcome.loss = most;
    outcome.clipped = 1;
    slopes.by_log_prob = 0;
  }
  return slopes;
}

// evaluate fills in what follows from an outcome's log_prob and entropy: everything
// but finite. sequence_ratio is read only under that setting.
__device__ inline Slopes evaluate(Outcome& outcome, const LossSettings& settings, const Target& target,
                                  double sequence_ratio) {
  outcome.difference = difference_of(target, outcome.log_prob);
  outcome.ratio = exp(outcome.difference);
  // Tokens are samples of the behaviour policy, so k3 of KL(behaviour, policy) is this.
  outcome.kl = outcome.ratio - outcome.difference - 1;
  outcome.clipped = 0;

  const double advantage = target.advantage;
  const double ratio = settings.sequence_ratio ? sequence_ratio : outcome.ratio;
  Slopes slopes = {0, 0};
  if (settings.supervised) {
    outcome.loss = -advantage * outcome.log_prob;
    slopes.by_log_prob = -advantage;
  } else if (settings.truncated_is > 0) {
    const double weight = fmin(outcome.ratio, settings.truncated_is);
    outcome.loss = slopes.by_log_prob = -weight * advantage;
    outcome.clipped = weight != outcome.ratio;
  } else if (settings.clipped_weight) {
    const double weight = clip(settings, ratio);
    outcome.loss = -weight * advantage * outcome.log_prob;
    slopes.by_log_prob = -weight * advantage;
    outcome.clipped = weight != ratio;
  } else {
    slopes = clipped_objective(outcome, settings, advantage, ratio);
  }
  if (settings.kl_coefficient != 0) {
    const double away = target.reference - outcome.log_prob;
    outcome.loss += settings.kl_coefficient * (exp(away) - away - 1);
    slopes.by_log_prob += settings.kl_coefficient * (1 - exp(away));
  }
  outcome.loss -= settings.entropy_coefficient * outcome.entropy;
  slopes.by_entropy = -settings.entropy_coefficient;
  return slopes;
}

}  // namespace millrace

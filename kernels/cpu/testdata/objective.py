"""Prints the losses that objective_test.go holds kernels/cpu to: two groups of
sequences, of three and of two, with given log-probabilities. Plain Python in float64,
written from the papers' formulas and from verl's reading of them
(verl/trainer/ppo/core_algos.py); nothing in here is shared with the Go code.

    python3 objective.py
"""
from math import exp, sqrt

GROUPS = [[1.0, 0.0, 0.5], [2.0, 0.0]]
MASKS = [[1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 0, 1, 1, 0], [1, 1, 1, 1, 0], [0, 0, 0, 0, 0]]
OLD = [[-1, -.5, -2, 0, 0], [-2, -1.2, 0, 0, 0], [-.3, -9.9, -1.1, -.4, 0], [-2, -.1, -.6, -1.5, 0], [-1] * 5]
NEW = [[-.9, -.9, -1.5, 0, 0], [-.5, -2.6, 0, 0, 0], [-.35, -1, -.8, -.45, 0], [-1.9, -.1, -.9, -1.2, 0], [-1] * 5]
REF = [[-1.2, -.6, -1.9, 0, 0], [-1.6, -1.3, 0, 0, 0], [-.3, -2, -1, -.5, 0], [-2.2, -.15, -.5, -1.4, 0], [-1] * 5]


def grpo(group):
    mean = sum(group) / len(group)
    std = sqrt(sum((r - mean) ** 2 for r in group) / (len(group) - 1))
    return [(r - mean) / (std + 1e-6) for r in group]


def centered(group):
    return [r - sum(group) / len(group) for r in group]


def rloo(group):
    return [r - (sum(group) - r) / (len(group) - 1) for r in group]


def clip(x, low, high):
    return max(1 - low, min(1 + high, x))


def ppo(low, high, c):
    def loss(a, ratio, sequence, new, ref):
        value = max(-a * ratio, -a * clip(ratio, low, high))
        return min(-a * c, value) if a < 0 else value
    return loss


def gspo(low, high):
    return lambda a, ratio, sequence, new, ref: max(-a * sequence, -a * clip(sequence, low, high))


def cispo(low, high):
    return lambda a, ratio, sequence, new, ref: -clip(ratio, low, high) * a * new


def truncated(cap):
    return lambda a, ratio, sequence, new, ref: -min(ratio, cap) * a


def k3(coefficient, inner):
    def loss(a, ratio, sequence, new, ref):
        return inner(a, ratio, sequence, new, ref) + coefficient * (exp(ref - new) - (ref - new) - 1)
    return loss


def losses(advantage, token):
    a = [x for group in GROUPS for x in advantage(group)]
    rows = []
    for i, mask in enumerate(MASKS):
        trained = [t for t, m in enumerate(mask) if m]
        if not trained:
            continue
        sequence = exp(sum(NEW[i][t] - OLD[i][t] for t in trained) / len(trained))
        rows.append([token(a[i], exp(NEW[i][t] - OLD[i][t]), sequence, NEW[i][t], REF[i][t]) for t in trained])
    total, tokens = sum(map(sum, rows)), sum(map(len, rows))
    return dict(token_mean=total / tokens, sequence_sum=total / len(rows),
                sequence_mean=sum(sum(r) / len(r) for r in rows) / len(rows), constant=total / 5)


for name, a, token in (
        ("ppo .2 .2 c 3, grpo", grpo, ppo(.2, .2, 3)),
        ("ppo .2 .28 c 3, grpo", grpo, ppo(.2, .28, 3)),
        ("ppo .2 .28, rloo", rloo, ppo(.2, .28, 1e30)),
        ("ppo .2 .28, centered", centered, ppo(.2, .28, 1e30)),
        ("ppo .2 .2 and k3 .001, grpo", grpo, k3(.001, ppo(.2, .2, 1e30))),
        ("gspo 3e-4 4e-4, grpo", grpo, gspo(3e-4, 4e-4)),
        ("gspo .2 .28, grpo", grpo, gspo(.2, .28)),
        ("cispo 10 .2, grpo", grpo, cispo(10, .2)),
        ("truncated 2, rloo", rloo, truncated(2))):
    print(name, {k: float(f"{v:.17g}") for k, v in losses(a, token).items()})

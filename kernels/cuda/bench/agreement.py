"""Whether both sides computed the same before their times are compared."""

from safetensors.torch import load_file

# bfloat16 has 8 bits: logits of size 4 are off by up to 1/64 each, so are
# log-probabilities, and their mean is well below. Loss and norm are sums over 65,536
# tokens of such errors, of both signs.
LOG_PROB, RELATIVE = 0.02, 0.03


def log_probs(mine, theirs):
    """A line: the mean and the largest difference of the first micro-batch's log-probabilities."""
    line = {"part": "agreement", "side": "both", "name": "log-probabilities"}
    if not (mine.exists() and theirs.exists()):
        return line | {"agrees": False, "failed": "one side wrote none"}
    a, b = (load_file(f)["log_probs"] for f in (mine, theirs))
    if a.shape != b.shape:
        return line | {"agrees": False, "failed": f"{a.numel()} and {b.numel()} tokens"}
    difference = (a - b).abs()
    mean, most = difference.mean().item(), difference.max().item()
    return line | {"mean": mean, "most": most, "agrees": mean <= LOG_PROB}


def first_steps(mine, theirs):
    """Whether losses and gradient norms of the same first step are near one another."""
    return all(abs(mine[k] - theirs[k]) <= RELATIVE * max(abs(mine[k]), abs(theirs[k])) for k in ("loss", "norm"))

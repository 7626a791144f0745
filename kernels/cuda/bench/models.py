"""The models and batches that both sides are measured on, and what they cost."""

import importlib.util
import json
import math
import pathlib
import sys
import time

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

# The published Qwen3 shapes with tied embeddings; tiny is for a trial without a GPU.
SIZES = {
    "tiny": {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
             "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 211},
    "0.6B": {"hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16,
             "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936},
    "1.7B": {"hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 28, "num_attention_heads": 16,
             "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936},
    "4B": {"hidden_size": 2560, "intermediate_size": 9728, "num_hidden_layers": 36, "num_attention_heads": 32,
           "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936},
}  # fmt: skip
MICRO_BATCHES = 4  # of 16,384 tokens each, so 65,536 tokens a step
PACKS = {"8x2k": [2048] * 8, "4x4k": [4096] * 4, "1x16k": [16384], "mix": None}
TINY_PACKS = {"8x2k": [8] * 8, "4x4k": [16] * 4, "1x16k": [64], "mix": None}
LOSS = {"ClipLow": 0.2, "ClipHigh": 0.28, "Temperature": 1.0}
ADAMW = {"LearningRate": 1e-6, "Beta1": 0.9, "Beta2": 0.95, "Epsilon": 1e-8, "WeightDecay": 0.1, "ClipNorm": 1.0}


def mixed(total, generator):
    """Lengths as of rollouts: log-normal, the longest several times the median, filling a pack."""
    lengths = []
    while sum(lengths) < total:
        n = math.exp(math.log(total / 10) + 0.8 * torch.randn((), generator=generator).item())
        lengths.append(min(max(int(n), 2), total - sum(lengths)))
    if lengths[-1] < 2:  # a sequence needs a token and what predicts it
        lengths[-2] += lengths.pop()
    return lengths


def write_batches(path, size, seed):
    """Random tokens; behaviour log-probabilities near those of a model that knows nothing."""
    generator = torch.Generator().manual_seed(seed)
    vocabulary = SIZES[size]["vocab_size"]
    packs = TINY_PACKS if size == "tiny" else PACKS
    total = sum(packs["1x16k"])
    shapes, tokens = {}, 0
    for name, lengths in packs.items():
        shapes[name] = []
        for _ in range(MICRO_BATCHES):
            micro = []
            for i, n in enumerate(lengths or mixed(total, generator)):
                ids = torch.randint(vocabulary, (n,), generator=generator).tolist()
                micro.append({"Tokens": ids, "Advantage": 1.0 if i % 2 else -0.7, "Behaviour": -math.log(vocabulary)})
            shapes[name].append(micro)
        tokens = sum(len(q["Tokens"]) for micro in shapes[name] for q in micro)
    path.write_text(json.dumps({"Loss": LOSS | {"Divisor": float(tokens)}, "AdamW": ADAMW, "Shapes": shapes}))


def write_model(directory, size, seed, device):
    """Random weights as transformers initialises them, in bfloat16."""
    torch.manual_seed(seed)
    config = Qwen3Config(
        **SIZES[size], tie_word_embeddings=True, max_position_embeddings=40960, rms_norm_eps=1e-6, use_cache=False
    )
    with torch.device(device):
        Qwen3ForCausalLM(config).bfloat16().save_pretrained(directory)


def parameters(size):
    """Weights of matrices, the head's included, of one model."""
    s = SIZES[size]
    queries, keys = s["num_attention_heads"] * s["head_dim"], s["num_key_value_heads"] * s["head_dim"]
    layer = s["hidden_size"] * (2 * queries + 2 * keys + 3 * s["intermediate_size"])
    return s["num_hidden_layers"] * layer + s["vocab_size"] * s["hidden_size"]


def update_flop(size, lengths):
    """6 a weight of a matrix and token, and 6 * layers * heads' width * length for causal
    attention; what is computed again does not count."""
    s = SIZES[size]
    width = s["num_hidden_layers"] * s["num_attention_heads"] * s["head_dim"]
    return sum(6 * n * (parameters(size) + width * n) for n in lengths)


def decode_bytes(size, sequences, context):
    """What a step must read: each weight of a matrix, and all keys and values, in bfloat16."""
    s = SIZES[size]
    cache = 2 * s["num_hidden_layers"] * s["num_key_value_heads"] * s["head_dim"]
    return 2 * (parameters(size) + sequences * context * cache)


def has_liger():
    return importlib.util.find_spec("liger_kernel") is not None


if __name__ == "__main__":  # a process of its own, whose memory on the GPU ends with it
    chosen, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    write_batches(folder / "batch.json", chosen, seed=time.time_ns() % 2**31)
    write_model(folder / "model", chosen, seed=1, device="cuda")

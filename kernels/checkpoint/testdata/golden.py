"""Writes files with the `safetensors` package of Hugging Face, and reads ours with it.

    pip install safetensors==0.8.0 numpy ml_dtypes transformers
    python golden.py write              -> golden.safetensors, golden.json
    python golden.py check DIRECTORY    loads a directory that checkpoint.Save wrote; prints what was found
"""

import json
import pathlib
import sys

import ml_dtypes
import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

HERE = pathlib.Path(__file__).parent


def write():
    rng = np.random.default_rng(5)
    tensors = {
        "f32": rng.standard_normal((3, 5)).astype(np.float32),
        "f16": np.array([0, -0.0, 1, -2.5, 65504, 6e-8, 6.1e-5, np.inf, -np.inf], np.float16).reshape(3, 3),
        "bf16": np.array([0, -0.0, 1, -2.5, 3.3e38, 1e-40, np.inf, -np.inf], ml_dtypes.bfloat16),
        "größe/漢 \"q\"": rng.standard_normal((1, 2, 1, 4)).astype(np.float32),
        "scalar": np.array(7.25, np.float32),
        "empty": np.zeros((0, 4), np.float32),
    }
    save_file(tensors, HERE / "golden.safetensors", metadata={"format": "np", "note": "<ü>"})
    rows = {}
    for name, a in tensors.items():
        bits = a.astype(np.float32).reshape(-1).view(np.uint32)
        rows[name] = {"shape": list(a.shape), "bits": [int(b) for b in bits]}
    # Rounding to bfloat16 as ml_dtypes has it: pairs of float32 bits and bfloat16 bits.
    hard = np.array([0, 0x80000000, 0x3F800000, 0x3F808000, 0x3F818000, 0x3F808001, 0x3F807FFF, 0x7F7FFFFF, 0x7F7F8000, 0x7F7F7FFF,
                     0x7F800000, 0xFF800000, 0x00000001, 0x00008000, 0x00008001, 0x007FFFFF, 0x0000FFFF], np.uint32)
    floats = np.concatenate([hard, rng.integers(0, 2**32, 200, dtype=np.uint32)]).view(np.float32)
    floats = floats[~np.isnan(floats)]
    rounded = floats.astype(ml_dtypes.bfloat16).view(np.uint16)
    rounding = [[int(f), int(b)] for f, b in zip(floats.view(np.uint32), rounded)]
    (HERE / "golden.json").write_text(json.dumps({"tensors": rows, "rounding": rounding}) + "\n")


def check(directory):
    with safe_open(pathlib.Path(directory) / "model.safetensors", "np") as f:
        print(f.metadata())
        for name in f.keys():
            t = f.get_slice(name)
            print(name, t.get_dtype(), t.get_shape(), float(np.sum(f.get_tensor(name).astype(np.float64))))
    from transformers import AutoConfig, GenerationConfig

    config = AutoConfig.from_pretrained(directory)
    print(type(config).__name__, config.to_dict())
    print(GenerationConfig.from_pretrained(directory).to_dict())


match sys.argv[1:]:
    case ["write"]:
        write()
    case ["check", directory]:
        check(directory)
    case _:
        sys.exit(__doc__)

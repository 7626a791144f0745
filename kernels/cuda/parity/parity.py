"""Compares Millrace's trainer with Hugging Face transformers on two random Qwen3
models: log-probabilities of all tokens, all logits of a position, the loss, every
gradient and ten AdamW steps. Prints both columns, and exits with 1 if one is too far
off.

    python parity.py --program build/parity [--size large] [--device cuda]

An error is the L2 distance from transformers' float32 eager model over that model's L2
norm; of weights that were stepped it is that of the way they went, in bfloat16. In
float32 it is at most 1e-5. In bfloat16 it is at most twice the larger of transformers'
own two, eager and SDPA, since of two errors that are random roundings of the same size
one exceeds the other by luck; over all gradients, and all ways of weights, together at
most 1.25 times. A way by itself is only printed: AdamW makes as long a step of a
gradient near zero as of any other, and rounding decides in which direction.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import theirs
import torch
from safetensors.torch import load_file

FP32_TOLERANCE, TENSOR_FACTOR, TOGETHER_FACTOR = 1e-5, 2.0, 1.25


def ours(program, directory, job, precision):
    out = directory / f"{precision}.safetensors"
    command = [program, "--model", directory, "--job", job, "--out", out, "--precision", precision]
    run = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE)
    if run.returncode:
        sys.exit(f"parity: {precision}: {program} exits with {run.returncode}")
    print(run.stdout.strip())
    return load_file(out)


def error(want, got):
    return ((got.double() - want.double()).norm() / want.double().norm()).item()


def compare(initial, want, fp32, eager, sdpa, bf16):
    """Prints a row a tensor and returns the number of rows that are too far off."""
    sides = (want, fp32, eager, sdpa, bf16)
    for side in sides[1:]:
        if side.keys() != want.keys():
            sys.exit(f"parity: tensors {sorted(side.keys() ^ want.keys())} are on one side only")
    rows = []
    for name in sorted(want):
        start = initial[name.removeprefix("stepped.")] if name.startswith("stepped.") else torch.zeros(())
        factor = math.inf if name.startswith("stepped.") else TENSOR_FACTOR
        rows.append((name, factor, start, *(side[name] for side in sides)))
    for title, prefix in (("all gradients", "gradient."), ("all ways of weights", "stepped.")):
        parts = [row[2:] for row in rows if row[0].startswith(prefix)]
        joined = (torch.cat([x.expand_as(t[1]).flatten() for x, t in zip(column, parts)]) for column in zip(*parts))
        rows.append((title, TOGETHER_FACTOR, *joined))
    print(f"{'':56} {'float32':>9}   {'bfloat16':>9} {'eager':>9} {'sdpa':>9}")
    wrong = 0
    for name, factor, start, reference, single, *rounded in rows:
        exact = error(reference, single)
        e, s, b = (error(reference - start, side - start) for side in rounded)
        good = exact <= FP32_TOLERANCE and b <= factor * max(e, s)  # false for NaN
        wrong += not good
        print(f"{name:56} {exact:9.2e}   {b:9.2e} {e:9.2e} {s:9.2e}{'' if good else '   TOO FAR OFF'}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, type=pathlib.Path, help="the Go program of this folder, compiled")
    parser.add_argument("--size", choices=("small", "large"), default="small", help="small is for the emulator")
    parser.add_argument("--device", default="cpu", help="torch's: cpu or cuda")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)), help="default: a fresh one")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}; torch {torch.__version__} on {arguments.device}")
    torch.set_default_device(arguments.device)
    wrong = 0
    for kind in ("tied", "untied"):
        torch.manual_seed(arguments.seed)
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            theirs.write_model(directory, arguments.size, kind)
            job = theirs.write_batch(directory, arguments.size)
            file = directory / "job.json"
            file.write_text(json.dumps(job))
            print(f"\n{kind}: {theirs.SHAPES[arguments.size, kind]}")
            want = theirs.compute(directory, job, torch.float32, "eager")
            eager, sdpa = (theirs.compute(directory, job, torch.bfloat16, a) for a in ("eager", "sdpa"))
            fp32, bf16 = (ours(arguments.program, directory, file, p) for p in ("fp32", "bf16"))
            wrong += compare(load_file(directory / "model.safetensors"), want, fp32, eager, sdpa, bf16)
    print(f"\n{wrong} too far off; seed {arguments.seed}")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()

"""Measures Millrace's learner on a GPU against PyTorch, part by part, each part within
nine minutes. "make bench-gpu PART=..." runs it.

    python bench.py update-0.6B update-1.7B update-4B memory head optimizer norm attention decode publish
    python bench.py table       # what has been measured so far

Turns alternate, ours, theirs, ours, theirs, and each is a process of its own that
prints a line of JSON for each measurement: a turn that fails costs itself alone. Before
every part the ceilings of that day are measured. An update's first numbers must agree
with PyTorch's, or its times do not count.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import agreement
import models
import table
from watch import Watch

HERE = pathlib.Path(__file__).parent
BUILD = HERE.parent / "build"
ROUNDS = 3
PART_SECONDS, TURN_SECONDS = 520, 240
SHAPES = [f"--shape={name}" for name in models.PACKS]
KERNELS = ("head", "optimizer", "norm", "attention")


class Run:
    """One call: its deadline, and the file that every line goes to."""

    def __init__(self, results):
        self.deadline = time.monotonic() + PART_SECONDS
        self.results = results

    def turn(self, title, command, **facts):
        """Runs a process and records its lines with facts and the device's state added."""
        left = min(self.deadline - time.monotonic(), TURN_SECONDS)
        if left < 20:
            print(f"{title}: left out, the time of this part is over", flush=True)
            return []
        print(f"{title} ...", end=" ", flush=True)
        start = time.monotonic()
        with Watch() as watch:
            try:
                done = subprocess.run(
                    [str(c) for c in command], check=False, capture_output=True, text=True, timeout=left
                )
                out, err, code = done.stdout, done.stderr, done.returncode
            except subprocess.TimeoutExpired as late:
                out, err, code = late.stdout or "", f"no end after {left:.0f} s", -1
                if isinstance(out, bytes):  # as what was read before it is in some versions of Python
                    out = out.decode(errors="replace")
        lines = [
            json.loads(x) | facts | watch.summary() for x in out.splitlines() if x.startswith("{") and x.endswith("}")
        ]
        print(f"{time.monotonic() - start:.0f} s, {len(lines)} lines, {watch.summary()}", flush=True)
        if code:
            print(f"{title} failed ({code}): {err.strip()[-1500:]}", flush=True)
        self.record(lines)
        return lines

    def record(self, lines):
        with self.results.open("a") as file:
            file.writelines(json.dumps(x) + "\n" for x in lines)


def ours(*arguments):
    return [BUILD / "bench", *arguments]


def torch_update(*arguments):
    return [sys.executable, HERE / "torch_update.py", *arguments]


def prepare(directory, size):
    """Writes model and batches that both sides read."""
    subprocess.run([sys.executable, HERE / "models.py", size, directory], check=True, timeout=TURN_SECONDS)
    return [f"--model={directory / 'model'}", f"--batch={directory / 'batch.json'}"]


def update(run, size):
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        common = [*prepare(directory, size), f"--steps={1 if size == '4B' else 2}"]
        for round_ in range(ROUNDS):
            facts = {"model": size, "round": round_}
            mine = directory / "ours.safetensors"
            theirs = directory / "theirs.safetensors"
            run.turn(f"{size} ours", ours("update", *common, *SHAPES, f"--log-probs={mine}"), **facts)
            for attention in ("varlen", "cudnn"):
                command = torch_update(*common, *SHAPES, f"--attention={attention}", f"--log-probs={theirs}")
                run.turn(f"{size} B1 {attention}", command, **facts)
                if round_ == 0:
                    run.record([agreement.log_probs(mine, theirs) | facts])
        for baseline in ("B0", "B2"):
            if baseline == "B0" or models.has_liger():
                attention = "sdpa" if baseline == "B0" else "varlen"
                command = torch_update(*common, *SHAPES, f"--baseline={baseline}", f"--attention={attention}")
                run.turn(f"{size} {baseline}", command, model=size, round=0)


def memory(run):
    """One batch a process, so that the device's own count of its memory is that batch's."""
    for size in ("0.6B", "1.7B", "4B"):
        with tempfile.TemporaryDirectory() as name:
            common = [*prepare(pathlib.Path(name), size), "--shape=4x4k", "--steps=1"]
            facts = {"model": size, "part": "memory"}
            run.turn(f"{size} ours", ours("update", *common), **facts)
            run.turn(f"{size} B1", torch_update(*common, "--attention=varlen"), **facts)


def kernels(run, part):
    for round_ in range(ROUNDS):
        run.turn(f"{part} ours", [BUILD / "millrace_cuda_bench", part], round=round_)
        if part != "norm":  # held to the copy, not to torch
            run.turn(f"{part} torch", [sys.executable, HERE / "torch_kernels.py", part], round=round_)


def publish(run):
    for size in ("0.6B", "4B"):
        with tempfile.TemporaryDirectory() as name:
            command = ours("publish", *prepare(pathlib.Path(name), size), "--shape=8x2k", "--times=5")
            run.turn(f"publish {size} ours", command, model=size)
    run.turn("publish torch", [sys.executable, HERE / "torch_kernels.py", "publish"])


def decode(run):
    for size in ("0.6B", "4B"):
        with tempfile.TemporaryDirectory() as name:
            common = prepare(pathlib.Path(name), size)
            for round_ in range(ROUNDS):
                for sequences in (1, 64, 256):
                    facts = {"model": size, "round": round_}
                    command = ours("decode", *common, f"--sequences={sequences}")
                    run.turn(f"{size} ours, batch {sequences}", command, **facts)
                    if sequences == 1:
                        command = [sys.executable, HERE / "torch_decode.py", common[0], "--sequences=1"]
                        run.turn(f"{size} generate, batch 1", command, **facts)


PARTS = {f"update-{size}": lambda run, size=size: update(run, size) for size in ("0.6B", "1.7B", "4B")}
PARTS |= {"memory": memory, "publish": publish, "decode": decode}
PARTS |= {part: lambda run, part=part: kernels(run, part) for part in KERNELS}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="+", choices=(*PARTS, "table"))
    parser.add_argument("--results", type=pathlib.Path, default=BUILD / "bench-results.jsonl")
    arguments = parser.parse_args()
    for part in arguments.part:
        if part == "table":
            continue
        formula = " ".join(models.update_flop.__doc__.split())
        print(f"== {part}; FLOP of an update, for its share of 989 TFLOP/s (MFU): {formula}", flush=True)
        run = Run(arguments.results)
        run.turn("ceilings ours", [BUILD / "millrace_cuda_bench", "ceilings"])
        run.turn("ceilings torch", [sys.executable, HERE / "torch_kernels.py", "ceilings"])
        PARTS[part](run)
    print(table.render(arguments.results))


if __name__ == "__main__":
    main()

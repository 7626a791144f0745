"""The table of what has been measured: quantity, ours, B1, ratio, target, met or not."""

import json
import statistics

import agreement
import models

PEAK_FLOP = 989e12  # bfloat16, dense, by NVIDIA's data sheet
SPEEDUP = {"0.6B": 1.25, "1.7B": 1.25, "4B": 1.1}
MFU_GOAL = {"0.6B": 45, "1.7B": 53, "4B": 55}
PEAK_BYTES = 4.8e12  # a second, from memory, by the same
DECODE_GOAL = {"B=64": 55, "B=256": 55}  # % of the roofline
GENERATE_RATIO = 5  # at 0.6B, one sequence
HEAD_BYTES, HEAD_RATIO, COPY_SHARE, MEMORY_RATIO, PUBLISH_MS = 2**30, 1.15, 0.85, 0.7, 10


class Results:
    def __init__(self, path):
        lines = path.read_text().splitlines() if path.exists() else []
        self.lines = [json.loads(x) for x in lines]

    def of(self, **want):
        return [x for x in self.lines if all(x.get(k) == v for k, v in want.items())]

    def median(self, field, lines):
        values = [x[field] for x in lines if field in x]
        return statistics.median(values) if values else None

    def best(self, **want):
        """The median time of the faster of B1's implementations."""
        lines = [x for x in self.of(side="B1", **want) if "ms" in x and x.get("step", 0) >= 0]
        times = [self.median("ms", [x for x in lines if x.get("by") == by]) for by in {x.get("by") for x in lines}]
        return min(times) if times else None


def row(quantity, ours, theirs, ratio, goal, met):
    def text(x):
        return "-" if x is None else x if isinstance(x, str) else f"{x:.3g}"

    verdict = {True: "yes", False: "no", None: "-"}[met]
    return f"| {quantity} | {text(ours)} | {text(theirs)} | {text(ratio)} | {goal} | {verdict} |"


def updates(r):
    for size, speedup in SPEEDUP.items():
        agreed = [x["agrees"] for x in r.of(part="agreement", model=size)]
        for pack in models.PACKS:
            mine = [x for x in r.of(part="update", side="ours", model=size, name=pack) if x["step"] >= 0]
            ms = r.median("ms", mine)
            theirs = r.best(part="update", model=size, name=pack)
            if ms is None:
                continue
            tokens = mine[0]["tokens"]
            rate = tokens / ms * 1000
            other = theirs and tokens / theirs * 1000
            ratio = other and rate / other
            met = None if ratio is None else ratio >= speedup and bool(agreed) and all(agreed) and first(r, size, pack)
            yield row(f"update {size} {pack}, tokens/s", rate, other, ratio, f">= {speedup}", met)
            lengths = models.PACKS[pack]
            if pack == "4x4k":
                flop = models.MICRO_BATCHES * models.update_flop(size, lengths)
                share = [t and 100 * flop / (t / 1000) / PEAK_FLOP for t in (ms, theirs)]
                yield row(f"MFU {size} {pack}, %", *share, None, f">= {MFU_GOAL[size]}", share[0] >= MFU_GOAL[size])


def first(r, size, pack):
    """Whether the first steps of the first round agree with each of B1's."""
    steps = [[x for x in r.of(part="update", side=side, model=size, name=pack, round=0) if "loss" in x]
             for side in ("ours", "B1")]  # fmt: skip
    earliest = min(x["step"] for x in steps[0]) if steps[0] else None
    mine, theirs = ([x for x in side if x["step"] == earliest] for side in steps)
    return bool(mine and theirs) and all(agreement.first_steps(mine[-1], x) for x in theirs)


def memory(r):
    for size in SPEEDUP:
        mine, theirs = (r.median("peak_mib", r.of(part="memory", model=size, side=s)) for s in ("ours", "B1"))
        if mine:
            ratio = theirs and mine / theirs
            met = ratio and ratio <= MEMORY_RATIO
            yield row(f"peak memory {size} 4x4k, MiB", mine, theirs, ratio, f"<= {MEMORY_RATIO}", met)


def head(r):
    for name in ("C=1024", "C=2560", "C=4096"):
        mine = r.of(part="head", side="ours", name=name)
        ms, products = (r.median("ms", r.of(part="head", side="ours", name=n)) for n in (name, f"{name} products"))
        if not ms:
            continue
        theirs = r.of(part="head", side="B1", name=name)
        other = r.median("ms", theirs)
        yield row(f"head {name}, ms", ms, other, other and other / ms, "", None)
        if products:
            share = ms / products
            yield row(f"head {name}, times its products", share, None, None, f"<= {HEAD_RATIO}", share <= HEAD_RATIO)
        extra, most = (r.median("extra_bytes", x) for x in (mine, theirs))
        ratio = most and extra / most
        goal = f"<= {HEAD_BYTES / 2**20:.0f}"
        yield row(f"head {name}, extra MiB", extra / 2**20, most and most / 2**20, ratio, goal, extra <= HEAD_BYTES)


def bandwidth(r):
    """Bytes a second as a share of the copy's, both in the same call or close to it."""
    copies = [x["bytes"] / x["ms"] for x in r.of(part="ceilings", name="copy") if "ms" in x]
    for part in ("optimizer", "norm"):
        for name in sorted({x["name"] for x in r.of(part=part, side="ours")}):
            mine = r.of(part=part, side="ours", name=name)
            share = 100 * mine[0]["bytes"] / r.median("ms", mine) / max(copies)
            ms, other = r.median("ms", mine), r.best(part=part, name=name)
            yield row(f"{part} {name}, ms", ms, other, other and other / ms, "", None)
            goal = 100 * COPY_SHARE
            yield row(f"{part} {name}, % of the copy", share, None, None, f">= {goal:.0f}", share >= goal)


def attention(r):
    for name in sorted({x["name"] for x in r.of(part="attention", side="ours")}):
        mine = r.of(part="attention", side="ours", name=name)
        sides = [x for side in ("varlen", "cudnn") for x in r.of(part="attention", by=side, name=name)]
        times = [r.median("ms", [x for x in sides if x["by"] == by]) for by in ("varlen", "cudnn")]
        other = min((t for t in times if t), default=None)
        ms = r.median("ms", mine)
        rates = [t and mine[0]["flop"] / t / 1e9 for t in (ms, other)]
        yield row(f"attention {name}, TFLOP/s", *rates, other and other / ms, "", None)


def publish(r):
    for size in ("0.6B", "4B"):
        ms = r.median("ms", r.of(part="publish", side="ours", model=size))
        if ms is not None:
            other = r.median("ms", r.of(part="publish", side="B1", name=size))
            yield row(f"publish {size}, ms", ms, other, other and ms / other, f"< {PUBLISH_MS}", ms < PUBLISH_MS)


def decode(r):
    for size in ("0.6B", "4B"):
        alone = r.of(part="decode", side="ours", model=size, name="B=1")
        for name in ("B=1", "B=64", "B=256"):
            mine = r.of(part="decode", side="ours", model=size, name=name)
            if not mine:
                continue
            ms, other = (r.median("ms", r.of(part="decode", side=s, model=size, name=name)) for s in ("ours", "B1"))
            first = mine[0]
            rate = first["tokens"] / ms * 1000
            ratio = other and other / ms
            wanted = size == "0.6B" and name == "B=1"
            met = ratio >= GENERATE_RATIO if wanted and ratio else None
            goal = f">= {GENERATE_RATIO}" if wanted else ""
            yield row(
                f"decode {size} {name}, tokens/s", rate, other and first["tokens"] / other * 1000, ratio, goal, met
            )
            step = models.decode_bytes(size, first["sequences"], first["context"]) / PEAK_BYTES
            share = 100 * rate * step / first["sequences"]
            goal = DECODE_GOAL.get(name)
            yield row(f"decode {size} {name}, % of the roofline", share, None, None, f">= {goal}" if goal else "",
                      share >= goal if goal else None)  # fmt: skip
            prefill = first["prefill_tokens"] / r.median("prefill_ms", mine) * 1000
            yield row(f"prefill {size} {name}, tokens/s", prefill, None, None, "", None)
            gaps = f"mean {max(x['gap_mean'] for x in mine):.2g}, most {max(x['gap_most'] for x in mine):.2g}"
            yield row(f"engine against learner {size} {name}, log-probability", gaps, None, None, "", None)
            if alone and name != "B=1":
                yield row(f"decode {size} {name} against B=1", same(alone[0], first), None, None, "", None)


def same(one, many):
    """How long the same sequence goes on alike alone and among others, and how far apart its log-probabilities are."""
    pairs = list(zip(one["sampled"], many["sampled"], one["log_probs"], many["log_probs"]))
    alike = next((i for i, (a, b, *_) in enumerate(pairs) if a != b), len(pairs))
    most = max((abs(p - q) for *_, p, q in pairs[:alike]), default=0)
    return f"{alike} of {len(pairs)} tokens alike, {most:.2g} apart"


def render(path):
    """The table as Markdown, of all lines in the file."""
    r = Results(path)
    lines = ["| quantity | ours | B1 | ratio | target | met |", "|---|---|---|---|---|---|"]
    for x in r.of(part="ceilings"):
        if "ms" in x:
            rate = x["flop"] / x["ms"] / 1e9 if "flop" in x else x["bytes"] / x["ms"] / 1e6
            lines.append(f"| {x['name']} by {x['side']} | {rate:.0f} {'TFLOP/s' if 'flop' in x else 'GB/s'} | | | | |")
    for part in (updates, memory, head, bandwidth, attention, decode, publish):
        lines += part(r)
    failed = [f"- {x.get('part')} {x.get('model', '')} {x.get('name')} {x.get('side')}: "
              f"{x.get('failed') or x.get('out_of_memory')}" for x in r.lines if {"failed", "out_of_memory"} & x.keys()]  # fmt: skip
    return "\n".join([*lines, "", *(failed and ["Did not run:", *failed])])

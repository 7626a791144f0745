"""Writes draws.json: what NumPy draws. python3 draws.py (numpy 2.4.6)"""

import json

import numpy as np

SEEDS = [0, 1, 7, 42, 99999, 2**32 - 1, 2**32, 2**63 + 12345]


def generator(seed):
    g = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
    # Draws of both widths in turn: 32-bit ones share halves of a 64-bit one.
    steps = []
    for n in [2, 3, 9, 1, 10, 1000, 2**31 + 11, 4]:
        steps.append({"n": n, "int": int(g.integers(0, n)), "float": float(g.random()).hex()})
    p = 0.6 + 0.25 * g.random()
    tiles = g.choice(["F", "H"], (6, 6), p=[p, 1 - p]).tolist()
    return {"seed": seed, "steps": steps, "p": float(p).hex(), "tiles": ["".join(r) for r in tiles]}


def legacy(seed):
    np.random.seed(seed)
    return {
        "seed": seed,
        "ints": [
            {"low": low, "high": high, "values": np.random.randint(low, high, size=12).tolist()}
            for low, high in [(0, 100000), (2, 10), (5, 6), (2, 5), (-3, 2**31)]
        ],
        "floats": [float(x).hex() for x in np.random.uniform(0.6, 0.85, size=700)][-12:],
    }


with open("draws.json", "w") as f:
    json.dump(
        {
            "generators": [generator(s) for s in SEEDS],
            "legacy": [legacy(s) for s in SEEDS if s < 2**32],
        },
        f,
        indent=1,
    )
    f.write("\n")

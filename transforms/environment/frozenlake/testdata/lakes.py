"""Writes lakes.json: what rLLM's FrozenLake and its agent do.

    python3 lakes.py ENVIRONMENT.py AGENT.py

The arguments are rllm/environments/frozenlake/frozenlake.py and
rllm/agents/frozenlake_agent.py of rllm-org/rllm at 33f147a2. numpy 2.4.6, gymnasium 1.4.0.
"""

import hashlib
import importlib.util
import json
import random
import sys
import types

import numpy as np


def module(name, **content):
    m = types.ModuleType(name)
    m.__dict__.update(content)
    sys.modules[name] = m


class Record:
    def __init__(self, **fields):
        self.__dict__.update(fields)


# What the two files import of rLLM and do not need here.
module("rllm")
module("rllm.environments")
module("rllm.environments.base")
module("rllm.environments.base.base_env", BaseEnv=object)
module("rllm.environments.frozenlake")
module("rllm.types", Action=Record, Step=Record, Trajectory=lambda: Record(steps=[]))
module("rllm.agents")
module("rllm.agents.agent", BaseAgent=object)
module("rllm.agents.system_prompts")


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    m = importlib.util.module_from_spec(spec)
    sys.modules[name] = m
    spec.loader.exec_module(m)
    return m


lake = load("rllm.environments.frozenlake.frozenlake", sys.argv[1])
agent = load("rllm.agents.frozenlake_agent", sys.argv[2]).FrozenLakeAgent()


def walk(seed, size, p, slippery, actions):
    # reset makes the map anew with the default bound, whatever max_steps was given.
    env = lake.FrozenLakeEnv(seed=seed, size=size, p=p, max_steps=8, is_slippery=slippery)
    first, _ = env.reset()
    reach = lake.MAX_STEPS
    steps = []
    for a in actions:
        view, reward, done, _ = env.step(a)
        steps.append({"action": a, "view": view, "reward": float(reward), "done": bool(done)})
        if done:
            break
    board = ["".join(c.decode() for c in row) for row in env.desc]
    return {
        "seed": seed, "size": size, "p": p, "reach": reach, "slippery": slippery,
        "board": board, "first": first, "played": steps,
    }


def board(seed, size, p, reach):
    lake.MAX_STEPS = reach
    rows, _ = lake.generate_random_map(size, p, seed)
    return {"seed": seed, "size": size, "p": p, "reach": reach, "board": rows}


def split():
    np.random.seed(42)
    n, m = 10000, 100
    seeds = [np.random.randint(0, 100000, size=k) for k in (n, m)]
    sizes = [np.random.randint(2, 10, size=k) for k in (n, m)]
    frozen = [np.random.uniform(0.6, 0.85, size=k) for k in (n, m)]
    rows = [
        [int(s), int(z), float(p).hex()]
        for part in range(2)
        for s, z, p in zip(seeds[part], sizes[part], frozen[part])
    ]
    text = "".join(f"{s} {z} {p}\n" for s, z, p in rows)
    return {"rows": [rows[i] for i in (0, 1, 9999, 10000, 10099)], "sha256": hashlib.sha256(text.encode()).hexdigest()}


random.seed(5)
walks = []
for i in range(40):
    walks.append(
        walk(
            random.randrange(100000), random.randrange(2, 10), random.uniform(0.6, 0.85),
            i % 2 == 1, [random.randrange(5) for _ in range(12)],
        )
    )

boards = [
    board(random.randrange(100000), random.randrange(2, 12), random.uniform(0.3, 0.9), random.randrange(1, 12))
    for _ in range(60)
]

turns = [
    "```Left```", "I go ```down```", "```RIGHT\n```", "``` up ```", "```3```", "```0```", "```5```", "``` 4 ```",
    "```Left``` no, ```Right```", "```Left``` and ```nothing```", "Left", "``````", "```left", "",
    "```go left```", "```left```up```", "```left```````up``` tail", "```Left.```", "a ```\nDown\n``` b",
    "```up`` `", "```12```", "```LEFT``` ``` ```",
]
parsed = [{"turn": t, "action": int(agent._parse_model_response(t)[1])} for t in turns]

with open("lakes.json", "w") as f:
    json.dump({"walks": walks, "boards": boards, "split": split(), "turns": parsed}, f, ensure_ascii=False, indent=0)
    f.write("\n")

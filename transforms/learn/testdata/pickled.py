"""The work of BenchmarkDataPlane as a Python trainer does it: records are dicts of
numpy arrays, pickled between the stages; two processes share nothing.

usage: pickled.py TOKENS GROUP TURNS BUDGET MILLISECONDS
prints trajectories a second, over both processes, and trajectories a second of CPU
"""
import multiprocessing
import pickle
import sys
import time

import numpy as np

PROTOCOL = pickle.HIGHEST_PROTOCOL
RECORDED = {"TestA": "pass", "TestB": "pass", "TestC": "fail"}


def dump(record):
    return pickle.dumps(record, protocol=PROTOCOL)


def trajectories(tokens, group, turns):
    width = tokens // turns
    at = np.arange(tokens)
    mask = at % width > 2 * width // 3
    frames = []
    for i in range(group):
        expected = ["TestA", "TestB"] + (["TestC"] if i % 2 else [])
        frames.append(dump({
            "id": f"g#{i}.0", "group_id": "g", "run": "r", "rollout": i, "termination": "finished",
            "task": {"id": "t", "rollouts": group, "statement": "word " * 100, "fail_to_pass": expected,
                     "files": [{"path": "a.go", "content": "line\n" * 100}]},
            "tokens": (at * 7919 % 150000).astype(np.int32),
            "loss_mask": mask,
            "log_probs": np.where(mask, -0.1, 0).astype(np.float32),
            "versions": np.where(mask, 3, -1).astype(np.int32),
            "steps": [{"token_start": k * width + 2 * width // 3, "token_end": (k + 1) * width, "tool": "execute_bash",
                       "action": "act " * (width // 3), "observation": "see " * (2 * width // 3)} for k in range(turns)],
        }))
    return frames


def check(record):
    """The contract that a Go codec checks at each end: lengths, ids, finite log-probs."""
    tokens, mask, log_probs, versions = (record[k] for k in ("tokens", "loss_mask", "log_probs", "versions"))
    assert len(tokens) == len(mask) == len(log_probs) == len(versions)
    assert tokens.min() >= 0 and not mask[0] and np.isfinite(log_probs).all()
    assert (versions[mask] >= 0).all() and (versions[~mask] == -1).all() and (log_probs[~mask] == 0).all()


def plane(frames, budget):
    members = []
    for frame in frames:
        t = pickle.loads(frame)
        check(t)
        expected = sorted(set(t["task"]["fail_to_pass"]))
        passed = [n for n in expected if RECORDED.get(n) == "pass"]
        failed = [n for n in expected if RECORDED.get(n) != "pass"]
        reward = {"trajectory": t, "value": 1.0 if passed and not failed else 0.0, "passed": passed, "failed": failed}
        r = pickle.loads(dump(reward))
        check(r["trajectory"])
        if r["trajectory"]["termination"] not in ("context", "steps", "time"):
            members.append(r)
    members.sort(key=lambda r: r["trajectory"]["rollout"])
    rewards = np.array([r["value"] for r in members])
    n = len(rewards)
    advantages = n / (n - 1) * (rewards - rewards.mean())
    samples = []
    for r, a in zip(members, advantages):
        t = r["trajectory"]
        samples.append({"id": t["id"], "group_id": t["group_id"], "run": t["run"], "rollout": t["rollout"], "reward": r["value"],
                        "advantage": float(a), "weight": 1.0, "turns": len(t["steps"]), "tools": [s["tool"] for s in t["steps"]],
                        "tokens": t["tokens"], "loss_mask": t["loss_mask"], "log_probs": t["log_probs"], "versions": t["versions"]})
    samples = pickle.loads(dump(samples))
    bins, used = [], []
    for i, s in enumerate(samples):
        check(s)
        length = len(s["tokens"])
        for b in range(len(bins)):
            if used[b] + length <= budget:
                bins[b].append(i)
                used[b] += length
                break
        else:
            bins.append([i])
            used.append(length)
    return bins


def work(tokens, group, turns, budget, seconds, results):
    frames = trajectories(tokens, group, turns)
    assert sum(len(b) for b in plane(frames, budget)) == group
    began, spent, done = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - began < seconds:
        plane(frames, budget)
        done += group
    results.put((done / (time.perf_counter() - began), done, time.process_time() - spent))


if __name__ == "__main__":
    tokens, group, turns, budget, milliseconds = map(int, sys.argv[1:])
    results = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=work, args=(tokens, group, turns, budget, milliseconds / 1000, results)) for _ in range(2)]
    for w in workers:
        w.start()
    rates, done, spent = (sum(n) for n in zip(*(results.get() for _ in workers)))
    print(rates, done / spent)
    for w in workers:
        w.join()

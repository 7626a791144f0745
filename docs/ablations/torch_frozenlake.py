"""GRPO++ on FrozenLake by PyTorch, transformers, tokenizers and numpy: an implementation
apart from Millrace's, to hold it against. It shares no code with it and reads nothing but
the files that a run leaves.

    pip install torch transformers pyarrow numpy
    bin/millrace train --config docs/configs/frozenlake.yaml --set learn.keep_every=1 \
        --set steps=1 --set learn.minibatches=1 --dir runs/lake
    python docs/ablations/torch_frozenlake.py check runs/lake
    bin/millrace train --config docs/configs/frozenlake.yaml --set learn.keep_every=1 \
        --set steps=5 --set evaluate.every=0 --dir runs/lake-5
    python docs/ablations/torch_frozenlake.py replay runs/lake-5
    python docs/ablations/torch_frozenlake.py train runs/lake --seed 7 > torch-7.jsonl

check plays the recorded actions of step 1 again, compares the token ids, and computes loss
and gradient of every weight on the recorded samples. replay trains on the recorded samples
of all steps and compares the weights after each. train begins from the run's first
weights, draws its own rollouts, and prints success on the held-out maps.
"""

import argparse
import json
import math
import pathlib

import numpy as np
import pyarrow.dataset
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

# The settings of docs/configs/frozenlake.yaml.
CONTEXT, STEPS, MALFORMED, GROUPS, GROUP, MINIBATCHES = 384, 10, 10, 64, 8, 2
CLIP_LOW, CLIP_HIGH = 0.2, 0.28
ADAM = dict(lr=2e-3, betas=(0.9, 0.99), eps=1e-8, weight_decay=0.0)
CLIP_NORM, REACH = 1.0, 8
EVALUATION_TEMPERATURE, EVALUATION_SAMPLES = 0.7, 4

MOVES = {"left": (0, -1), "down": (1, 0), "right": (0, 1), "up": (-1, 0)}
SHORT = {"l": "left", "d": "down", "r": "right", "u": "up", "1": "left", "2": "down", "3": "right", "4": "up"}


class Lake:
    """A map that is not slippery, and a player on it."""

    def __init__(self, seed, size, p):
        rng = np.random.Generator(np.random.PCG64(seed))
        while True:
            self.tiles = rng.choice(["F", "H"], (size, size), p=[p, 1 - p])
            start = goal = (0, 0)
            while start == goal:
                start = (int(rng.integers(0, size)), int(rng.integers(0, size)))
                goal = (int(rng.integers(0, size)), int(rng.integers(0, size)))
            self.tiles[start], self.tiles[goal] = "S", "G"
            if self.reachable(start):
                break
        self.at, self.goal, self.size, self.seen = start, goal, size, None

    def reachable(self, start):
        frontier, seen = [(start, 0)], set()
        while frontier:
            (row, col), steps = frontier.pop()
            if steps > REACH or (row, col) in seen:
                continue
            seen.add((row, col))
            for down, right in [(1, 0), (0, 1), (-1, 0), (0, -1)]:
                to = (row + down, col + right)
                if not (0 <= to[0] < len(self.tiles) and 0 <= to[1] < len(self.tiles)):
                    continue
                if self.tiles[to] == "G":
                    return True
                if self.tiles[to] != "H":
                    frontier.append((to, steps + 1))
        return False

    def over(self):
        return self.tiles[self.at] in "HG"

    def solved(self):
        return self.tiles[self.at] == "G"

    def move(self, word):
        down, right = MOVES[word]
        to = (self.at[0] + down, self.at[1] + right)
        if 0 <= to[0] < self.size and 0 <= to[1] < self.size:
            self.at = to

    def observe(self):
        """The compact protocol: a word for each hole and, last, one for the goal."""

        def way(to):
            rows, cols = to[0] - self.at[0], to[1] - self.at[1]
            return "u" * -rows + "d" * rows + "l" * -cols + "r" * cols

        holes = [f" O{way(tuple(at))}" for at in np.argwhere(self.tiles == "H").tolist()]
        view = "".join(holes) + f" G{way(self.goal)}"
        text = " same" + view if view == self.seen else view
        self.seen = view
        return text


def action(turn):
    """The last word of a turn that names a direction."""
    words = "".join(c if c.isalnum() else " " for c in turn.lower()).split()
    for word in reversed(words):
        word = SHORT.get(word, word)
        if word in MOVES:
            return word
    return None


def maps(train=10_000, test=200, sizes=(2, 4), frozen=(0.6, 0.85)):
    """The published rule of drawing maps."""
    rng, n = np.random.RandomState(42), train + test
    seeds = rng.randint(0, 100_000, n)
    side = rng.randint(sizes[0], sizes[1] + 1, n)
    ice = rng.uniform(frozen[0], frozen[1], n)
    drawn = [(int(a), int(b), float(c)) for a, b, c in zip(seeds, side, ice)]
    return drawn[:train], drawn[train:]


class Chat:
    """ChatML in token ids."""

    def __init__(self, path):
        self.tokenizer = Tokenizer.from_file(str(path))
        self.start, self.end = (self.tokenizer.token_to_id(f"<|im_{t}|>") for t in ("start", "end"))
        self.stop = {self.end, self.tokenizer.token_to_id("<|endoftext|>")}
        self.newline = self.encode("\n")

    def encode(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def message(self, role, content):
        return [self.start, *self.encode(f"{role}\n{content}"), self.end, *self.newline]

    def answer(self):
        return [self.start, *self.encode("assistant\n")]


class Rollout:
    """One play. A turn is one sampled token."""

    def __init__(self, chat, lake):
        self.chat, self.lake = chat, lake
        self.tokens = chat.message("system", " Walk to G") + chat.message("user", lake.observe()) + chat.answer()
        self.mask, self.steps, self.malformed, self.reason = [False] * len(self.tokens), 0, 0, None

    def take(self, token):
        """Appends the sampled token and what the environment says to it."""
        self.tokens.append(token)
        self.mask.append(True)
        turn = self.chat.tokenizer.decode([token], skip_special_tokens=True)
        word = action(turn)
        if word:
            self.lake.move(word)
        self.steps += 1
        self.malformed = 0 if word else self.malformed + 1  # in a row
        if self.lake.over():
            self.reason = "finished"
        elif self.malformed == MALFORMED:
            self.reason = "malformed"
        elif self.steps == STEPS:
            self.reason = "steps"
        else:
            told = ([] if token in self.chat.stop else [self.chat.end]) + self.chat.newline
            told += self.chat.message("user", self.lake.observe()) + self.chat.answer()
            if len(self.tokens) + len(told) >= CONTEXT:
                self.reason = "context"
            else:
                self.tokens += told
                self.mask += [False] * len(told)
        return self.reason is None


def log_probs(model, sequences):
    """log p(token | before) of each token, 0 at the first: [B, longest]."""
    width = max(map(len, sequences))
    ids = torch.tensor([s + [0] * (width - len(s)) for s in sequences])
    logits = model(ids).logits[:, :-1].float()
    picked = logits.log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]
    return torch.nn.functional.pad(picked, (1, 0))


def objective(now, behaviour, mask, advantage, weighing):
    """GRPO++: clip high, no KL, no entropy, sum / (sequences x context)."""
    ratio = (now - behaviour).exp()
    a = advantage[:, None]
    loss = torch.maximum(-a * ratio, -a * ratio.clamp(1 - CLIP_LOW, 1 + CLIP_HIGH))
    return torch.where(mask, loss, 0).sum() / (weighing * CONTEXT)


def padded(rows, width, kind, fill):
    return torch.tensor([list(r) + [fill] * (width - len(r)) for r in rows], dtype=kind)


def read(run, name):
    return pyarrow.dataset.dataset(run / "data" / name, partitioning="hive").to_table().to_pylist()


def recorded_loss(model, samples):
    """The loss on recorded samples, and by how much the log-probs of their trained tokens differ."""
    now = log_probs(model, [s["tokens"] for s in samples])
    mask = padded([s["loss_mask"] for s in samples], now.shape[1], torch.bool, False)
    behaviour = padded([s["log_probs"] for s in samples], now.shape[1], torch.float32, 0)
    advantage = torch.tensor([s["advantage"] for s in samples])
    loss = objective(now, torch.where(mask, behaviour, 0), mask, advantage, sum(s["weight"] == 1 for s in samples))
    return loss, torch.where(mask, now - behaviour, 0).abs().max()


def update(model, optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP_NORM)
    optimizer.step()


def check(run):
    model = AutoModelForCausalLM.from_pretrained(run / "random", attn_implementation="eager")
    chat = Chat(run / "random" / "tokenizer.json")
    samples = [s for s in read(run, "samples") if s["iteration"] == 0]
    trajectories = {t["trajectory"]["id"]: t["trajectory"] for t in read(run, "trajectories") if t["trajectory"]["iteration"] == 0}
    assert samples and all(s["weight"] == 1 for s in samples), "step 1 of the default recipe has no excluded sample"

    for s in samples:  # the environment, the protocol and the tokens
        recorded = trajectories[s["id"]]
        p = json.loads(recorded["task"]["parameters"])
        play = Rollout(chat, Lake(p["seed"], p["size"], p["p"]))
        sampled = [t for t, v in zip(recorded["tokens"], recorded["versions"]) if v >= 0]
        for token in sampled:
            play.take(token)
        assert play.tokens == s["tokens"][: len(play.tokens)], f"{s['id']}: other tokens"
        assert (play.reason, play.lake.solved()) == (s["termination"], s["reward"] == 1), f"{s['id']}: {play.reason}, not {s['termination']}"
    print(f"{len(samples)} rollouts played again: the same tokens, ends and rewards")

    groups = {}
    for s in samples:
        groups.setdefault(s["group_id"], []).append(s)
    for members in groups.values():
        rewards = np.array([s["reward"] for s in members])
        own = len(rewards) / (len(rewards) - 1) * (rewards - rewards.mean())
        assert np.allclose(own, [s["advantage"] for s in members], atol=1e-12), "other advantages"

    loss, apart = recorded_loss(model, samples)
    loss.backward()
    norm = math.sqrt(sum(p.grad.double().square().sum().item() for p in model.parameters()))

    with open(run / "metrics.jsonl") as f:
        recorded = json.loads(f.readline())["metrics"]
    print(f"log-probs: largest difference {apart:.2e}")
    compare("loss", loss.item(), recorded["actor/pg_loss"])
    compare("gradient norm", norm, recorded["actor/grad_norm"])
    # After one step from zero the first moment is (1 - beta1) times the clipped gradient.
    moments = load_file(run / "checkpoints" / "step-000001" / "optimizer.safetensors")
    clip, worst = min(1, CLIP_NORM / (norm + 1e-6)), 0.0
    for name, p in model.named_parameters():
        ours = moments["exp_avg." + name] / (1 - ADAM["betas"][0])
        worst = max(worst, ((ours - p.grad * clip).norm() / (p.grad * clip).norm()).item())
    print(f"gradients of {len(moments) // 2} tensors: largest relative difference {worst:.2e}")
    assert worst < 1e-4, "gradients differ"


def compare(what, torchs, ours):
    difference = abs(torchs - ours) / abs(torchs)
    print(f"{what}: torch {torchs:.9g}, millrace {ours:.9g}, relative difference {difference:.2e}")
    assert difference < 1e-4, f"{what} differs"


def replay(run):
    """Trains on the recorded samples, step by step, and compares the weights that come of it."""
    model = AutoModelForCausalLM.from_pretrained(run / "random", attn_implementation="eager")
    optimizer = torch.optim.AdamW(model.parameters(), **ADAM)
    recorded = read(run, "samples")
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    for step in range(1 + max(s["iteration"] for s in recorded)):
        samples = sorted((s for s in recorded if s["iteration"] == step), key=lambda s: s["id"])
        for part in torch.arange(len(samples)).chunk(MINIBATCHES):
            loss, _ = recorded_loss(model, [samples[i] for i in part])
            update(model, optimizer, loss)
        ours = load_file(run / "checkpoints" / f"step-{step + 1:06d}" / "model.safetensors")
        apart = travelled = 0.0
        for name, p in model.named_parameters():
            apart += (ours[name].float() - p.detach()).double().square().sum().item()
            travelled += (p.detach() - before[name]).double().square().sum().item()
        difference = math.sqrt(apart / travelled)
        print(f"step {step + 1}: weights apart by {difference:.2e} of the way that they have gone", flush=True)
        assert difference < 0.05, "other weights"


@torch.no_grad()
def play(model, chat, lakes, temperature, rng):
    rollouts = [Rollout(chat, lake) for lake in lakes]
    alive = rollouts
    while alive:
        width = max(len(r.tokens) for r in alive)
        ids = torch.tensor([r.tokens + [0] * (width - len(r.tokens)) for r in alive])
        at = torch.tensor([len(r.tokens) - 1 for r in alive])
        hidden = model.model(ids).last_hidden_state[torch.arange(len(alive)), at]
        logits = model.lm_head(hidden).float()
        chosen = torch.multinomial((logits / temperature).softmax(-1), 1, generator=rng)[:, 0]
        alive = [r for r, token in zip(alive, chosen.tolist()) if r.take(token)]
    return rollouts


def train(run, steps, every, seed):
    model = AutoModelForCausalLM.from_pretrained(run / "random", attn_implementation="sdpa")
    chat = Chat(run / "random" / "tokenizer.json")
    optimizer = torch.optim.AdamW(model.parameters(), **ADAM)
    train_maps, test_maps = maps()
    rng, order = torch.Generator().manual_seed(seed), np.random.default_rng(seed)
    queue = []
    for step in range(steps + 1):
        if step % every == 0:
            lakes = [Lake(*m) for m in test_maps for _ in range(EVALUATION_SAMPLES)]
            solved = [r.lake.solved() for r in play(model, chat, lakes, EVALUATION_TEMPERATURE, rng)]
            print(json.dumps({"step": step, "seed": seed, "pass@1": float(np.mean(solved))}), flush=True)
        if step == steps:
            break
        if len(queue) < GROUPS:
            queue = order.permutation(len(train_maps)).tolist()
        batch, queue = queue[:GROUPS], queue[GROUPS:]
        rollouts = play(model, chat, [Lake(*train_maps[i]) for i in batch for _ in range(GROUP)], 1.0, rng)
        # Compact filtering: who used up steps or context counts with reward 0 and trains nothing.
        kept = torch.tensor([r.reason in ("finished", "malformed") for r in rollouts])
        reward = torch.tensor([float(r.lake.solved()) for r in rollouts]).view(GROUPS, GROUP)
        advantage = ((reward - reward.mean(1, keepdim=True)) * GROUP / (GROUP - 1)).view(-1)
        with torch.no_grad():
            behaviour = log_probs(model, [r.tokens for r in rollouts])
        mask = padded([r.mask for r in rollouts], behaviour.shape[1], torch.bool, False) & kept[:, None]
        for part in torch.arange(len(rollouts)).chunk(MINIBATCHES):
            now = log_probs(model, [rollouts[i].tokens for i in part])
            width = now.shape[1]  # of the longest of the part
            update(model, optimizer, objective(now, behaviour[part, :width], mask[part, :width], advantage[part], len(part)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["check", "replay", "train"])
    parser.add_argument("run", type=pathlib.Path, help="run directory of millrace train")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    if args.command == "check":
        check(args.run)
    elif args.command == "replay":
        replay(args.run)
    else:
        train(args.run, args.steps, args.every, args.seed)


if __name__ == "__main__":
    main()

"""PyTorch's side of the parts that are measured by themselves, a line of JSON each:
head, optimizer, attention, publish, and the device's ceilings. Times are medians of
repetitions of several calls in a row, in milliseconds, after a warm-up that compiles."""

import argparse
import importlib.util
import itertools
import json
import pathlib
import statistics
import tempfile
import time

import models
import torch
import torch_update
from safetensors.torch import load_file, save_file
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint
from transformers import Qwen3Config, Qwen3ForCausalLM

REPETITIONS = 7
TOKENS, VOCABULARY = 16384, 151936


def measure(part, name, calls, body, **more):
    times = []
    for _ in range(REPETITIONS + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            body()
        torch.cuda.synchronize()
        times.append(1000 * (time.perf_counter() - start) / calls)
    line = {"part": part, "name": name, "ms": statistics.median(times[1:]), "fastest_ms": min(times[1:])}
    print(json.dumps({"side": "B1"} | line | more), flush=True)


def attempt(part, name, side, body):
    """A baseline that cannot run is a line that says why; the others go on."""
    try:
        body()
    except (RuntimeError, ImportError, TypeError) as error:
        line = {"part": part, "name": name, "side": side, "failed": str(error).splitlines()[0]}
        print(json.dumps(line), flush=True)
    torch.cuda.empty_cache()


def ceilings():
    x, w = (torch.randn(8192, 8192, dtype=torch.bfloat16) for _ in range(2))
    measure("ceilings", "gemm", 10, lambda: x @ w, flop=2.0 * 8192**3)
    a, b = (torch.randn(2**30) for _ in range(2))
    measure("ceilings", "copy", 10, lambda: b.copy_(a), bytes=8.0 * 2**30)


def head():
    target = torch.randint(VOCABULARY, (TOKENS,))
    behaviour, advantage = torch.full((TOKENS,), -12.0), torch.randn(TOKENS)
    torch_update.SETTINGS["Loss"] = models.LOSS
    whole = torch.compile(torch_update.head_chunk)
    for size in (1024, 2560, 4096):
        hidden = torch.randn(TOKENS, size, dtype=torch.bfloat16, requires_grad=True)
        weight = (0.02 * torch.randn(VOCABULARY, size)).bfloat16().requires_grad_()

        def full(hidden=hidden, weight=weight):
            whole(hidden, weight, target, behaviour, advantage)[0].backward()
            hidden.grad = weight.grad = None

        def chunked(hidden=hidden, weight=weight):
            parts = zip(*(x.split(torch_update.CHUNK) for x in (hidden, target, behaviour, advantage)), strict=True)
            for h, *rest in parts:
                loss = checkpoint(whole, h, weight, *rest, use_reentrant=False)[0]
                loss.backward()
            hidden.grad = weight.grad = None

        for name, side, body in ((f"C={size}", "B1", chunked), (f"C={size}", "B0", full)):

            def run(name=name, side=side, body=body):
                body()
                torch.cuda.empty_cache()
                torch.cuda.reset_peak_memory_stats()
                before = torch.cuda.memory_allocated()
                body()
                extra = torch.cuda.max_memory_allocated() - before
                measure("head", name, 3, body, side=side, extra_bytes=extra)

            attempt("head", name, side, run)


def optimizer():
    """One flat tensor of the model's size: no launch overhead counts against torch."""
    for size in ("0.6B", "4B"):
        n = models.parameters(size)
        master = (0.02 * torch.randn(n)).requires_grad_()
        weight = master.detach().bfloat16()
        master.grad = 1e-3 * torch.randn(n)
        adamw = torch.optim.AdamW([master], lr=1e-6, betas=(0.9, 0.95), weight_decay=0.1, fused=True)

        def step(master=master, weight=weight, adamw=adamw):
            adamw.step()
            with torch.no_grad():
                weight.copy_(master)
                master.grad.zero_()

        attempt("optimizer", size, "B1", lambda size=size, step=step: measure("optimizer", f"{size} adamw", 5, step))
        norm = master.grad
        measure("optimizer", f"{size} norm", 5, lambda norm=norm: torch.linalg.vector_norm(norm))
        del master, weight, adamw, step, norm
        torch.cuda.empty_cache()


def attention():
    for heads, (pack, count) in itertools.product((16, 32), (("8x2k", 8), ("4x4k", 4), ("1x16k", 1))):
        length = TOKENS // count
        q, k, v = (torch.randn(1, h, TOKENS, 128, dtype=torch.bfloat16, requires_grad=True) for h in (heads, 8, 8))
        starts = torch.arange(0, TOKENS + 1, length, dtype=torch.int32)
        # The backward pass by itself is timed on a graph that is kept.
        for side in ("varlen", "cudnn"):

            def run(side=side, q=q, k=k, v=v, starts=starts, length=length, heads=heads, pack=pack, count=count):
                flop = 2.0 * heads * 128 * count * length**2
                if side == "varlen":
                    kernel = torch_update.make_varlen()

                    def forward():
                        return kernel(None, q, k, v, None, 128**-0.5, cu_seq_lens=starts, longest=length)[0]

                else:
                    x = [t[0].unflatten(1, (-1, length)).transpose(0, 1).contiguous() for t in (q, k, v)]
                    x[1:] = [t.repeat_interleave(heads // 8, dim=1) for t in x[1:]]
                    x = [t.detach().requires_grad_() for t in x]

                    def forward():
                        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                            return scaled_dot_product_attention(*x, is_causal=True)

                name = f"{heads}/8 {pack}"
                with torch.no_grad():
                    measure("attention", f"{name} forward", 10, forward, by=side, flop=flop)
                out = forward()
                d = torch.randn_like(out)
                inputs = (q, k, v) if side == "varlen" else x

                def backward():
                    torch.autograd.grad(out, inputs, d, retain_graph=True)

                measure("attention", f"{name} backward", 10, backward, by=side, flop=2.5 * flop)

            attempt("attention", f"{heads}/8 {pack}", side, run)


def publish():
    """What a trainer and an engine in two processes do: safetensors through memory or disk."""
    for size in ("0.6B", "4B"):
        config = Qwen3Config(**models.SIZES[size], tie_word_embeddings=True)
        state = Qwen3ForCausalLM(config).bfloat16().state_dict()
        state = {n: t for n, t in state.items() if n != "lm_head.weight"}
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name) / "model.safetensors"

            def body(state=state, file=file):
                save_file(state, file)
                for n, t in load_file(file, device="cuda").items():
                    state[n].copy_(t)

            start = time.perf_counter()
            body()
            ms = 1000 * (time.perf_counter() - start)
            line = {"part": "publish", "name": size, "side": "B1", "ms": ms}
            print(json.dumps(line), flush=True)
        del state, body
        torch.cuda.empty_cache()


PARTS = {f.__name__: f for f in (ceilings, head, optimizer, attention, publish)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    part = parser.parse_args().part
    torch.set_default_device("cuda")
    torch.set_float32_matmul_precision("high")
    torch.manual_seed(0)
    PARTS[part]()
    if importlib.util.find_spec("liger_kernel") and part == "head":
        attempt(part, "C=2560", "B2", liger_head)


def liger_head():
    from liger_kernel.chunked_loss import LigerFusedLinearGRPOLoss

    loss = LigerFusedLinearGRPOLoss(beta=0.0, use_ref_model=False)
    hidden = torch.randn(4, TOKENS // 4, 2560, dtype=torch.bfloat16, requires_grad=True)
    weight = (0.02 * torch.randn(VOCABULARY, 2560)).bfloat16().requires_grad_()
    tokens, mask = torch.randint(VOCABULARY, (4, TOKENS // 4)), torch.ones(4, TOKENS // 4)

    def body():
        loss(hidden, weight, tokens, mask, torch.randn(4))[0].backward()
        hidden.grad = weight.grad = None

    measure("head", "C=2560", 3, body, side="B2")


if __name__ == "__main__":
    main()

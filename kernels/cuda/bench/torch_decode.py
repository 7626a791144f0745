"""Sampling by transformers' generate, with a static cache, whose step transformers
compiles by itself. The time of reading the prompt is measured apart and taken away."""

import argparse
import json
import time

import torch
from transformers import Qwen3ForCausalLM


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--sequences", type=int, required=True)
    parser.add_argument("--context", type=int, default=2048)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    torch.set_float32_matmul_precision("high")
    model = Qwen3ForCausalLM.from_pretrained(arguments.model, torch_dtype=torch.bfloat16, attn_implementation="sdpa")
    model = model.to(arguments.device).eval()
    shape = (arguments.sequences, arguments.context)
    ids = torch.randint(model.config.vocab_size, shape, device=arguments.device)

    def seconds(tokens):
        start = time.perf_counter()
        out = model.generate(
            ids, attention_mask=torch.ones_like(ids), min_new_tokens=tokens, max_new_tokens=tokens, do_sample=True,
            temperature=1.0, top_k=0, top_p=1.0, use_cache=True, cache_implementation="static", pad_token_id=0,
        )  # fmt: skip
        out.cpu()  # waits for the device
        if out.shape[1] != arguments.context + tokens:
            raise RuntimeError(f"generate sampled {out.shape[1] - arguments.context} tokens, not {tokens}")
        return time.perf_counter() - start

    whole = 1 + arguments.tokens
    for tokens in (1, whole):  # compiles
        seconds(tokens)
    for _ in range(3):
        prompt = seconds(1)
        ms = 1000 * (seconds(whole) - prompt)
        line = {"part": "decode", "side": "B1", "name": f"B={arguments.sequences}", "ms": ms}
        line |= {"tokens": arguments.sequences * arguments.tokens, "prefill_ms": 1000 * prompt}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()

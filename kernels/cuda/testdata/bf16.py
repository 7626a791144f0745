"""Writes bf16-{tied,untied}.json: the model, the sequences and the losses of package
cpu's reference-*.json once more in Hugging Face transformers, with weights and
activations in bfloat16, by each of its two implementations of attention. The Go test
bf16_test.go compares the errors of package cuda with theirs.

    pip install torch==2.5.1 transformers==4.53.2
    python bf16.py
"""
import json
import pathlib
import sys

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

REFERENCES = pathlib.Path(__file__).parent / "../../cpu/testdata"
sys.path.append(str(REFERENCES))
import reference  # noqa: E402


def floats(tensor):
    """bfloat16 has less than three digits."""
    return [float(f"{v:.5g}") for v in tensor.detach().flatten().tolist()]


def run(ref, attention):
    """Log-probabilities, and the gradients of each loss."""
    config = Qwen3Config(**ref["config"], use_cache=False, attn_implementation=attention)
    model = Qwen3ForCausalLM(config).float().train()
    with torch.no_grad():
        for name, p in model.named_parameters():
            w = ref["weights"][name]
            p.copy_(torch.tensor(w["data"]).reshape(w["shape"]))
    model = model.bfloat16()
    log_probs = [[0.0] + floats(reference.token_losses(model, s, reference.LOSSES["ppo"])[2])
                 for s in ref["sequences"]]
    gradients = {}
    for kind in ref["kinds"]:
        model.zero_grad()
        reference.policy_loss(model, ref["sequences"], kind["settings"]).backward()
        gradients[kind["name"]] = {n: floats(p.grad.float()) for n, p in model.named_parameters()}
    return dict(log_probs=log_probs, gradients=gradients)


for kind in ("tied", "untied"):
    ref = json.loads((REFERENCES / f"reference-{kind}.json").read_text())
    result = {attention: run(ref, attention) for attention in ("eager", "sdpa")}
    (pathlib.Path(__file__).parent / f"bf16-{kind}.json").write_text(json.dumps(result, separators=(",", ":")))

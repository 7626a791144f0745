"""Writes reference-{tied,untied}.json: a tiny Qwen3 in Hugging Face transformers,
float32, eager attention, its logits, policy loss, every gradient, and the weights
after three AdamW steps. The Go test reference_test.go compares kernels/cpu with it.

    pip install torch==2.5.1 transformers==4.53.2
    python reference.py

Nothing in here is shared with the Go code: the model is transformers', the
derivatives are autograd's, the optimizer is torch's.
"""
import json

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

LOSS = dict(clip_low=0.2, clip_high=0.28, kl=0.1, entropy=0.05, truncated_is=1.1,
            temperature=0.7, divisor=3.0)
ADAMW = dict(lr=0.01, betas=(0.9, 0.95), eps=1e-8)
WEIGHT_DECAY, CLIP_NORM, STEPS = 0.1, 1.0, 3


def floats(tensor):
    return [float(f"{v:.9g}") for v in tensor.detach().flatten().tolist()]


def named(tensors):
    return {name: {"shape": list(t.shape), "data": floats(t)} for name, t in tensors}


def token_losses(model, sequence):
    """kernels.Loss, one value a trained token, and the raw logits."""
    tokens = torch.tensor([sequence["tokens"]])
    logits = model(input_ids=tokens).logits[0].float()
    logp_all = torch.log_softmax(logits[:-1] / LOSS["temperature"], dim=-1)
    logp = logp_all.gather(1, tokens[0, 1:, None])[:, 0]
    entropy = -(logp_all.exp() * logp_all).sum(-1)
    mask = torch.tensor(sequence["mask"][1:])
    behaviour = torch.tensor(sequence["behaviour"][1:])
    reference = torch.tensor(sequence["reference"][1:])
    ratio = (logp - behaviour).exp()
    a = sequence["advantage"]
    surrogate = torch.maximum(-a * ratio, -a * ratio.clamp(1 - LOSS["clip_low"], 1 + LOSS["clip_high"]))
    weight = ratio.detach().clamp(max=LOSS["truncated_is"])
    d = reference - logp
    k3 = d.exp() - d - 1
    loss = weight * surrogate + LOSS["kl"] * k3 - LOSS["entropy"] * entropy
    return loss[mask], logits, logp


def policy_loss(model, sequences):
    """Mean over each sequence's trained tokens, divided by the divisor."""
    return sum(token_losses(model, s)[0].mean() for s in sequences) / LOSS["divisor"]


def write(tied):
    torch.manual_seed(7)
    config = Qwen3Config(
        vocab_size=17, hidden_size=8, intermediate_size=12, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=6, max_position_embeddings=128,
        rms_norm_eps=1e-6, rope_theta=10000.0, tie_word_embeddings=tied, use_cache=False,
        attn_implementation="eager")
    model = Qwen3ForCausalLM(config).float().train()
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(1 + 0.3 * torch.randn_like(p) if "norm" in name else 0.3 * torch.randn_like(p))

    sequences = []
    for length, advantage in ((70, 0.8), (9, -1.3)):
        tokens = torch.randint(17, (length,)).tolist()
        mask = (torch.rand(length) < 0.5).tolist()
        mask[0], mask[1] = False, True
        sequences.append(dict(tokens=tokens, mask=mask, advantage=advantage,
                              behaviour=[0.0] * length, reference=[0.0] * length))
    result = dict(config={k: getattr(config, k) for k in (
        "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
        "num_key_value_heads", "head_dim", "max_position_embeddings", "rms_norm_eps", "rope_theta",
        "tie_word_embeddings")}, loss_settings=LOSS, weights=named(model.named_parameters()))
    logits, log_probs = [], []
    for s in sequences:
        _, z, logp = token_losses(model, s)
        logits.append(floats(z))
        log_probs.append([0.0] + floats(logp))
        for key in ("behaviour", "reference"):
            s[key] = [0.0] + floats(logp + 0.3 * torch.randn_like(logp))
    result.update(sequences=sequences, logits=logits, log_probs=log_probs)

    decayed = [p for n, p in model.named_parameters() if "norm" not in n]
    plain = [p for n, p in model.named_parameters() if "norm" in n]
    optimizer = torch.optim.AdamW([dict(params=decayed, weight_decay=WEIGHT_DECAY),
                                   dict(params=plain, weight_decay=0.0)], **ADAMW)
    losses, norms = [], []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = policy_loss(model, sequences)
        loss.backward()
        if step == 0:
            result["gradients"] = named((n, p.grad) for n, p in model.named_parameters())
        losses.append(loss.item())
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP_NORM).item())
        optimizer.step()
    result.update(losses=losses, grad_norms=norms, weight_decay=WEIGHT_DECAY, clip_norm=CLIP_NORM,
                  adamw=dict(ADAMW, betas=list(ADAMW["betas"])),
                  stepped=named(model.named_parameters()))
    with open(f"reference-{'tied' if tied else 'untied'}.json", "w") as f:
        json.dump(result, f, separators=(",", ":"))


write(True)
write(False)

"""Writes reference-{tied,untied}.json: a tiny Qwen3 in Hugging Face transformers,
float32, eager attention, its logits, every loss of kernels.Loss with every gradient,
and the weights after three AdamW steps of the first one. The Go test
reference_test.go compares kernels/cpu with it.

    pip install torch==2.5.1 transformers==4.53.2
    python reference.py

Nothing in here is shared with the Go code: the model is transformers', the
derivatives are autograd's, the optimizer is torch's.
"""
import json

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

TEMPERATURE, DIVISOR = 0.7, 3.0
# With the names of kernels.Loss's fields. What is not named is 0 or false there.
LOSSES = dict(
    ppo=dict(ClipLow=0.2, ClipHigh=0.28, DualClip=1.4, KLCoefficient=0.1, EntropyCoefficient=0.05),
    gspo=dict(SequenceRatio=True, ClipLow=3e-4, ClipHigh=4e-4, DualClip=1.001),
    cispo=dict(ClippedWeight=True, ClipLow=10.0, ClipHigh=0.2),
    truncated=dict(TruncatedIS=1.1))
ADAMW = dict(lr=0.01, betas=(0.9, 0.95), eps=1e-8)
WEIGHT_DECAY, CLIP_NORM, STEPS = 0.1, 1.0, 3


def floats(tensor):
    return [float(f"{v:.9g}") for v in tensor.detach().flatten().tolist()]


def named(tensors):
    return {name: {"shape": list(t.shape), "data": floats(t)} for name, t in tensors}


def token_losses(model, sequence, loss):
    """kernels.Loss, one value a trained token, and the raw logits."""
    tokens = torch.tensor([sequence["tokens"]])
    logits = model(input_ids=tokens).logits[0].float()
    logp_all = torch.log_softmax(logits[:-1] / TEMPERATURE, dim=-1)
    logp = logp_all.gather(1, tokens[0, 1:, None])[:, 0]
    entropy = -(logp_all.exp() * logp_all).sum(-1)
    mask = torch.tensor(sequence["mask"][1:])
    behaviour = torch.tensor(sequence["behaviour"][1:])
    reference = torch.tensor(sequence["reference"][1:])
    a = sequence["advantage"]
    ratio = (logp - behaviour).exp()
    if loss.get("SequenceRatio"):
        # The objective of the whole sequence, whose gradient autograd finds by itself:
        # equal for every token, and equal to the token form under a mean.
        ratio = (logp - behaviour)[mask].mean().exp().expand_as(logp)

    def clip(x):
        if "ClipHigh" not in loss:
            return x
        return x.clamp(1 - loss["ClipLow"], 1 + loss["ClipHigh"])

    if "TruncatedIS" in loss:
        surrogate = -ratio.detach().clamp(max=loss["TruncatedIS"]) * a * (logp - logp.detach()).exp()
    elif loss.get("ClippedWeight"):
        surrogate = -clip(ratio).detach() * a * logp
    else:
        surrogate = torch.maximum(-a * ratio, -a * clip(ratio))
        if "DualClip" in loss and a < 0:
            surrogate = surrogate.clamp(max=-a * loss["DualClip"])
    d = reference - logp
    k3 = d.exp() - d - 1
    value = surrogate + loss.get("KLCoefficient", 0) * k3 - loss.get("EntropyCoefficient", 0) * entropy
    return value[mask], logits, logp


def policy_loss(model, sequences, loss):
    """Mean over each sequence's trained tokens, divided by the divisor."""
    return sum(token_losses(model, s, loss)[0].mean() for s in sequences) / DIVISOR


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
        "tie_word_embeddings")}, temperature=TEMPERATURE, divisor=DIVISOR, weights=named(model.named_parameters()))
    logits, log_probs = [], []
    for s in sequences:
        _, z, logp = token_losses(model, s, LOSSES["ppo"])
        logits.append(floats(z))
        log_probs.append([0.0] + floats(logp))
        for key in ("behaviour", "reference"):
            s[key] = [0.0] + floats(logp + 0.3 * torch.randn_like(logp))
    result.update(sequences=sequences, logits=logits, log_probs=log_probs)

    decayed = [p for n, p in model.named_parameters() if "norm" not in n]
    plain = [p for n, p in model.named_parameters() if "norm" in n]
    optimizer = torch.optim.AdamW([dict(params=decayed, weight_decay=WEIGHT_DECAY),
                                   dict(params=plain, weight_decay=0.0)], **ADAMW)
    result["kinds"] = []
    for name, settings in LOSSES.items():
        optimizer.zero_grad()
        loss = policy_loss(model, sequences, settings)
        loss.backward()
        result["kinds"].append(dict(name=name, settings=settings, loss=loss.item(),
                                    gradients=named((n, p.grad) for n, p in model.named_parameters())))
    losses, norms = [], []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = policy_loss(model, sequences, LOSSES["ppo"])
        loss.backward()
        losses.append(loss.item())
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP_NORM).item())
        optimizer.step()
    result.update(losses=losses, grad_norms=norms, weight_decay=WEIGHT_DECAY, clip_norm=CLIP_NORM,
                  adamw=dict(ADAMW, betas=list(ADAMW["betas"])),
                  stepped=named(model.named_parameters()))
    with open(f"reference-{'tied' if tied else 'untied'}.json", "w") as f:
        json.dump(result, f, separators=(",", ":"))


if __name__ == "__main__":
    write(True)
    write(False)

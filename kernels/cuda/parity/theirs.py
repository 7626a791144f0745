"""The reference's side of the comparison: Hugging Face transformers, torch's autograd
and torch's AdamW on float32 masters. The loss is written in package cpu's
testdata/reference.py."""

import pathlib
import sys

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

sys.path.append(str(pathlib.Path(__file__).parent / "../../cpu/testdata"))
import reference

# Equal and unequal to the hidden size are the heads together. The small sizes are for
# the emulator; the large ones take cuDNN's attention and more than a tile of everything.
SHAPES = {
    ("small", "tied"): {
        "hidden_size": 32,
        "intermediate_size": 44,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "num_hidden_layers": 2,
        "vocab_size": 211,
    },
    ("small", "untied"): {
        "hidden_size": 24,
        "intermediate_size": 40,
        "num_attention_heads": 4,
        "num_key_value_heads": 1,
        "head_dim": 10,
        "num_hidden_layers": 2,
        "vocab_size": 149,
    },
    ("large", "tied"): {
        "hidden_size": 512,
        "intermediate_size": 1536,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 128,
        "num_hidden_layers": 4,
        "vocab_size": 4112,
    },
    ("large", "untied"): {
        "hidden_size": 768,
        "intermediate_size": 2000,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 128,
        "num_hidden_layers": 3,
        "vocab_size": 3331,
    },
}
LENGTHS = {"small": (50, 17, 33), "large": (700, 33, 1500)}
STEPS = 10
ADAMW = {"LearningRate": 1e-3, "Beta1": 0.9, "Beta2": 0.95, "Epsilon": 1e-8, "WeightDecay": 0.1, "ClipNorm": 1.0}
# Continuous: a clip that rounding turns on or off would hide smaller errors. The
# clipped losses are compared by the tests of package cuda.
LOSS = {"TruncatedIS": 1.1, "KLCoefficient": 0.1, "EntropyCoefficient": 0.05}
JOB_LOSS = dict(LOSS, Temperature=reference.TEMPERATURE, Divisor=reference.DIVISOR, PerSequenceMean=True)


def write_model(directory, size, kind):
    """Random weights: activations keep their size, and no norm is the identity."""
    config = Qwen3Config(
        **SHAPES[size, kind],
        tie_word_embeddings=kind == "tied",
        max_position_embeddings=2048,
        rms_norm_eps=1e-6,
        use_cache=False,
    )
    model = Qwen3ForCausalLM(config).float()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn_like(p) * p.shape[-1] ** -0.5 if p.dim() == 2 else 1 + 0.3 * torch.randn_like(p))
    model.save_pretrained(directory)


def load(directory, dtype, attention):
    model = Qwen3ForCausalLM.from_pretrained(directory, torch_dtype=dtype, attn_implementation=attention)
    assert next(model.parameters()).dtype == dtype, "from_pretrained did not take the type"
    assert model.model.rotary_emb.inv_freq.dtype == torch.float32, "rounded frequencies would be no reference"
    return model.to(torch.get_default_device()).train()


def write_batch(directory, size):
    """Random tokens; the behaviour policy and the reference are near the model."""
    model = load(directory, torch.float32, "eager")
    sequences = []
    for n, advantage in zip(LENGTHS[size], (0.8, -1.3, 0.5)):
        tokens = torch.randint(model.config.vocab_size, (n,)).tolist()
        mask = (torch.rand(n) < 0.5).tolist()
        mask[0], mask[1] = False, True
        s = {"tokens": tokens, "mask": mask, "advantage": advantage, "behaviour": [0.0] * n, "reference": [0.0] * n}
        with torch.no_grad():
            logp = reference.token_losses(model, s, LOSS)[2]
        for key in ("behaviour", "reference"):
            s[key] = [0.0] + (logp + 0.3 * torch.randn_like(logp)).tolist()
        sequences.append(s)
    return {
        "sequences": sequences,
        "prefix": sequences[0]["tokens"][:7],
        "loss": JOB_LOSS,
        "adamw": ADAMW,
        "steps": STEPS,
    }


def compute(directory, job, dtype, attention):
    """The tensors that the Go program writes, by name, on the CPU."""
    model = load(directory, dtype, attention)
    names = [n for n, _ in model.named_parameters()]
    # From the checkpoint, so that a bfloat16 model's masters have not been rounded.
    masters = [p.detach().clone().requires_grad_() for p in load(directory, torch.float32, attention).parameters()]
    out = {}
    with torch.no_grad():
        for i, s in enumerate(job["sequences"]):
            logp = reference.token_losses(model, s, LOSS)[2]
            out[f"log_probs.{i}"] = torch.cat([torch.zeros(1), logp])
        logits = model(input_ids=torch.tensor([job["prefix"]])).logits[0, -1].float()
        out["distribution"] = torch.log_softmax(logits / reference.TEMPERATURE, dim=-1)
    decayed = [m for m, n in zip(masters, names) if "norm" not in n]
    plain = [m for m, n in zip(masters, names) if "norm" in n]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": ADAMW["WeightDecay"]}, {"params": plain, "weight_decay": 0.0}],
        lr=ADAMW["LearningRate"],
        betas=(ADAMW["Beta1"], ADAMW["Beta2"]),
        eps=ADAMW["Epsilon"],
    )
    losses, norms = [], []
    for step in range(job["steps"]):
        model.zero_grad()
        loss = reference.policy_loss(model, job["sequences"], LOSS)
        loss.backward()
        for m, p in zip(masters, model.parameters()):
            m.grad = p.grad.float().clone()
        if step == 0:
            out |= {f"gradient.{n}": m.grad.clone() for n, m in zip(names, masters)}
        losses.append(loss.item())
        norms.append(torch.nn.utils.clip_grad_norm_(masters, ADAMW["ClipNorm"]).item())
        optimizer.step()
        with torch.no_grad():
            for m, p in zip(masters, model.parameters()):
                p.copy_(m)
    out |= {f"stepped.{n}": m for n, m in zip(names, masters)}
    out |= {"losses": torch.tensor(losses), "norms": torch.tensor(norms)}
    return {n: t.detach().float().cpu() for n, t in out.items()}

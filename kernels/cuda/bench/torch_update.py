"""Whole updates in PyTorch, a line of JSON each.

B1, which counts: Hugging Face's Qwen3 with every layer compiled, sequences packed
without padding, attention by torch's varlen kernel or by cuDNN, the policy loss in
checkpointed chunks of bfloat16 logits, gradients summed in float32 and fused AdamW on
float32 masters. B0 is what one gets without trying: eager, padded, whole float32
logits. B2 is B1 with Liger's RMSNorm, RoPE and SwiGLU.
"""

import argparse
import contextlib
import inspect
import json
import pathlib
import time

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint
from transformers import AttentionInterface, Qwen3ForCausalLM

CHUNK = 2048  # rows of the head at a time: 0.6 GB of bfloat16 logits
# What to compute again, in the order of trying; "cheap" is the compiler's choice under
# half of the memory for activations.
RECOMPUTE = ("none", "cheap", "block")


def make_varlen():
    """torch's FlashAttention over packed sequences, by the keywords that this torch has."""
    from torch.nn.attention.varlen import varlen_attn

    known = inspect.signature(varlen_attn).parameters
    settings = {"is_causal": True} if "is_causal" in known else {"window_size": (-1, 0)}
    grouped = "enable_gqa" in known
    if grouped:
        settings["enable_gqa"] = True

    def varlen(module, query, key, value, attention_mask, scaling, dropout=0.0, cu_seq_lens=None, longest=None, **_):
        groups = 1 if grouped else query.shape[1] // key.shape[1]
        q, k, v = (x[0].transpose(0, 1) for x in (query, key, value))
        k, v = (x.repeat_interleave(groups, dim=1) if groups > 1 else x for x in (k, v))
        return varlen_attn(q, k, v, cu_seq_lens, cu_seq_lens, longest, longest, **settings)[None], None

    return varlen


def dense(module, query, key, value, attention_mask, scaling, dropout=0.0, longest=None, **_):
    """SDPA over a pack of sequences of one length, by the backend that is chosen around it."""
    q, k, v = (x[0].unflatten(1, (-1, longest)).transpose(0, 1) for x in (query, key, value))
    groups = q.shape[1] // k.shape[1]
    # Not every backend takes fewer heads of keys; compiled, the copy is small beside the rest.
    k, v = (x.repeat_interleave(groups, dim=1) for x in (k, v))
    out = scaled_dot_product_attention(q, k, v, is_causal=True, scale=scaling)
    return out.transpose(1, 2).flatten(0, 1)[None], None


def policy_loss(logits, tokens, behaviour, advantage):
    logp = torch.log_softmax(logits.float(), dim=-1).gather(1, tokens[:, None])[:, 0]
    ratio = (logp - behaviour).exp()
    clipped = ratio.clamp(1 - SETTINGS["Loss"]["ClipLow"], 1 + SETTINGS["Loss"]["ClipHigh"])
    return torch.maximum(-advantage * ratio, -advantage * clipped).sum(), logp


def head_chunk(hidden, weight, tokens, behaviour, advantage):
    return policy_loss(hidden @ weight.T, tokens, behaviour, advantage)


class Pack:
    """A micro-batch end to end: inputs, and for each row but a sequence's last its target."""

    def __init__(self, micro, device):
        lengths = [len(q["Tokens"]) for q in micro]
        self.longest, self.equal = max(lengths), len(set(lengths)) == 1
        starts = torch.tensor([0, *lengths]).cumsum(0)
        tokens = torch.tensor([t for q in micro for t in q["Tokens"]])
        last = torch.zeros(len(tokens), dtype=torch.bool)
        last[starts[1:] - 1] = True
        rows = (~last).nonzero()[:, 0]
        sequence = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths))[rows]
        self.input = tokens[None].to(device)
        self.positions = torch.cat([torch.arange(n) for n in lengths])[None].to(device)
        self.starts = starts.int().to(device)
        self.rows, self.target = rows.to(device), tokens[rows + 1].to(device)
        self.advantage, self.behaviour = (
            torch.tensor([q[key] for q in micro])[sequence].to(device) for key in ("Advantage", "Behaviour")
        )
        # For B0: rows of one length, of which all but the first lengths are padding.
        self.padded = torch.nn.utils.rnn.pad_sequence([torch.tensor(q["Tokens"]) for q in micro], batch_first=True).to(
            device
        )
        self.mask = (torch.arange(self.longest)[None] < torch.tensor(lengths)[:, None]).to(device)


class Learner:
    """The model in bfloat16, its float32 masters, and sums of gradients in float32."""

    def __init__(self, directory, device, baseline, attention):
        if baseline == "B2":
            from liger_kernel.transformers import apply_liger_kernel_to_qwen3

            apply_liger_kernel_to_qwen3(rope=True, rms_norm=True, swiglu=True, fused_linear_cross_entropy=False)
        self.baseline = baseline
        self.model = Qwen3ForCausalLM.from_pretrained(
            directory, torch_dtype=torch.bfloat16, attn_implementation="sdpa" if baseline == "B0" else attention
        )
        self.model.to(device).train()
        self.device, self.head = device, head_chunk
        self.parameters = list(self.model.parameters())
        self.masters = [p.detach().float() for p in self.parameters]
        for p, m in zip(self.parameters, self.masters, strict=True):
            m.grad = torch.zeros_like(m)
            p.register_post_accumulate_grad_hook(self.sum_into(m.grad))
        decayed = [m for m in self.masters if m.dim() > 1]
        plain = [m for m in self.masters if m.dim() == 1]
        a = SETTINGS["AdamW"]
        self.optimizer = torch.optim.AdamW(
            [{"params": decayed, "weight_decay": a["WeightDecay"]}, {"params": plain, "weight_decay": 0.0}],
            lr=a["LearningRate"], betas=(a["Beta1"], a["Beta2"]), eps=a["Epsilon"], fused=True,
        )  # fmt: skip

    @staticmethod
    def sum_into(total):
        def hook(parameter):
            total.add_(parameter.grad)
            parameter.grad = None

        return hook

    def compile(self, recompute):
        """Compiles each layer, all of which share their code, and a chunk of the head."""
        torch._dynamo.reset()
        torch._functorch.config.activation_memory_budget = 0.5 if recompute == "cheap" else 1.0
        if recompute == "block":
            self.model.gradient_checkpointing_enable({"use_reentrant": False})
        for layer in self.model.model.layers:
            layer.compile(dynamic=False)
        self.model.model.norm.compile(dynamic=False)
        self.head = torch.compile(head_chunk, dynamic=None)

    def forward(self, pack):
        """Sum of the loss, and the log-probabilities of all targets."""
        if self.baseline == "B0":
            logits = self.model(input_ids=pack.padded, attention_mask=pack.mask).logits.float()
            return policy_loss(logits[pack.mask][pack.rows], pack.target, pack.behaviour, pack.advantage)
        hidden = self.model.model(
            input_ids=pack.input, position_ids=pack.positions, cu_seq_lens=pack.starts, longest=pack.longest
        ).last_hidden_state[0][pack.rows]
        loss, log_probs = 0, []
        parts = zip(*(x.split(CHUNK) for x in (hidden, pack.target, pack.behaviour, pack.advantage)), strict=True)
        for rows, target, behaviour, advantage in parts:
            part, logp = checkpoint(
                self.head, rows, self.model.lm_head.weight, target, behaviour, advantage, use_reentrant=False
            )
            loss += part
            log_probs.append(logp.detach())
        return loss, torch.cat(log_probs)

    def step(self, batch):
        """Returns the loss and the norm of the gradients, on the device."""
        total = torch.zeros((), device=self.device)
        for pack in batch:
            loss = self.forward(pack)[0] / SETTINGS["Loss"]["Divisor"]
            loss.backward()
            total += loss.detach()
        norm = torch.nn.utils.clip_grad_norm_(self.masters, SETTINGS["AdamW"]["ClipNorm"], foreach=True)
        self.optimizer.step()
        with torch.no_grad():
            torch._foreach_copy_(self.parameters, self.masters)
            torch._foreach_zero_([m.grad for m in self.masters])
        return total, norm

    def drop(self):
        """Forgets what a step that ran out of memory left behind."""
        for p, m in zip(self.parameters, self.masters, strict=True):
            p.grad = None
            m.grad.zero_()
        torch.cuda.empty_cache()


def report(**line):
    print(json.dumps(line), flush=True)


def timed(learner, batch):
    start = time.perf_counter()
    loss, norm = (x.item() for x in learner.step(batch))  # .item() waits for the device
    return 1000 * (time.perf_counter() - start), loss, norm


def measure(learner, name, attention, batch, arguments, recompute):
    """Returns what has to be computed again for the batch to fit into memory."""
    for policy in RECOMPUTE[RECOMPUTE.index(recompute):]:  # fmt: skip
        if policy != recompute or not arguments.compiled:
            recompute = policy
            if arguments.compile and learner.baseline != "B0":
                learner.compile(policy)
            arguments.compiled = True
        try:
            for step in range(-arguments.warm, arguments.steps):
                ms, loss, norm = timed(learner, batch)
                report(part="update", side=learner.baseline, name=name, step=step, ms=ms, loss=loss, norm=norm,
                       tokens=sum(p.input.numel() for p in batch), recompute=policy, by=attention)  # fmt: skip
            return recompute
        except torch.cuda.OutOfMemoryError as error:
            report(part="update", side=learner.baseline, name=name, recompute=policy, by=attention,
                   out_of_memory=str(error).splitlines()[0])  # fmt: skip
        learner.drop()
        if learner.baseline == "B0":
            break
    return recompute


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, type=pathlib.Path)
    parser.add_argument("--batch", required=True, type=pathlib.Path)
    parser.add_argument("--shape", action="append", required=True)
    parser.add_argument("--baseline", choices=("B0", "B1", "B2"), default="B1")
    parser.add_argument("--attention", choices=("varlen", "cudnn", "sdpa"), default="varlen")
    parser.add_argument("--warm", type=int, default=1)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--log-probs", type=pathlib.Path, help="safetensors file for the first micro-batch's")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True)
    arguments = parser.parse_args()
    arguments.compiled = False
    SETTINGS.update(json.loads(arguments.batch.read_text()))
    torch.set_float32_matmul_precision("high")
    AttentionInterface.register("dense", dense)
    if arguments.attention == "varlen":
        AttentionInterface.register("varlen", make_varlen())
    learner = Learner(
        arguments.model, arguments.device, arguments.baseline, "varlen" if arguments.attention == "varlen" else "dense"
    )
    cudnn = sdpa_kernel(SDPBackend.CUDNN_ATTENTION) if arguments.attention == "cudnn" else contextlib.nullcontext()
    recompute = "none"
    with cudnn:
        for name in arguments.shape:
            batch = [Pack(micro, arguments.device) for micro in SETTINGS["Shapes"][name]]
            if arguments.log_probs and name == arguments.shape[0]:
                from safetensors.torch import save_file

                with torch.no_grad():
                    save_file({"log_probs": learner.forward(batch[0])[1].float().cpu()}, arguments.log_probs)
            if arguments.baseline != "B0" and arguments.attention != "varlen" and not all(p.equal for p in batch):
                continue  # SDPA knows no ragged batches but by a mask, with which no fast kernel runs
            recompute = measure(learner, name, arguments.attention, batch, arguments, recompute)


SETTINGS = {}  # the batch file, for the length of the process

if __name__ == "__main__":
    main()

"""A Llama: the decoder of 2017 with RMSNorm, SwiGLU, rotary positions and grouped queries, and the weights of a real one.

Here: the model as lesson 22 writes it, and SmolLM2-135M-Instruct (Allal et al. 2025) read from its file, with its tokenizer. Not
here: the GPT that is trained in lesson 21 (`gpt.py`).

Shape letters: B texts, T positions read now, S positions seen (cached and read now), H heads, G groups of heads that share a key
and a value, D model width, d = D / H head width, F hidden units, V vocabulary, N layers.
"""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor, nn

from course_utils.base.errors import CourseError
from course_utils.base.files import must_be_ordinary
from course_utils.data.download import DataError, fetch
from course_utils.data.smollm2 import FILE
from course_utils.models.gpt import RMSNorm, SubLayer, SwiGLU
from course_utils.models.minimal import turn
from course_utils.models.validation import check_tokens

# The file's names for the parts of the model -> the class's names
NAMES = {
    "token_embd": "embedding",
    "output_norm": "norm",
    "blk": "layers",
    "attn_norm": "attention.norm",
    "attn_q": "attention.f.W_Q",
    "attn_k": "attention.f.W_K",
    "attn_v": "attention.f.W_V",
    "attn_output": "attention.f.W_O",
    "ffn_norm": "feed_forward.norm",
    "ffn_gate": "feed_forward.f.gate",
    "ffn_up": "feed_forward.f.up",
    "ffn_down": "feed_forward.f.down",
    "output": "readout",
}
# The file's names for the sizes -> the class's arguments
SIZES = {
    "embedding_length": "D",
    "attention.head_count": "H",
    "feed_forward_length": "F",
    "block_count": "N",
}
# The same for sizes that a file may leave out, which then have the defaults of the format
OPTIONAL_SIZES = {
    "attention.head_count_kv": "G",  # as many groups as heads
    "rope.freq_base": "theta",  # 10,000
    "attention.layer_norm_rms_epsilon": "eps",  # 1e-5
}


def grouped_attention(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Causal attention in which groups of heads share a key and a value (Ainslie et al. 2023).

    Lesson 22 gives the keys an axis of length 1, and PyTorch copies them for each head. Stacked queries need no copies.

    Args:
        q: B×H×T×d, of the last T of S positions.
        k, v: B×G×S×d.

    Returns:
        The contexts B×H×T×d and the weights B×H×T×S.
    """
    (B, H, T, d), (_, G, S, _) = q.shape, k.shape
    stacked = q.reshape(B, G, H // G * T, d)  # a group's heads, one below the other
    scores = (stacked @ k.mT).view(B, H, T, S) / d**0.5  # B H T S
    causal = torch.ones(T, S, dtype=torch.bool, device=q.device).tril(S - T)  # T S
    weights = scores.masked_fill(~causal, -torch.inf).softmax(-1)  # B H T S
    context = weights.view(B, G, H // G * T, S) @ v  # B G H/G·T d
    return context.view(B, H, T, d), weights


class Attention(nn.Module):
    """Self-attention with rotary positions (Su et al. 2021) and grouped queries; `weights` B×H×T×S are those of the last call."""

    def __init__(self, D: int, H: int, G: int):
        super().__init__()
        if D % H or H % G:
            raise CourseError(f"the width {D} must be a multiple of the heads {H}, and these of the groups {G}")
        d = D // H
        self.H, self.G = H, G
        self.W_Q = nn.Linear(D, H * d, bias=False)
        self.W_K = nn.Linear(D, G * d, bias=False)
        self.W_V = nn.Linear(D, G * d, bias=False)
        self.W_O = nn.Linear(H * d, D, bias=False)

    def forward(self, x: Tensor, sin_cos: tuple[Tensor, Tensor], cache: dict) -> Tensor:
        """Let x B×T×D attend to itself and to the cached keys and values; the new ones are added to the cache, empty at first."""
        q = self.W_Q(x).unflatten(-1, (self.H, -1)).transpose(1, 2)  # B H T d
        k = self.W_K(x).unflatten(-1, (self.G, -1)).transpose(1, 2)  # B G T d
        v = self.W_V(x).unflatten(-1, (self.G, -1)).transpose(1, 2)  # B G T d
        q, k = turn(q, *sin_cos), turn(k, *sin_cos)
        if cache:
            k = torch.cat([cache["k"], k], dim=2)  # B G S d
            v = torch.cat([cache["v"], v], dim=2)  # B G S d
        cache.update(k=k, v=v)
        context, self.weights = grouped_attention(q, k, v)
        return self.W_O(context.transpose(1, 2).flatten(2))  # B T D


class Layer(nn.Module):
    """Attention, then feed-forward."""

    def __init__(self, D: int, H: int, G: int, F: int, eps: float):
        super().__init__()
        norm = partial(RMSNorm, eps=eps)
        self.attention = SubLayer(D, Attention(D, H, G), norm)
        self.feed_forward = SubLayer(D, SwiGLU(D, F), norm)

    def forward(self, x: Tensor, sin_cos: tuple[Tensor, Tensor], cache: dict) -> Tensor:
        """B×T×D → B×T×D."""
        return self.feed_forward(self.attention(x, sin_cos, cache))


class Llama(nn.Module):
    """A decoder like Llama (Touvron et al. 2023), with one matrix for embedding and readout unless it is not `tied`.

    Args:
        V: vocabulary. D, H, G, F, N: width, heads, groups, hidden units, layers.
        theta: the base of the rotary angles. eps: what RMSNorm adds to the mean square.

    Raises:
        CourseError: for widths, heads and groups that don't divide.
    """

    def __init__(
        self, V: int, D: int, H: int, G: int, F: int, N: int, theta: float = 1e5, eps: float = 1e-5, tied: bool = True
    ):
        super().__init__()
        self.V, self.theta, self.d = V, theta, D // H
        self.embedding = nn.Embedding(V, D)
        self.layers = nn.ModuleList(Layer(D, H, G, F, eps) for _ in range(N))
        self.norm = RMSNorm(D, eps)
        self.readout = None if tied else nn.Linear(D, V, bias=False)

    def new_caches(self) -> list[dict]:
        """Return an empty cache for each layer."""
        return [{} for _ in self.layers]

    def angles(self, start: int, T: int) -> tuple[Tensor, Tensor]:
        """Return sine and cosine of the angles of T positions from start, T×d/2 each."""
        position = torch.arange(start, start + T)  # T
        speed = self.theta ** (-torch.arange(0, self.d, 2) / self.d)  # d/2
        angle = position[:, None] * speed  # T d/2
        return angle.sin(), angle.cos()

    def forward(self, ids: Tensor, caches: list[dict] | None = None) -> Tensor:
        """Read ids B×T, after those in the caches; return the logits B×T×V for the id after each. Raises `CourseError` for ids outside V."""
        check_tokens(ids, self.V)
        caches = caches or [{} for _ in self.layers]
        start = 0
        if caches[0]:
            start = caches[0]["k"].shape[2]  # layer 0's keys: B G start d
        sin_cos = self.angles(start, ids.shape[1])  # T d/2 each
        x = self.embedding(ids)  # B T D
        for layer, cache in zip(self.layers, caches, strict=True):
            x = layer(x, sin_cos, cache)  # B T D
        readout = self.embedding if self.readout is None else self.readout
        return self.norm(x) @ readout.weight.T  # B T V


def unpack(data: Tensor, kind: str) -> Tensor:
    """Return the float32 numbers of rows of bytes, R×bytes: R×C.

    Args:
        data: uint8. "Q4_1" holds blocks of 32 numbers in 20 bytes: a scale and a minimum in float16, then 32 numbers of 4 bits, the first 16
            of them in the low halves of the bytes. "Q8_0" holds 32 in 34: a scale in float16, then 32 int8. "F32" is float32 already.
        kind: one of the three.

    Raises:
        CourseError: for any other kind.
    """
    if kind == "F32":
        return data.view(torch.float32)
    if kind not in ("Q4_1", "Q8_0"):
        raise CourseError(f"weights of the kind {kind} cannot be read: expected F32, Q4_1 or Q8_0")
    blocks = data.reshape(-1, 20 if kind == "Q4_1" else 34)  # one row a block
    scale = blocks[:, :2].view(torch.float16).float()  # blocks 1
    if kind == "Q8_0":
        numbers = blocks[:, 2:].view(torch.int8) * scale
    else:
        minimum = blocks[:, 2:4].view(torch.float16).float()  # blocks 1
        low, high = blocks[:, 4:] % 16, blocks[:, 4:] // 16  # blocks 16
        numbers = torch.cat([low, high], dim=1) * scale + minimum  # blocks 32
    return numbers.reshape(len(data), -1)


class Loaded(NamedTuple):
    """A model, its tokenizer, and the facts in its file, by name."""

    model: Llama
    tokenizer: Tokenizer
    facts: dict


def load_smollm2(path: Path | None = None) -> Loaded:
    """Return SmolLM2-135M-Instruct from its GGUF file, in float32 and evaluation mode.

    Args:
        path: another file of that format, with such a model; by default the registered one, downloaded if necessary.

    Raises:
        DataError: if the registered file is unavailable, or a file is damaged.
        CourseError: for a file whose model computes something else, or that lacks a size or a weight.
    """
    path = Path(path or fetch(FILE))
    try:
        must_be_ordinary(path)
        return _read(path)
    except CourseError:
        raise
    except Exception as error:  # a file may say anything
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise DataError(
            f"{path} cannot be read as a Llama model in GGUF format, so it may be damaged or of another kind ({reason})."
        ) from error


def _read(path):
    """Return what a GGUF file holds. Raises any exception for a file that does not hold what it says."""
    from gguf import GGUFReader

    class Reader(GGUFReader):
        def _get(self, offset, dtype, count=1, override_order=None):
            if offset + np.dtype(dtype).itemsize * int(count) > len(self.data):  # else a false length is read for hours
                raise ValueError("it ends earlier than it says")
            return super()._get(offset, dtype, count, override_order)

    file = Reader(path)
    facts = {name: field.contents() for name, field in file.fields.items()}
    names = {stored.name for stored in file.tensors}
    sizes = sizes_of(facts, tied="output.weight" not in names)
    layers = len({name.split(".")[1] for name in names if name.startswith("blk.")})
    if sizes["N"] != layers:
        raise ValueError(f"it says that it has {sizes['N']:,} layers, and it has {layers}")
    with torch.device("meta"):  # shapes only, no memory yet
        model = Llama(**sizes)
    weights = {}
    for stored in file.tensors:  # such as blk.7.attn_q.weight
        name = ".".join(NAMES.get(part, part) for part in stored.name.split("."))
        data = torch.tensor(stored.data)  # a copy: rows of bytes, or numbers
        kind = stored.tensor_type.name
        weights[name] = data.float() if kind in ("F32", "F16") else unpack(data, kind)
    expected = model.state_dict()
    for name in sorted(expected.keys() ^ weights.keys()):
        raise CourseError(
            f"the file {'lacks the' if name in expected else 'has'} weights {name}: it is another model's"
        )
    for name, tensor in weights.items():
        if tensor.shape != expected[name].shape:
            shapes = (tuple(each.shape) for each in (expected[name], tensor))
            raise CourseError("the weights {} must have the shape {}, not {}".format(name, *shapes))
    model.load_state_dict(weights, assign=True)
    return Loaded(model.requires_grad_(False).eval(), tokenizer_of(facts), facts)


def sizes_of(facts: dict, tied: bool) -> dict:
    """Return the arguments of `Llama` that a file's facts name. Raises `CourseError` for facts of a model that computes something else."""
    kinds = {"general.architecture": "llama", "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm"}
    kinds["llama.rope.scaling.type"] = "none"
    for name, expected in kinds.items():
        if facts.get(name, expected) != expected:
            raise CourseError(f"the file says {name} = {facts[name]!r}, and only {expected!r} can be read")
    required = [f"llama.{name}" for name in SIZES] + ["tokenizer.ggml.tokens", "tokenizer.ggml.merges"]
    for name in required:
        if name not in facts:
            raise CourseError(f"the file does not say {name}")
    every = SIZES | OPTIONAL_SIZES
    found = {every[name]: facts[f"llama.{name}"] for name in every if f"llama.{name}" in facts}
    sizes = {
        "V": len(facts["tokenizer.ggml.tokens"]),
        "G": found["H"],
        "theta": 1e4,
        "eps": 1e-5,
        **found,
        "tied": tied,
    }
    d = sizes["D"] // sizes["H"]
    for name in ("rope.dimension_count", "attention.key_length", "attention.value_length"):
        if facts.get(f"llama.{name}", d) != d:
            raise CourseError(f"the file says llama.{name} = {facts[f'llama.{name}']}; it must be a head's width, {d}")
    return sizes


def tokenizer_of(facts: dict) -> Tokenizer:
    """Return the byte-level BPE tokenizer that a GGUF file describes by its tokens and merges (pre-tokenizer "smollm": each digit by itself)."""
    tokens = facts["tokenizer.ggml.tokens"]
    kinds = facts.get("tokenizer.ggml.token_type", [1] * len(tokens))  # 1: an ordinary token
    merges = [tuple(merge.split(" ")) for merge in facts["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    digits, letters = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, letters])
    tokenizer.decoder = decoders.ByteLevel()
    control = 3  # such as <|im_start|>: text that is never split
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True) for token, kind in zip(tokens, kinds, strict=True) if kind == control]
    )
    return tokenizer

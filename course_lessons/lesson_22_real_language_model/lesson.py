# %%
import math
import time
from collections import Counter
from itertools import pairwise

import torch
from gguf import GGUFReader
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from torch import nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention, silu

from course_lessons.lesson_22_real_language_model import figures
from course_utils import check, predict, reveal
from course_utils.data.smollm2 import PROSE, file_or_stand_in
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.models.gpt import nucleus

torch.manual_seed(0)
torch.set_printoptions(precision=3, sci_mode=False)
# %% [markdown]
# Until now, our models have been trained on toy tasks, captions and tales. This lesson loads a model trained on two trillion tokens (words or parts of words) from web pages and code: **SmolLM2-135M-Instruct** (Allal et al., 2025), one of the smallest models you can chat with. It is a small **Llama** (Touvron et al., 2023), built like models with a thousand times as many parameters. Given the first three lines, it writes the fourth:
#
# ```text
# <|im_start|>user
# What is the capital of France?<|im_end|>
# <|im_start|>assistant
# The capital of France is Paris.<|im_end|>
# ```
#
# By the end of this lesson, your own code will write that answer. The loop is from lesson 21, whereas the tokens, the model and the strange prompt are new.
#
# ## Tokens
#
# The GPT from lesson 21 read characters, which make texts long, and twice the length means four times the work for attention. A vocabulary of whole words keeps texts short but can never cover all names and misspellings. **Byte-pair encoding** (Sennrich et al., 2016) is the usual compromise: a frequent word becomes one token, while a rare word is split into several.
#
# Byte-pair encoding starts from single characters and repeats one step: find the most frequent pair of neighbouring tokens and merge the two into one. The space in front of a word is part of the word. We learn ten merges from one line, the `text` in the second cell. Before you run it, guess which pair is merged first.


# %%
def most_frequent_pair(words):  # such as {(" ", "n", "o", "t"): 3}
    pairs = Counter()
    for tokens, count in words.items():
        for pair in pairwise(tokens):  # each token and the next one
            pairs[pair] += count
    return max(pairs, key=pairs.get)  # the first of equally frequent ones


def merge(tokens, pair):
    merged = []
    for token in tokens:
        if merged and (merged[-1], token) == pair:
            merged[-1] = merged[-1] + token  # the two become one
        else:
            merged.append(token)
    return tuple(merged)


# %% tags=["nbval-check-output"]
text = "not great not good not bad nothing a greater note a great noise"
words = Counter(tuple(" " + word) for word in text.split())  # tuples of characters
merges = []
for _ in range(10):
    pair = most_frequent_pair(words)
    merges.append(pair)
    words = {merge(tokens, pair): count for tokens, count in words.items()}
print("merges:", ["".join(pair) for pair in merges])
print("tokens:", [list(tokens) for tokens in words])

# %% [markdown]
# The first merge joins a space and "n". The pair "n" and "o" is equally frequent, but the pair counted first wins. After ten merges, " not" and " great" are tokens, whereas "noise", which occurs once, is still in pieces.
#
# To encode a new text, we apply the merges in the order in which they were learned ([`22.encode`](../exercises/22_real_language_model_exercises.ipynb)). The tokenizer of SmolLM2 learned its merges from much more text. Because it starts from bytes instead of characters, it can encode any script: a letter such as ä is two bytes.
#
# The next cell downloads the model's file (98 MB) once and reads the tokens and merges from it. If the file cannot be downloaded, `file_or_stand_in` creates one with random weights, whose outputs are meaningless. The library `tokenizers` splits a text into words and single digits, as in SmolLM2's training, and applies the merges to each word or digit. Marks such as `<|im_start|>` are never split. How many tokens will " not", " Zorblat" and the German sentence below need?

# %%
file = GGUFReader(file_or_stand_in())  # GGUF: the format of the file
# what the file says besides the weights: sizes, tokens, merges
facts = {name: field.contents() for name, field in file.fields.items()}
all_tokens = facts["tokenizer.ggml.tokens"]  # a list of V strings
vocabulary = {token: i for i, token in enumerate(all_tokens)}
# a merge such as "Ġ n" joins the tokens "Ġ" and "n"; Ġ is a space within a token
pairs = [tuple(pair.split(" ")) for pair in facts["tokenizer.ggml.merges"]]
tokenizer = Tokenizer(models.BPE(vocabulary, pairs))

# before the merges, the text is split: step 1 splits off each digit
split_digits = pre_tokenizers.Digits(individual_digits=True)
# step 2 splits the rest into words and writes their bytes as characters, a space as Ġ
split_words = pre_tokenizers.ByteLevel(add_prefix_space=False)  # adds no space itself
tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split_digits, split_words])
tokenizer.decoder = decoders.ByteLevel()  # from bytes back to text

kinds = facts["tokenizer.ggml.token_type"]  # V: of each token; 3 is a mark
marks = [token for token, kind in zip(all_tokens, kinds, strict=True) if kind == 3]
tokenizer.add_special_tokens(marks)  # so they are never split; shows how many

# %% tags=["nbval-check-output"]
print(f"{len(vocabulary):,} tokens, {len(pairs):,} merges")
english = "A man is standing on a ladder."
german = "Ein Mann steht auf einer Leiter."
for example in (" not", " nothing", " Zorblat", english, german):
    pieces = [tokenizer.decode([i]) for i in tokenizer.encode(example).ids]
    print(len(pieces), pieces)

# %% [markdown]
# The frequent word is one token, and the invented name is split into four. The German sentence needs more tokens than the English one, probably because the merges were learned mostly from English.
#
# ## The four changes since 2017
#
# Lesson 21's `GPT` is the 2017 decoder without attention to a source and with each norm before its sub-layer (*pre-norm*). Llama changed the norm, the feed-forward network and the positions, and the largest Llama 2 models also share keys and values among heads. Llama also dropped all biases and the factor √D of the embedding; its paper gives no reason.
#
# **RMSNorm** (Zhang and Sennrich, 2019) replaces layer norm. It does not subtract the mean and has no bias, so there is less to compute:
#
# $$\text{RMSNorm}(x) = g \circ \frac{x}{\sqrt{\frac{1}{D}\sum_i x_i^2 + \varepsilon}}$$
#
# Here, g is learned, ∘ denotes elementwise multiplication, and the tiny constant ε prevents division by 0. With g = 1, what does RMSNorm turn [1, 2, 2] into?


# %% tags=["nbval-check-output"]
class RMSNorm(nn.Module):
    def __init__(self, D, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(D))  # g
        self.eps = eps

    def forward(self, x):  # … D
        mean_square = x.square().mean(-1, keepdim=True)  # … 1
        return self.weight * x * (mean_square + self.eps).rsqrt()  # … D; rsqrt: 1 / √


x = torch.tensor([1.0, 2.0, 2.0])  # D
print(RMSNorm(3)(x).detach(), nn.LayerNorm(3)(x).detach())

# %% [markdown]
# The mean square is (1 + 4 + 4) / 3 = 3, so each entry is divided by √3 = 1.732. With g = 1, RMSNorm keeps the signs, unlike layer norm (right), which subtracts the mean.
#
# **SwiGLU** (Shazeer, 2020) replaces the feed-forward network. Two matrices are applied to x. The output of the first is passed through SiLU(z) = z σ(z), where σ is the sigmoid, and acts as a gate, multiplying the output of the second elementwise. A third matrix projects the product back to dimension D:
#
# $$\text{SwiGLU}(x) = \big(\text{SiLU}(x W_\text{gate}) \circ x W_\text{up}\big)\, W_\text{down}$$
#
# Shazeer found a lower loss with the same number of parameters but offered no explanation. Suppose $x W_\text{up}$ is 3 for some hidden unit. If $x W_\text{gate}$ is 2 for this unit, the gate is 2 · σ(2) = 2 · 0.88 = 1.76 and the unit's value is 1.76 · 3 = 5.28. If $x W_\text{gate}$ is -4, the gate is -0.07 and lets hardly anything through ([`22.swiglu`](../exercises/22_real_language_model_exercises.ipynb)).


# %%
class SwiGLU(nn.Module):
    def __init__(self, D, F):  # width, hidden units
        super().__init__()
        self.gate = nn.Linear(D, F, bias=False)
        self.up = nn.Linear(D, F, bias=False)
        self.down = nn.Linear(F, D, bias=False)

    def forward(self, x):  # B T D
        return self.down(silu(self.gate(x)) * self.up(x))  # B T D


# %% [markdown]
# **Rotary positions** (Su et al., 2021) were introduced in lesson 11: queries and keys are rotated by an angle that grows with their position, and nothing is added to the embeddings. Again, `turn` rotates pairs of neighbouring entries. It takes the sines and cosines of the angles, which the model computes once for all layers.
#
# **Grouped queries** (Ainslie et al., 2023) make the cache smaller. The H heads form G groups, and the heads in a group share keys and values, which shrinks the cache by a factor of H / G. The authors found hardly any loss of quality. Head h belongs to group h / (H / G), rounded down.
#
# In code, we repeat each group's keys and values for its H / G heads. The cache still holds them only once. As in lesson 21, a call reads T new tokens, and S is T plus the number in the cache. All T queries can see the S - T cached tokens: the mask is the last T rows of a causal mask for S tokens.


# %%
def turn(x, sin, cos):  # … T d, T d/2, T d/2
    a = x[..., 0::2]  # the first number of each pair
    b = x[..., 1::2]  # the second one
    turned = torch.empty_like(x)  # … T d
    turned[..., 0::2] = a * cos - b * sin
    turned[..., 1::2] = a * sin + b * cos
    return turned


def grouped_attention(q, k, v):  # B H T d, B G S d, B G S d
    H, T, d = q.shape[1:]
    G, S = k.shape[1:3]
    k = k.repeat_interleave(H // G, dim=1)  # B H S d: each group's keys H/G times
    v = v.repeat_interleave(H // G, dim=1)  # B H S d
    scores = q @ k.mT / d**0.5  # B H T S: from here on as in lesson 21
    causal = torch.ones(S, S, dtype=torch.bool).tril()  # S S
    causal = causal[S - T :]  # T S: only the rows of the new tokens
    weights = scores.masked_fill(~causal, -torch.inf).softmax(-1)  # B H T S
    return weights @ v, weights  # B H T d, B H T S


# %% [markdown]
# Does PyTorch's attention give the same result? By default, it expects keys and values for each head, so we look up the group of each head. SmolLM2 has 30 layers, each with 9 heads of width 64 in 3 groups. How large is its cache for 2,048 positions in float32, with and without groups?

# %% tags=["nbval-check-output"]
q = torch.randn(2, 9, 5, 64)  # B H T d
k = torch.randn(2, 3, 5, 64)  # B G S d
v = torch.randn(2, 3, 5, 64)  # B G S d
ours, _ = grouped_attention(q, k, v)
group = torch.arange(9) // 3  # H: 0, 0, 0, 1, 1, 1, 2, 2, 2
library = scaled_dot_product_attention(q, k[:, group], v[:, group], is_causal=True)
print("same as PyTorch's:", torch.allclose(ours, library, atol=1e-5))
for groups in (9, 3):
    numbers = 2 * 30 * groups * 64 * 2048  # k and v, 30 layers, groups, d, positions
    print(f"{groups} groups: {4 * numbers / 2**20:.0f} MiB")  # 4 bytes each

# %% [markdown]
# With three groups for nine heads, the cache shrinks to a third ([`22.grouped_query_attention`](../exercises/22_real_language_model_exercises.ipynb)). The rest of `Attention` is lesson 21's `CachedAttention` without biases and with queries and keys rotated. Again, a layer has two sub-layers, each preceded by a norm and with a residual connection around it.


# %%
class Attention(nn.Module):
    def __init__(self, D, H, G):
        super().__init__()
        self.H = H
        self.G = G
        d = D // H  # width of a head
        self.W_Q = nn.Linear(D, H * d, bias=False)
        self.W_K = nn.Linear(D, G * d, bias=False)
        self.W_V = nn.Linear(D, G * d, bias=False)
        self.W_O = nn.Linear(H * d, D, bias=False)

    def split(self, x, heads):  # as in lesson 21, into H or G heads
        return x.unflatten(-1, (heads, -1)).transpose(1, 2)  # B H T d or B G T d

    def forward(self, x, sin_cos, cache):  # B T D, T d/2 each, a dict
        q = self.split(self.W_Q(x), self.H)  # B H T d
        k = self.split(self.W_K(x), self.G)  # B G T d
        v = self.split(self.W_V(x), self.G)  # B G T d
        q = turn(q, *sin_cos)
        k = turn(k, *sin_cos)
        if cache:  # not in the first call
            k = torch.cat([cache["k"], k], dim=2)  # B G S d
            v = torch.cat([cache["v"], v], dim=2)  # B G S d
        cache["k"] = k  # as in lesson 21: the caller's dict keeps both for later
        cache["v"] = v
        context, self.weights = grouped_attention(q, k, v)
        return self.W_O(context.transpose(1, 2).flatten(2))  # B T D


# %%
class SubLayer(nn.Module):
    def __init__(self, D, f):
        super().__init__()
        self.norm = RMSNorm(D)
        self.f = f

    def forward(self, x, *others):  # B T D
        return x + self.f(self.norm(x), *others)  # B T D


class Layer(nn.Module):
    def __init__(self, D, H, G, F):
        super().__init__()
        self.attention = SubLayer(D, Attention(D, H, G))
        self.feed_forward = SubLayer(D, SwiGLU(D, F))

    def forward(self, x, sin_cos, cache):  # B T D
        return self.feed_forward(self.attention(x, sin_cos, cache))  # B T D


# %% [markdown]
# The positions of new tokens continue from the length of the cache. Pair i is rotated by $\theta^{-2i/d}$ per position. The base θ was 10,000 in lesson 11; with SmolLM2's 100,000, all pairs rotate more slowly except pair 0, whose speed is θ⁰ = 1 with any base. The readout reuses the embedding matrix.


# %%
class Llama(nn.Module):
    def __init__(self, V, D, H, G, F, N, theta=1e5):
        super().__init__()
        self.theta = theta
        self.d = D // H
        self.embedding = nn.Embedding(V, D)
        self.layers = nn.ModuleList(Layer(D, H, G, F) for _ in range(N))
        self.norm = RMSNorm(D)

    def angles(self, start, T):
        position = torch.arange(start, start + T)  # T
        exponent = torch.arange(0, self.d, 2) / self.d  # d/2: 2i/d for each pair i
        speed = self.theta**-exponent  # d/2
        angle = position[:, None] * speed  # T d/2
        return angle.sin(), angle.cos()

    def forward(self, ids, caches=None):  # B T, one dict for each layer
        if caches is None:
            caches = [{} for _ in self.layers]  # all empty
        start = 0
        if caches[0]:
            start = caches[0]["k"].shape[2]  # layer 0's keys: B G start d
        sin_cos = self.angles(start, ids.shape[1])  # T d/2 each
        x = self.embedding(ids)  # B T D
        for layer, cache in zip(self.layers, caches, strict=True):
            x = layer(x, sin_cos, cache)  # B T D
        return self.norm(x) @ self.embedding.weight.T  # B T V


# %% [markdown]
# ## Loading the weights
#
# The file is in GGUF format, where parameters have names such as `blk.16.attn_q.weight`; our class calls this matrix `layers.16.attention.f.W_Q.weight`. `NAMES` below translates each part of such a name.
#
# The model's 134.5 million weights would take 538 MB in float32, yet the file is only 98 MB, because the layers' matrices use **four bits** per weight. They are stored in blocks of 32 weights, which share a scale and a minimum, both in float16. Each weight w is stored as an integer q from 0 to 15:
#
# $$w = \text{scale} \cdot q + \text{minimum}$$
#
# A block therefore takes 2 + 2 bytes for scale and minimum and 16 bytes for the 32 integers, 20 bytes in all, or 5 bits per weight. Each of the 16 bytes contains two integers. Integer i is in the last four bits of byte i, its low half, and integer i + 16 is in the first four, its high half. Suppose the scale is 0.5, the minimum is -4, and the first of the 16 bytes is 47 = 2 · 16 + 15. Which two weights does it contain?


# %% tags=["nbval-check-output"]
def unpack(blocks):  # R 20, each row a block of 20 bytes
    # view(torch.float16) keeps the bytes and reads two of them as one number
    scale = blocks[:, :2].view(torch.float16).float()  # R 1
    minimum = blocks[:, 2:4].view(torch.float16).float()  # R 1
    low = blocks[:, 4:] % 16  # R 16: the low half of each byte
    high = blocks[:, 4:] // 16  # R 16: the high half
    return torch.cat([low, high], dim=1) * scale + minimum  # R 32


def unpack_eight_bits(blocks):  # R 34: a scale of 2 bytes, 32 integers
    scale = blocks[:, :2].view(torch.float16).float()  # R 1
    integers = blocks[:, 2:].view(torch.int8)  # R 32: signed, from -128 to 127
    return integers * scale  # R 32


# the block from the text, built by hand
shared = torch.tensor([0.5, -4.0], dtype=torch.float16)  # scale, minimum: 2 numbers
shared_bytes = shared.view(torch.uint8)  # the same memory, read as 4 bytes
packed = torch.tensor([47] + 15 * [0], dtype=torch.uint8)  # 16 bytes: 47, then zeros
block = torch.cat([shared_bytes, packed])  # 20 bytes
weights = unpack(block[None])[0]  # block[None]: 1 20; weights: 32, of the only row
print("weights 0 and 16:", weights[0].item(), weights[16].item())

# %% [markdown]
# The low half of 47 is 15, which gives 0.5 · 15 - 4 = 3.5, and the high half is 2, which gives -3 ([`22.unpack`](../exercises/22_real_language_model_exercises.ipynb)). The embedding uses eight bits per weight, with a scale for every 32 weights and no minimum, and the norms are in float32.


# %%
NAMES = {
    "token_embd": "embedding", "output_norm": "norm", "blk": "layers",
    "attn_norm": "attention.norm", "ffn_norm": "feed_forward.norm",
    "attn_q": "attention.f.W_Q", "attn_k": "attention.f.W_K",
    "attn_v": "attention.f.W_V", "attn_output": "attention.f.W_O",
    "ffn_gate": "feed_forward.f.gate", "ffn_up": "feed_forward.f.up",
    "ffn_down": "feed_forward.f.down",
}  # fmt: skip


def load(file):
    weights = {}
    for stored in file.tensors:
        parts = stored.name.split(".")  # blk.16.attn_q.weight: 16 and weight stay
        name = ".".join([NAMES.get(part, part) for part in parts])
        data = torch.tensor(stored.data)  # rows of bytes; norms: float32
        height = len(data)  # the matrix's rows; each consists of whole blocks
        kind = stored.tensor_type.name
        if kind == "Q4_1":  # four bits
            blocks = data.reshape(-1, 20)  # R 20
            data = unpack(blocks).reshape(height, -1)  # R 32, then a matrix again
        elif kind == "Q8_0":  # eight bits, without a minimum
            blocks = data.reshape(-1, 34)  # R 34
            data = unpack_eight_bits(blocks).reshape(height, -1)
        weights[name] = data
    return weights


# %% [markdown]
# The file also contains the sizes that our class needs. As in lesson 21, we create the model on the `meta` device, without values; the file supplies them. `load_state_dict` requires every name and shape to match. With `assign=True`, it uses the tensors from the file without copying them.
#
# Does our class compute what it should? We have stored the 20 largest logits that Hugging Face's `transformers` computes with the same weights for the prompt "The capital of France is".

# %%
SIZES = {
    "D": "embedding_length", "H": "attention.head_count",
    "G": "attention.head_count_kv", "F": "feed_forward_length", "N": "block_count",
}  # fmt: skip
sizes = {}
for letter, name in SIZES.items():
    sizes[letter] = facts["llama." + name]  # such as facts["llama.block_count"]
with torch.device("meta"):
    mine = Llama(len(vocabulary), **sizes)  # **sizes: D=576, H=9 and so on
mine.requires_grad_(False)  # we do not train it
mine.load_state_dict(load(file), assign=True)
parameters = sum(weights.numel() for weights in mine.parameters())
print(f"{sizes}, {parameters:,} parameters")

ids = torch.tensor([tokenizer.encode("The capital of France is").ids])  # B T
tokens, reference = figures.stored_logits(text=0)  # this prompt: 20 ids, 20 logits
logits = mine(ids)[0, -1]  # V
ours = logits[tokens]  # 20
difference = (ours - reference).abs().max()
print(f"largest logit {reference.max():.1f}, largest difference {difference:.5f}")

# %% [markdown]
# The logits agree up to rounding. Names and shapes cannot guarantee this: they do not show which entries are rotated as a pair. This file, like lesson 11, pairs entries 0 and 1, 2 and 3, and so on. In Hugging Face's file of the same model, an entry of a head's first half is paired with one of its second: 0 and 32, 1 and 33, and so on. Each row of $W_Q$ and $W_K$ produces one entry of a query or key. The conversion to GGUF therefore reorders the rows, so that entries 0 and 32 become neighbours ([`22.to_neighbours`](../exercises/22_real_language_model_exercises.ipynb)). What would the model write if we paired the wrong entries? We temporarily replace `turn`.

# %%
predict("22.paired", ...)


# %% tags=["reveals"]
def turn_halves(x, sin, cos):  # pairs entry 0 with entry d/2
    a, b = x.chunk(2, dim=-1)  # B H T d/2 each
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


prompt = "<|im_start|>user\nWhy is the sky blue?<|im_end|>\n<|im_start|>assistant\n"
ids = tokenizer.encode(prompt).ids
turn_neighbours = turn  # kept, so that we can put it back
turn = turn_halves  # Attention looks up the name turn at each call: now this one
for _ in range(24):
    logits = mine(torch.tensor([ids]))[0, -1]  # V
    ids.append(logits.argmax().item())
turn = turn_neighbours
print(tokenizer.decode(ids))
reveal("22.paired", "English nonsense")

# %% [markdown]
# There is no error message: the model writes English words that make no sense together.
#
# This mistake is one of the nine in the table below, which shows [stored results](../docs/measurements.md#a-real-language-model):
#
# - *Prose*: the loss on a paragraph, in nats per token.
# - *Second copy*: the loss on the second of two copies of 40 random tokens, which shows whether the model can copy. It is the mean of three samples, with the lowest and highest in brackets.
# - *Logits*: the largest difference between the faulty and the correct model's logits. Both models read the same text, the correct model's answer to "Why is the sky blue?". Both use a cache, so that mistakes with the cache show too; only the model whose mistake is to go without one has none.
# - *Answer*: the faulty model's own answer to this question.
#
# Which mistakes would you notice?

# %%
figures.table_of_mistakes()  # stored; benchmarks/llama.py makes the mistakes

# %% [markdown]
# The logits reveal all nine. The full answers, which the table cuts short, also differ, but a fluent one looks correct:
#
# - Four mistakes give fluent answers: θ = 10,000, the mean subtracted, another question's cache, and the text cut between a space and its word, which changes the tokens. Their logits are off by 5 to 10.
# - Mistakes with the cache or new tokens' positions do not affect the losses, which are computed without a cache.
# - Without the causal mask, the loss on prose is even lower than the correct model's, because the model sees the token it has to predict. With the wrong θ, the loss on the second copy is also lower; we do not know why.
#
# Compare a loaded model's logits with a reference in three ways: without a cache, with one, and for a second text right after another, whose cache may still be there. In [`22.catch_silent_mistake`](../exercises/22_real_language_model_exercises.ipynb), you write such a test.
#
# ## It writes
#
# With the cache, our model reads only the newest token at each step. How much faster does it write?


# %%
def best_token(logits):  # V
    return logits.argmax().item()


def nucleus_token(logits):  # V
    p = nucleus((logits / 0.7).softmax(-1), 0.9)  # temperature 0.7
    return torch.multinomial(p, 1).item()


@torch.no_grad()
def write(prompt, choose=best_token, steps=60, cached=True):
    ids = tokenizer.encode(prompt).ids
    assert ids, "the prompt is empty, but the model needs a token to begin"
    caches = None
    if cached:
        caches = [{} for _ in mine.layers]
    length = len(ids)  # of the prompt
    to_read = ids
    for _ in range(steps):
        logits = mine(torch.tensor([to_read]), caches)[0, -1]  # V
        next_id = choose(logits)
        if next_id == tokenizer.token_to_id("<|im_end|>"):
            break
        ids.append(next_id)
        if cached:
            to_read = [next_id]
        else:
            to_read = ids  # everything again
    return tokenizer.decode(ids[length:])  # without the prompt


# %%
for cached in (True, False):
    began = time.perf_counter()
    continued = write("Once upon a time, there was a", steps=20, cached=cached)
    speed = 20 / (time.perf_counter() - began)
    print(f"cache: {cached}  {speed:.1f} tokens a second")
    print(continued)

# %% [markdown]
# The text is the same, and with the cache it is written much faster. The gain depends on the machine. It grows with the text's length, because without a cache, the whole text is reread for every token.
#
# Why does the model answer questions instead of continuing them? It was trained in three stages:
#
# 1. **Pretraining**: on two trillion tokens of text, it learned to predict the next token, as in lesson 21.
# 2. **Instruction tuning**: training continued with the same loss, on dialogues in a fixed format, the **chat template**. The marks `<|im_start|>` and `<|im_end|>` are single tokens that show where a message begins and where it ends.
# 3. **Preference tuning**: it learned to make the preferred one of two answers more probable. For InstructGPT, Ouyang et al. (2022) trained a second model to score answers, and then trained the language model to get high scores: reinforcement learning from human feedback (RLHF). SmolLM2 used direct preference optimisation (DPO; Rafailov et al., 2023), whose loss compares the two answers' probabilities.
#
# A chat is therefore a text like any other, which the model continues as the "assistant". In the dialogues it learned from, a user's question was followed by an answer, so it writes one. Each message begins with `<|im_start|>`, its author's role and a newline, and ends with `<|im_end|>` and a newline. The prompt ends with the opening of the assistant's message. The template in the model's file begins with instructions to the assistant, the **system message**, which we leave out here ([`22.chat_prompt`](../exercises/22_real_language_model_exercises.ipynb)). We ask about the sky three times: once we choose the most probable token at each step, and twice we sample from a nucleus (lesson 21).


# %%
def chat(question, choose=best_token, steps=40):
    prompt = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
    return write(prompt, choose, steps)


print("-", chat("What is the capital of France?"))
torch.manual_seed(1)
for choose in (best_token, nucleus_token, nucleus_token):
    print("-", chat("Why is the sky blue?", choose).strip())
print("-", chat("Who was Goethe?").strip())

# %% [markdown]
# The first answer is the one at the top of this lesson, written by your own code. The other answers are fluent, but Goethe was not American, and he was born in 1749.
#
# ## How does it copy?
#
# In lesson 21's model with two attention layers, one head looks at the previous token. A later **induction head** uses this to find the token that followed an earlier occurrence of the current one. Does a real model copy in this way?
#
# We give the model four texts, each a mark followed by 40 random tokens twice in a row. Nothing in the first copy can be predicted. When the 40 tokens are repeated, all but the first can be copied, so we leave that first token out of the mean loss.

# %%
generator = torch.Generator().manual_seed(0)
once = torch.randint(1000, 20_000, (4, 40), generator=generator)  # B 40, no marks
start = torch.full((4, 1), tokenizer.token_to_id("<|im_start|>"))  # B 1
rows = torch.cat([start, once, once], dim=1)  # B 81
others = torch.randint(1000, 20_000, (4, 40), generator=generator)  # B 40
new_rows = torch.cat([start, once, others], dim=1)  # B 81: nothing to copy


@torch.no_grad()
def nats_of_each(ids):  # B T+1
    logits = mine(ids[:, :-1])  # B T V; logits.mT: B V T
    return cross_entropy(logits.mT, ids[:, 1:], reduction="none")  # B T


nats = nats_of_each(rows)  # B 80: 0 to 39 the first copy, 40 to 79 the second
print(f"first time:  {nats[:, :40].mean():.2f} nats a token")
print(f"second time: {nats[:, 41:].mean():.2f}")  # without 40: it cannot be copied
print(f"new tokens:  {nats_of_each(new_rows)[:, 41:].mean():.2f}")  # in their place
print(f"equally probable tokens: {math.log(49_152):.2f}")

# %% [markdown]
# The model copies: the second copy costs less than a fifth as many nats as 40 new tokens in its place. The first copy costs even more than it would if all 49,152 tokens were equally probable, because the model expects sentences and gives random tokens a very low probability.
#
# Which heads look at the token to copy? In the second copy, the same token is 40 positions back, and an induction head attends to the token after it, 39 positions back. A **previous-token head** attends to the previous position. For each of the 270 heads, we average both weights over the queries of the second copy's first 39 tokens. The 40th token has no query: it is the last, so the model only predicts it and never reads it ([`22.induction_score`](../exercises/22_real_language_model_exercises.ipynb)).


# %%
def mean_weight(back):  # on the position this many places back
    # positions: 0 the mark, 1 to 40 the first copy, 41 to 79 the second
    queries = torch.arange(41, 80)  # 39
    found = []
    for layer in mine.layers:
        weights = layer.attention.f.weights  # B H T S
        # pairs entry with entry: query 41 and key 41 - back, 42 and 42 - back
        looked_back = weights[:, :, queries, queries - back]  # B H 39
        found.append(looked_back.mean(dim=(0, 2)))  # H
    return torch.stack(found)  # N H


nats_of_each(rows)  # only for the weights that the layers keep: now those for rows
pictures = {}
for name, back in {"previous token": 1, "induction": 40 - 1}.items():
    weight = mean_weight(back)  # N H
    pictures[name] = weight
    heads = []  # pairs such as (0.92, "16.0"), so sorted compares the weights
    for layer in range(30):
        for head in range(9):
            heads.append((weight[layer, head].item(), f"{layer}.{head}"))
    best = sorted(heads, reverse=True)[:4]  # the four largest weights
    print(f"{name:15}", "  ".join([f"{head}: {value:.2f}" for value, head in best]))
figures.draw_weights_of_heads(pictures)

# %% [markdown]
# Layers and heads are counted from 0, so "18.6" is head 6 of layer 18. Most of the 270 heads do neither. The four heads with the largest induction weight are in layers 17 and 18, and head 16.0, in the layer directly below them, looks at the previous token.
#
# If the account in lesson 21 holds here, the induction heads need such a head, probably 16.0. We switch it off by setting to 0 the 64 columns of $W_O$ that multiply this head's context; nothing else changes. The table then shows the loss on the second copy, the weight that head 18.6 gives to the token to copy, and the loss on ordinary prose. Three other heads are switched off for comparison.

# %%
predict("22.one_head", ...)


# %% tags=["reveals"]
prose = torch.tensor([tokenizer.encode(PROSE).ids])  # 1 T+1


def measure():
    second = nats_of_each(rows)[:, 41:].mean()  # the layers keep the weights for rows
    weight = mean_weight(39)[18, 6]  # from these weights, of head 18.6
    on_prose = nats_of_each(prose).mean()  # last, since it replaces the kept weights
    return [second, weight, on_prose]


def measure_without(layer, head):
    W_O = mine.layers[layer].attention.f.W_O.weight  # D D
    d = W_O.shape[1] // 9
    original = W_O.clone()
    W_O[:, d * head : d * head + d] = 0
    found = measure()
    W_O.copy_(original)
    return found


results = {"none": measure()}
for layer, head in [(16, 0), (16, 1), (16, 4), (18, 6)]:
    results[f"{layer}.{head}"] = measure_without(layer, head)
columns = ["second copy, nats", "weight of 18.6", "prose, nats"]
print("With heads switched off, one at a time:")
print(table(results, columns, corner="switched off", digits=2))
print(figures.most_needed_for_copying())  # from stored results
reveal("22.one_head", "only copying")

# %% [markdown]
# Copying had saved 12.58 - 2.35 = 10.2 nats. Without head 16.0, half of them are lost, while prose is predicted almost as well as before. Head 18.6 is untouched, but it now gives the token to copy much less weight. Switching off 18.6 itself costs less, 1.8 nats, perhaps because three other heads in layers 17 and 18 also look at the token to copy. Two other heads in layer 16 matter little. The two steps from lesson 21 are therefore at work in a model that nobody trained to copy: it learned them from text.
#
# The last line is from stored runs on two of these texts, with each of the 270 heads switched off in turn. In these two texts, no head matters more than 16.0, and the median head hardly matters at all. Three heads in layer 1 also matter, one of them nearly as much as 16.0; we have not looked at what they do.
#
# ## What does a head do when it has nothing to find?
#
# In ordinary prose, even an induction head often has nothing to copy, yet each row of its weights sums to 1. Where does the weight go then? The text is a mark, `<|im_start|>`, followed by prose. The first plot shows each layer's mean weight on the mark, the first token. The second shows, on a logarithmic scale, the length of this token's vector after each layer, and the median length of the other tokens' vectors.

# %%
ids = torch.tensor([tokenizer.encode("<|im_start|>" + PROSE).ids])  # 1 T
x = mine.embedding(ids)  # 1 T D
sin_cos = mine.angles(0, ids.shape[1])  # T d/2 each
on_first = []  # for each layer, the weight on the mark
lengths = []  # for each layer, log₁₀ of each vector's length
for layer in mine.layers:
    x = layer(x, sin_cos, {})  # 1 T D, with an empty cache
    weights = layer.attention.f.weights[0]  # H T T
    on_first.append(weights[:, 1:, 0].mean())  # queries 1, 2, …, key 0
    lengths.append(x[0].norm(dim=-1).log10())  # T
lengths = torch.stack(lengths)  # N T
first = lengths[:, 0]  # N
others = lengths[:, 1:].median(dim=1).values  # N

left, right = plots.axes(2)
# plots.curves expects one row for each run; we have one run: [None] makes N into 1 N
curves = {"all heads": torch.stack(on_first)[None]}
label = "weight on the first token"
plots.curves(range(30), curves, "layer", label, ax=left, legend="above")
curves = {"first token": first[None], "median of the others": others[None]}
label = "length of the vector, log₁₀"
plots.curves(range(30), curves, "layer", label, ax=right, legend="above")

# %% [markdown]
# After layers 2 to 8, the first token's vector is several times as long as the median of the others. Layers 3 to 9 read these vectors, and each gives this token about a fifth of its weight. In layer 11, the vector becomes nearly 200 times as long as the median. From layer 12 on, it gets a third of the weight or more, and more than half in many layers. Yet length alone attracts no weight: the RMSNorm in front of attention removes it before keys are computed, so the keys depend on the vector's direction. Nor do the two grow together: from layer 11 to 29, the ratio of the lengths falls to 7, but the weight stays large. Xiao et al. (2023) call such a token an **attention sink** and explain it as a place for weight that is not needed elsewhere.
#
# ## Back to "not"
#
# Remember the four cases of lesson 01: a linear score of summed word vectors cannot get all of "great", "awful", "not great" and "not awful" right. In lessons 02 and 03, we trained attention for this task. And a model that nobody deliberately trained for it: does it get them right?
#
# We show the model four labelled reviews and let it predict the label of a fifth. The fifth review's score is the log probability of " positive" minus the log probability of " negative".

# %%
EXAMPLES = """Review: a moving story, full of warmth
Sentiment: positive

Review: dull from the first minute to the last
Sentiment: negative

Review: never boring
Sentiment: positive

Review: not worth your time
Sentiment: negative"""
POSITIVE = tokenizer.encode(" positive").ids[0]  # its only token
NEGATIVE = tokenizer.encode(" negative").ids[0]


@torch.no_grad()
def score(review):
    ids = tokenizer.encode(f"{EXAMPLES}\n\nReview: {review}\nSentiment:").ids
    log_p = mine(torch.tensor([ids]))[0, -1].log_softmax(-1)  # V
    return (log_p[POSITIVE] - log_p[NEGATIVE]).item()


# %%
predict("22.four_cases", ...)

# %% tags=["reveals"]
print("The difference of the log probabilities:")
right = 0
cases = {"great": True, "awful": False, "not great": False, "not awful": True}
for words, positive in cases.items():
    difference = score(f"the film was {words}")
    if (difference > 0) == positive:  # the sign fits the label
        right += 1
    print(f"{words:10} {difference:+.2f}")
reveal("22.four_cases", right)

# %% [markdown]
# All four signs are correct: in these cases, "not" flips the sign.
#
# Does this also work for real reviews? With four sets of examples, we have scored reviews from SST-2's test set: 300 of the 1,821, drawn at random, and all 383 that contain a negation ([our measurements](../docs/measurements.md#a-real-language-model)). A review counts as positive if its score is above a threshold ([`22.classify`](../exercises/22_real_language_model_exercises.ipynb)):
#
# - *Threshold 0*, as above.
# - *Median*: the median score of 100 other reviews, without their labels. About half of all reviews are positive, but a model may lean towards one label. With the median as threshold, half of these 100 count as positive whichever way the model leans.
#
# The sum (lesson 01) and the self-attention layer (lesson 03) were trained on 6,920 labelled reviews. In brackets are the lowest and highest share: for SmolLM2 over its four sets of examples, for the other two models over their three seeds.

# %%
figures.shares_of_reviews()

# %% [markdown]
# With a threshold of 0, SmolLM2 is not reliable: it gets 0.53 of the reviews with a negation right, whereas calling them all negative would give 0.63. With the median as the threshold, it gets more reviews right than the two models trained on thousands of labels, and its lead is largest for the reviews with a negation.
#
# The comparison cannot show whether this is due to attention or to scale: SmolLM2 has attention in 30 layers and six hundred times as many parameters as either of the other two, and it may have seen these very reviews in training.
#
# ## So: what is inside the models that we use every day?
#
# You have loaded one of them and run it with your own code. Inside is the decoder from lesson 21, without biases or the factor √D and with four parts replaced: RMSNorm instead of layer norm, SwiGLU instead of the feed-forward network, rotary positions, and grouped queries. Around it are a tokenizer and a chat template.
#
# Larger models have more and wider layers of the same kind. The diagram shows Llama 3 8B (Grattafiori et al., 2024), which has 32 layers of width 4,096 and 32 heads in 8 groups. The highlighted parts differ from lesson 21's GPT; the embedding adds no positions, and the readout, unlike SmolLM2's, has its own matrix. Some models use experts (lesson 18) or linear attention (lesson 20) in most layers.

# %%
changed = ["causal", "feed-forward", "norm", "embedding", "readout"]
diagrams.decoder_only(new=changed, llama=True)

# %% [markdown]
# ## Where you will meet this
#
# | here | in papers | in PyTorch | in Hugging Face's `transformers` |
# | --- | --- | --- | --- |
# | `RMSNorm` | RMSNorm | `nn.RMSNorm`, ε by default the machine epsilon | `LlamaRMSNorm` |
# | `SwiGLU` | SwiGLU | none | `LlamaMLP`: `gate_proj`, `up_proj`, `down_proj` |
# | `grouped_attention` | GQA | `scaled_dot_product_attention(…, enable_gqa=True)` | `LlamaAttention`, `num_key_value_heads` |
# | `weights`, all T × S stored | FlashAttention: the same contexts without storing them ([`22.one_pass_attention`](../exercises/22_real_language_model_exercises.ipynb)) | inside `scaled_dot_product_attention` | `attn_implementation` |
# | `turn`, neighbours | RoPE | none | `apply_rotary_pos_emb`, halves |
# | `caches` | KV cache | none | `DynamicCache`, given as `cache` (before version 5.24: `past_key_values`) |
# | the prompt as text | chat template | none | `tokenizer.apply_chat_template` |
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a number or with a letter in quotes.

# %%
check("22.q1", ...)

# %%
check("22.q2", ...)

# %%
check("22.q3", ...)

# %%
check("22.q4", ...)

# %%
check("22.q5", ...)

# %% [markdown]
# ## Recap
#
# - What is inside the models that we use every day? In this one, a decoder with four parts replaced, 134.5 million weights, nearly all in four or eight bits, a tokenizer and a chat template.
# - Byte-pair encoding merges frequent pairs, so a frequent word becomes one token and a rare word several.
# - A loaded model may be wrong even if all names and shapes match, so compare its logits with a reference.
# - Copying takes two steps in this model too: without one previous-token head, it copies random tokens much worse.
# - Four examples in the prompt turn the model into a classifier, but some examples work better than others.
#
# **Exercises**: [open them](../exercises/22_real_language_model_exercises.ipynb)
#
# **Next**: this was the last lesson. What will you build with attention?

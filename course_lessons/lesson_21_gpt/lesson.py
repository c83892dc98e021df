# %%
import math
import time
from pydoc_data.topics import topics

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from transformers import GPT2Config, GPT2LMHeadModel

from course_lessons.lesson_21_gpt import figures
from course_utils import check, predict, reveal
from course_utils.data.measured import by_seed
from course_utils.data.recall import WORDS, recall_next
from course_utils.data.tales import letters_to_copy, tales
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.models.train_model import train_model

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# The models that answer our questions every day write text piece by piece: they predict the next piece, append it and predict again. We build such a model from the parts of lesson 12, train it and let it write, and then find out how a model can copy something it has read only once.
#
# ## Half a Transformer
#
# In lesson 12's Transformer, an encoder reads the source and a decoder writes the target. When there is nothing to translate, half a Transformer is enough, and each half has become a model in its own right:
#
# - **BERT** (Devlin et al., 2019) keeps the encoder. Every word sees all the others, and the model learns to predict words that we hide from it.
# - **GPT** (Radford et al., 2018) keeps the decoder but drops its attention to the source. Every word sees only itself and earlier words, and the model learns to predict the next one.
#
# Built from our parts, the two differ only in their attention mask and in what they learn to predict. We build only a GPT and, once it can write, see what BERT's mask would change.
#
# The first part is lesson 12's attention without its input for the source, `memory`. In the comments, B is the number of texts, T their length, D the width, H the number of heads and d = D / H a head's width. The layer stores its attention weights, so we can look at them. Before you run the second cell, guess where they will be 0.


# %%
class MultiHeadAttention(nn.Module):
    def __init__(self, D, H):
        super().__init__()
        self.H = H
        self.W_Q = nn.Linear(D, D)
        self.W_K = nn.Linear(D, D)
        self.W_V = nn.Linear(D, D)
        self.W_O = nn.Linear(D, D)

    def split(self, x):  # B T D
        # splits the last axis, D, into H parts of D / H numbers; -1 means "the rest"
        heads = x.unflatten(-1, (self.H, -1))  # B T H d
        return heads.transpose(1, 2)  # B H T d

    def forward(self, x, mask):  # B T D, T T
        q = self.split(self.W_Q(x))  # B H T d
        k = self.split(self.W_K(x))  # B H T d
        v = self.split(self.W_V(x))  # B H T d
        d = q.shape[-1]  # a head's width
        scores = q @ k.mT / d**0.5  # B H T T; k.mT swaps the last two axes: B H d T
        self.weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)  # B H T T
        context = self.weights @ v  # B H T d
        context = context.transpose(1, 2).flatten(2)  # B T H d, then H · d = D: B T D
        return self.W_O(context)  # B T D


# %% tags=["nbval-check-output"]
torch.manual_seed(0)
attention = MultiHeadAttention(D=8, H=2)
x = torch.randn(1, 5, 8)  # B T D: one text of five words
causal = torch.ones(5, 5, dtype=torch.bool).tril()  # T T: itself and earlier ones
attention(x, causal)  # B T D
print(attention.weights[0, 0].detach())  # T T: of text 0, head 0

# %% [markdown]
# To the right of the diagonal, all weights are 0, because the mask hides later words.
#
# ## The model
#
# Our decoder's tokens are single characters, so a small model is enough. Which part of the diagram can carry information from one character to another?

# %%
diagrams.decoder_only()

# %% [markdown]
# Only self-attention can; the other parts treat each character separately. A layer has two sub-layers, attention and a feed-forward network, each preceded by a norm. As in lesson 12, a residual connection adds each result to x, the thick *residual stream* in the diagram.


# %%
class FeedForward(nn.Module):
    def __init__(self, D, F):  # width, hidden units
        super().__init__()
        self.W_1 = nn.Linear(D, F)
        self.activation = nn.ReLU()
        self.W_2 = nn.Linear(F, D)

    def forward(self, x):  # B T D
        hidden = self.activation(self.W_1(x))  # B T F
        return self.W_2(hidden)  # B T D


class SubLayer(nn.Module):
    def __init__(self, D, f, dropout=0.0):  # f: attention or feed-forward network
        super().__init__()
        self.norm = nn.LayerNorm(D)
        self.f = f
        self.dropout = nn.Dropout(dropout)  # 0 here: this lesson drops nothing

    def forward(self, x, *others):  # B T D, and what f needs besides, such as a mask
        result = self.f(self.norm(x), *others)  # B T D
        return x + self.dropout(result)  # B T D


# %%
class Layer(nn.Module):
    def __init__(self, D, H, F, dropout=0.0):
        super().__init__()
        self.attention = SubLayer(D, MultiHeadAttention(D, H), dropout)
        self.feed_forward = SubLayer(D, FeedForward(D, F), dropout)

    def forward(self, x, mask):  # B T D, T T
        x = self.attention(x, mask)  # B T D
        return self.feed_forward(x)  # B T D


# %% [markdown]
# The input at position t is again the sum of two vectors. The first is row $c_t$ of a matrix E, times √D; $c_t$ is the character's number. The second is $P_t$, the vector for position t from lesson 11. At the end, the last layer's output $h_t$ is normalised, and its dot product with every row of E gives one logit for each of the V characters in the vocabulary:
#
# $$x_t = \sqrt{D}\, E_{c_t} + P_t \qquad\qquad \text{logits}_t = E\, \text{norm}(h_t)$$
#
# We number the characters, repeat lesson 11's function for P and build the model.


# %%
CHARACTERS = "\n .abcdefghijklmnopqrstuvwxyzBDFGKLMNPRSTVZ"


def encode(text):  # each character's number is its position in CHARACTERS
    return torch.tensor([CHARACTERS.index(character) for character in text])  # T


def decode(ids):  # T
    return "".join(CHARACTERS[i] for i in ids)


def sinusoidal_positions(T, D):
    position = torch.arange(T)[:, None]  # T 1
    exponent = torch.arange(0, D, 2) / D  # D/2: from 0 to almost 1
    speed = 10_000**-exponent  # D/2: from 1 down to almost 1/10,000
    angle = position * speed  # T D/2
    P = torch.zeros(T, D)
    P[:, 0::2] = angle.sin()  # the even columns
    P[:, 1::2] = angle.cos()  # the odd columns
    return P


# %% tags=["nbval-check-output"]
class GPT(nn.Module):
    def __init__(self, V, D=48, H=4, F=192, N=2, longest=64, dropout=0.0):  # N layers
        super().__init__()
        self.scale = D**0.5
        self.embedding = nn.Embedding(V, D)
        # times √D, E's entries are then about as large as P's sines and cosines
        nn.init.normal_(self.embedding.weight, std=D**-0.5)
        P = sinusoidal_positions(longest, D)  # longest D
        # as a buffer, P moves with .to("cuda") but is neither trained nor saved
        self.register_buffer("P", P, persistent=False)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(Layer(D, H, F, dropout) for _ in range(N))
        self.norm = nn.LayerNorm(D)

    def forward(self, ids):  # B T
        T = ids.shape[1]
        x = self.embedding(ids) * self.scale + self.P[:T]  # B T D: B T D + T D
        x = self.dropout(x)  # B T D
        mask = torch.ones(T, T, dtype=torch.bool, device=ids.device).tril()  # T T
        for layer in self.layers:
            x = layer(x, mask)  # B T D
        return self.norm(x) @ self.embedding.weight.T  # B T V


torch.manual_seed(0)
model = GPT(V=len(CHARACTERS))
print("parameters", sum(weights.numel() for weights in model.parameters()))

# %% [markdown]
# Before training, we follow "a cat" through the model. The next cell repeats the steps of `forward` and prints, after each, the shape and the first four numbers of the last character. How many predictions does the model make? Then we let it write: we draw a character from its last prediction, append it and repeat.

# %% tags=["nbval-check-output"]
ids = encode("a cat")[None]  # T; [None] makes it 1 T: a batch of one text
T = ids.shape[1]
mask = torch.ones(T, T, dtype=torch.bool).tril()  # T T
stages = {}
with torch.no_grad():
    h = model.embedding(ids) * model.scale + model.P[:T]  # B T D
    stages["E and P"] = h
    for i, layer in enumerate(model.layers):
        h = layer(h, mask)  # B T D
        stages[f"layer {i}"] = h
    logits = model.norm(h) @ model.embedding.weight.T  # B T V
    stages["logits"] = logits
    print("as in forward:", torch.equal(logits, model(ids)))
print(f"{'ids':8} {tuple(ids.shape)}      {ids[0].tolist()}")
for name, h in stages.items():
    print(f"{name:8} {tuple(h.shape)}  {h[0, -1, :4]}")
best = decode(logits[0].argmax(-1))
print("input          ", *"a_cat")  # _ is the space
print("wanted         ", *"_cat.")  # if a full stop follows
print("most probable  ", *best.replace(" ", "_"))

# %%
generator = torch.Generator().manual_seed(0)
with torch.no_grad():
    while ids.shape[1] < 40:
        p = model(ids)[0, -1].softmax(-1)  # V: for the character after the last
        # multinomial draws one character's number with these probabilities
        next_id = torch.multinomial(p, 1, generator=generator)[None]  # 1 1: a batch
        ids = torch.cat([ids, next_id], dim=1)  # 1 T+1
print(decode(ids[0]))

# %% [markdown]
# The model makes one prediction after each character, 5 in all. The wanted characters are the text itself, shifted by one, so it provides 5 training examples that nobody had to label. The untrained model expects each character again, because the residual stream still carries that character's row of E, and it repeats a character until chance picks another.
#
# ## How well can anyone predict?
#
# To find out how good a model can be, we use tales generated by rules that give the probability of every character. Each tale is about one of eight animals, whose random name consists of one of 14 consonants, one of 5 vowels and again one of the 14.
#
# A character with probability $p$ has a **surprise** of $-\log_2 p$ **bits**: 0 bits if it is certain, and 3 if it is one of eight equally probable characters, because $\log_2 8 = 3$. Even a reader who knows all the rules is surprised by what they **leave open**, such as the name. The mean of this surprise is a limit that no reader can beat: with any other probabilities, the mean is higher. For example, a fair coin costs 1 bit per toss, but a reader who expects its sides with probabilities of 0.75 and 0.25 pays $(-\log_2 0.75 - \log_2 0.25) / 2 = 1.21$ bits on average.
#
# In the tale below, the name appears again after the first full stop. Which of its three letters are still surprising there?

# %%
# ids B 65: in each row, a line break and 64 characters of tale after tale
# bits B 64: for each of the 64, how surprising it is if you know the rules
train = tales(6000, seed=1)
test = tales(400, seed=2)
text = decode(test.ids[3, 1:])  # row 3 without the line break before the tale
print(text)
print(f"bits per character that the rules leave open: {test.bits.mean():.2f}")
plots.surprise(text, {"what the rules leave open": test.bits[3]})

# %% [markdown]
# Only the first letter, "V", is surprising: its probability is 0.6, because the tale could also have ended or continued with *the mouse*. The "o" and the "m" after it carry 0 bits, because a reader who remembers the first mention already knows them.
#
# ## Training
#
# The loss is the mean surprise of the next character, so we can compare it with the 0.37 bits that the rules leave open. The training loop is `train_model` from lesson 13.


# %%
def bits_of_each(model, ids):  # B T+1
    logits = model(ids[:, :-1])  # B T V: nothing follows the last character
    target = ids[:, 1:]  # B T: the character after each
    # cross_entropy wants the vocabulary's axis second: B V T
    loss = cross_entropy(logits.transpose(1, 2), target, reduction="none")  # B T: -ln p
    return loss / math.log(2)  # B T: in bits, since -log2(p) = -ln(p) / ln(2)


def train_on_tales(model, steps=700):
    def batch_loss(generator):  # train_model calls this at every step
        rows = torch.randint(len(train.ids), (16,), generator=generator)  # B
        return bits_of_each(model, train.ids[rows]).mean()

    train_model(model, batch_loss, seed=0, steps=steps, rate=0.01, warmup=20)


# %% tags=["nbval-check-output"]
predict("21.bits", ...)

# %% tags=["reveals"]
print("Bits per character for tales that our GPT has not seen:")
train_on_tales(model)
with torch.no_grad():
    model_bits = bits_of_each(model, test.ids)  # B T
reveal("21.bits", round(model_bits.mean().item(), 2))

# %% [markdown]
# How close is our GPT to the limit, and does it copy? The table's second column gives the mean surprise of the letters that can be copied: the second and third letters of a repeated name. Without copying, these cost as much as at the first mention: log₂ 5 = 2.32 bits for the vowel and log₂ 14 = 3.81 for the consonant, 3.06 on average. The last row shows the mean of five GPTs trained for three times as long, with the lowest and highest values in brackets.

# %%
can_copy = letters_to_copy(test.ids)  # B T, like the bits: True at a letter to copy
found = {"the rules": test.bits, "our GPT": model_bits}
rows = {}
for name, bits in found.items():
    rows[name] = [bits.mean(), bits[can_copy].mean()]
longer_bits = by_seed("longer", "bits")  # stored results of five longer runs
longer_to_copy = by_seed("longer", "to_copy")
rows["five GPTs, 2,100 steps"] = [longer_bits, longer_to_copy]
columns = ["bits per character", "bits per letter to copy"]
table(rows, columns, corner="unseen tales", digits=2)

# %% [markdown]
# Our GPT copies, though not reliably: a letter that can be copied costs it far less than 3.06 bits but clearly more than 0. Trained for longer, the five GPTs come close to the limit and copy nearly every letter.
#
# ## Writing
#
# What does our GPT write now? Because one improbable character can spoil a text, the probabilities are often adjusted before a character is drawn:
#
# - A **temperature** divides the logits before the softmax (lesson 02).
# - **Top-k** (Fan et al., 2018) keeps the k most probable characters.
# - **Nucleus** sampling (Holtzman et al., 2020) keeps only the nucleus, the smallest set of most probable characters whose probabilities sum to at least a threshold, such as 0.9.
#
# After top-k or nucleus filtering, the remaining probabilities are divided by their sum. Work out what a nucleus of 0.9 does to the probabilities 0.5, 0.3, 0.15 and 0.05.


# %% tags=["nbval-check-output"]
def top_k(p, k):  # V
    kept = torch.zeros_like(p)  # V
    places = p.argsort(descending=True, stable=True)[:k]  # the most probable first
    kept[places] = p[places]
    return kept / kept.sum()


def nucleus(p, threshold):  # V
    kept = torch.zeros_like(p)  # V
    for place in p.argsort(descending=True, stable=True):
        if kept.sum() >= threshold:
            break
        kept[place] = p[place]
    return kept / kept.sum()


p = torch.tensor([0.5, 0.3, 0.15, 0.05])  # V
logits = p.log()  # their softmax is p
print("temperature 2", (logits / 2).softmax(-1))
print("top 2        ", top_k(p, 2))
print("nucleus 0.9  ", nucleus(p, 0.9))

# %% [markdown]
# The nucleus consists of the first three probabilities, because 0.5 + 0.3 is still less than 0.9. These three are divided by their sum, 0.95. A temperature of 2 makes the probabilities more equal but removes none of them.
#
# We let our GPT continue "there was a mouse called Vom. " in three ways, with two seeds each: always choosing the most probable character, sampling from a nucleus of 0.9, and at a temperature of 2. A line break, which ends a tale, is shown as |. Before you run the cell, guess which way gives the same text twice.


# %%
@torch.no_grad()
def write(model, prompt, adjust, seed=0, longest=64):
    generator = torch.Generator().manual_seed(seed)
    ids = encode(prompt or "\n")[None]  # 1 T: at least a line break
    while ids.shape[1] < longest:
        last = ids[:, -len(model.P) :]  # 1 T: as many as the model has positions
        logits = model(last)[0, -1]  # V: of text 0, after its last character
        p = adjust(logits)  # V: probabilities, by one of the functions below
        next_id = torch.multinomial(p, 1, generator=generator)[None]  # 1 1
        ids = torch.cat([ids, next_id], dim=1)  # 1 T+1
    text = decode(ids[0]).strip("\n")  # without the prompt's line break
    return text.replace("\n", " | ")


def most_probable(logits):  # V
    return top_k(logits.softmax(-1), 1)


def from_nucleus(logits):  # V
    return nucleus(logits.softmax(-1), 0.9)


def at_temperature_2(logits):  # V
    return (logits / 2).softmax(-1)


prompt = "\nthere was a mouse called Vom. "  # a line break first, as in training
for adjust in (most_probable, from_nucleus, at_temperature_2):
    print(adjust.__name__)
    for seed in (1, 2):
        print("   ", write(model, prompt, adjust, seed))

# %% [markdown]
# Always choosing the most probable character gives the same text twice. A temperature of 2 makes improbable letters more probable, and its two samples contain more misspelt words than the nucleus samples. Some samples also misspell a name that they should copy.
#
# ## A cache
#
# For each new character, the model reads the whole text again. Whether it can reuse what it has already computed for the earlier characters depends on the mask. We give our attention layer four words, then the same four with a fifth. Before you run the cell, guess which mask, BERT's or GPT's, leaves the output vectors of the four words unchanged.

# %% tags=["nbval-check-output"]
# attention, its five words x and the mask causal are from the beginning
full = torch.ones(5, 5, dtype=torch.bool)  # T T: each word sees all
masks = {"BERT": full, "GPT": causal}
for name, mask in masks.items():
    alone = attention(x[:, :4], mask[:4, :4])  # B 4 D
    with_fifth = attention(x, mask)[:, :4]  # B 4 D
    change = (with_fifth - alone).abs().max().item()
    print(f"{name:4}  largest change: {change:.2f}")

# %% [markdown]
# In GPT, the four vectors stay the same, whereas in BERT they change, because the four words can now see the fifth. The next layer computes its keys and values from these vectors. A GPT can therefore store these keys and values in a **cache**, whereas BERT would have to recompute them for each new word.
#
# Two `forward` methods change. In the attention layer, `forward` puts the cached keys and values in front of the new ones. In the model, the new characters get the next positions, and the mask lets them see the cached ones too. A call reads T new characters; S counts these and the ones already in the cache. In the code, *new* marks changes. Neither class adds or renames parameters, so `load_state_dict` can copy the trained ones. After the prompt, the model reads only the newest character. Does it write the same text, and how much time does the cache save a larger, untrained model?


# %%
class CachedAttention(MultiHeadAttention):
    def forward(self, x, mask, cache):  # B T D, T S, a dict: empty or with k and v
        q = self.split(self.W_Q(x))  # B H T d: of the new characters
        k = self.split(self.W_K(x))  # B H T d
        v = self.split(self.W_V(x))  # B H T d
        if cache:  # new: not in the first call
            k = torch.cat([cache["k"], k], dim=2)  # B H S d
            v = torch.cat([cache["v"], v], dim=2)  # B H S d
        cache["k"] = k  # new: the caller's dict keeps k and v for the next call
        cache["v"] = v  # new
        scores = q @ k.mT / q.shape[-1] ** 0.5  # B H T S, k.mT: B H d S
        self.weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)  # B H T S
        context = self.weights @ v  # B H T d
        context = context.transpose(1, 2).flatten(2)  # B T H d, then B T D
        return self.W_O(context)  # B T D


# %%
class CachedGPT(GPT):
    def __init__(self, V, D=48, H=4, F=192, N=2, longest=64):
        super().__init__(V, D, H, F, N, longest)
        for layer in self.layers:
            # layer.attention is a SubLayer; its f is the MultiHeadAttention we replace
            layer.attention.f = CachedAttention(D, H)  # new

    def forward(self, ids, caches):  # B T: the new characters; one dict for each layer
        start = 0  # new: how many characters have been read
        if caches[0]:  # not in the first call
            start = caches[0]["k"].shape[2]  # layer 0's keys: B H start d
        end = start + ids.shape[1]
        x = self.embedding(ids) * self.scale + self.P[start:end]  # B T D
        mask = torch.ones(end, end, dtype=torch.bool, device=ids.device).tril()  # S S
        mask = mask[start:]  # T S; new: only the rows of the new characters
        for layer, cache in zip(self.layers, caches, strict=True):  # new: caches
            # Layer.forward takes no cache, so we call its two sub-layers ourselves
            x = layer.attention(x, mask, cache)  # B T D
            x = layer.feed_forward(x)  # B T D
        return self.norm(x) @ self.embedding.weight.T  # B T V


# %% tags=["nbval-check-output"]
@torch.no_grad()
def write_with_cache(model, prompt, adjust, seed=0, longest=64):
    generator = torch.Generator().manual_seed(seed)
    if longest > len(model.P):  # `write` drops the oldest ones: all vectors change
        message = f"with a cache, a text has at most {len(model.P)} characters"
        raise ValueError(message)
    ids = encode(prompt or "\n")[None]  # 1 T
    caches = [{} for _ in model.layers]  # new
    to_read = ids  # new: first the whole prompt
    while ids.shape[1] < longest:
        logits = model(to_read, caches)[0, -1]  # V; the call fills the caches
        p = adjust(logits)  # V
        next_id = torch.multinomial(p, 1, generator=generator)[None]  # 1 1
        ids = torch.cat([ids, next_id], dim=1)  # 1 T+1
        to_read = next_id  # new: then only the newest character
    text = decode(ids[0]).strip("\n")  # without the prompt's line break
    return text.replace("\n", " | ")


cached = CachedGPT(len(CHARACTERS))
cached.load_state_dict(model.state_dict())
plain_text = write(model, prompt, most_probable)
print("same text:", write_with_cache(cached, prompt, most_probable) == plain_text)


# %%
def seconds_to_write(writer, model):  # writer: write or write_with_cache
    began = time.perf_counter()
    writer(model, prompt, most_probable, longest=300)
    return time.perf_counter() - began


sizes = {"V": len(CHARACTERS), "D": 128, "H": 4, "F": 512, "N": 4, "longest": 300}
without = seconds_to_write(write, GPT(**sizes))
with_cache = seconds_to_write(write_with_cache, CachedGPT(**sizes))
print(f"without a cache: {without:.1f} s")
print(f"with a cache:    {with_cache:.1f} s")

# %% [markdown]
# The text is the same. With a cache, the larger model writes several times as fast. To add one character to a text of t characters, a model without a cache computes t queries, keys and values in each layer. With a cache, it computes only one of each and compares the new query with t keys. The price is memory: two vectors of dimension D for each position and layer.
#
# ## From our class to GPT-2
#
# Apart from dropout and initial weights, GPT-2 (Radford et al., 2019) differs from our class: it learns position vectors, omits √D and replaces `relu` with a smooth function, GELU ([`21.gpt`](../exercises/21_gpt_exercises.ipynb)). In Hugging Face's `transformers`, the model is called `GPT2LMHeadModel`, and `GPT2Config()` contains the sizes of the smallest GPT-2. How many parameters does this GPT-2 have? On the device `meta`, tensors have shapes but no data.


# %% tags=["nbval-check-output"]
class GPT2(GPT):
    def __init__(self, config):  # a GPT2Config
        super().__init__(
            V=config.vocab_size, D=config.n_embd, H=config.n_head,
            F=4 * config.n_embd, N=config.n_layer, longest=config.n_positions,
        )  # fmt: skip
        self.P = nn.Parameter(self.P)  # takes the buffer's place and is trained
        self.scale = 1.0  # instead of √D
        for layer in self.layers:
            # GPT-2 computes GELU approximately, with a tanh
            layer.feed_forward.f.activation = nn.GELU(approximate="tanh")


config = GPT2Config()  # V = 50,257, D = 768, H = 12, N = 12, longest = 1,024
with torch.device("meta"):
    parts = {"GPT2": GPT2(config), "GPT2LMHeadModel": GPT2LMHeadModel(config)}
parts["E alone"] = parts["GPT2"].embedding
for name, part in parts.items():  # 4 bytes for each number in float32
    count = sum(weights.numel() for weights in part.parameters())
    print(f"{name:15}  {count:11,} parameters  {4 * count / 1e6:3.0f} MB")

# %% [markdown]
# Both classes have 124,439,808 parameters. Almost a third of them are in E, which the embedding and the readout share: a separate matrix for the readout would take another 154 MB.
#
# Do they compute the same logits? We copy the parameters of a small `GPT2LMHeadModel` into our class. Our `layers.0.feed_forward.f.W_1.weight` is called `h.0.mlp.c_fc.weight` there, matrices within layers are transposed, and `c_attn` contains those for queries, keys and values side by side.


# %%
def translated(parameters):  # of GPT2LMHeadModel: a dict from names to tensors
    names = {
        "wte": "embedding", "wpe.weight": "P", "h.": "layers.", "ln_f": "norm",
        "ln_1": "attention.norm", "ln_2": "feed_forward.norm",
        "attn.c_attn": "attention.f.W_QKV", "attn.c_proj": "attention.f.W_O",
        "mlp.c_fc": "feed_forward.f.W_1", "mlp.c_proj": "feed_forward.f.W_2",
    }  # fmt: skip
    found = {}
    for name, values in parameters.items():
        for theirs, ours in names.items():
            name = name.replace(theirs, ours)
        if ".f." in name:  # of attention or a feed-forward network, not of a norm
            values = values.t()  # transposes a matrix; a bias stays as it is
        if "QKV" in name:  # one third each for queries, keys and values
            for letter, third in zip("QKV", values.chunk(3), strict=True):
                found[name.replace("QKV", letter)] = third
        else:
            found[name] = values
    return found


# %% tags=["nbval-check-output"]
torch.manual_seed(0)
small = GPT2Config(n_embd=48, n_head=4, n_layer=2)  # otherwise as above
gpt2 = GPT2LMHeadModel(small)
for weights in gpt2.parameters():
    nn.init.normal_(weights, std=0.2)  # also biases and norms
# for the trained weights: gpt2 = GPT2LMHeadModel.from_pretrained("gpt2")
gpt2.eval()  # turns dropout off
copied = GPT2(gpt2.config)
# gpt2.transformer is the model without the readout, which shares E
copied.load_state_dict(translated(gpt2.transformer.state_dict()))
tokens = torch.randint(small.vocab_size, (2, 10))  # B T
with torch.no_grad():
    logits = gpt2(tokens).logits  # B T V
    difference = (copied(tokens) - logits).abs().max()
print(f"largest logit       {logits.abs().max():.1f}")
print(f"largest difference  {difference:.4f}")

# %% [markdown]
# The logits agree. With the trained weights, which `from_pretrained` downloads, our class would be the real GPT-2.
#
# ## How can a model copy?
#
# Elhage et al. (2021) described one way, which Olsson et al. (2022) found in models of many sizes. We look for it in a second, smaller model and then in our GPTs. It relies on two heads:
#
# 1. In one layer, a head attends to the preceding word, so that each word's vector also represents the word before it.
# 2. In a later layer, a head attends to the word after an earlier occurrence of the current word and copies that word. This head is called an **induction head**.
#
# In our tale, the first head would tell the "o" of the first mention that it follows a "V". The query of the second "V" could then ask for a letter that follows a "V". The key of the first mention's "o" would match it.
#
# The second model has little else: two attention layers with one head each, without feed-forward networks or norms. It learns the task from lesson 11, in which a text has up to twelve different words, written as numbers. One of them appears again, and the model has to predict which word followed it the first time. How many of 500 texts does it get right?


# %%
def causal_mask(T, hide=0):  # hide=2: no word can see the word two places back
    mask = torch.ones(T, T, dtype=torch.bool).tril()  # T T
    if hide > 0:
        for t in range(hide, T):
            mask[t, t - hide] = False  # word t cannot see word t - hide
    return mask


class AttentionAlone(nn.Module):
    def __init__(self, N, D=64):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, D)  # WORDS: 32 different words
        self.P = sinusoidal_positions(WORDS + 1, D)  # for 32 words, one of them twice
        self.layers = nn.ModuleList(MultiHeadAttention(D, H=1) for _ in range(N))
        self.readout = nn.Linear(D, WORDS)

    def forward(self, words, hide=0):  # B T
        T = words.shape[1]
        x = self.embedding(words) + self.P[:T]  # B T D
        x = x + self.layers[0](x, causal_mask(T, hide))  # B T D: hide only here
        for layer in self.layers[1:]:
            x = x + layer(x, causal_mask(T))  # B T D
        return self.readout(x[:, -1])  # B V: for the word after the last one


# %%
def train_to_recall(model, seed=0):
    def batch_loss(generator):
        T = torch.randint(2, 13, (1,), generator=generator).item()  # 2 to 12 words
        words, answers = recall_next(64, T, generator)  # B T+1, B
        return cross_entropy(model(words), answers)

    train_model(model, batch_loss, seed, steps=1000, rate=0.005, warmup=20)


torch.manual_seed(0)
copier = AttentionAlone(N=2)
train_to_recall(copier)
generator = torch.Generator().manual_seed(10_000)  # a seed not used in training
words, answers = recall_next(500, 12, generator)  # B T+1, B
with torch.no_grad():
    right = copier(words).argmax(-1) == answers  # B: is the best logit the answer's?
print("text  ", words[0].tolist())
print("answer", answers[0].item())
print(f"share of answers that are right: {right.float().mean():.2f}")

# %% [markdown]
# The model gets nearly all of them right. The next figure shows its attention weights for the text above, in which 6 appears twice. Frames mark the preceding word in the first layer and the word to copy in the second. Which word does the last word, the second 6, attend to there?

# %%
figures.draw_layers(copier, words[0])

# %% [markdown]
# In the second layer, the last word attends to 28, the word that followed 6 the first time. In the first layer, most words attend to the preceding word, some less clearly than others.
#
# Does the second step depend on the first? We make three changes, one at a time:
#
# - In the first layer, no word can see the preceding word.
# - For comparison, no word in that layer can see the word two places back.
# - The first of the two equal words is replaced by a different word, so that the last word has no earlier occurrence.
#
# In the last layer, the last word gives a weight to the word to copy. The mean of this weight over the texts is the **induction score**. In the table below, the last two rows are stored results of five models with two layers, including ours, and five with one. In which rows does copying fail?

# %%
last = words[:, -1]  # B: the last word of each text
first = []  # for each text: where its last word appears for the first time
for row in words.tolist():  # row: a list of T+1 numbers
    first.append(row.index(row[-1]))
replaced = words.clone()
for b in range(500):
    different = (last[b] + 1) % WORDS  # the number after the last word's; after 31, 0
    replaced[b, first[b]] = different


@torch.no_grad()
def measure(inputs, hide=0):  # B T+1
    logits = copier(inputs, hide)  # B V
    right = logits.argmax(-1) == answers  # B
    weights = copier.layers[1].weights  # B H T+1 T+1: kept by the call above
    weights = weights[:, 0, -1]  # B T+1: of the only head, for the last word's query
    # the word to copy comes after the first mention
    to_copy = [weights[b, first[b] + 1] for b in range(500)]
    return [right.float().mean(), torch.stack(to_copy).mean()]


# %%
rows = {"nothing changed": measure(words)}
rows["preceding word hidden in the first layer"] = measure(words, hide=1)
rows["word two places back hidden"] = measure(words, hide=2)
rows["first of the equal words replaced"] = measure(replaced)
for layers in (2, 1):
    share = by_seed("induction", "right", layers=layers)
    score = by_seed("induction", "match", layers=layers)  # the induction score
    rows[f"five models, layers: {layers}"] = [share, score]
table(rows, ["answers right", "induction score"], corner="500 texts", digits=2)

# %% [markdown]
# Copying fails when the preceding word is hidden and when the first of the two equal words is replaced. The model is then no better than guessing among the text's other eleven words, which would get 9% of the answers right. Hiding the word two places back does no harm. The first layer therefore tells most words which word precedes them, and the head of the second layer is an induction head. In a model with one layer, no earlier layer can tell the head anything, and the model does hardly better than guessing.
#
# Do our GPTs copy in this way? The figure shows where each head of our GPT looks from the second "V" of the tale above, with a frame around the first "o", where an induction head would look. The table shows stored results of the five GPTs trained for 2,100 steps: for each, the head that looks most at such letters. We change the capital at the first mention, leave out "there" at the beginning, which moves everything, or switch the head off. What do the heads look for?

# %%
figures.draw_looks_from_second_capital(model, test.ids[3])
figures.copying_heads()  # stored results (benchmarks/gpt.py)

# %% [markdown]
# In our GPT, two heads of the second layer give the "o" nearly all their weight. Each of the five GPTs has a copying head: without it, the letter costs more than one bit more. But a different capital makes no difference, so these are not induction heads. In three GPTs, the head is in the first layer, where a key contains only a letter and its position. When everything moves, all five heads look less at the letter, and it costs more. In later tales of a text, which begin at other positions, the three hardly look at it, so they find it by its position; the other two do ([further tests](../docs/measurements.md#a-small-gpt-and-what-has-changed-since-2017)). In lesson 22, you will look for induction heads in a real language model.
#
# ## So: how does a model write, and how can it copy?
#
# A model writes one character at a time, each predicted from all those before it. Since their vectors do not depend on later characters, a cache saves the model from rereading them.
#
# A model can copy in two steps. A head in one layer tells each word what precedes it, and an induction head in a later layer finds the word that came after an earlier occurrence of the current one. Our GPTs have other copying heads; in three of five, they find a letter by its position.
#
# ## Where you will meet this
#
# | here | in papers | in PyTorch or Hugging Face's `transformers` |
# | --- | --- | --- |
# | `GPT2` | decoder-only Transformer | `GPT2LMHeadModel` |
# | E in the readout | weight tying | `tie_word_embeddings` |
# | text shifted by one | causal language modelling | `labels=input_ids`, shifted by the model |
# | `mask[start:]` | causal mask | without a cache `is_causal=True`; with one `causal_lower_right` |
# | `caches` | KV cache | `cache` (before version 5.24: `past_key_values`) |
# | `nucleus` | top-p sampling | `top_p` in `generate` |
#
# Together with `GPT`, the next cell is enough for a text of your own. Its example is Python's manual, which every Python contains.

# %%
# for a file: manual = open("text.txt", encoding="utf-8").read()
manual = "\n".join(topics.values())[:200_000]
letters = sorted(set(manual))
ids = torch.tensor([letters.index(letter) for letter in manual])
assert len(ids) > 64, "the text needs at least 65 characters"
rows = ids.unfold(0, 65, 1)  # each row begins one character later
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
author = GPT(len(letters)).to(device)
optimizer = torch.optim.AdamW(author.parameters(), lr=0.005)
for step in range(601):
    batch = rows[torch.randint(len(rows), (16,))].to(device)  # B T+1
    logits = author(batch[:, :-1])  # B T V
    loss = cross_entropy(logits.transpose(1, 2), batch[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 200 == 0:
        print(f"step {step}: {loss.item() / math.log(2):.1f} bits per character")
ids = rows[:1, :20].to(device)  # 1 T: how the manual begins
with torch.no_grad():
    for _ in range(200):
        p = author(ids[:, -64:])[0, -1].softmax(-1)  # V
        ids = torch.cat([ids, torch.multinomial(p, 1)[None]], dim=1)  # 1 T+1
print("".join(letters[i] for i in ids[0]))

# %% [markdown]
# In so few steps, the model learns short words and little more.
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("21.q1", ...)

# %%
check("21.q2", ...)

# %%
check("21.q3", ...)

# %%
check("21.q4", ...)

# %%
check("21.q5", ...)

# %% [markdown]
# ## Recap
#
# - If we know the rules that generated a text, we know how many bits per character even the best model needs.
# - A high temperature makes the probabilities more equal, whereas top-k and the nucleus remove improbable characters.
# - In a decoder, earlier vectors do not depend on later ones, so a cache can store their keys and values.
#
# **Further reading**: the course includes [a larger GPT](../docs/translators.md#the-models-that-come-with-the-course) trained on Shakespeare's plays. [nanoGPT](https://github.com/karpathy/nanoGPT) trains one on the same plays.
#
# **Exercises**: [open them](../exercises/21_gpt_exercises.ipynb)
#
# **Next**: [lesson 22](22_real_language_model.ipynb): what is inside the models that we use every day?

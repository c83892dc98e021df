# %% [markdown]
# > boy called girl
# >
# > girl called boy
#
# Who called whom? Only the order tells, and attention by itself doesn't see order. Yet in lesson 09, attention had what a recurrent network lacks: any two words were a single step apart, and no word had to wait for another. After 100 training steps, self-attention found most answers across 32 words; an LSTM was still guessing.
#
# Vaswani et al. (2017; § refers to their paper) therefore built a translation model in which only attention connects words. They had to add a few other parts. We build this model, the **Transformer**, let it translate both sentences, and then remove its parts one at a time.

# %%
import re
from collections import Counter

import sacrebleu
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from course_lessons.lesson_12_transformer import figures
from course_utils import check, predict, reveal
from course_utils.base.progress_bar import with_bar
from course_utils.data.loading import load_captions
from course_utils.data.measured import by_seed
from course_utils.data.small_world import small_world, truth
from course_utils.data.subwords import BOS, EOS, PAD
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.models.torch_conversion import copy_parameters
from course_utils.translation.scores import exact_shares

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)

# %% [markdown]
# ## A word is a sum that grows
#
# Each word keeps a vector of its own, and every layer adds to it. Attention adds what it finds in other words; then a small network adds what it makes of that.
#
# Here is a model so tiny that all its numbers fit into the picture: four entries in a vector, one head, and one layer in each half. It learned from 46 sentences of three words, neither of ours among them. Follow the bold numbers, the second entry of "girl". Where can "girl" learn anything about "boy"?

# %%
figures.one_layer()

# %% [markdown]
# Only along a blue line, with weight 0.34; everything else stays in its column. Since the **embedding** of "girl" is the same in every place, a vector for the position is added first: -1.00 - 0.42 = -1.42. **Self-attention** adds the context 1.45, and a **feed-forward network** adds 0.85, which makes 0.88. The grey column, along which the sum is passed on, is the word's **residual stream**. Queries, keys and norms are not drawn; the values already include $W_O$.
#
# But the context already contains "girl" itself, with weight 0.36. Why keep the old vector?
#
# ## What if attention replaced the word?
#
# Then each word would become a weighted mean, which never leaves the range of the values, and every layer would average the words again. We send 10 random words through 12 layers of self-attention with one head and random matrices. We measure the mean cosine over pairs of words, which is 1 if all point the same way. After how many layers does it exceed 0.99?


# %%
def mean_cosine(x):  # T D
    directions = nn.functional.normalize(x, dim=-1)  # T D: of length 1
    cosines = directions @ directions.T  # T T
    T = len(x)
    return (cosines.sum() - T) / (T * T - T)  # without each word's 1 with itself


def random_attention(x):  # T D
    Q = nn.Linear(64, 64, bias=False)(x)  # T D: random matrices
    K = nn.Linear(64, 64, bias=False)(x)
    V = nn.Linear(64, 64, bias=False)(x)
    weights = (Q @ K.T / 64**0.5).softmax(-1)  # T T
    return weights, weights @ V


@torch.no_grad()
def likeness(residual, seed):
    torch.manual_seed(seed)
    x = torch.randn(10, 64)  # T D
    found = [mean_cosine(x)]
    for _ in range(12):  # layers
        _, context = random_attention(x)  # T D
        x = x + context if residual else context
        found.append(mean_cosine(x))
    return torch.stack(found)


# %% tags=["nbval-check-output"]
predict("12.alike", ...)

# %% tags=["reveals"]
print("Lines show the mean of five seeds, bands the range from lowest to highest.")
torch.manual_seed(0)
weights, _ = random_attention(torch.randn(10, 64))
print(f"a word's largest weight, on average: {weights.amax(-1).mean():.2f}")
alone = torch.stack([likeness(False, seed) for seed in range(5)])  # seeds, layers
added = torch.stack([likeness(True, seed) for seed in range(5)])
above = alone.mean(0) > 0.99  # layers
reveal("12.alike", above.tolist().index(True))  # the first True
alike = {"attention alone": alone, "with residual connections": added}
plots.curves(range(13), alike, "layers", "mean cosine of two words", legend="above")

# %% [markdown]
# Two layers are enough, because the weights are fairly uniform. In the first layer, the largest of a word's ten weights is only 0.17 on average, and equal weights would be 0.1. Every word therefore receives nearly the same mean. Larger matrices keep words apart longer, but at the start of training, matrices are small. Dong et al. (2021) prove that words become alike.
#
# The second curve shows a partial remedy, the residual connection of lesson 03 (He et al., 2016). When the context is *added* to the word, as in x + f(x), the words become alike more slowly.
#
# ## One memory, a new look for each word
#
# The half of the model that reads is the **encoder**; its output, a vector for each word, is the **memory**. The half that writes is the **decoder**, which starts from BOS and appends one predicted word after another, up to EOS. In our toy language, "flima" is a boy, "drolo" is a girl and "kovor" means "called". Where does the tiny model look before it writes "kovor"?

# %%
figures.four_steps()

# %% [markdown]
# It goes back to "called", which it had passed over to fetch "girl" first. It has learned from examples that verbs go last, though it was only trained to predict the next word. (We chose a model that is easy to read.)
#
# But at "drolo", how does it know that both nouns are there? In the decoder, the words written so far also look at each other.
#
# ## The architecture
#
# At the top, N encoder layers turn the source into the memory. At the bottom, the target so far passes through N decoder layers, which take keys and values from the memory, and the **readout** gives every word a probability of being the next. The thick lines are the streams. Each box reads its stream through a norm, explained later, and adds its result at a +. Which boxes would have blue lines in our first picture?

# %%
diagrams.transformer()

# %% [markdown]
# Words exchange information only in the three attention layers (§3.2.3); all other boxes process each word on its own.
#
# ## The attention layers
#
# Attention works as in lesson 10 (§3.2.1 and 3.2.2), except that keys and values are computed from `memory`, or from x if no memory is given.
#
# $$\text{head}_i = \text{softmax}\!\left(\frac{Q_i K_i^\top}{\sqrt{d}}\right) V_i \qquad [\text{head}_0, \dots, \text{head}_{H-1}]\, W_O$$
#
# Here d = D / H is the dimension of each head, $Q_i$ is a slice of $x W_Q$, and $K_i$ and $V_i$ are slices of `memory` multiplied by $W_K$ and $W_V$. If x is the target and `memory` the source, which of Q, K and V come from the source?


# %%
class MultiHeadAttention(nn.Module):
    def __init__(self, D, H):  # dimension of a word, number of heads
        super().__init__()
        self.H = H
        self.W_Q = nn.Linear(D, D)
        self.W_K = nn.Linear(D, D)
        self.W_V = nn.Linear(D, D)
        self.W_O = nn.Linear(D, D)

    def split(self, x):  # B T D
        heads = x.unflatten(-1, (self.H, -1))  # B T H d: a word in H parts
        return heads.transpose(1, 2)  # B H T d

    def forward(self, x, mask, memory=None):
        # x: B T D, memory: B S D, mask: True where x may look
        if memory is None:
            memory = x  # the words look at each other
        Q = self.split(self.W_Q(x))  # B H T d
        K = self.split(self.W_K(memory))  # B H S d
        V = self.split(self.W_V(memory))  # B H S d
        scores = Q @ K.mT / Q.shape[-1] ** 0.5  # B H T S, K.mT: B H d S
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)  # B H T S
        contexts = (weights @ V).transpose(1, 2)  # B T H d
        return self.W_O(contexts.flatten(2))  # B T D: the heads side by side


# %% [markdown]
# Keys and values come from the source, queries from the target. With one query per target word, the result has the shape of x and can be added to the stream.
#
# ## One network for all words
#
# Attention only fetches: matrix products aside, all it does is average. To make something of what it has collected, each layer also has a position-wise **feed-forward network** (§3.3), the same for every word. Its matrix $W_1$ maps the D entries of the vector to F **hidden units**, the squares in our first picture. A ReLU sets negative values to 0 (white), and $W_2$ maps the units back to D entries.
#
# $$\text{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2$$
#
# Take x = [1, -2], ignore the biases, and use four hidden units with weights [1, 0], [0, 1], [1, 1] and [-1, -1]. Work out the two outputs on paper: the first is the sum of all units, and the second is twice the last unit.


# %% tags=["nbval-check-output"]
class FeedForward(nn.Module):
    def __init__(self, D, F):  # dimension of a word, number of hidden units
        super().__init__()
        self.W_1 = nn.Linear(D, F)
        self.W_2 = nn.Linear(F, D)

    def forward(self, x):  # B T D
        hidden = self.W_1(x).relu()  # B T F
        return self.W_2(hidden)  # B T D


network = FeedForward(D=2, F=4)
units = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, -1.0]])  # F D
outputs = torch.tensor([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 2.0]])  # D F
network.load_state_dict({  # nn.Linear keeps its matrix transposed
    "W_1.weight": units, "W_1.bias": torch.zeros(4),
    "W_2.weight": outputs, "W_2.bias": torch.zeros(2),
})  # fmt: skip
x = torch.tensor([[1.0, -2.0]])
with torch.no_grad():
    print("hidden units:", network.W_1(x).relu())
    print("output:      ", network(x))
    print("without max: ", network.W_2(network.W_1(x)))

# %% [markdown]
# The answer is [2, 2]: before the ReLU, the units are 1, -2, -1 and 1, and the negative ones become 0. Without the ReLU, both matrices would collapse into one, $W_1 W_2$, and the output would be [-1, 2].
#
# ## Norms and sub-layers
#
# A sum that grows with every layer may become too large. **Layer normalisation** (Ba et al., 2016) therefore rescales what each box reads: it subtracts the mean μ of a word's entries and divides by their standard deviation σ. A learned gain g and bias b are then applied, and a tiny ε prevents division by zero.
#
# $$\text{norm}(x) = g \cdot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + b$$
#
# We call a box f, together with its residual connection and norm, a **sub-layer**. Vaswani et al. apply the norm after the addition (**post-norm**, §3.1); most models today, including ours, apply it before f (**pre-norm**).
#
# $$\text{post: } \text{norm}(x + f(x)) \qquad\qquad \text{pre: } x + f(\text{norm}(x))$$
#
# Normalise x = [1, 2, 6] with g = 1 and b = 0. If f returns its input unchanged, what do pre-norm and post-norm give? (Dropout, from lesson 09, stays at 0 until we train on captions.)


# %%
class SubLayer(nn.Module):
    def __init__(self, D, f, dropout=0.0):
        super().__init__()
        self.norm = nn.LayerNorm(D)
        self.f = f
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, *others):  # B T D, and what f needs besides: a mask, a memory
        return x + self.dropout(self.f(self.norm(x), *others))  # B T D


x = torch.tensor([1.0, 2.0, 6.0])
norm = nn.LayerNorm(3)  # it starts with g = 1 and b = 0
print("norm:", norm(x).detach())
print("pre: ", SubLayer(3, nn.Identity())(x).detach())  # f returns its input
print("post:", norm(x + x).detach())
diagrams.sublayers()

# %% [markdown]
# The mean is 3, the variance is (4 + 1 + 9) / 3 = 4.667 and the standard deviation is 2.16. The normalised vector is therefore [-2, -1, 3] / 2.16 = [-0.926, -0.463, 1.389]. Pre-norm adds this vector to x. Post-norm normalises 2x, which gives the same as normalising x: the stream itself passes through the norm.
#
# ## Two kinds of layer
#
# An encoder layer (§3.1) has two sub-layers, self-attention and a feed-forward network. In a decoder layer, the self-attention is causal and is followed by an extra sub-layer: attention to the source, often called **cross-attention**. Its keys and values come from the memory, and its mask hides the source padding. First write the three lines of the decoder layer's `forward` on paper.
#
# Each of the three attention layers needs a mask, in which True means "may attend". Suppose the source consists of 3 words and EOS, the target of BOS and 3 words, both padded to 5 positions. Draw the masks: how many different ones are there?


# %%
class EncoderLayer(nn.Module):
    def __init__(self, D, H, F, dropout=0.0):
        super().__init__()
        self.self_attention = SubLayer(D, MultiHeadAttention(D, H), dropout)
        self.feed_forward = SubLayer(D, FeedForward(D, F), dropout)

    def forward(self, x, mask):
        # x: B S D, mask: B 1 1 S, the same for all heads and all queries
        x = self.self_attention(x, mask)  # B S D
        return self.feed_forward(x)  # B S D


class DecoderLayer(nn.Module):
    def __init__(self, D, H, F, dropout=0.0):
        super().__init__()
        self.self_attention = SubLayer(D, MultiHeadAttention(D, H), dropout)
        self.source_attention = SubLayer(D, MultiHeadAttention(D, H), dropout)
        self.feed_forward = SubLayer(D, FeedForward(D, F), dropout)

    def forward(self, x, causal, memory, mask):
        # x: B T D, causal: T T, memory: B S D, mask: B 1 1 S
        x = self.self_attention(x, causal)  # B T D
        x = self.source_attention(x, mask, memory)  # B T D
        return self.feed_forward(x)  # B T D


def causal_mask(T):  # as in lesson 09
    return torch.ones(T, T, dtype=torch.bool).tril()  # T T: True up to the diagonal


# %%
there = torch.tensor([True, True, True, True, False])  # S
source = ["the", "dog", "barks", "EOS", "PAD"]
target = ["BOS", "der", "Hund", "bellt", "PAD"]
masks = {
    "encoder, to itself": (there.expand(5, 5), source, source),  # for each query
    "decoder, to itself": (causal_mask(5), target, target),
    "decoder, to the source": (there.expand(5, 5), source, target),
}
plots.side_by_side(plots.mask, masks)

# %% [markdown]
# There are only two: the source mask, which hides the source padding and is used twice, and the causal mask of the decoder's self-attention. The other layers need not be causal, because the whole source is known from the start. The target padding needs no mask: it comes last, so the causal mask hides it.
#
# ## The whole model
#
# At the input, a word's vector $x_t$ is the sum of its row of an embedding matrix E, multiplied by √D (§3.4), and the sinusoidal vector of its position (§3.5, lesson 11).
#
# At the output, the last layer's vector $h_t$ passes through a final norm. In the readout, each word in the vocabulary gets a logit, the dot product of its row of E and the normalised vector.
#
# $$x_t = \sqrt{D}\, E_{w_t} + P_t \qquad\qquad \text{logits}_t = E\, \text{norm}(h_t)$$


# %%
def sinusoidal_positions(longest, D):
    p = torch.arange(longest).double()[:, None]  # longest 1, in double precision
    i = torch.arange(D // 2).double()  # D/2
    angle = p / 10_000 ** (2 * i / D)  # longest D/2
    P = torch.zeros(longest, D)
    P[:, 0::2] = angle.sin()  # the even columns
    P[:, 1::2] = angle.cos()  # the odd columns
    return P


class EmbeddingAndReadout(nn.Module):
    def __init__(self, V, D, longest, dropout=0.0):  # V: words in the vocabulary
        super().__init__()
        self.D = D
        self.embedding = nn.Embedding(V, D)
        nn.init.normal_(self.embedding.weight, std=D**-0.5)  # times √D: about 1
        self.register_buffer("P", sinusoidal_positions(longest, D))  # T D, not trained
        self.dropout = nn.Dropout(dropout)

    def embed(self, words):  # B T
        positions = self.P[: words.shape[1]]  # T D
        return self.dropout(self.embedding(words) * self.D**0.5 + positions)  # B T D

    def readout(self, x):  # B T D
        return x @ self.embedding.weight.T  # B T V


# %%
class Transformer(EmbeddingAndReadout):
    def __init__(self, V, D=32, H=4, F=64, N=2, longest=64, dropout=0.0):
        # N layers on each side
        super().__init__(V, D, longest, dropout)
        self.padding = PAD
        self.register_buffer("causal", causal_mask(longest))  # T T
        sizes = (D, H, F, dropout)
        self.encoder = nn.ModuleList(EncoderLayer(*sizes) for _ in range(N))
        self.decoder = nn.ModuleList(DecoderLayer(*sizes) for _ in range(N))
        self.encoder_norm = nn.LayerNorm(D)
        self.decoder_norm = nn.LayerNorm(D)

    def encode(self, source):  # B S
        mask = (source != self.padding)[:, None, None]  # B 1 1 S
        x = self.embed(source)  # B S D
        for layer in self.encoder:
            x = layer(x, mask)  # B S D
        return self.encoder_norm(x), mask

    def decode(self, given, memory, mask):  # B T, B S D, B 1 1 S
        T = given.shape[1]
        x = self.embed(given)  # B T D
        for layer in self.decoder:
            x = layer(x, self.causal[:T, :T], memory, mask)  # B T D
        return self.readout(self.decoder_norm(x))  # B T V

    def forward(self, source, given):  # B S, B T
        memory, mask = self.encode(source)
        return self.decode(given, memory, mask)  # B T V


# %% [markdown]
# ## Three tests before training
#
# Missing masks or positions raise no error, so we first test the model, whole and then without each of three parts. If we change later words in the target, the logits of earlier words should stay the same. If we add padding to the source, all logits should stay the same; if we reverse the source, they should change. Which model fails which test?


# %%
@torch.no_grad()
def is_safe_from_later_words(model, source, given):
    logits = model(source, given)[:, :2]  # B 2 V: at the positions 0 and 1
    changed = given.clone()
    changed[:, 2:] = 7  # a different word at every position from 2 on
    return torch.allclose(model(source, changed)[:, :2], logits, atol=1e-5)


@torch.no_grad()
def is_safe_from_padding(model, source, given):
    padded = nn.functional.pad(source, (0, 3), value=PAD)  # B S+3
    return torch.allclose(model(padded, given), model(source, given), atol=1e-5)


@torch.no_grad()
def sees_the_order(model, source, given):
    reversed_logits = model(source.flip(1), given)  # B T V
    return not torch.allclose(reversed_logits, model(source, given), atol=1e-5)


# %% tags=["nbval-check-output"]
torch.manual_seed(0)
whole = Transformer(V=50)
without_causal = Transformer(V=50)
without_causal.causal.fill_(True)  # every word may look at later ones
without_source = Transformer(V=50)
without_source.padding = -1  # no word has this number: nothing is hidden
without_positions = Transformer(V=50)
without_positions.P.zero_()
models = {
    "whole model": whole,
    "without causal mask": without_causal,
    "without source mask": without_source,
    "without positions": without_positions,
}
source = torch.randint(10, 50, (4, 6))  # B S
given = torch.randint(10, 50, (4, 5))  # B T
tests = [is_safe_from_later_words, is_safe_from_padding, sees_the_order]
rows = {}
for name, tested in models.items():
    rows[name] = [test_of(tested, source, given) for test_of in tests]
table(rows, ["safe from later words", "safe from padding", "sees the order"])

# %% [markdown]
# Each part is needed for one test. Without positions, our two sentences give the decoder the same memory in a different order. Since attention adds up what it finds there, no training could make the two translations differ.
#
# ## Does it translate?
#
# On lesson 06's toy task, we train a small model with D = 32, 4 heads, F = 64 and 2 layers in each half. The target is our invented language whose verbs come last, and each sentence has exactly one correct translation.
#
# As in lesson 05, a batch consists of the source, the decoder's input and the words it should predict, padded with 0 (PAD). We train for 200 steps of 64 pairs each. Gradients longer than 1 are shortened to length 1, and the learning rate falls from 0.01 to 0.0005.
#
# With teacher forcing, the model predicts each word from the correct previous words, as in training; by itself, it reads what it has written. In which of these two tests will it get more words right?


# %%
def make_batch(sources, targets):  # for each sentence, a list of word numbers
    source = [torch.tensor([*ids, EOS]) for ids in sources]
    given = [torch.tensor([BOS, *ids]) for ids in targets]
    wanted = [torch.tensor([*ids, EOS]) for ids in targets]
    sides = (source, given, wanted)
    return [pad_sequence(rows, batch_first=True) for rows in sides]  # B S, B T, B T


def draw_batches(sources, targets, seed=0, steps=200, batch=64):
    draw = torch.Generator().manual_seed(seed)
    batches = []
    for _ in range(steps):
        chosen = torch.randint(len(sources), (batch,), generator=draw).tolist()
        drawn_sources = [sources[i] for i in chosen]
        drawn_targets = [targets[i] for i in chosen]
        batches.append(make_batch(drawn_sources, drawn_targets))
    return batches


pairs = small_world(20_000, seed=1, order="verb-last")
sources, targets = pairs.ids()  # a list of word numbers for each sentence
test = small_world(300, seed=2, order="verb-last")
test_batch = make_batch(*test.ids())  # source B S, given B T, wanted B T


# %%
def loss_on(model, source, given, wanted):  # B S, B T, B T
    logits = model(source, given).flatten(0, 1)  # B·T V
    return nn.functional.cross_entropy(logits, wanted.flatten(), ignore_index=PAD)


def fit(model, batches, epochs=1, rate=0.01):  # epochs: passes through the batches
    adam = torch.optim.Adam(model.parameters(), lr=rate)
    steps = epochs * len(batches)
    falling_rate = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 0.05, steps)
    losses = []
    for _ in range(epochs):
        for batch in with_bar(batches):  # shows a bar if it takes long
            loss = loss_on(model, *batch)
            adam.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adam.step()
            falling_rate.step()
            losses.append(loss.item())
    return losses


# %%
@torch.no_grad()
def share_right(model, source, given, wanted):  # with teacher forcing
    predicted = model(source, given).argmax(-1)  # B T: the most probable words
    correct = predicted == wanted  # B T
    return correct[wanted != PAD].float().mean().item()


@torch.no_grad()
def translate(model, words, sentences, longest=20):
    nothing = [[]] * len(sentences)  # the translations are empty, so given is BOS
    source, given, _ = make_batch(words.encode(sentences), nothing)  # B S, B 1
    memory, mask = model.encode(source)
    for _ in range(longest):
        logits = model.decode(given, memory, mask)  # B T V
        next_word = logits[:, -1].argmax(-1, keepdim=True)  # B 1: the most probable
        given = torch.cat([given, next_word], dim=1)  # B T+1
    return words.decode(given[:, 1:].tolist())  # without BOS, each up to its EOS


def results(model, losses):
    loss = sum(losses[-20:]) / 20  # of the last steps
    forced = share_right(model, *test_batch)
    translations = translate(model, pairs.words, test.sources)
    _, by_itself = exact_shares(translations, test.targets)  # of sentences, of words
    return [loss, forced, by_itself]


# %% tags=["nbval-check-output"]
predict("12.share", ...)

# %% tags=["reveals"]
torch.manual_seed(0)
model = Transformer(len(pairs.words))
losses = fit(model, draw_batches(sources, targets))
of_whole = results(model, losses)
_, forced, by_itself = of_whole
print("Share of words right:")
print(f"with teacher forcing {forced:.2f}, by itself {by_itself:.2f}")
reveal("12.share", "with teacher forcing" if forced > by_itself else "by itself")

# %%
sentences = ["boy called girl", "girl called boy"]
sentences.append("big boy near my house called old girls and dogs followed friends")
ours = translate(model, pairs.words, sentences)
for sentence, written in zip(sentences, ours, strict=True):
    print(f"source  {sentence} (in training: {sentence in pairs.sources})")
    print(f"right   {truth([sentence], 'verb-last')[0]}\nmodel   {written}\n")
new = [text for text in test.sources if text not in pairs.sources]
translations = translate(model, pairs.words, new)
_, by_itself = exact_shares(translations, truth(new, "verb-last"))
print(f"words right in the {len(new)} sentences not in training: {by_itself:.2f}")

# %% [markdown]
# With teacher forcing, the Transformer predicts nearly every word correctly. When it writes by itself, it gets fewer words right, though still most of them, even in sentences it has not seen in training.
#
# Our puzzle is solved: "flima drolo kovor" says that the boy called, "drolo flima kovor" that the girl did, and the model read neither sentence in training. The longest translation lacks some words, so others are in the wrong places.
#
# ## Remove one part at a time
#
# Which parts did the model need? We remove one at a time and train the rest in the same way. Where attention to the source, a feed-forward network or a norm is removed, x passes through unchanged; without its residual connection, a sub-layer is f(norm(x)).
#
# Without the causal mask, each target word can attend to later words, including the very word that it should predict. With teacher forcing, such a model gets nearly every word right. What proportion will it get right when it writes by itself?


# %%
class Skip(nn.Module):
    def forward(self, x, *others):
        return x


class NoResidual(nn.Module):
    def __init__(self, sublayer):
        super().__init__()
        self.norm = sublayer.norm
        self.f = sublayer.f

    def forward(self, x, *others):
        return self.f(self.norm(x), *others)


# %%
def take_out(model, part):
    layers = [*model.encoder, *model.decoder]
    if part == "attention to the source":
        for layer in model.decoder:
            layer.source_attention = Skip()
    elif part == "feed-forward networks":
        for layer in layers:
            layer.feed_forward = Skip()
    elif part == "residual connections":
        for layer in layers:
            for name, sublayer in layer.named_children():
                setattr(layer, name, NoResidual(sublayer))  # in its place
    elif part == "norms":
        for module in model.modules():
            if isinstance(module, SubLayer):
                module.norm = nn.Identity()
        model.encoder_norm = nn.Identity()
        model.decoder_norm = nn.Identity()
    elif part == "positions":
        model.P.zero_()
    elif part == "source mask":
        model.padding = -1  # no word has this number
    elif part == "causal mask":
        model.causal.fill_(True)
    return model


# %% tags=["nbval-check-output"]
predict("12.part", ...)

# %% tags=["reveals"]
part = "causal mask"
torch.manual_seed(0)
without = take_out(Transformer(len(pairs.words)), part)
its_losses = fit(without, draw_batches(sources, targets))
its_results = results(without, its_losses)
print(f"Share of words right without {part}, by itself:")
reveal("12.part", round(its_results[2], 2))  # by itself
rows = {"whole model": of_whole, f"without {part}": its_results}
columns = ["last losses", "words right, teacher forcing", "words right, by itself"]
table(rows, columns, digits=2)

# %% [markdown]
# When it writes by itself, this model gets hardly any words right. Yet neither the loss nor the proportion with teacher forcing reveals this: both are about the same as for the whole model. The whole model has to find the next word in the source. Without the mask, the model can copy the word from the next position, empty when it writes. A good loss can hide a useless model, which is why we tested the mask first.
#
# **Your turn**: predict the result for a different part, such as "norms", and rerun the last two cells with that `part`.
#
# In the next figure, we remove each of seven parts, with 300 steps and five seeds. Each model also translates one sentence at a time, which needs no padding. One model has a third layer instead of feed-forward networks and nearly as many parameters as the whole model (41,472 compared with 45,632). Which parts does a model need to get half of the words right by itself?

# %%
taken_out = {
    "whole model": "nothing",
    "no feed-forward networks": "feed-forward networks",
    "the same, third layer": "feed-forward networks, with three layers",
    "no norms": "norms",
    "no source mask": "source mask",
    "no positions": "positions",
    "no attention to the source": "attention to the source",
    "no residual connections": "residual connections",
    "no causal mask": "causal mask",
}
rows = {}
for name, part in taken_out.items():
    rows[name] = {
        "teacher forcing": by_seed("parts", "given_right", part=part, world="plain"),
        "by itself": by_seed("parts", "written_right", part=part, world="plain"),
        "one at a time": by_seed("parts", "alone_right", part=part, world="plain"),
    }
for name in list(taken_out)[:3]:
    print(f"{name:25} words wrong: {1 - rows[name]['by itself'].mean():.3f}")
plots.dots(rows, "share of words right; a mark for each of five seeds")

# %% [markdown]
# It needs four. Without attention to the source, it can only guess from the previous words. Without positions, it knows which words the source contains but not their order. Without the causal mask, it relies on words that are missing when it writes.
#
# Without the source mask, it gets fewer words right when it translates one sentence at a time, probably because it learned to rely on padding. After 300 steps without feed-forward networks, it gets about twice as many words wrong on average, and a third layer doesn't make up for this.
#
# The fourth part is the residual connections. Even after 1,000 steps at a rate of 0.003, three models without them got [14% to 18% of the words](../docs/measurements.md#what-other-ways-to-look-and-other-layers-can-do) right with teacher forcing, and 23% to 72% with larger initial weights. Always choosing the most frequent word would give 12%. The usual explanation is that no gradient reaches the first layer. We measure it before training, with and without norms, which rescale whatever passes through them. We also measure how alike the words of the long sentence are in the memory.


# %% tags=["nbval-check-output"]
predict("12.gradient", ...)


# %% tags=["reveals"]
def untrained(part, weights, seed, N):
    torch.manual_seed(seed)
    model = take_out(Transformer(len(pairs.words), N=N), part)
    if weights == "large":
        enlarge(model)
    return model


long_source, _, _ = make_batch(pairs.words.encode(sentences[2:]), [[]])  # 1 S
rows = {}
for norms, part in {"with": "nothing", "without": "norms"}.items():
    for residual in ("with", "without"):
        runs = []
        for seed in range(5):
            start = untrained(part, "small", seed, N=2)
            if residual == "without":
                take_out(start, "residual connections")
            loss_on(start, *test_batch).backward()
            gradient = start.encoder[0].self_attention.f.W_V.weight.grad.norm()
            [memory], _ = start.encode(long_source)  # S D
            runs.append(torch.stack([gradient, mean_cosine(memory.detach())]))
        rows[f"{norms} norms, {residual} residual connections"] = torch.stack(runs)
lengths = [runs[:, 0].mean().item() for runs in rows.values()]
names = ["whole model", "no residuals", "no norms", "neither"]
reveal("12.gradient", names[lengths.index(min(lengths))])
columns = ["first layer's gradient", "mean cosine in the memory"]
table(rows, columns, corner="before training", digits=4)

# %% [markdown]
# The explanation holds only without norms: there, taking out the residual connections shrinks the first gradient several hundredfold. With norms, the gradient even grows, and yet our model doesn't learn. The other column suggests why. Without residual connections, all words of the memory point in the same direction, as in our first experiment. A decoder that finds the same vector everywhere can hardly learn where to look.
#
# ## What are norms for?
#
# Removing the norms changed hardly anything, so why does nearly every Transformer have them? We now build six layers on each side, with and without norms, and with small weights or large ones, up to twice that size (Glorot and Bengio, 2010). We measure the standard deviation of the stream's entries before training and count the words that the models get right after 200 steps at a rate of 0.003. In which of the four cases do you expect large entries?


# %%
def enlarge(model):  # following Glorot and Bengio (2010)
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)


@torch.no_grad()
def spreads(model, source, given):  # before the decoder's first layer, and after each
    memory, mask = model.encode(source)
    x = model.embed(given)  # B T D
    causal = model.causal[: x.shape[1], : x.shape[1]]  # T T
    found = [x.std()]
    for layer in model.decoder:
        x = layer(x, causal, memory, mask)  # B T D
        found.append(x.std())
    return torch.stack(found)  # N+1


# %%
runs = {}
for weights in ("small", "large"):
    for norms, part in {"with": "nothing", "without": "norms"}.items():
        deep = [untrained(part, weights, seed, N=6) for seed in range(3)]
        name = f"{weights} weights, {norms} norms"
        runs[name] = torch.stack([spreads(each, *test_batch[:2]) for each in deep])
figures.six_layers(runs)

# %% [markdown]
# With large weights and without norms, the entries grow a hundredfold or more, and the models learn next to nothing in 200 steps. Models with norms also learn when they start with large weights, though less than with small weights, where norms help only slightly. Norms thus make the initial weights less critical, at the one rate we tried.
#
# ## Real captions
#
# In lesson 05, a model with a single vector translated real captions of at most ten tokens, but nobody read a book. We now train our Transformer on the same captions for four epochs, with dropout. Will the book arrive?

# %%
UNK = 3  # the number of all tokens that occur fewer than three times


def tokenize(caption):  # "A dog runs." becomes ["a", "dog", "runs", "."]
    return re.findall(r"\w+|[^\w\s]", caption.lower())


class Vocabulary:
    def __init__(self, texts):
        counts = Counter(tokenize(" ".join(texts)))
        self.tokens = ["PAD", "BOS", "EOS", "UNK"]  # their numbers are 0, 1, 2 and 3
        self.tokens += [token for token, count in counts.items() if count >= 3]
        self.number_of = {token: i for i, token in enumerate(self.tokens)}

    def encode(self, texts):  # a list of numbers for each text
        return [self.encode_one(text) for text in texts]

    def encode_one(self, text):
        return [self.number_of.get(token, UNK) for token in tokenize(text)]

    def decode(self, rows):  # each row up to its EOS
        texts = []
        for row in rows:
            end = row.index(EOS) if EOS in row else len(row)
            texts.append(" ".join(self.tokens[number] for number in row[:end]))
        return texts


# %%
def short_pairs(split):  # at most ten tokens in English
    captions = load_captions(split)
    both = zip(captions.sources, captions.targets, strict=True)
    return [pair for pair in both if len(tokenize(pair[0])) <= 10]


def collate(pairs):  # B pairs of strings
    english, german = zip(*pairs, strict=True)
    batch = make_batch(vocabulary.encode(english), vocabulary.encode(german))
    return [part.to(device) for part in batch]  # B S, B T, B T


training_pairs = short_pairs("train")
vocabulary = Vocabulary([text for pair in training_pairs for text in pair])
english, german = zip(*short_pairs("test"), strict=True)
references = [" ".join(tokenize(text)) for text in german]
device = "cuda" if torch.cuda.is_available() else "cpu"

torch.manual_seed(0)
translator = Transformer(len(vocabulary.tokens), D=64, F=128, dropout=0.1).to(device)
training = DataLoader(training_pairs, batch_size=64, shuffle=True, collate_fn=collate)
losses = fit(translator, list(training), epochs=4)  # always in the same batches
translator = translator.eval().cpu()  # dropout off
print(f"loss of the last 100 steps, on average: {sum(losses[-100:]) / 100:.2f}")

# %%
captions = ["A man is playing guitar.", "Two dogs are running in the snow."]
captions.append("A woman is reading a book on a bench.")
translations = translate(translator, vocabulary, captions)
for caption, translation in zip(captions, translations, strict=True):
    print(caption, "→", translation)
written = translate(translator, vocabulary, english)
# The texts are already split into tokens.
bleu = sacrebleu.corpus_bleu(written, [references], tokenize="none", force=True)
print(f"BLEU on {len(english)} test captions: {bleu.score:.0f}")
print("test translations with UNK:", sum("UNK" in text for text in written))

# %% [markdown]
# In our run, the woman reads ("liest"), but there is still no book. On the short test captions, the model's BLEU is about 24, compared with about 7 for lesson 05's model. Most of this gain needs no Transformer: lesson 06's GRUs with attention [reach 19 to 22](../docs/measurements.md#what-other-ways-to-look-and-other-layers-can-do). But more than half of the test translations contain UNK, which lesson 13 replaces with subwords.
#
# ## Was it worth replacing the GRUs?
#
# Short paths and no waiting were the promise. We trained both kinds on [all 29,000 captions](../docs/measurements.md#how-well-the-translators-translate), each with its own settings and three seeds:
#
# | | BLEU, test captions of 2016 | minutes of training |
# | --- | --- | --- |
# | Transformer | **37.6** (37.5 to 37.7) | 8 |
# | GRUs with attention | 33.9 (33.7 to 34.4) | 7 |
#
# The Transformer is clearly ahead, though not faster here. On our toy task, we also trained GRUs much like lesson 06's on the same 200 batches, each model at the best of three learning rates. Which gets more words right by itself?

# %% tags=["nbval-check-output"]
rows = {}
for name in ("Transformer", "GRUs with attention"):
    setup = f"{name}, 200 steps, rate 0.01"
    size = by_seed("parts", "parameters", part=setup)[0]
    seconds = by_seed("parts", "cpu_seconds", part=setup)  # for the training
    rows[name] = [by_seed("parts", "written_right", part=setup), seconds, int(size)]
columns = ["words right, by itself", "seconds", "parameters"]
table(rows, columns, corner="200 steps", digits=2)

# %% [markdown]
# Here, the GRUs get more words right in the same time, though they also have more parameters. Perhaps short, regular sentences have no use for short paths.
#
# ## What turns attention into a translator?
#
# Positions, a causal mask and attention to the source: without any one of these, the model got most words wrong when it wrote by itself. Without residual connections, all words of the memory were alike before training, and with small initial weights, the model learned next to nothing. Without the source mask, a sentence was translated less well on its own than in a batch; without feed-forward networks, about twice as many words were wrong. Norms mattered much only in six-layer models with large initial weights.
#
# ## Where you will meet this
#
# | here | in the paper | in PyTorch | in Hugging Face's `transformers` (Marian) |
# | --- | --- | --- | --- |
# | D, H, F, N | $d_\text{model}$, $h$, $d_\text{ff}$, $N$ | `d_model`, `nhead`, `dim_feedforward`, `num_encoder_layers` | `d_model`, `encoder_attention_heads`, `encoder_ffn_dim`, `encoder_layers` |
# | 32, 4, 64, 2 | base model: 512, 8, 2048, 6 | by default: 512, 8, 2048, 6 | by default: 1024, 16, 4096, 12 |
# | `source_attention` | encoder-decoder attention | `multihead_attn` | `encoder_attn` |
# | `W_1`, `W_2` | $W_1$, $W_2$ | `linear1`, `linear2` | `fc1`, `fc2` |
# | pre-norm | post-norm | post-norm, unless `norm_first=True` | post-norm |
# | mask: True may be seen | $-\infty$ | `src_key_padding_mask`: True must not be seen | `attention_mask`: 1 may be seen |
#
# With `register_buffer`, a tensor that is not trained, such as P, moves to the GPU and is saved with the model. Dropout is on in a new module and off after `eval()`; if you forget to switch it off, translations are partly random.
#
# The diagram has the names from the paper's Figure 1 in italics; its "Add & Norm" is our + with a norm after it, whereas our norm comes before the box.

# %% tags=["nbval-check-output"]
encoder = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True, norm_first=True)
decoder = nn.TransformerDecoderLayer(8, 2, 16, 0.0, batch_first=True, norm_first=True)
our_encoder = EncoderLayer(D=8, H=2, F=16)
our_decoder = DecoderLayer(D=8, H=2, F=16)
for theirs, ours in ((encoder, our_encoder), (decoder, our_decoder)):
    copy_parameters(theirs.self_attn, ours.self_attention.f)  # as in lesson 10
    ours.feed_forward.f.W_1 = theirs.linear1
    ours.feed_forward.f.W_2 = theirs.linear2
copy_parameters(decoder.multihead_attn, our_decoder.source_attention.f)
x = torch.randn(2, 5, 8)  # B S D
y = torch.randn(2, 5, 8)  # B T D
causal = causal_mask(5)  # T T
padding = ~there.expand(2, 5)  # B S: True must not be seen
memory = encoder(x, src_key_padding_mask=padding)  # B S D
same = torch.allclose(our_encoder(x, there), memory, atol=1e-5)
print("PyTorch's encoder layer gives the same:", same)
of_theirs = decoder(y, memory, tgt_mask=~causal, memory_key_padding_mask=padding)
same = torch.allclose(our_decoder(y, causal, memory, there), of_theirs, atol=1e-5)
print("PyTorch's decoder layer gives the same:", same)
diagrams.transformer(paper_names=True)


# %% [markdown]
# ## Questions
#
# Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("12.q1", ...)

# %%
check("12.q2", ...)

# %%
check("12.q3", ...)

# %%
check("12.q4", ...)

# %%
check("12.q5", ...)

# %% [markdown]
# ## Recap
#
# - Each word has a residual stream, a sum to which every part adds. Attention alone makes words alike.
# - A sub-layer is x + f(norm(x)). An encoder layer has two, self-attention and a feed-forward network; a decoder layer has a third between them, attention to the source.
# - There are three kinds of attention layer and two masks.
# - Without positions, the causal mask or attention to the source, most words are wrong. With small initial weights, the same goes for residual connections.
#
# **Exercises**: [open them](../exercises/12_transformer_exercises.ipynb)
#
# **Next**: our Transformer translates short captions. [How is it trained well, and what does it then know?](13_training.ipynb)

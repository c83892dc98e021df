# %%
from time import process_time

import torch
from IPython.display import display
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.measured import measured, measured_once
from course_utils.data.small_world import small_world, truth
from course_utils.data.subwords import EOS, PAD
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.models.assembled import share_right
from course_utils.models.attention import causal_mask
from course_utils.models.conversion import from_lesson
from course_utils.models.plain import sinusoidal_positions
from course_utils.models.recurrent import RecurrentTranslator
from course_utils.models.residual import likeness, spreads
from course_utils.models.seq2seq import fit, make_batch
from course_utils.translation.scores import exact_shares

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)

# %% [markdown]
# ## What can attention alone not do?
#
# Attention makes weighted averages. If three values are 2, 4 and 9, then whatever the weights, the context lies between 2 and 9.
#
# So what happens to the words if one attention follows another? We send 10 random words through 12 layers of self-attention whose W_Q, W_K and W_V are random as `nn.Linear` begins, and measure how alike they are: the mean cosine between two words, which is 1 when all point in the same direction. After how many layers is it above 0.99?

# %% tags=["nbval-check-output"]
predict("12.alike", ...)

# %% tags=["reveals"]
print("How alike ten words are, five seeds:")
alike = {"attention alone": likeness(residual=False), "with residual connections": likeness(residual=True)}
reveal("12.alike", (alike["attention alone"].mean(0) > 0.99).tolist().index(True))
plots.curves(range(13), alike, "layers", "mean cosine of two words", legend="above")

# %% [markdown]
# After two layers of attention alone all words point in nearly the same direction (theory: Dong et al. 2021). If each attention *adds* its context, x + f(x), they become alike more slowly: the residual connection of lesson 09 (He et al. 2016).
#
# Here is the Transformer (Vaswani et al. 2017), with its norms where most models have them today. Its residual connections form a line, the **residual stream**, from the embedding to the last norm. Each box beside it reads it and adds to it. The encoder's result is the **memory**. We build them one by one: f is what a box does; norms have a section of their own. Which of them lets words exchange what they know?

# %%
diagrams.transformer()

# %% [markdown]
# ## The attentions
#
# Words meet only in the three attentions, which are those of lesson 10:
#
# $$\text{head}_i = \text{softmax}\!\left(\frac{Q_i K_i^\top}{\sqrt{d}}\right) V_i \qquad [\text{head}_0, \dots, \text{head}_{H-1}]\, W_O$$
#
# The code also has a mask and biases. With D = 8 and two heads, which shape does Q have for 3 sentences of 5 words?


# %%
class MultiHeadAttention(nn.Module):
    def __init__(self, D, H):  # width of a word, number of heads
        super().__init__()
        self.H = H
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(D, D) for _ in range(4))

    def split(self, x):  # B T D
        return x.unflatten(-1, (self.H, -1)).transpose(1, 2)  # B H T d

    def forward(self, x, mask, memory=None):  # B T D, True where x may look, B S D
        memory = x if memory is None else memory  # without a memory the words look at each other
        Q, K, V = self.split(self.W_Q(x)), self.split(self.W_K(memory)), self.split(self.W_V(memory))
        scores = Q @ K.mT / Q.shape[-1] ** 0.5  # B H T S
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)  # B H T S
        return self.W_O((weights @ V).transpose(1, 2).flatten(2))  # B T D


attention, x = MultiHeadAttention(D=8, H=2), torch.randn(3, 5, 8)
print("Q:     ", *attention.split(attention.W_Q(x)).shape)
print("result:", *attention(x, causal_mask(5)).shape)
attentions = ["self-attention", "causal", "cross"]
diagrams.transformer_calls(new=attentions)

# %% [markdown]
# Q has 3 sentences, 2 heads, 5 words and 8 / 2 = 4 numbers for each. The result has the shape of x, so it can be added to the stream. The drawing shows the model as a row of calls; our code now has the marked ones.
#
# ## A network for each word
#
# Attention only adds up values of words. To *compute* from a word, each layer has a **feed-forward network**:
#
# $$\text{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2$$
#
# Take x = [1, -2], no biases, and hidden units with the weights [1, 0], [0, 1], [1, 1] and [-1, -1]. The first output sums all units, the second doubles the last one. What comes out?


# %% tags=["nbval-check-output"]
class FeedForward(nn.Module):
    def __init__(self, D, F):  # width of a word, number of hidden units
        super().__init__()
        self.W_1, self.W_2 = nn.Linear(D, F), nn.Linear(F, D)

    def forward(self, x):  # B T D
        hidden = self.W_1(x).relu()  # B T F
        return self.W_2(hidden)  # B T D


with torch.no_grad():
    network, x = FeedForward(D=2, F=4), torch.tensor([[1.0, -2.0]])
    # nn.Linear keeps its matrix transposed, with a row for each unit.
    network.W_1.weight[:] = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, -1.0]])  # F D
    network.W_2.weight[:] = torch.tensor([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 2.0]])  # D F
    network.W_1.bias[:] = network.W_2.bias[:] = 0
    print("hidden units:", network.W_1(x).relu())
    print("output:      ", network(x))
    print("without max: ", x @ (network.W_2.weight @ network.W_1.weight).T)
diagrams.transformer_calls(attentions, new=["feed-forward"])

# %% [markdown]
# The products are 1, -2, -1 and 1, and those below 0 become 0. Without this step one matrix would do, W_1 W_2: see the last line.
#
# ## Norm and sub-layer
#
# **Layer normalisation** (Ba et al. 2016) brings the numbers of every vector to mean 0 and variance 1. Gain g and bias b are learned; ε is tiny:
#
# $$\text{norm}(x) = g \cdot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + b$$
#
# A function f (attention or feed-forward) with residual connection and norm is a **sub-layer**. Vaswani et al. 2017 use **post-norm**, the norm after the addition; most models today use **pre-norm**, and so do we:
#
# $$\text{post: } \text{norm}(x + f(x)) \qquad\qquad \text{pre: } x + f(\text{norm}(x))$$
#
# By hand: what is the norm of [1, 2, 6]? What do both make of it if f returns what it gets? Then change the line in `PostNorm`.


# %%
class SubLayer(nn.Module):
    def __init__(self, D, f):
        super().__init__()
        self.norm, self.f = nn.LayerNorm(D), f

    def forward(self, x, *others):  # B T D, and what f needs besides: a mask, a memory
        return x + self.f(self.norm(x), *others)  # B T D


class PostNorm(SubLayer):
    def forward(self, x, *others):
        return x + self.f(self.norm(x), *others)  # still pre-norm: change it


x, norm = torch.tensor([1.0, 2.0, 6.0]), nn.LayerNorm(3)  # it begins with g = 1 and b = 0
print("variance:", x.var(correction=0), "  norm:", norm(x).detach())
print("pre: ", SubLayer(3, nn.Identity())(x).detach())
print("post:", PostNorm(3, nn.Identity())(x).detach())
diagrams.sublayers()

# %% [markdown]
# The variance is (4 + 1 + 9) / 3 = 4.667 and its root 2.16, so the norm begins with -2 / 2.16 = -0.926. Post-norm should give the norm of 2x, which is that of x: [-0.926, -0.463, 1.389]. In the drawing, in post-norm the stream itself passes through a norm in every sub-layer; in pre-norm it is only ever added to.
#
# ## Two kinds of layers
#
# An encoder layer has two sub-layers, self-attention and feed-forward. A decoder layer has three: its self-attention gets a causal mask, and the next one looks at the memory, under the mask of the source. Write the three lines of its `forward` on paper before you read them.


# %%
class EncoderLayer(nn.Module):
    def __init__(self, D, H, F):
        super().__init__()
        self.self_attention = SubLayer(D, MultiHeadAttention(D, H))
        self.feed_forward = SubLayer(D, FeedForward(D, F))

    def forward(self, x, mask):  # B S D, B 1 1 S
        x = self.self_attention(x, mask)  # B S D
        return self.feed_forward(x)  # B S D


class DecoderLayer(nn.Module):
    def __init__(self, D, H, F):
        super().__init__()
        self.self_attention = SubLayer(D, MultiHeadAttention(D, H))
        self.source_attention = SubLayer(D, MultiHeadAttention(D, H))
        self.feed_forward = SubLayer(D, FeedForward(D, F))

    def forward(self, x, causal, memory, mask):  # B T D, T T, B S D, B 1 1 S
        x = self.self_attention(x, causal)  # B T D
        x = self.source_attention(x, mask, memory)  # B T D
        return self.feed_forward(x)  # B T D


diagrams.transformer_calls([*attentions, "feed-forward"], new=["layers"])


# %% [markdown]
# So there are three attentions, and each gets a mask. Take a source of 3 words and EOS, padded to 5 positions, and a target of BOS and 3 words, padded as well. Where may each attention look? Draw the masks on paper first: how many different ones are there?

# %%
there = torch.tensor([True, True, True, True, False])
source, target = ["the", "dog", "barks", "EOS", "PAD"], ["BOS", "der", "Hund", "bellt", "PAD"]
masks = {
    "encoder, to itself": (there.expand(5, 5), source, source),
    "decoder, to itself": (causal_mask(5), target, target),
    "decoder, to the source": (there.expand(5, 5), source, target),
}
for (title, (allowed, keys, queries)), ax in zip(masks.items(), plots.axes(3, width=3.4, height=3.2), strict=True):
    plots.mask(allowed, keys, queries, title=title, ax=ax)

# %% [markdown]
# There are two: the source's mask, which hides its padding, serves twice. The target's padding needs no mask: it comes last, so the causal mask hides it from all words. (Nobody reads the rows of PAD.) Only the decoder's attention to itself is causal: the source is known as a whole.
#
# ## The whole model
#
# What goes in is a word's embedding, from one matrix E for both languages, times √D, plus its position. What comes out are logits: dot products of the last layer's result $h_t$, after one more norm, with the embeddings of all words, so that E is also the **readout**.
#
# $$x_t = \sqrt{D}\, E_{w_t} + P_t \qquad\qquad \text{logits}_t = E\, \text{norm}(h_t)$$


# %%
class EmbeddingAndReadout(nn.Module):
    def __init__(self, V, D, longest):
        super().__init__()
        self.D, self.embedding = D, nn.Embedding(V, D)
        nn.init.normal_(self.embedding.weight, std=D**-0.5)  # times √D, its entries are about as large as positions
        self.register_buffer("P", sinusoidal_positions(longest, D))  # T D; buffers are not trained

    def embed(self, words):  # B T
        return self.embedding(words) * self.D**0.5 + self.P[: words.shape[1]]  # B T D

    def readout(self, x):  # B T D
        return x @ self.embedding.weight.T  # B T V


# %%
class Transformer(EmbeddingAndReadout):
    def __init__(self, V, D=32, H=4, F=64, N=2, longest=64):  # N layers on each side; the paper: 512, 8, 2048 and 6
        super().__init__(V, D, longest)
        self.padding = PAD
        self.register_buffer("causal", causal_mask(longest))  # T T
        self.encoder = nn.ModuleList(EncoderLayer(D, H, F) for _ in range(N))
        self.decoder = nn.ModuleList(DecoderLayer(D, H, F) for _ in range(N))
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(D), nn.LayerNorm(D)

    def encode(self, source):  # B S
        x, mask = self.embed(source), (source != self.padding)[:, None, None]  # B S D, B 1 1 S
        for layer in self.encoder:
            x = layer(x, mask)  # B S D
        return self.encoder_norm(x), mask

    def decode(self, given, memory, mask):  # B T, B S D, B 1 1 S
        x, T = self.embed(given), given.shape[1]  # B T D
        for layer in self.decoder:
            x = layer(x, self.causal[:T, :T], memory, mask)  # B T D
        return self.readout(self.decoder_norm(x))  # B T V

    def forward(self, source, given):  # B S, B T
        return self.decode(given, *self.encode(source))  # B T V


ends = ["embedding", "norm", "memory", "readout"]
diagrams.transformer_calls([*attentions, "feed-forward", "layers"], new=ends)


# %% [markdown]
# With pre-norm no norm lies on the residual stream, so one more follows the last layer of each side. We train the model in the small world of lesson 06, where verbs go to the end, in 200 steps of lesson 05's loop: 64 pairs, Adam, clipped gradients, and a rate that falls from 0.01. A recurrent translator as in lesson 06, GRUs with attention, learns from the same batches. (For both we also tried three rates.) We count in two ways: each word predicted after the *right* words before it, or after the model's *own*. Which model will be faster, and which will get more words right? In `translate` below, how often do `encode` and `decode` run for ten words?

# %% tags=["nbval-check-output"]
predict("12.share", ...)

# %% tags=["reveals"]
print("Words of sentences, most of them new to both:")
pairs, test = (small_world(number, seed, order="verb-last") for number, seed in ((20_000, 1), (300, 2)))
torch.manual_seed(0)
recurrent = RecurrentTranslator(len(pairs.words), width=32, hidden=64, encoder_hidden=32, dropout=0.0)
rows, rates = {}, {}
for name, model in {"GRUs with attention": recurrent, "Transformer": Transformer(len(pairs.words))}.items():
    began = process_time()
    losses = fit(model, *pairs.ids(), steps=200)
    seconds, size = process_time() - began, sum(weight.numel() for weight in model.parameters())
    rows[name] = [size, seconds, share_right(model, *make_batch(*test.ids()))]
    setups = [f"{name}, 200 steps, rate {rate}" for rate in (0.003, 0.01, 0.03)]
    rates[name] = [measured_once("parts", "written_right", part=setup)[0] for setup in setups]
reveal("12.share", round(rows["Transformer"][-1], 2))
display(table(rows, ["parameters", "seconds of processor time", "share right, given the right words"]))
print("Three seeds reading their own words, first at the rate 0.01 and seed by seed:")
for steps in (200, 240):
    (ours,) = measured_once("parts", "written_right", part=f"Transformer, {steps} steps, rate 0.01")
    lead = torch.tensor(rates["GRUs with attention"][1]) - torch.tensor(ours)
    print(f"GRUs minus Transformer with {steps} steps:", lead)
table(rates, ["rate 0.003", "rate 0.01", "rate 0.03"], corner="share right", digits=2)


# %%
@torch.no_grad()
def translate(model, words, texts, longest=20):
    source, y, _ = make_batch(words.encode(texts), [[]] * len(texts))  # B S, B 1: BOS
    memory, mask = model.encode(source)
    while y.shape[1] <= longest and not (y == EOS).any(1).all():  # until each sentence has its EOS
        likeliest = model.decode(y, memory, mask)[:, -1:].argmax(-1)  # B 1
        y = torch.cat([y, likeliest], 1)  # B T
    return words.decode(y[:, 1:].tolist())  # each up to its EOS


tried = ["young friends saw girls", "big boy near my house called old girls and dogs followed friends"]
for text, right, ours in zip(tried, truth(tried, "verb-last"), translate(model, test.words, tried), strict=True):
    print(f"\n{text}\nright  {right}\nmodel  {ours}")

# %% [markdown]
# A one-page model learns to translate, mostly. (`encode` runs once, `decode` eleven times, with EOS.) Your seconds show which was faster. Of the three rates 0.01 is best for both. There the GRUs get more words right with each seed, even if ours has 240 steps to their 200. (With 300 ours comes close: see below.) On millions of real sentences, Vaswani et al. found the Transformer better after less training.
#
# ## Take one part out
#
# We take out each part and train the rest in the same way:
#
# - a sub-layer passes x on unchanged; a norm becomes the identity;
# - without residual connections, f(norm(x)) remains;
# - positions become 0, and a mask becomes True everywhere.


# %%
class Skip(nn.Module):
    def forward(self, x, *others):
        return x


class NoResidual(SubLayer):
    def forward(self, x, *others):
        return self.f(self.norm(x), *others)


# %%
def take_out(model, part):
    for layer in [*model.encoder, *model.decoder]:
        for name, sublayer in list(layer.named_children()):
            if part == "residual connections":
                setattr(layer, name, NoResidual(model.D, sublayer.f))
            elif part == "norms":
                sublayer.norm = model.encoder_norm = model.decoder_norm = nn.Identity()
        if part == "feed-forward networks":
            layer.feed_forward = Skip()
        elif part == "attention to the source" and layer in model.decoder:
            layer.source_attention = Skip()
    if part == "positions":
        model.P.zero_()
    elif part == "causal mask":
        model.causal.fill_(True)
    elif part == "source mask":
        model.padding = -1  # no word has this number
    return model


# %%
# Or "norms", "residual connections", "attention to the source", "positions", "source mask", "feed-forward networks".
part = "causal mask"
predict("12.part", ...)

# %% tags=["reveals"]
torch.manual_seed(0)
without = take_out(Transformer(len(pairs.words)), part)
its_losses = fit(without, *pairs.ids(), steps=200)
given_right = share_right(without, *make_batch(*test.ids()))
_, written_right = exact_shares(translate(without, test.words, test.sources), test.targets)
print(f"Without its {part} the model learns this:")
print(f"loss in the last steps  {sum(its_losses[-20:]) / 20:.2f} (whole model: {sum(losses[-20:]) / 20:.2f})")
print(f"share right             {given_right:.2f} given the right words, {written_right:.2f} reading its own")
print(f"right                   {truth(tried[1:], 'verb-last')[0]}")
print(f"this model              {translate(without, test.words, tried[1:])[0] or '(nothing)'}")
reveal("12.part", round(written_right, 2))

# %% [markdown]
# Without the causal mask the model may look at the word that it should predict, and when it translates, that word is not there yet. But why is its loss not far below the whole model's, if it sees the answer?
#
# Choose another part: change the line, predict, and run. Then look at all, with five seeds and 300 steps. The last row lacks two parts: without causal mask and source, it can only copy the word that it should predict. In the third series 100 sentences are translated singly, without padding. Predict first: without which four of the seven parts will fewer than half of the words be right when the model translates?


# %%
def shares(part, world="plain"):
    values = ("given_right", "written_right", "alone_right")
    return torch.tensor(measured_once("parts", *values, world=world, part=part))  # a row for each value


parts = ["feed-forward networks", "norms", "source mask", "positions"]
parts += ["attention to the source", "residual connections", "causal mask"]
copying = "causal mask and attention to the source"
series = ("given the right words", "reading its own", "one sentence at a time")
names = {"nothing": "whole model"} | {part: f"without {part}" for part in parts}
names[copying] = "without causal mask\nand attention to the source"
rows = {name: dict(zip(series, shares(part), strict=True)) for part, name in names.items()}
plots.dots(rows, "share of words right; a mark for each of five seeds", ax=plots.axes(width=9, height=4.6))
for part in ("nothing", "source mask", "causal mask", copying):
    (found,) = measured_once("parts", "loss", world="plain", part=part)
    print(f"loss at the end {min(found):.2f} to {max(found):.2f}: {' '.join(names[part].split())}")

# %% [markdown]
# Without positions, attention to the source, residual connections or the causal mask, fewer than half of the words are right when the model translates. Of these four, only the causal mask is not missed given the right words, nor by the loss. Copying must be learned, too, and here the source settles nearly every word, so even the whole model's loss nears 0. (In real text only the loss without the mask might.) Without the source mask, sentences translated one at a time get much worse: perhaps the model has learned to rely on the padding beside the words.
#
# Feed-forward networks and norms seem to do little. Is this also true where words have endings that must agree?


# %%
def lost(part, world):
    return shares("nothing", world)[1] - shares(part, world)[1]


deeper = "feed-forward networks, with three layers"
rows = {f"without {part}": {world: lost(part, world) for world in ("plain", "endings")} for part in parts[:2]}
rows["without the networks,\nbut with a third layer"] = {"plain": [], "endings": lost(deeper, "endings")}
ax = plots.axes(width=8, height=2.8)
plots.dots(rows, "share of words lost without the part (same seed)", ax=ax, xlim=(-0.05, 0.15))
ax.axvline(0, color="0.4", linewidth=1)
sizes = [measured_once("parts", "parameters", world="endings", part=part)[0][0] for part in ("nothing", deeper)]
print("parameters: {:,.0f} in the whole model, {:,.0f} with a third layer but no networks".format(*sizes))

# %% [markdown]
# Without feed-forward networks the model gets fewer words right: with four of five seeds in the plain world, and with every seed where words have endings. A third layer brings it to nine tenths of the whole model's parameters, and it still gets fewer right.
#
# What about the norms? Their marks lie on both sides of 0. Perhaps layers with small weights do not need them. We build six on each side, whose weights start larger, in the way of Glorot & Bengio (2010). How large do the numbers in the decoder's stream become, and the first loss? (An even guess would give ln V = ln 86 = 4.5.) Do they learn?


# %%
def six_layers(part, seed):
    torch.manual_seed(seed)
    deep = take_out(Transformer(len(pairs.words), N=6), part)
    for module in deep.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
    return deep


source, given, wanted = make_batch(*(side[:64] for side in test.ids()))
runs = {}
for name, part in {"with norms": "nothing", "without norms": "norms"}.items():
    runs[name] = torch.stack([spreads(six_layers(part, seed), source, given) for seed in range(3)])
    first = [fit(six_layers(part, seed), *pairs.ids(), seed=seed, steps=1)[0] for seed in range(3)]
    print(f"{name}: the first losses are", *(f"{loss:.1f}" for loss in first))
    (right,) = measured_once("parts", "given_right", part=f"{part}, six layers, 200 steps")
    print("    share right given the right words, after 200 steps at 0.003:", *(f"{share:.2f}" for share in right))
ax = plots.axes()
plots.curves(range(7), runs, "layers of the decoder", "standard deviation of x", ax=ax, legend="above")
_ = ax.set(yscale="log")

# %% [markdown]
# With norms each sub-layer reads numbers of one size, and the stream grows slowly. Without any norm, not even the one before the readout, it grows a hundredfold or more. Training starts at a huge loss, and after 200 steps few words are right.
#
# ## Does it matter where the norm stands?
#
# The paper has post-norm. We trained models of width 64, with six layers on each side, by Adam with clipped gradients, for 600 steps at a high rate, 0.003: with either norm, with and without a **warm-up**, in which the rate begins near 0 and rises for 200 steps; and once more post-norm at 0.001. One of these five ways fails. Which one?

# %% tags=["nbval-check-output"]
predict("12.fails", ...)

# %% tags=["reveals"]
ways = {"pre": ("pre", 0, 0.003), "pre, warm-up": ("pre", 200, 0.003), "post": ("post", 0, 0.003)}
ways |= {"post, warm-up": ("post", 200, 0.003), "post, rate 0.001": ("post", 0, 0.001)}
rows = {}
for way, (norm, warmup, rate) in ways.items():
    _, runs = measured("warm_up", "words_right", "rate", norm=norm, warmup=warmup, rate=rate)
    rows[way] = {"trained models": [run[0] for run in runs]}
reveal("12.fails", min(rows, key=lambda way: sum(rows[way]["trained models"])))
ax = plots.axes(width=8, height=2)
plots.dots(rows, "share right, given the right words; a mark for each of five seeds", ax=ax)
ax.get_legend().remove()

# %% [markdown]
# Post-norm without a warm-up fails with every seed. What goes wrong in its first steps? Here are three of these ways, with three seeds. How different are the decoder's words, as 1 minus their mean cosine, and how large is the gradient that reaches its first layer? (Thin: each seed of "post".) At the dotted line the warm-up has reached the full rate. Are the words different then?

# %%
runs = {"pre": ("pre", 0), "post": ("post", 0), "post, warm-up": ("post", 200)}
titles = {"unlike": "1 - mean cosine of two words", "gradient": "gradient of the first layer"}
for (value, title), ax in zip(titles.items(), plots.axes(2, width=5.2, height=4), strict=True):
    lines = {}
    for way, (norm, warmup) in runs.items():
        steps, found = measured("first_steps", value, "step", norm=norm, warmup=warmup)
        lines[way] = nn.functional.pad(torch.tensor(found), (0, 10 - len(steps)), value=torch.nan)  # to ten points
    plots.curves(steps, lines, "step", title, ax=ax, legend="above")
    ax.plot(steps, lines["post"].T, color="0.2", linewidth=1)  # each seed of "post"
    ax.axvline(200, color="0.5", linestyle=":")
    ax.set(xscale="log", yscale="log", ylim=(1e-7, 2))

# %% [markdown]
# With post-norm and no warm-up, ten steps make all words alike, and hardly any gradient reaches the first layer. By step 50 it has not come back, although with two of three seeds words differ a little again. The other two ways keep gradients above 0.02, and words are apart when the warm-up ends. We have not measured why: Xiong et al. 2020 find post-norm's gradients near the output large at the start, Liu et al. 2020 that its layers depend more on f.
#
# ## Is it right?
#
# A wrong mask raises no error, so we test: neither later words nor padding may change a word's logits. Which promise breaks without the causal mask, and which without the source mask?


# %% tags=["nbval-check-output"]
@torch.no_grad()
def promises(model, source, given):
    logits = model(source, given)  # B T V
    later, alone = given.clone(), source[:1, : (source[0] != PAD).sum()]
    later[0, 2:] = 7  # another word in place of all from position 2 on
    kept = torch.allclose(model(source, later)[0, :2], logits[0, :2], atol=1e-6)
    return [kept, torch.allclose(model(alone, given[:1])[0], logits[0], atol=1e-6)]


rows, texts, model = {}, ["young friends saw girls", "big boy near my house called old girls"], model.double()
ours = make_batch(*(pairs.words.encode(side) for side in (texts, truth(texts, "verb-last"))))[:2]
rows["the model of this page"] = promises(model, *ours)
for part in ("causal mask", "source mask"):
    untrained = take_out(Transformer(len(pairs.words)), part).double()
    rows[f"without its {part}, untrained"] = promises(untrained, *ours)
fast = from_lesson(model)  # with copies of our weights
print("The course's Transformer agrees:", torch.allclose(fast(*ours), model(*ours), rtol=0, atol=1e-5))
table(rows, ["safe from later words", "safe from padding"])

# %% [markdown]
# The whole model keeps both promises, and each missing mask breaks one, even before training. The course's own Transformer agrees.
#
# ## So: what else does attention need?
#
# Residual connections, positions, a causal mask and an attention to the source: without one of these, most words were wrong. Without the source mask, sentences translated one at a time got worse. The training loss hardly shows a missing mask. Feed-forward networks help, in nine of ten comparisons. Norms keep numbers small: without them six layers with large first weights hardly learned. Where norms stand decides whether a high rate needs a warm-up.
#
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
# - Attention alone makes words alike. With residual connections, x + f(x), that happens more slowly.
# - A sub-layer is x + f(norm(x)). An encoder layer has two: self-attention and feed-forward. A decoder layer has three, with an attention to the source in between.
# - Three attentions, two masks: one hides the source's padding and serves twice, one is causal. In a world as certain as ours the training loss does not show a missing mask. So we test that neither later words nor padding change anything.
# - With pre-norm no norm lies on the residual stream. With post-norm at a high rate and no warm-up, hardly any gradient reached the first layer.
#
# **Exercises**: [open them](../exercises/12_transformer_exercises.ipynb)
#
# **Next**: a small Transformer learns a small world in 200 steps. [How is one trained on real sentences, and what does it know then?](13_training.ipynb)

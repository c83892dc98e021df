# %%
import torch
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.measured import measured, measured_once
from course_utils.data.small_world import small_world, truth
from course_utils.data.subwords import PAD
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.models.assembled import share_right
from course_utils.models.attention import causal_mask
from course_utils.models.conversion import from_lesson
from course_utils.models.files import load_pretrained
from course_utils.models.plain import sinusoidal_positions
from course_utils.models.residual import first_steps, likeness, spreads
from course_utils.models.seq2seq import fit, make_batch
from course_utils.translation.scores import exact_shares

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)

# %% [markdown]
# ## What can attention alone not do?
#
# Attention makes weighted averages. If three values are 2, 4 and 9, then whatever the weights, the context lies between 2 and 9.
#
# So what happens to the words if one attention follows another? We send 10 random words through 12 layers of self-attention with random W_Q, W_K and W_V, and measure how alike they are: the mean cosine between two words, 1 when all point in the same direction. How large will it be after 12 layers?

# %% tags=["nbval-check-output"]
predict("12.alike", ...)

# %% tags=["reveals"]
print("How alike ten words are, five seeds:")
alike = {"attention alone": likeness(residual=False), "with residual connections": likeness(residual=True)}
reveal("12.alike", round(alike["attention alone"][:, -1].mean().item(), 2))
plots.curves(range(13), alike, "layers", "mean cosine of two words", legend="above")

# %% [markdown]
# After two layers of attention alone all words point in the same direction. (Dong et al. 2021 have the theory.) If each attention *adds* its context to the word, x + f(x), they become alike more slowly. This is a **residual connection** (He et al. 2016).
#
# ## The attentions
#
# We now write a whole Transformer (Vaswani et al. 2017). All its attentions are lesson 10's:
#
# $$\text{head}_i = \text{softmax}\!\left(\frac{Q_i K_i^\top}{\sqrt{d}}\right) V_i \qquad [\text{head}_0, \dots, \text{head}_{H-1}]\, W_O^\top$$
#
# With D = 8 and two heads, which shape does Q have for 3 sentences of 5 words? And which of the three attentions in the drawing takes keys and values from the other side? (In each box, f is what the box names; norm comes below.)


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
diagrams.transformer()

# %% [markdown]
# The attention to the source takes its keys and values from the **memory**, which is the encoder's result.
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

# %% [markdown]
# The products are 1, -2, -1 and 1. Setting those below 0 to 0 is what matters: without it, two matrices in a row would amount to one.
#
# ## Norm and sub-layer
#
# **Layer normalisation** (Ba et al. 2016) keeps numbers from growing: each vector gets mean 0 and variance 1. The gain g and the bias b are learned, and a tiny ε keeps it from dividing by 0:
#
# $$\text{norm}(x) = g \cdot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + b$$
#
# Take x = [1, 2, 6]. The mean is 3. What is the variance, and what comes out?

# %% tags=["nbval-check-output"]
x, norm = torch.tensor([1.0, 2.0, 6.0]), nn.LayerNorm(3)  # it begins with g = 1 and b = 0
print("variance:", x.var(correction=0), "  norm:", norm(x).detach())

# %% [markdown]
# The variance is (4 + 1 + 9) / 3 = 4.667, its root 2.16, and -2 / 2.16 = -0.926 comes first.
#
# A function f, an attention or a feed-forward network, with its residual connection and its norm is our **sub-layer**. In Vaswani et al. 2017 the norm comes *after* the addition, **post-norm**. In most models today it comes *before* the function, **pre-norm** (compared by Xiong et al. 2020), and so it does on this page:
#
# $$\text{post: } \text{norm}(x + f(x)) \qquad\qquad \text{pre: } x + f(\text{norm}(x))$$
#
# What does each make of [1, 2, 6] if f returns what it is given? Predict it, then change the line in `PostNorm`. In which of the two drawings can x pass without going through a norm?


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


print("pre: ", SubLayer(3, nn.Identity())(x).detach())
print("post:", PostNorm(3, nn.Identity())(x).detach(), "should be", norm(x + x).detach())
diagrams.sublayers()

# %% [markdown]
# (With f(x) = x, the sum is 2x, and its norm is that of x.) In pre-norm x passes freely from layer to layer. This is the **residual stream**, which is only ever added to.
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


# %% [markdown]
# So there are three attentions, and each has its own mask. Take a source of 3 words and EOS, padded to 5 positions, and a target that so far has BOS and 3 words. Where may each attention look? Draw the masks on paper first.

# %%
there = torch.tensor([True, True, True, True, False])
source, target = ["the", "dog", "barks", "EOS", "PAD"], ["BOS", "der", "Hund", "bellt"]
masks = {
    "encoder, to itself": (there.expand(5, 5), source, source),
    "decoder, to itself": (causal_mask(4), target, target),
    "decoder, to the source": (there.expand(4, 5), source, target),
}
for (title, (allowed, keys, queries)), ax in zip(masks.items(), plots.axes(3, width=3.4, height=3.2), strict=True):
    plots.mask(allowed, keys, queries, title=title, ax=ax)

# %% [markdown]
# No word may look at padding: the target's comes last, where the causal mask hides it. Only the decoder's attention to itself is causal: words that are yet to be written must not be seen. The source is known as a whole.
#
# ## The whole model
#
# What goes in is a word's embedding, from one matrix E for both languages, times √D, plus its position. What comes out are logits: dot products of the last layer's result $h_t$, after one more norm, with the embeddings of all words, so that E is also the **readout**. Between these two come the layers. In the second cell, which line computes the memory, and how often for a translation of ten words?
#
# $$x_t = \sqrt{D}\, E_{w_t} + P_t \qquad\qquad \text{logits}_t = E\, \text{norm}(h_t)$$


# %%
class EmbeddingAndReadout(nn.Module):
    def __init__(self, V, D, longest):
        super().__init__()
        self.D, self.embedding = D, nn.Embedding(V, D)
        nn.init.normal_(self.embedding.weight, std=D**-0.5)  # times √D, its entries are as large as positions
        self.register_buffer("P", sinusoidal_positions(longest, D))  # T D; buffers are not trained

    def embed(self, words):  # B T
        return self.embedding(words) * self.D**0.5 + self.P[: words.shape[1]]  # B T D

    def readout(self, x):  # B T D
        return x @ self.embedding.weight.T  # B T V


# %%
class Transformer(EmbeddingAndReadout):
    def __init__(self, V, D=32, H=4, F=64, N=2, longest=64):  # N layers on each side
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


# %% [markdown]
# `encode` computes the memory once; `decode` runs for each word that is written. With pre-norm no norm lies on the residual stream, so one more follows the last layer of each side. That, and the place of the norms, is what differs from the paper's figure.
#
# We train the model in the small world of lesson 06, where verbs go to the end, in 200 steps of lesson 05's loop: 64 pairs, Adam, gradients clipped to length 1, and a rate that falls from 0.01. Given the right words before, what share of the words will it get right?

# %% tags=["nbval-check-output"]
predict("12.share", ...)


# %% tags=["reveals"]
@torch.no_grad()
def translate(model, words, texts, longest=20):
    source, y, _ = make_batch(words.encode(texts), [[]] * len(texts))  # B S, B 1: BOS
    memory, mask = model.encode(source)
    for _ in range(longest):
        likeliest = model.decode(y, memory, mask)[:, -1:].argmax(-1)  # B 1
        y = torch.cat([y, likeliest], 1)  # B T
    return words.decode(y[:, 1:].tolist())  # each up to its EOS


print("The share of right words in sentences that it has not seen:")
pairs, test = (small_world(number, seed, order="verb-last") for number, seed in ((20_000, 1), (300, 2)))
torch.manual_seed(0)
model = Transformer(len(pairs.words))
losses = fit(model, *pairs.ids(), steps=200)
given_right = share_right(model, *make_batch(*test.ids()))
_, written_right = exact_shares(translate(model, test.words, test.sources), test.targets)
print(f"{given_right:.3f} given the right words before, {written_right:.3f} reading its own")
tried = ["young friends saw girls", "big boy near my house called old girls and dogs followed friends"]
for text, right, ours in zip(tried, truth(tried, "verb-last"), translate(model, test.words, tried), strict=True):
    print(f"\n{text}\nright  {right}\nmodel  {ours}")
reveal("12.share", round(given_right, 2))

# %% [markdown]
# So a model that fits on a page learns to translate in seconds. Given the right words, it gets nearly all of them right. The second share is strict, as in lesson 05: after a word that is left out, all others come at the wrong position.
#
# ## Take one part out
#
# What is each part for? We take it out, train the rest in the same way, and look. In the place of a sub-layer x passes unchanged, without residual connections only f(norm(x)) remains, a norm that is gone passes x on, and a mask that is gone is True everywhere.


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


# Or "norms", "residual connections", "attention to the source", "positions", "source mask", "feed-forward networks".
part = "causal mask"
predict("12.part", ...)

# %% tags=["reveals"]
torch.manual_seed(0)
without = take_out(Transformer(len(pairs.words)), part)
its_losses = fit(without, *pairs.ids(), steps=200)
given_right = share_right(without, *make_batch(*test.ids()))
_, written_right = exact_shares(translate(without, test.words, test.sources), test.targets)
text = tried[1]
print(f"Without its {part} the model learns this:")
print(f"loss in the last steps  {sum(its_losses[-20:]) / 20:.2f} (whole model: {sum(losses[-20:]) / 20:.2f})")
print(f"share right             {given_right:.2f} given the right words, {written_right:.2f} reading its own")
print(f"source                  {text}")
print(f"right                   {truth([text], 'verb-last')[0]}")
print(f"this model              {translate(without, test.words, [text])[0] or '(nothing)'}")
reveal("12.part", round(written_right, 2))

# %% [markdown]
# Without the causal mask the loss is nearly as low as the whole model's, and given the right words nearly all is right. But the model may look at the word that it should predict, as in lesson 05 without the shift. When it translates, that word is not there yet.
#
# Now choose another part: change the line, predict, run, and say why. Here are all of them, with five seeds and 300 steps. In the third series each sentence is translated by itself, so that it has no padding. Which parts can this world do without?


# %%
def shares(part, world="plain"):
    values = ("given_right", "written_right", "alone_right")
    return torch.tensor(measured_once("parts", *values, world=world, part=part))  # a row for each value


parts = ["feed-forward networks", "norms", "source mask", "positions"]
parts += ["attention to the source", "residual connections", "causal mask"]
series = ("given the right words", "reading its own", "one sentence at a time")
rows = {f"without {part}": dict(zip(series, shares(part), strict=True)) for part in parts}
rows = {"whole model": dict(zip(series, shares("nothing"), strict=True))} | rows
plots.dots(rows, "share of words right; a mark for each of five seeds")

# %% [markdown]
# Without residual connections, attention to the source, positions or the causal mask, fewer than half of the words are right when the model translates. Only for the causal mask do the right words before hide this. (Rate and steps were not tuned for each model.) Without the source mask a batch is translated as well as by the whole model, but sentences by themselves are not: in training there was padding.
#
# Networks and norms seem to do little. Perhaps this world is too simple. In another, words have endings for gender and number, and a verb takes those of its subject. Each model is compared with the whole one of the same seed. What does it cost to go without?


# %%
def lost(part, world):
    return shares("nothing", world)[1] - shares(part, world)[1]


deeper = "feed-forward networks, with three layers"
rows = {f"without {part}": {world: lost(part, world) for world in ("plain", "endings")} for part in parts[:2]}
rows["without the networks,\nbut with a third layer"] = {"plain": [], "endings": lost(deeper, "endings")}
ax = plots.axes(width=8, height=2.8)
plots.dots(rows, "share of words lost: the whole model's less this one's, seed by seed", ax=ax, xlim=(-0.05, 0.15))
ax.axvline(0, color="0.4", linewidth=1)
for part in ("nothing", parts[0], deeper):
    ((size, *_),) = measured_once("parts", "parameters", world="endings", part=part)
    print(f"without {part}: {size:,.0f} parameters")

# %% [markdown]
# Where words have endings, the model without networks loses with every seed. With a third layer, and so nearly as many parameters as the whole, it still does. Perhaps hidden units help to choose the one word that has both the right stem and the right ending.
#
# And the norms, whose marks lie on both sides of 0? Perhaps two layers with small weights do not need them. We build six on each side, whose weights begin larger, as Glorot & Bengio 2010 say. How large do the numbers in the decoder's stream become?


# %%
def six_layers(part, seed):
    torch.manual_seed(seed)
    deep = take_out(Transformer(len(pairs.words), N=6), part)
    for module in deep.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
    return deep


source, given, wanted = make_batch(*(side[:64] for side in test.ids()))
both = {"with norms": "nothing", "without norms": "norms"}
runs, ax = {}, plots.axes()
for name, part in both.items():
    runs[name] = torch.stack([spreads(six_layers(part, seed), source, given) for seed in range(3)])
plots.curves(range(7), runs, "layers of the decoder", "standard deviation of x", ax=ax, legend="above")
ax.set(yscale="log")
for name, part in both.items():
    first, *_, last = fit(six_layers(part, 0), *pairs.ids(), steps=6)
    print(f"{name}: the first loss is {first:.1f}, the sixth {last:.1f}")

# %% [markdown]
# With norms each sub-layer reads numbers of one size, and the stream grows slowly. Without any, also before the readout, it grows a hundredfold or more, the first loss is huge, and a few steps do not mend it.
#
# ## Where does the norm belong?
#
# Pre-norm is not what the paper has. We have trained wider models, of six layers on each side: with either norm, with and without a **warm-up**, in which the learning rate begins near 0 and rises for 200 steps. A rate of 0.003 is high for these models; the last row has a third of it. One of the five rows fails. Which one?

# %%
rows, names = {}, {0: "no warm-up", 200: "warm-up"}
ways = [(norm, warmup, 0.003) for norm in ("pre", "post") for warmup in names]
for norm, warmup, rate in (*ways, ("post", 0, 0.001)):
    _, runs = measured("warm_up", "words_right", "rate", norm=norm, warmup=warmup, rate=rate)
    rows[f"{norm}-norm, {names[warmup]}, rate {rate}"] = {"one of five seeds": [run[0] for run in runs]}
plots.dots(rows, "share of words right")

# %% [markdown]
# Post-norm fails without a warm-up at the high rate, and at a third of it does not.
# To see why, we repeat the first steps of three of these runs, with gradients clipped to length 1. Each step moves a weight by about the rate, whatever the size of its gradient: that is what their optimizer, Adam, does (lesson 13). How alike do the words of the decoder become, and how much of the gradient reaches its first layer?

# %%
runs = {"pre": ("pre", 0), "post": ("post", 0), "post, with a warm-up": ("post", 200)}
found = {name: first_steps(norm, warmup, steps=8) for name, (norm, warmup) in runs.items()}
labels = ("mean cosine of two words", "gradient of the first layer")
for which, ax in enumerate(plots.axes(2, width=5.2)):
    curves = {name: values[which][None] for name, values in found.items()}
    plots.curves(range(1, 9), curves, "step", labels[which], ax=ax)
_ = ax.set(yscale="log")

# %% [markdown]
# A few steps of post-norm without a warm-up make all words alike, so all get the same prediction, and hardly any gradient reaches the first layer. With a warm-up the words grow alike more slowly. Pre-norm's words come close, too, but the gradient still arrives. By which way, through the functions or along the stream? In a new model we take one of the two away: `detach` keeps the numbers, but lets no gradient pass.


# %%
class CutStream(SubLayer):
    def forward(self, x, *others):
        return x.detach() + self.f(self.norm(x), *others)


for cut in (False, True):
    deep = six_layers("nothing", 0)
    for layer in deep.decoder if cut else []:
        for name, sublayer in list(layer.named_children()):
            setattr(layer, name, CutStream(deep.D, sublayer.f))
    logits = deep(source, given)  # B T V
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD)
    loss.backward()
    gradient = deep.decoder[0].feed_forward.f.W_2.weight.grad.norm()
    print(f"stream {'cut:  ' if cut else 'whole:'} loss {loss:.2f}, gradient of the first layer {gradient:.1g}")

# %% [markdown]
# With the stream cut the loss is the same, but next to no gradient arrives: it is the stream that carries it. Post-norm has no such stream, since each sum goes through a norm. Perhaps each norm also shrinks x, so that what f adds weighs more: Liu et al. 2020 see the cause of its failures there, not in small gradients.
#
# ## Is it right?
#
# A wrong mask raises no error, so we test for it: neither later words nor the padding that longer sentences bring may change the logits of a word. Which of these four models keep which promise? (The last is the course's own, which computes the same faster. PyTorch's layers come in the exercises.)


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
shipped, subwords = load_pretrained("transformer-en-de")
english, german = ["a dog is barking .", "two men are playing guitar ."], ["ein Hund bellt", "zwei Männer"]
theirs = make_batch(subwords.encode(english), subwords.encode(german))[:2]
rows["the course's trained translator"] = promises(shipped.double(), *theirs)
fast = from_lesson(model)  # the course's Transformer, with copies of our weights
print("The course's Transformer agrees:", torch.allclose(fast(*ours), model(*ours), rtol=0, atol=1e-5))
table(rows, ["later words change nothing", "nor does padding"])

# %% [markdown]
# The whole models keep both promises, and each missing mask breaks one, even before training.
#
# ## So: what else does attention need?
#
# To become a translator, attention needs residual connections, positions and a second attention, to the source: without any one of them most words were wrong. It needs masks, although the training loss does not ask for them. It gains from feed-forward networks, with every seed where endings have to agree. It needs norms where there are many layers with large weights.
#
# ## Questions
#
# These five questions test the goals at the top. Run a cell to see its question, then replace the dots with a letter in quotes or a number.

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
# - What else does attention need to become a translator? Residual connections, positions, masks and an attention to the source; norms where there are many layers with large weights. Feed-forward networks help.
# - A sub-layer is x + f(norm(x)). An encoder layer has two: self-attention and feed-forward. A decoder layer has three, with an attention to the source in between.
# - Three attentions, three masks. A missing mask is not seen in the training loss: one tests that neither later words nor padding change anything.
# - With pre-norm no norm lies on the residual stream, which carries the gradient to the first layer. With post-norm large first steps make all words alike: at a high rate it needs a warm-up.
#
# **Exercises**: [open them](../exercises/12_transformer_exercises.ipynb)
#
# **Next**: a small Transformer learns a small world in seconds. [How is one trained on real sentences, and what does it know then?](13_training.ipynb)

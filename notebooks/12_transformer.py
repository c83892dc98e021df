# %%
import inspect

import ipywidgets
import torch

from course_utils import check, predict, reveal
from course_utils.data.measured import measured
from course_utils.data.small_world import small_world
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.assembled import share_right
from course_utils.models.attention import causal_mask
from course_utils.models.conversion import to_torch
from course_utils.models.files import load_pretrained
from course_utils.models.heads import weights_of_heads
from course_utils.models.plain import feed_forward, layer_norm
from course_utils.models.residual import first_steps, likeness, next_words, streams
from course_utils.models.seq2seq import fit, make_batch
from course_utils.models.transformer import EncoderLayer, Residual, Transformer

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)

# %% [markdown]
# ## What can attention alone not do?
#
# Attention makes weighted averages. If three values are 2, 4 and 9, then whatever the weights, the context lies between 2 and 9. No choice of weights gives 10, or 0.
#
# So what happens to the words if one attention follows another? We send 10 random words through 12 layers of self-attention, each with W_Q, W_K and W_V drawn at random, and measure how alike the words are: the mean cosine between the vectors of two words, 1 when all point in the same direction. How large will it be after 12 layers?

# %% tags=["nbval-check-output"]
predict("12.alike", ...)

# %% tags=["reveals"]
print("How alike ten words are, five seeds:")
alike = {"attention alone": likeness(residual=False), "with residual connections": likeness(residual=True)}
reveal("12.alike", round(alike["attention alone"][:, -1].mean().item(), 2))
plots.curves(range(13), alike, "layers", "mean cosine of two words")

# %% [markdown]
# After two layers of attention alone all words point in the same direction (Dong et al. 2021). If each attention *adds* its context to the word, x + f(x), they become alike far more slowly. This is a **residual connection** (He et al. 2016). What passes through the layers is the **residual stream**.
#
# ## A network for each word
#
# Attention only moves things between words. To *compute* from a word, each layer has a second part, the **feed-forward network** (Vaswani et al. 2017, equation 2):
#
# $$\text{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2$$
#
# Take x = [1, -2], no biases, and hidden units with the weights [1, 0], [0, 1], [1, 1] and [-1, -1]. The first output sums all units, the second doubles the last one. What comes out?

# %% tags=["nbval-check-output"]
x = torch.tensor([[1.0, -2.0]])
# nn.Linear keeps W₁ and W₂ transposed, with a row for each unit.
weight_1 = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, -1.0]])  # F D
weight_2 = torch.tensor([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 2.0]])  # D F
print("hidden units:", (x @ weight_1.T).relu())
print("output:      ", feed_forward(x, weight_1, torch.zeros(4), weight_2, torch.zeros(2)))

# %% [markdown]
# The products are 1, -2, -1 and 1. Those below 0 become 0, and 1, 0, 0, 1 give 2 and 2. Setting negative numbers to 0 is what matters: without it, two matrices in a row would amount to one.
#
# The hidden layer is wider than the word, four times in most Transformers. Which part of a layer has the most weights then?

# %% tags=["nbval-check-output"]
model, subwords = load_pretrained("transformer-en-de")
for name, part in model.encoder[0].named_children():
    print(f"{name:15} {sum(p.numel() for p in part.parameters()):8,}")

# %% [markdown]
# The feed-forward network has two thirds of an encoder layer's weights: 8D² against 4D² in the attention, where W_Q, W_K, W_V and W_O have D² each. (`first` and `second` are norms, which come next.)
#
# ## Keeping numbers at one size
#
# Where every layer adds something, the vectors grow. **Layer normalisation** (Ba et al. 2016) brings each vector back to mean 0 and variance 1, and then multiplies by a learned gain g and adds a learned bias b; a tiny ε keeps it from dividing by 0:
#
# $$\text{norm}(x) = g \cdot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + b$$
#
# Take x = [1, 2, 6], with gain 1 and bias 0. The mean is 3. What is the variance, and what comes out?

# %% tags=["nbval-check-output"]
x = torch.tensor([1.0, 2.0, 6.0])
print("variance:", x.var(correction=0), "  norm:", layer_norm(x, torch.ones(3), torch.zeros(3)))

# %% [markdown]
# The variance is (4 + 1 + 9) / 3 = 4.667, its root 2.16, and -2 / 2.16 = -0.926 comes first. Each word is normalised by itself, so that neither padding nor other sentences change it.
#
# Where does the norm belong? The first Transformer put it *after* the addition, **post-norm**; most models today put it *before* the function, **pre-norm** (Xiong et al. 2020), where nothing stands in the way of the residual stream:
#
# $$\text{post: } \text{norm}(x + f(x)) \qquad\qquad \text{pre: } x + f(\text{norm}(x))$$
#
# A function with its residual connection and its norm is called a **sub-layer**. This is how the course's own Transformer, in `course_utils/models/transformer.py`, writes it. Read `dropout.add(x, y)` as x + y, and `project` as making keys and values:

# %%
print(inspect.getsource(Residual.forward))
print(inspect.getsource(EncoderLayer.forward))

# %% [markdown]
# An encoder layer is two such sub-layers, self-attention and feed-forward.
#
# What does the place of the norm change? We have trained models of six layers on each side in the small world at a high rate: with each norm, with and without a **warm-up**, in which the learning rate begins near 0 and rises for some steps, and with five seeds. One of these four ways fails. Which one?

# %%
rows = {}
for norm in ("pre", "post"):
    for warmup, name in ((0, "no warm-up"), (200, "warm-up over 200 steps")):
        _, runs = measured("warm_up", "words_right", "rate", norm=norm, warmup=warmup, rate=0.003)
        rows[f"{norm}-norm, {name}"] = [run[0] for run in runs]
table(rows, [f"seed {seed}" for seed in range(5)], corner="share of words right", digits=2)

# %% [markdown]
# Post-norm fails without a warm-up, and with one it learns as well as pre-norm. (At a third of this rate it learns without one, too.) To see why, we repeat the first steps of three of these runs. Each step moves a weight by about the rate, whatever the size of its gradient: that is what their optimizer, Adam, does (lesson 13). How alike do the words of the decoder become, and how much of the gradient reaches its first layer?

# %%
steps = torch.arange(1, 26)
left, right = plots.axes(2, width=5.2)
found = {
    name: first_steps(norm, warmup, len(steps))
    for name, norm, warmup in (("pre", "pre", 0), ("post", "post", 0), ("post, with a warm-up", "post", 200))
}
plots.curves(steps, {name: alike[None] for name, (alike, _) in found.items()}, "step", "mean cosine", ax=left)
plots.curves(
    steps, {name: g[None] for name, (_, g) in found.items()}, "step", "gradient of the first layer", ax=right
)
_ = right.set(yscale="log")

# %% [markdown]
# Without a warm-up, three steps of post-norm make all words alike: each norm shrinks what a word has brought with it, beside what is added. Then hardly any gradient reaches the first layer, which can't learn to tell them apart again. Pre-norm never shrinks the stream, so the gradient still arrives. With a warm-up the first steps are small. (Liu et al. 2020 agree.)
#
# ## The whole
#
# The decoder has two attentions: to the words that it has written so far, and to the source. At the end, the **readout** takes dot products of the result and the vectors of all words, those of the embedding. Where does the second attention get its keys and values from?

# %%
diagrams.transformer(new=["causal", "cross"])

# %% [markdown]
# The encoder's result, the **memory**, is computed once. Each layer of the decoder makes its own keys and values from it; the queries come from the decoder's words.
#
# So there are three attentions, and each has its own mask. Take a source of 3 words and EOS, padded to 5 places, and a target that so far has BOS and 3 words. Where may each attention look? Draw the masks on paper first.

# %%
there = torch.tensor([True, True, True, True, False])
source, target = ["the", "dog", "barks", "EOS", "PAD"], ["BOS", "der", "Hund", "bellt"]
masks = {
    "encoder, to itself": (there.expand(5, 5), source, source),
    "decoder, to itself": (causal_mask(4), target, target),
    "decoder, to the source": (there.expand(4, 5), source, target),
}
for (title, (allowed, keys, queries)), ax in zip(
    masks.items(), plots.axes(3, width=3.4, height=3.2), strict=True
):
    plots.mask(allowed, keys, queries, title=title, ax=ax)

# %% [markdown]
# No word may look at padding. (What the padding's own row gives is ignored.) Only the decoder's attention to itself is causal: a word must not see those after it, which are yet to be written. The source is known as a whole, so there every word may look everywhere.
#
# ## Is it right?
#
# A wrong mask raises no error. If the next word *leaks* to a model, it has a wonderful loss in training and writes nonsense later. So we test the shipped model: neither later words nor padding and the other sentences of the batch may matter.

# %% tags=["nbval-check-output"]
model = model.double()  # with more digits, rounding can't be mistaken for a leak
texts, starts = (
    ["a dog is barking .", "two men are playing guitar in front of a red house ."],
    ["ein Hund bellt", "zwei Männer"],
)
source, given, _ = make_batch(subwords.encode(texts), subwords.encode(starts))
with torch.no_grad():
    logits = model(source, given)  # B T V
    later, alone = given.clone(), source[:1, : (source[0] != 0).sum()]
    later[0, 2:] = 7  # another word in place of all from the third one on
    print("other later words:", torch.allclose(model(source, later)[0, :2], logits[0, :2], atol=1e-9))
    print("alone, no padding:", torch.allclose(model(alone, given[:1])[0], logits[0], atol=1e-9))

# %% [markdown]
# What the model says after two words does not change when the later ones do. And a sentence gets the same logits alone as beside a longer one, where it is padded. In the exercises you write a test that works for any model.
#
# PyTorch has a whole Transformer, too: `nn.Transformer`, layers without embeddings. We copy our weights into it. How far are the two apart?

# %% tags=["nbval-check-output"]
theirs = to_torch(model)
padding, hidden = source == 0, ~causal_mask(given.shape[1])  # there True means "must not be seen"
features = theirs(
    model.embedding(source),
    model.embedding(given),
    tgt_mask=hidden,
    src_key_padding_mask=padding,
    memory_key_padding_mask=padding,
)
print("less than 1e-6 apart:", torch.allclose(model.readout(features), logits, atol=1e-6))

# %% [markdown]
# They agree: the course's Transformer computes what PyTorch's does. PyTorch leaves the embedding (here times √D), positions and readout to you. (With pre-norm, one more norm comes before the readout.)
#
# ## What passes through the layers?
#
# Back to the residual stream. The readout turns the last layer's result into the next word. But we can also give it the stream *before* the last layer, or before the first. What would the decoder say then? It is given the right words so far, in the top row. Where does the next word appear?

# %%
text, translation = (
    "two young men are playing guitar in front of a red house .",
    "Zwei junge Männer spielen Gitarre vor einem roten Haus.",
)
source, given, wanted = make_batch(subwords.encode([text]), subwords.encode([translation]))
rows = {"given": subwords.tokens(given[0].tolist())}
for name, stream in zip(
    ("embedding", "layer 0", "layer 1", "layer 2"), streams(model, source, given), strict=True
):
    rows[f"after {name}"] = subwords.tokens(next_words(model, stream)[0])
rows["right"] = subwords.tokens(wanted[0].tolist())
table(rows, [f"{t}" for t in range(len(rows["right"]))], corner="the decoder's word")

# %% [markdown]
# Before the first layer the stream still holds the given word's embedding, and so the readout gives this word back. After layer 1 most words have become the *next* one. But "auf" and "großen" stand where "Gitarre" and "roten" belong: that would be good German, and it is not what the source says. The last layer puts it right.
#
# Here are all attentions of the model for this pair. Which heads of "source 2" look from "spielen" at the guitar, and does "source 1" look there, too?

# %%
seen = weights_of_heads(model, source, given)
words = {"encoder": subwords.tokens(source[0].tolist()), "decoder": rows["given"]}


def attention_of(name, head):
    asks, weights = words["encoder" if "encoder" in name else "decoder"], seen[name][0, head]
    asked = words["decoder" if "decoder" in name else "encoder"]
    plots.weights(weights, asked, asks, ax=plots.axes(width=8.5, height=5.5))
    query, key = divmod(int(weights.argmax()), len(asked))
    return f"{name}, head {head}: the largest weight goes from {asks[query]} to {asked[key]}."


attention_explorer = explore(
    attention_of,
    name=ipywidgets.Dropdown(options=list(seen), value="source 2"),
    head=ipywidgets.IntSlider(value=0, min=0, max=3),
)
attention_explorer

# %% [markdown]
# All heads of "source 2" but head 1 look there, at the word that has to be said *next*. But "source 1" does so, too, with heads 0, 1 and 3, and its stream still says "auf": attention weights alone do not tell what a layer says.
#
# ## Training one
#
# Lesson 13 is about training. But we can already train a small one in the small world of lesson 06, where verbs go to the end. What share of words will it get right after 10 seconds, given the right ones before? At 12 words the decoders of lesson 06 got 1.00 (Bahdanau) and 0.97 (Luong); here are sentences of 1 to 12 words.

# %%
pairs, test = (small_world(number, seed, order="verb-last") for number, seed in ((20_000, 1), (300, 2)))
torch.manual_seed(0)
small = Transformer(len(pairs.words), width=32, hidden=64, encoder_layers=2, decoder_layers=2, dropout=0.0)
losses = fit(small, *pairs.ids(), steps=300, rate=1e-2)
print(f"share right: {share_right(small, *make_batch(*test.ids())):.3f}")

# %% [markdown]
# It gets nearly all of them right. So the parts work together, and in the exercises you put your *own* layers together and train them in the same way.
#
# ## So: what else does attention need?
#
# It needs a network that computes on each word, residual connections that keep words apart for longer, norms that keep numbers at one size, positions, and masks. Put together, encoder and decoder are a translator.
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
# - What does attention need around it? Feed-forward networks, residual connections, norms, positions and masks.
# - Attention alone makes all words alike within a few layers; residual connections slow this down.
# - The feed-forward network treats each word by itself and has two thirds of an encoder layer's weights.
# - With pre-norm no norm stands in the way of the residual stream. With post-norm large first steps make all words alike, so it needs a warm-up.
# - Three attentions, three masks: tests show that neither later words nor padding get through.
#
# **Exercises**: [open them](../exercises/12_transformer_exercises.ipynb)
#
# **Next**: a small Transformer learns a small world in seconds. [How is one trained on real sentences, and what does it know then?](13_training.ipynb)

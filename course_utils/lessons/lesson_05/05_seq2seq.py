# %%
import torch
from sklearn.decomposition import PCA
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.measured import measured, measured_at
from course_utils.data.small_world import paraphrases, small_world, truth
from course_utils.data.subwords import BOS, EOS, PAD
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.models import seq2seq
from course_utils.models.plain import gru_step
from course_utils.models.seq2seq import make_batch
from course_utils.translation.scores import exact_shares

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## A network that reads word by word
#
# A **recurrent network** reads a sentence one word at a time. It carries a vector from word to word, its **state** $s$. At each step the same **cell** makes the new state from the vector $x_t$ of the word and from the old state:
#
# $$s_t = \tanh(W_x x_t + W_s s_{t-1} + b)$$
#
# In this example a word is a single number, the state has two dimensions, and $s_0$ is zero. The first dimension reads the word. The second reads what the first one was a step earlier. Work through the three steps on paper: what is left of the first word at the end?

# %% tags=["nbval-check-output"]
W_x, W_s, b = torch.tensor([[1.0], [0.0]]), torch.tensor([[0.0, 0.0], [1.0, 0.0]]), torch.zeros(2)
words = torch.tensor([[[1.0], [0.0], [0.0]]])  # B S D
s, states = torch.zeros(1, 2), []  # B H
for t in range(3):
    s = torch.tanh(words[:, t] @ W_x.T + s @ W_s.T + b)  # B H
    states.append(s)
print(torch.stack(states, 1))

library = nn.RNN(1, 2, batch_first=True)
library.load_state_dict({"weight_ih_l0": W_x, "weight_hh_l0": W_s, "bias_ih_l0": b, "bias_hh_l0": b})
print("the library agrees:", torch.allclose(library(words)[0], torch.stack(states, 1)))

# %% [markdown]
# After one step the first word is $\tanh 1 = 0.762$. After two steps it is $\tanh 0.762 = 0.642$, in the second dimension. After three steps it is gone: this state holds two words.
#
# ## Cells with gates
#
# A plain cell rewrites its whole state at each step. The **gated recurrent unit**, or GRU (Cho et al. 2014), has two **gates** with entries between 0 and 1. The reset gate $r$ says how much of the old state a candidate $n$ may see. The update gate $z$ says how much of it is kept:
#
# $$r = \sigma(W_r x + U_r s) \qquad z = \sigma(W_z x + U_z s) \qquad n = \tanh(W x + r \circ U s) \qquad s' = (1 - z) \circ n + z \circ s$$
#
# Each product also has a bias, and $\circ$ multiplies entry by entry. (The paper's candidate is $\tanh(W x + U (r \circ s))$.) To carry a state through a hundred words unchanged, must $z$ be near 0 or 1? We set its bias to 20.

# %% tags=["nbval-check-output"]
torch.manual_seed(0)
cell = nn.GRUCell(3, 4)  # the rows of its weights belong to r, z and n
weights = list(cell.parameters())
x, s = torch.randn(1, 3), torch.randn(1, 4)
print("the library agrees:", torch.allclose(gru_step(x, s, *weights), cell(x, s), atol=1e-6))

with torch.no_grad():
    cell.bias_ih[4:8] = 20.0
    after = s
    for _ in range(100):
        after = gru_step(torch.randn(1, 3), after, *weights)
print("before                 ", s)
print("a hundred words later  ", after)

# %% [markdown]
# With $z$ near 1 the state passes through unchanged. With $z$ near 0 it is replaced at every step: change 20.0 to -20.0 and run the cell again. Training decides when each dimension is kept. We use GRUs from here on.
#
# ## Two networks, and one vector between them
#
# The **encoder** reads the source. Its last state is the **sentence vector** (papers also say context vector). The **decoder** starts with this vector as its state and writes one word at each step. It first reads BOS, for the beginning, then each word that it has written, and it stops when it writes EOS, for the end. What does the decoder know about the source?

# %%
diagrams.seq2seq(new=["context"])

# %% [markdown]
# It knows what is in the one vector in the middle, and nothing else.
#
# To train such a model we need pairs of sentences. We use a small invented language, in which the right translation is always known. The words "the" and "today" vanish, and "dog", "old", "saw" and "watched" become two words each. The order of the words stays the same.

# %% tags=["nbval-check-output"]
pairs = small_world(20_000, seed=8)  # sentences of 1 to 12 words
sources, targets = pairs.ids()  # lists of word numbers
batch = make_batch(sources[1:3], targets[1:3])  # source B S, given B T, wanted B T
signs, rows = {PAD: "padding", BOS: "BOS", EOS: "EOS"}, {}
for name, tensor in zip(("source", "given", "wanted"), batch, strict=True):
    for b, ids in enumerate(tensor.tolist()):
        tokens = [signs.get(i) or pairs.words.tokens([i])[0] for i in ids]
        rows[f"{name}, sentence {b + 1}"] = tokens + [""] * (5 - len(tokens))
print("wanted, as numbers:", batch[2].tolist())
table(rows, [f"position {t + 1}" for t in range(5)], corner="a batch of two")

# %% [markdown]
# `source` is what the encoder reads. `wanted` is what the decoder should write. `given` is what it reads at the same position: the *right* word of the previous position. So `given` is the target, shifted right by one, with BOS in front.
#
# Giving the decoder the right words is called **teacher forcing**. Its own words would be wrong at first, and with the right ones one call computes all positions.
#
# ## The whole model
#
# A model is a class. `__init__` makes its parts, which hold the learned weights; `forward` says how they work together, and `model(source, given)` calls it. `nn.Embedding` is a table of V vectors, which both languages share. `nn.GRU` returns all states and the last one; its first state needs an axis for layers, hence `s[None]`.
#
# Why does `encode` not return `states[:, -1]`?


# %%
class Seq2Seq(nn.Module):
    def __init__(self, V, D=32, H=64):  # vocabulary, width of a word vector, width of a state
        super().__init__()
        self.embedding = nn.Embedding(V, D)
        self.encoder = nn.GRU(D, H, batch_first=True)
        self.decoder = nn.GRU(D, H, batch_first=True)
        self.readout = nn.Linear(H, V)

    def encode(self, source):  # B S
        states, _ = self.encoder(self.embedding(source))  # B S H
        last = (source != PAD).sum(1) - 1  # B: the position of EOS
        return states[torch.arange(len(source)), last]  # B H: one vector for each sentence

    def decode(self, given, s):  # B T, B H
        states, _ = self.decoder(self.embedding(given), s[None])  # B T H
        return self.readout(states), states[:, -1]  # B T V, B H

    def forward(self, source, given):
        return self.decode(given, self.encode(source))[0]  # B T V


# %% [markdown]
# The last position of a shorter sentence is padding, which the GRU has read as if it were words. (Try it later: put `states[:, -1]` there, train again, and translate "our small boy" alone and beside a long sentence.)
#
# `decode` returns **logits**, a score for each word of the vocabulary at each position. A softmax turns them into the probabilities $p(y_t \mid y_1, \dots, y_{t-1}, v)$ of the next word, given the words before and the sentence vector $v$. Their product is the probability of the whole translation. The loss is the mean of $-\ln p$ over all words of the batch, with EOS and without padding. What loss, in **nats** per word (the unit of the natural logarithm), do you expect before training, when 86 words are about equally probable?

# %% tags=["nbval-check-output"]
predict("05.untrained", ...)


# %% tags=["nbval-check-output", "reveals"]
def loss_of(logits, wanted):  # B T V, B T
    of_right_word = logits.log_softmax(-1).gather(-1, wanted[..., None])[..., 0]  # B T
    is_word = wanted != PAD  # B T
    return -(of_right_word * is_word).sum() / is_word.sum()


torch.manual_seed(0)
model = Seq2Seq(len(pairs.words))
source, given, wanted = make_batch(sources[:64], targets[:64])
logits = model(source, given)  # B T V
by_hand = loss_of(logits, wanted)
library = nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD)
over_all = by_hand * (wanted != PAD).float().mean()
print("The loss of the untrained model in nats per word:")
print(f"by hand {by_hand:.2f}, library {library:.2f}, divided by all positions instead {over_all:.2f}")
reveal("05.untrained", by_hand.item())

# %% [markdown]
# A model that gives the same probability to each of the 86 words (of both languages, and four signs) has the loss $\ln 86 = 4.45$. Divided by all positions, the loss looks smaller, and it depends on how much padding there happens to be.
#
# ## Training
#
# A training step draws 64 pairs, computes the loss and its gradient, and lets Adam change the weights. We also limit the gradient's length to 1 and let the learning rate fall, as is usual for recurrent networks.


# %%
def train(model, steps, batch_of=make_batch, seed=0):
    draw, losses = torch.Generator().manual_seed(seed), []
    adam = torch.optim.Adam(model.parameters(), lr=0.01)
    rate = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 0.05, steps)
    for _ in range(steps):
        rows = torch.randint(len(sources), (64,), generator=draw).tolist()
        source, given, wanted = batch_of([sources[i] for i in rows], [targets[i] for i in rows])
        loss = loss_of(model(source, given), wanted)
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        rate.step()
        losses.append(loss.item())
    return losses


losses = train(model, steps=600)
print("loss per word:", [f"{losses[step]:.2f}" for step in (0, 50, 200, 599)])

# %% tags=["nbval-check-output"]
# The course ships the same model and the same loop, and later lessons use them. Are the losses the same?
torch.manual_seed(0)
ours = train(Seq2Seq(len(pairs.words)), steps=20)
torch.manual_seed(0)
shipped = seq2seq.fit(seq2seq.Seq2Seq(len(pairs.words)), sources, targets, steps=20)
print("the same losses:", torch.allclose(torch.tensor(ours), torch.tensor(shipped), atol=1e-3))

# %% [markdown]
# After training there is no right word to give to the decoder. It reads the word that it has written itself, and we always take the most probable one. Which of the three sentences will come out right?


# %%
@torch.no_grad()
def translate(model, texts, longest=40):
    s = model.encode(make_batch(pairs.words.encode(texts), [[]] * len(texts))[0])  # B H
    y, written = torch.full((len(texts), 1), BOS), []
    for _ in range(longest):
        logits, s = model.decode(y, s)  # B 1 V, B H
        y = logits.argmax(-1)  # B 1
        written.append(y)
    return pairs.words.decode(torch.cat(written, 1).tolist())  # each up to its EOS


tried = ["our small boy", "young friends saw girls"]
tried += ["big boy near my house called old girls and dogs followed friends"]
for text, right, ours in zip(tried, truth(tried), translate(model, tried), strict=True):
    print(f"\n{text}\nright  {right}\nmodel  {ours}")

# %% [markdown]
# The short sentences are right. The long one has 12 words, as many as the longest in training. Its translation begins well and then drifts: the words belong to the language, but they are not what the source says. Now put sentences of your own into `tried`, made of words that you have seen here: which is the longest that still comes out right?
#
# Follow the first sentence through the model. Each cell shows two of the 64 dimensions of its state, and the probability of each written word is given below it. Where in the picture is "small"?

# %%
with torch.no_grad():
    source, given, wanted = make_batch(pairs.words.encode(tried[:1]), pairs.words.encode(truth(tried[:1])))
    read = model.encoder(model.embedding(source))[0][0]  # S H
    wrote = model.decoder(model.embedding(given), read[None, -1:])[0][0]  # T H
    p = model.readout(wrote).softmax(-1)[range(len(wanted[0])), wanted[0]]  # T
diagrams.seq2seq(
    [*tried[0].split(), "EOS"],
    truth(tried[:1])[0].split(),
    [*read[:, :2], *wrote[:, :2]],
    p.tolist(),
    ["context"],
)

# %% [markdown]
# No single cell holds it: from the cell that reads it onwards, all 64 dimensions of the state may depend on it.
#
# ## Take the shift away
#
# Now we remove a part to see what it is for. Below, `given` is not shifted: the decoder reads the word that it should write at the same position. What will its loss be after 100 steps? The untrained model began at 4.5, and the model above ended at 0.65.

# %% tags=["nbval-check-output"]
predict("05.unshifted", ...)


# %% tags=["reveals"]
def without_shift(sources, targets):
    source, given, wanted = make_batch(sources, targets)
    return source, wanted, wanted


torch.manual_seed(0)
copying = Seq2Seq(len(pairs.words))
last = train(copying, steps=100, batch_of=without_shift)[-1]
print("The loss without the shift, and what this model writes:")
print(f"{last:.2f} after 100 steps. “{tried[0]}” becomes “{translate(copying, tried[:1], longest=8)[0]} …”")
reveal("05.unshifted", last)

# %% [markdown]
# The loss is nearly 0, and the model has learned nothing but to copy. When it translates, it reads BOS and has nothing to copy from. A loss that falls unusually fast is a reason to look at what the model reads.
#
# ## How long may a sentence be?
#
# We count the share of words that are right, position by position. The count is strict: where the model leaves out a word, all later words are at the wrong position and count as wrong. The dotted line marks the longest sentences in training. Before you look: what share do you expect at 12 words?

# %% tags=["nbval-check-output"]
predict("05.twelve", ...)

# %% tags=["reveals"]
lengths, five = measured("length", "words_right", "length", order="monotone", setup="as it is")
own, by_chance = [], []
for length in map(int, lengths):
    test = small_world(200, seed=7, shortest=length, longest=length)
    own.append(exact_shares(translate(model, test.sources), test.targets)[1])
    by_chance.append(exact_shares(test.targets[1:] + test.targets[:1], test.targets)[1])
print("Five models, measured beforehand, and the one that you have trained:")
ax = plots.axes(width=6.4, height=4)
runs, chance = (
    {"five models": torch.tensor(five), "your model": [own]},
    {"another sentence's translation": by_chance},
)
plots.curves(lengths, runs, "words of the source", "share of right words", ax=ax, theory=chance)
ax.axvline(12, color="0.6", linestyle=":")
reveal("05.twelve", sum(run[lengths.index(12)] for run in five) / 5)

# %% [markdown]
# Up to three words nearly everything is right. At six words more than a fifth of the words are wrong, and at twelve words nearly two thirds are. Your model does much the same as the other five. The grey line shows chance: even at 16 words some of the source comes through.
#
# Is the vector too small, was the training too short, or does the cell matter?

# %%
from math import log2

setups = {
    "64 dimensions, as above": "as it is",
    "32 dimensions": "32 numbers",
    "128 dimensions": "128 numbers",
}
setups |= {"64, trained four times as long": "four times as long"}
setups |= {"128, trained four times as long": "128 numbers, four times as long"}
setups |= {"64, plain cells": "tanh cells"}
rows = {}
for name, setup in setups.items():
    rows[name] = measured_at("length", "words_right", "length", (4, 8, 12, 16), order="monotone", setup=setup)
print(f"16 words, each chosen from 40, take {16 * log2(40):.0f} bits. 64 numbers of 32 bits have {64 * 32}.")
table(rows, ["4 words", "8 words", "12 words", "16 words"], corner="share right, five seeds", digits=2)

# %% [markdown]
# Wider states help, longer training helps, and both together help most: then eight words come through as well as four did before, and a quarter of twelve are wrong. Plain cells learn almost nothing. Counted in bits the vector is far larger than a sentence, and the same 64 dimensions hold more after longer training. So much of the difficulty is to *learn* how to use it.
#
# ## Reading the source backwards
#
# Sutskever et al. 2014 let their translator read the source from its last word to its first, and its BLEU score (lesson 07) rose from 25.9 to 30.6. Why? Count the steps from reading a word to writing its translation, for five words and EOS.

# %% tags=["nbval-check-output"]
S = 5
written = {
    "same order": range(S + 1, 2 * S + 1),
    "reversed order": range(2 * S, S, -1),
}  # the step for word i
read = {"as it is": range(S), "backwards": range(S - 1, -1, -1)}  # the step for word i; EOS is read at step S
rows = {}
for language, writes in written.items():
    for reading, reads in read.items():
        steps = [w - r for w, r in zip(writes, reads, strict=True)]
        rows[f"{language}, read {reading}"] = [*steps, sum(steps) / S]
table(rows, [*(f"word {i + 1}" for i in range(S)), "mean"], corner="target", digits=0)

# %% [markdown]
# The mean distance stays the same. But reading backwards puts the first words of the source next to the first words of the translation. Sutskever et al. suppose that learning finds a foothold there. In a language whose order is reversed, the foothold exists when the source is read as it is, and reading backwards takes it away.
#
# In such a language, is the share of right words better, worse or the same when the source is read backwards?

# %% tags=["nbval-check-output"]
predict("05.backwards", ...)

# %% tags=["reveals"]
gains = {}
print("Share of right words at six words, read backwards minus read as it is, five runs for each order:")
for order, ax in zip(("monotone", "reversed"), plots.axes(2, width=4.8, height=3.8), strict=True):
    curves, title = {}, "same order" if order == "monotone" else "reversed order"
    for setup, name in (("as it is", "as it is"), ("reversed", "backwards"), ("twice", "twice")):
        lengths, runs = measured("length", "words_right", "length", order=order, setup=setup)
        curves[name] = torch.tensor(runs)  # seeds lengths
    plots.curves(lengths, curves, "words of the source", "share of right words", title, ax)
    ax.axvline(12, color="0.6", linestyle=":")
    ax.set_ylim(0, 1.05)
    gains[order] = (curves["backwards"] - curves["as it is"])[:, lengths.index(6)]
    print(f"{title:15}", " ".join(f"{gain:+.2f}" for gain in gains[order]))
mean = gains["reversed"].mean()
reveal("05.backwards", "better" if mean > 0.02 else "worse" if mean < -0.02 else "the same")

# %% [markdown]
# Where the order stays the same, reading backwards helps at six words in four of the five runs. Where it is reversed, it hurts in all five. Beyond 12 words both effects change sign, and are small. Reading the source twice (Zaremba and Sutskever 2014) makes no clear difference here; in larger models of a richer world it helps ([measurements](../docs/measurements.md)).
#
# ## Is it the distance?
#
# In training, an error goes back to an early word through every cell in between. We measure the gradient of the sentence vector with respect to each word. How much is left after twelve tokens, before any training?

# %%
curves = {}
for cell, name in (("tanh", "plain cell"), ("gru", "GRU")):
    for trained, when in (("no", "untrained"), ("yes", "trained")):
        at, runs = measured("distance", "gradient", "distance", cell=cell, trained=trained)
        curves[f"{name}, {when}"] = torch.tensor(runs)
ax = plots.axes(width=6.8, height=4.2)
plots.curves(at, curves, "tokens that come after", "gradient, last token = 1", ax=ax)
ax.set_yscale("log")

# %% [markdown]
# Before training, a plain cell passes on about half of the gradient at each step, and after twelve steps hardly any is left. This is the **vanishing gradient** (Bengio et al. 1994). The untrained GRU keeps more than ten times as much.
#
# After training, early words move the vector again in both networks. So distance can make the beginning of learning hard, but it does not explain why the trained GRU fails on long sentences: its early words do reach the vector, which all words have to share.
#
# ## What do sentence vectors look like?
#
# We take 40 sentences and three variants of each: a paraphrase, one with subject and object exchanged, and one with another object. Which variant stays closest?


# %%
def vectors(model):
    """One vector for each sentence: kinds sentences H."""
    rows = [pairs.words.encode(sentences) for sentences in families.values()]
    return torch.stack([model.encode(make_batch(ids, ids)[0]).detach() for ids in rows])


families, rows = paraphrases(40, seed=0), {}
print("\n".join(f"{kind:14} {sentences[0]}" for kind, sentences in families.items()))
torch.manual_seed(0)
networks = {"trained": vectors(model), "untrained": vectors(Seq2Seq(len(pairs.words)))}
for when, v in networks.items():
    typical = torch.pdist(v[0]).mean()  # between two sentences of different families
    rows[when] = [((v[kind] - v[0]).norm(dim=-1) / typical).mean() for kind in range(1, 4)]
table(rows, list(families)[1:], corner="distance, 1 = another sentence", digits=2)

# %% [markdown]
# In this one model, training has brought the paraphrase to less than a tenth of the distance of another sentence. Before training, it was more than three times as far away. The exchanged sentence, which has the *same words*, is far away both times.
#
# Pictures of such vectors often serve as proof that a network understands. **Principal component analysis**, or PCA, looks at the cloud of vectors from the side where it is widest: of 64 dimensions it keeps the two directions in which the vectors differ most. Does the picture show what training has taught the network?

# %%
for (when, v), ax in zip(networks.items(), plots.axes(2, width=4.4, height=3.6), strict=True):
    v = v[:3, :15].flatten(0, 1)  # three kinds, fifteen families
    points = torch.tensor(PCA(2).fit_transform(v.numpy())).view(3, 15, 2)
    plots.joined(points[0], {"paraphrase": points[1], "exchanged": points[2]}, when, ax)

# %% [markdown]
# Hardly: in both pictures most paraphrases lie side by side. In the untrained network that is because its vector depends most on the last words, and a paraphrase ends in the same word. The table says more, as it compares distances in all 64 dimensions. But neither shows that the decoder can get the words out of the vector again.
#
# ## So can one vector hold a sentence?
#
# A vector holds a sentence if *all* of its words come out right. For what share of the sentences is that so?

# %%
rows = {}
for name, setup in setups.items():
    rows[name] = measured_at("length", "sentences_right", "length", (3, 6, 8, 12), order="monotone", setup=setup)
table(
    rows,
    [f"{length} words" for length in (3, 6, 8, 12)],
    corner="whole sentences right, five seeds",
    digits=2,
)

# %% [markdown]
# It can hold a short sentence. With this lesson's training, nearly all sentences of three words come through whole, half of those of six words, and none of twelve. With twice the dimensions and four times the training, nine in ten sentences of eight words come through, and three in ten of twelve. Cho et al. 2014 ("On the Properties of Neural Machine Translation") saw the same in English-French translation.
#
# What is wasteful about this? The encoder has a state after *every* word, and we throw away all but the last.
#
# ## Questions
#
# These five questions test the goals at the top. Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("05.q1", ...)

# %%
check("05.q2", ...)

# %%
check("05.q3", ...)

# %%
check("05.q4", ...)

# %%
check("05.q5", ...)

# %% [markdown]
# ## Recap
#
# - Can one vector hold a sentence? A short one: here the share of right words falls from 1 at three words to less than two fifths at twelve. More dimensions and more training move the fall to longer sentences, but do not remove it.
# - A recurrent network carries a state from word to word. The gates of a GRU decide what it keeps.
# - The encoder's last state is all that the decoder knows of the source. While it learns, the decoder reads the right words, shifted by one; without the shift it would learn to copy.
# - Reading backwards shortens some distances and lengthens others. Whether that helps depends on the order of the two languages, and on the length.
# - Distances in all dimensions, compared with an untrained network, say more than a picture in two.
#
# **Exercises**: [open them](../exercises/05_seq2seq_exercises.ipynb)
#
# **Next**: the encoder has a state for every word. [What if the decoder could look back at all of them?](06_seq2seq_attention.ipynb)

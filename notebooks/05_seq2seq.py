# %%
import torch
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.measured import measured
from course_utils.data.small_world import paraphrases, small_world, truth
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.models.plain import gru_step
from course_utils.models.seq2seq import Seq2Seq, fit, make_batch
from course_utils.translation.scores import exact_shares
from course_utils.translation.translate import translate

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## A network that reads word by word
#
# A **recurrent network** reads a sentence one word at a time and carries a vector along, its **state** $s$. At each step the same **cell** makes the new state from the word's vector $x_t$ and the old state:
#
# $$s_t = \tanh(W_x x_t + W_s s_{t-1} + b)$$
#
# Here each word is a single number, the state has two numbers, and $s_0$ is zero. The first number of the state reads the word, and the second reads what the first one was a step earlier. Work through the three steps on paper: what is left of the first word at the end?

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
# After one step the first word is $\tanh 1 = 0.762$, and after two it is $\tanh 0.762 = 0.642$, in the second place. After three steps it is gone: this state holds two words. All that the network knows of the past is in these numbers.
#
# ## Gates that keep
#
# A plain cell rewrites its whole state at each step. The **gated recurrent unit**, or GRU (Cho et al. 2014), has two **gates**, with a number between 0 and 1 for each of the state. The reset gate $r$ says how far the old state takes part in a proposal $n$, and the update gate $z$ how much of the old state is kept:
#
# $$r = \sigma(W_r x + U_r s) \qquad z = \sigma(W_z x + U_z s) \qquad n = \tanh(W x + r \circ U s) \qquad s' = (1 - z) \circ n + z \circ s$$
#
# Each product has a bias, too, and $\circ$ multiplies number by number. (In the paper it is $U (r \circ s)$.)

# %% tags=["nbval-check-output"]
torch.manual_seed(0)
cell = nn.GRUCell(3, 4)  # the blocks of its weights belong to r, z and n
weights = list(cell.parameters())
x, s = torch.randn(1, 3), torch.randn(1, 4)
print("the library agrees:", torch.allclose(gru_step(x, s, *weights), cell(x, s), atol=1e-6))

# %% [markdown]
# Which $z$ carries a number through a hundred random words unchanged? We set the bias of $z$ to 20; then $z$ is about $\sigma(20)$, which is nearly 1.

# %% tags=["nbval-check-output"]
with torch.no_grad():
    cell.bias_ih[4:8] = 20.0
    after = s
    for _ in range(100):
        after = gru_step(torch.randn(1, 3), after, *weights)
print("before                   ", s)
print("a hundred words later    ", after)

# %% [markdown]
# With $z = 1$ the state passes through unchanged, and with $z = 0$ the GRU forgets everything at once: change 20.0 to -20.0 and run the cell again. Training decides, for each number of the state, when to keep and when to forget. We use GRUs from here on.
#
# ## Two networks, and one vector between them
#
# The **encoder** reads the source. Its last state is the **sentence vector**, also called the context vector. The **decoder** begins with it as its state and writes one word at each step: it first reads BOS, then each word that it has written, and it stops when it writes EOS. What does the decoder know about the source?

# %%
diagrams.seq2seq(new=["context"])

# %% [markdown]
# Everything that it knows came through the one vector in the middle. At each step a linear layer and a softmax turn the decoder's state into a probability for each word of the vocabulary, given the vector $v$ and the words before. The probability of the whole translation is the product, by the chain rule of probability:
#
# $$p(y \mid x) = \prod_t p(y_t \mid y_1, \dots, y_{t-1}, v)$$
#
# We need pairs of sentences. Here is a small invented language, in which the right translation is always known: "the" and "today" vanish, and "dog", "old", "saw" and "watched" become two words each. The order stays as it is.

# %% tags=["nbval-check-output"]
pairs = small_world(20_000, seed=8)  # sentences of 1 to 12 words
for source, target in list(zip(pairs.sources, pairs.targets, strict=True))[:3]:
    print(f"{source}  →  {target}")

# %% tags=["nbval-check-output"]
torch.manual_seed(0)
model = Seq2Seq(len(pairs.words), width=32, hidden=64)
sources, targets = pairs.ids()  # lists of word numbers
source, given, wanted = make_batch(sources[:1], targets[:1])  # B S, B T, B T
p = model(source, given).softmax(-1)[
    0, range(wanted.shape[1]), wanted[0]
]  # T: of the right word at each place
print(f"p(y|x) before training: one in {1e-9 / p.prod():.1f} billion, its logarithm: {p.log().sum():.2f}")

# %% [markdown]
# An untrained model gives each of the 86 words of both languages (with BOS, EOS, padding and a sign for unknown words) about the same probability, so the product is tiny. We therefore add up logarithms.
#
# ## What the decoder reads while it learns
#
# While the decoder learns, its own words would mostly be wrong, so it is given the right ones instead. This is called **teacher forcing**. At each place it reads the right word from the place before: the target, *shifted right by one*, with BOS in front. What would it learn if the target were not shifted?

# %% tags=["nbval-check-output"]
as_text = pairs.targets[0].split()
reads, says = ["BOS", *as_text], [*as_text, "EOS"]
places = [f"place {t + 1}" for t in range(len(says))]
table({"it reads": reads, "it should say": says}, places)

# %% [markdown]
# Without the shift it would read the very word that it has to say, and it would learn to copy. Thanks to teacher forcing all places of a batch are computed in one call.
#
# The loss is the mean of $-\log p$ over all *words* of the batch. Shorter sentences are filled up with padding, which the model should not learn to predict. What loss per word do you expect from the untrained model? We count in nats, that is, with natural logarithms. The model gives each of its 86 words about the same probability.

# %% tags=["nbval-check-output"]
predict("05.untrained", ...)

# %% tags=["nbval-check-output", "reveals"]
source, given, wanted = make_batch(sources[:64], targets[:64])
logits = model(source, given)  # B T V
of_right_word = logits.log_softmax(-1).gather(-1, wanted[..., None])[..., 0]  # B T
is_word = wanted != 0  # B T: padding has the number 0
by_hand = -(of_right_word * is_word).sum() / is_word.sum()
library = nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=0)
over_all_places = -(of_right_word * is_word).mean()
print("The loss of the untrained model in nats per word:")
print(f"by hand {by_hand:.2f}, library {library:.2f}, divided by all places instead {over_all_places:.2f}")
reveal("05.untrained", by_hand.item())

# %% [markdown]
# A model that spreads its probability evenly over 86 words has the loss $\ln 86 = 4.45$. Divided by all places, padding included, the loss looks smaller, and it depends on how much padding there happens to be.
#
# ## Training
#
# `fit` repeats this for 600 batches of 64 sentences: loss, gradient, a step of Adam. Which of the three sentences below will come out right afterwards? (Later, come back and put sentences of your own into `tried`, using words that you have seen here, or change 600 to 200.)

# %%
losses = fit(model, sources, targets, seed=0, steps=600)
print("loss per word:", [f"{losses[step]:.2f}" for step in (0, 50, 200, 599)])

# %%
tried = [
    "our small boy",
    "young friends saw girls",
    "big boy near my house called old girls and dogs followed friends",
]
for source, right, said in zip(
    tried, truth(tried), translate(model, pairs.words, tried, width=1), strict=True
):
    print(f"\n{source}\nright  {right}\nmodel  {said}")

# %% [markdown]
# The short sentences are right. The long one has 12 words, as many as the longest in training. It begins well and then drifts: the words belong to the language, but they are not what the source says. Where does it begin to fail?
#
# ## Where does it begin to fail?
#
# We count the share of words that are right, place by place. The count is strict: where a word is left out, all later ones stand at the wrong place and count as wrong. The training sentences had up to 12 words, which the dotted line marks. Before you look: what share do you expect at 12 words?

# %% tags=["nbval-check-output"]
predict("05.twelve", ...)

# %% tags=["reveals"]
lengths, five = measured("length", "words_right", "length", order="monotone", setup="as it is")
own, by_chance = [], []
for length in map(int, lengths):
    test = small_world(200, seed=7, shortest=length, longest=length)
    own.append(exact_shares(translate(model, test.words, test.sources, width=1), test.targets)[1])
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
# Up to three words everything is right. At six words a quarter of the words is wrong, and at twelve nearly two thirds are. Your model does much the same as the five. The grey line shows what chance gives: even at 16 words some of the source still comes through.
#
# Is the vector too small, was the training too short, or does the cell matter?

# %%
from math import log2

setups = {"64 numbers, as above": "as it is", "32 numbers": "32 numbers", "128 numbers": "128 numbers"}
setups |= {"64, trained four times as long": "four times as long"}
setups |= {
    "128, trained four times as long": "128 numbers, four times as long",
    "64, plain cells": "tanh cells",
}
rows = {}
for name, setup in setups.items():
    along, runs = measured("length", "words_right", "length", order="monotone", setup=setup)
    rows[name] = [[run[along.index(length)] for run in runs] for length in (4, 8, 12, 16)]
print(f"16 words, each one of 40, take {16 * log2(40):.0f} bits. 64 numbers of 32 bits have {64 * 32}.")
table(rows, ["4 words", "8 words", "12 words", "16 words"], corner="share right, five seeds", digits=2)

# %% [markdown]
# A wider vector helps, longer training helps, and both together help most: then eight words come through as well as four did before. Of twelve words a quarter is still lost. With plain cells the network hardly learns anything. There are bits enough; what is hard to find is a way of writing many words into one vector and reading them out again.
#
# ## Reading the source backwards, and reading it twice
#
# Sutskever et al. 2014 let their translator read the source from its last word to its first: BLEU, a measure for lesson 07, rose from 25.9 to 30.6. Why? Count the steps from reading a word to writing its translation, for five words and EOS.

# %% tags=["nbval-check-output"]
S = 5
written = {
    "same order": range(S + 1, 2 * S + 1),
    "reversed order": range(2 * S, S, -1),
}  # when word i is written
read = {"as it is": range(S), "backwards": range(S - 1, -1, -1)}  # when word i is read; EOS comes at S
rows = {}
for language, writes in written.items():
    for reading, reads in read.items():
        steps = [w - r for w, r in zip(writes, reads, strict=True)]
        rows[f"{language}, read {reading}"] = [*steps, sum(steps) / S]
table(rows, [*(f"word {i + 1}" for i in range(S)), "mean"], corner="target", digits=0)

# %% [markdown]
# The mean distance stays the same. But reading backwards puts the first words of the source next to the first words of the translation. Sutskever et al. suppose that learning finds a foothold there and works its way on. In a language whose order is reversed, this foothold exists when the source is read as it is, and reading backwards takes it away.
#
# Is the share of right words in such a language better, worse or the same when the source is read backwards?

# %% tags=["nbval-check-output"]
predict("05.backwards", ...)

# %% tags=["reveals"]
gains = {}
print("Share of right words at six words, read backwards minus read as it is, five runs for each order:")
panels = plots.axes(2, width=4.8, height=3.8)
for order, ax in zip(("monotone", "reversed"), panels, strict=True):
    curves, title = {}, "same order" if order == "monotone" else "reversed order"
    for setup, name in (("as it is", "as it is"), ("reversed", "backwards"), ("twice", "twice")):
        lengths, runs = measured("length", "words_right", "length", order=order, setup=setup)
        curves[name] = torch.tensor(runs)  # seeds lengths
    plots.curves(lengths, curves, "words of the source", "share of right words", title, ax)
    ax.axvline(12, color="0.6", linestyle=":")
    gains[order] = (curves["backwards"] - curves["as it is"])[:, lengths.index(6)]
    print(f"{title:15}", " ".join(f"{gain:+.2f}" for gain in gains[order]))
mean = gains["reversed"].mean()
reveal("05.backwards", "better" if mean > 0.02 else "worse" if mean < -0.02 else "the same")

# %% [markdown]
# Where the order stays the same, reading backwards helps at middle lengths in four of the five runs. Where the order is reversed, it hurts there in all five. Beyond 12 words both are turned round, by a little. So reading backwards is not a principle but a trick, and whether it helps depends on the two languages. Reading the source twice, which Zaremba and Sutskever 2014 did to help a network memorise, makes no clear difference here. In larger ones it helps ([measurements](../docs/measurements.md)).
#
# At which places in the translation does reading backwards gain words, and at which does it lose them? The sentences in the next picture have eight words.

# %%
for order, ax in zip(("monotone", "reversed"), plots.axes(2, width=4.8, height=3.6), strict=True):
    curves = {}
    for setup, name in (("as it is", "as it is"), ("reversed", "backwards")):
        at, runs = measured("places", "right", "place", order=order, setup=setup)
        curves[name] = torch.tensor(runs)
    title = "same order" if order == "monotone" else "reversed order"
    plots.curves(at, curves, "place in the translation", "share right", title, ax)

# %% [markdown]
# One might expect reading backwards to gain early words and lose late ones. But here the gain in the left picture lies, on average, at places 5 to 8. Sutskever et al. were surprised by their late words, too, and had no complete explanation. We have none either: the foothold is a conjecture.
#
# ## Is it the distance?
#
# An error goes back to an early word through every cell in between, and each multiplies it by something that is often smaller than 1. We measure the gradient of the sentence vector with respect to each word, by the number of tokens that come after it. How much is left after twelve tokens, before any training?

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
# Before training, a plain cell passes on about half at each step, and after twelve some ten-thousandths are left: the **vanishing gradient** (Bengio et al. 1994). The untrained GRU has ten times as much left.
#
# After training, early words move the vector again, in the plain cell as in the GRU. So distance makes learning hard at first. It does not explain why the trained GRU fails: its early words reach the vector, but all have to share it.
#
# ## What do sentence vectors look like?
#
# We take 40 sentences, each with three variants: a paraphrase ("the" and "today" add no meaning here), one with subject and object exchanged, and one with another object. Which of the three stays closest?

# %%
families = paraphrases(40, seed=0)
for kind, sentences in families.items():
    print(f"{kind:14} {sentences[0]}")


# %%
def vectors(model):
    """One vector for each sentence: kinds sentences H."""
    with torch.no_grad():
        rows = [pairs.words.encode(sentences) for sentences in families.values()]
        return torch.stack([model.encode(make_batch(ids, ids)[0]) for ids in rows])


torch.manual_seed(0)
rows = {}
for name, one in (("trained", model), ("untrained", Seq2Seq(len(pairs.words)))):
    v = vectors(one)
    typical = torch.pdist(v[0]).mean()  # between two sentences of different families
    rows[name] = [((v[kind] - v[0]).norm(dim=-1) / typical).mean() for kind in range(1, 4)]
table(rows, list(families)[1:], corner="distance, 1 = another sentence", digits=2)

# %% [markdown]
# In this one model, training has brought the paraphrase to less than a tenth of the distance of another sentence; before, it was more than three times as far away. The exchanged sentence, which has the *same words*, lies far away before and after.
#
# Pictures of such vectors are often shown as proof that a network understands. They squeeze 64 numbers into 2: **PCA** keeps the two directions in which the vectors differ most, and **t-SNE** keeps neighbours close together, and little else. Can you tell from them what training has taught the network?

# %%
torch.manual_seed(0)
networks = {"trained": vectors(model), "untrained": vectors(Seq2Seq(len(pairs.words)))}
methods = {"PCA": PCA(2), "t-SNE": TSNE(perplexity=10, random_state=0)}
for name, method in methods.items():
    for (when, v), ax in zip(networks.items(), plots.axes(2, width=4.4, height=3.6), strict=True):
        v = v[:3, :15].flatten(0, 1)  # three kinds, fifteen families
        points = torch.tensor(method.fit_transform(v.numpy())).view(3, 15, 2)
        plots.joined(points[0], {"paraphrase": points[1], "exchanged": points[2]}, f"{name}, {when}", ax)

# %% [markdown]
# Hardly: most paraphrases lie side by side in all four pictures, even in those of the untrained network, because sentences of nearly the same words are neighbours anyway. In t-SNE, the size of a group and the gap between two mean little (Wattenberg et al. 2016). The table says more: it compares distances in all 64 numbers with those of an untrained network. And none of this shows that the decoder can get the words out of the vector again.
#
# ## So: can one vector hold a sentence?
#
# The vector holds a sentence if *all* of its words come out right. For what share of the sentences is that so?

# %%
rows = {}
for name, setup in setups.items():
    along, runs = measured("length", "sentences_right", "length", order="monotone", setup=setup)
    rows[name] = [[run[along.index(length)] for run in runs] for length in (3, 6, 8, 12)]
columns = ["3 words", "6 words", "8 words", "12 words"]
table(rows, columns, corner="sentences right, five seeds", digits=2)

# %% [markdown]
# It can hold a short sentence. With the training of this lesson, sentences of three words come through whole, half of those of six do, and none of twelve. Twice the numbers and four times the training bring nine in ten of eight words through, and three in ten of twelve. Cho et al. 2014 saw the same from English to French ("On the Properties of Neural Machine Translation").
#
# What is wasteful about it? The encoder has a state behind *every* word, and we throw away all but the last.
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
# - Can one vector hold a sentence? A short one: here the share of right words falls from 1 at three words to about a third at twelve. More numbers and more training move the fall to longer sentences; they do not remove it.
# - A recurrent network carries a state from word to word; the gates of a GRU decide what it keeps.
# - The encoder's last state is all that the decoder knows of the source. While it learns, the decoder reads the right words, shifted by one.
# - Reading backwards shortens some distances and lengthens others; whether that helps depends on the order of the two languages, and on the length.
# - Distances in the full space, compared with an untrained network, say more than a picture.
#
# **Exercises**: [open them](../exercises/05_seq2seq.ipynb)
#
# **Next**: the encoder has a state for every word. [What if the decoder could look back at all of them?](06_seq2seq_attention.ipynb)

# %%
import ipywidgets
import torch

from course_utils import check, predict, reveal
from course_utils.data.measured import measured
from course_utils.data.recall import recall_next
from course_utils.figures import plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.files import load_pretrained
from course_utils.models.plain import rotate, sinusoidal_positions
from course_utils.models.positions import NextWord, fit, share_right
from course_utils.translation.translate import translate

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)

# %% [markdown]
# ## The same words in another order
#
# A dog that chases a boy is not a boy who chases a dog. But lesson 09 has shown that self-attention does not notice the order of words: put them in another order, and each word gets the same vector as before.
#
# The Transformer that ships with the course adds to each word a vector that says where the word stands, its **position**. What does it make of these two sentences, and what happens if we set all positions to zero?

# %% tags=["nbval-check-output"]
model, subwords = load_pretrained("transformer-en-de")
texts = ["a dog is chasing a boy .", "a boy is chasing a dog ."]
print("with positions:   ", translate(model, subwords, texts))
model.embedding.positions.zero_()
print("without positions:", translate(model, subwords, texts))

# %% [markdown]
# Without positions both sentences get the same translation. It is good German, but it is right for one of them only by luck: to the encoder they are the same set of words.
#
# This model was trained with positions. Could another one learn to do without them? Let us take a task in which order is everything. A text has T different words, and then one of them comes again, never the last one. **Which word comes next?** It should be the one that came after it the first time.

# %% tags=["nbval-check-output"]
words, answers = recall_next(3, 6, torch.Generator().manual_seed(0))
for text, answer in zip(words.tolist(), answers.tolist(), strict=True):
    print("text:", text[:-1], "  again:", text[-1], "  next:", answer)

# %% [markdown]
# Our model has two layers of self-attention. If it can't tell positions apart, it knows which words are there, and that the answer is not the repeated word. What share will it get right in texts of 12 words?

# %% tags=["nbval-check-output"]
predict("11.blind", ...)

# %% tags=["reveals"]
print("Trained on short texts, without positions and with them:")
lengths, right = list(range(2, 13)), {}
for positions in ("none", "sinusoidal"):
    torch.manual_seed(0)
    reader = NextWord(positions)
    fit(reader, steps=1000, rate=5e-3)
    right[positions] = torch.tensor([[share_right(reader, length) for length in lengths]])
reveal("11.blind", round(right["none"][0, -1].item(), 2))
guess = {"a guess: 1 / (T - 1)": [1 / (length - 1) for length in lengths]}
plots.curves(lengths, right, "words of the text, T", "share right", theory=guess)

# %% [markdown]
# Without positions it guesses among the other T - 1 words. With positions it gets nearly all texts right.
#
# ## Is a number enough?
#
# The simplest way is to give each word its position p as one more number. A query then multiplies p by some slope, so its scores rise from key to key, or they fall. Can you find a slope that gives most of the weight to position 2? Try others and run it again.

# %%
p = torch.arange(6.0)
for slope in (-2, -0.5, 0, 0.5, 2):
    print(f"slope {slope:4}:", (slope * p).softmax(0))

# %% [markdown]
# There is none. The largest weight is at one of the ends, or all are equal. We need *vectors* with which a product can pick out any position.
#
# ## A clock for each pair of numbers
#
# Vaswani et al. 2017 take the vector's numbers in pairs. Pair i is the hand of a clock: it turns by the same angle from each position to the next, at a speed of its own. Its first number is the sine of the angle, its second the cosine:
#
# $$P_{p,\,2i} = \sin\frac{p}{10000^{2i/D}} \qquad P_{p,\,2i+1} = \cos\frac{p}{10000^{2i/D}}$$
#
# These are **sinusoidal positions**. Take the width D = 4 and the position p = 1. What are the four numbers, on paper? (sin 1 = 0.841, cos 1 = 0.540.)

# %% tags=["nbval-check-output"]
print(sinusoidal_positions(length=3, width=4))

# %% [markdown]
# The second row is position 1. Pair 0 turns by 1 / 10000⁰ = 1 radian per position, so it begins with sin 1 and cos 1. Pair 1 turns by 1 / 10000^(2/4) = 0.01: sin 0.01 = 0.010 and cos 0.01 ≈ 1.
#
# Here are four of the 32 clocks of positions of width 64. Move the slider. Which is the first position at which pair 0 has passed a full turn, and how far has pair 12 come by then?

# %%
positions = sinusoidal_positions(length=200, width=64)


def clocks_at(position):
    for pair, ax in zip((0, 4, 8, 12), plots.axes(4, width=2.6, height=2.6), strict=True):
        hand = positions[position, [2 * pair, 2 * pair + 1]].flip(0)  # cosine to the right, sine upwards
        plots.directions(hand[None], [""], title=f"pair {pair}", ax=ax)
        ax.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), xlabel="cosine", ylabel="sine")
    slow = position / 10000 ** (2 * 12 / 64)
    return f"At position {position} pair 0 has turned by {position} radians and pair 12 by {slow:.2f}; a full turn has 6.28."


clocks = explore(clocks_at, position=ipywidgets.IntSlider(value=3, min=0, max=60))
clocks

# %% [markdown]
# At position 7 pair 0 has begun its second turn, while pair 12 has moved by only 0.22 radians. Fast hands tell neighbours apart, and slow ones tell near from far, as the hands for seconds and hours do. Together they give each position a vector of its own. Here are those of 30 positions, of width 16, one per column. In which rows do neighbouring columns differ most?

# %%
shown = sinusoidal_positions(length=30, width=16).T
plots.scores(shown, ax=plots.axes(width=9, height=4.2), ylabel="place in the vector", xlabel="position")

# %% [markdown]
# The rows at the top change quickly from position to position. Those at the bottom hardly change over 30 positions; over thousands they would. They come in pairs: a sine, which begins with 0, and a cosine, which begins with 1.
#
# ## How can a head find the word before?
#
# Clocks have a useful property: k positions later, a hand has always turned by the same angle, wherever it stood before. So there is one matrix M that turns each position into the one that is k further on:
#
# $$P_{p+k} = M\,P_p \quad \text{for every } p$$
#
# For each pair, M holds a rotation by k times the pair's angle. Let us build it for width 4 and k = 1, and try it at all positions at once.

# %% tags=["nbval-check-output"]
angles = 1 / 10000 ** (torch.arange(0, 4, 2) / 4)  # of each pair, for one step
blocks = [torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]]) for a in angles]
M = torch.block_diag(*blocks)
print(M)
P = sinusoidal_positions(length=100, width=4)
print("M moves every position by one:", torch.allclose(P[:-1] @ M.T, P[1:], atol=1e-5))

# %% [markdown]
# This answers the question that lesson 10 left. If a head's query is the word's position moved *back* by one, and its keys are the positions, then the score is highest at the word before. We do it for width 64, by hand and without training. Where will the weights lie?

# %%
angles = 1 / 10000 ** (torch.arange(0, 64, 2) / 64)
back = torch.block_diag(*(torch.tensor([[a.cos(), -a.sin()], [a.sin(), a.cos()]]) for a in angles))
P = sinusoidal_positions(length=10, width=64)
weights = (3 * P @ back.T @ P.T).softmax(-1)  # the 3 makes the softmax sharp
plots.weights(weights, range(10), range(10), xlabel="keys: positions", ylabel="queries: positions")

# %% [markdown]
# Each word looks at the word before it. The first one has none, so it looks at what comes nearest: itself. (In a model each word's vector is word and position in one, so a head has to learn both to shift the position and to leave the word out.)
#
# It works everywhere because the product of two positions depends on their *distance* alone. For each pair it is $\sin a \sin b + \cos a \cos b = \cos(a - b)$: the angle between two hands, wherever they stand. What do you expect for the products of the positions 15, 30 and 50 with their neighbours up to 15 away?

# %%
P, distances = sinusoidal_positions(length=80, width=64), list(range(-15, 16))
products = {f"position {p}": (P[p - 15 : p + 16] @ P[p])[None] for p in (15, 30, 50)}
plots.curves(distances, products, "how much further on the other position is", "product of the two")

# %% [markdown]
# The three curves coincide, so only one is visible: where the two positions are does not matter.
#
# ## Rotary positions
#
# If only distance should count, why add positions to words at all? Su et al. 2021 turn each *query* and *key* right before their product, pair by pair, by the angles of its position: $(a, b)$ becomes $(a\cos\varphi - b\sin\varphi,\; a\sin\varphi + b\cos\varphi)$. These are **rotary positions**, used by many of today's large language models.
#
# Take width 2, so that there is one pair, and q = k = [1, 0]. The query stands at position 3 and is turned by 3 radians, the key at position 1 by 1 radian. What is their product, and what is it at positions 13 and 11? (cos 2 = -0.416.)

# %% tags=["nbval-check-output"]
q = k = torch.tensor([[1.0, 0.0]])
for at_q, at_k in ((3, 1), (13, 11), (13, 1)):
    turned_q, turned_k = rotate(q, start=at_q), rotate(k, start=at_k)
    print(f"query at {at_q}, key at {at_k}: {(turned_q @ turned_k.T).item():.3f}")

# %% [markdown]
# Both times it is cos 2, the cosine of the angle between them. Only the distance of 2 counts. At a distance of 12 it is another number, cos 12 = 0.844.
#
# **Learned positions** are the third way: one vector for each position, begun at random and trained like those of words. No formula is needed, but there are only as many vectors as we made, and a vector whose position never occurs in training stays random.
#
# ## What happens beyond the trained lengths?
#
# Our models have seen texts of at most 12 words. Sinusoidal positions can be computed for any number of words. What share will the model that has them get right in texts of 24 words?

# %% tags=["nbval-check-output"]
predict("11.beyond", ...)

# %% tags=["reveals"]
print("Trained on short texts, five seeds:")
right = {}
for kind in ("rotary", "sinusoidal", "learned", "none"):
    lengths, right[kind] = measured("positions", "answers_right", "length", positions=kind)
at_24 = torch.tensor(right["sinusoidal"])[:, lengths.index(24)]
reveal("11.beyond", round(at_24.mean().item(), 2))
plots.curves(lengths, right, "words of the text, T", "share right")

# %% [markdown]
# Sinusoidal positions are no better here than learned ones, whose vectors beyond the trained lengths are still random. Rotary positions hold much longer. Why? Let us sort the texts of 24 words by the place at which the repeated word first stood: which questions does each model still answer?

# %%
right = {}
for kind in ("rotary", "sinusoidal", "learned"):
    places, right[kind] = measured("asked", "answers_right", "place", positions=kind)
plots.curves(places, right, "place of the word that is asked about", "share right")

# %% [markdown]
# With learned positions the model answers at the places 0 to 10, where it has seen both the word and the next one. With sinusoidal positions the fall begins at place 8, where the same model answers in texts of 12 words: the words at new places disturb it. Vaswani et al. 2017 hoped that these positions would hold beyond the trained lengths.
#
# Rotary positions turn the same way everywhere. From place 12 on, the distance to the question at the end has occurred in training, and nearly all is right, although twice as many words compete. New *distances* cost.
#
# ## And in translation?
#
# How many BLEU points do positions bring after three epochs on captions?

# %%
rows = {}
for kind in ("sinusoidal", "learned", "none"):
    _, runs = measured("translated", "bleu", "epochs", positions=kind, heads=4)
    rows[kind] = [run[0] for run in runs]
table(rows, [f"seed {seed}" for seed in range(len(rows["none"]))], corner="BLEU with positions", digits=1)

# %% [markdown]
# They bring 5 to 6.5. Learned ones are about one point below sinusoidal ones with each seed; Vaswani et al. found the two nearly identical. Most of the score is reached without any: who chases what can often be guessed from the words, and as under a causal mask the first word sees one word, the second two, a decoder can learn where it stands (Haviv et al. 2022).
#
# ## So: where does the order come from?
#
# From positions, which are added to the words or turn queries and keys.
#
# ## Questions
#
# These five questions test the goals at the top. Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("11.q1", ...)

# %%
check("11.q2", ...)

# %%
check("11.q3", ...)

# %%
check("11.q4", ...)

# %%
check("11.q5", ...)

# %% [markdown]
# ## Recap
#
# - Where does the order come from? From positions that are added to the words, or that turn queries and keys.
# - Without them an encoder cannot tell two orders of the same words apart.
# - Sinusoidal positions are clocks: fast pairs tell neighbours apart, slow ones near from far.
# - A shift by k is one matrix for all positions, so a head can look at the word before.
# - At places beyond the trained lengths, models with sinusoidal positions fail as those with learned ones do; with rotary positions they hold longer.
#
# **Exercises**: [open them](../exercises/11_positions_exercises.ipynb)
#
# **Next**: words that look at each other, in several heads, with positions. [What else does attention need to become a translator?](12_transformer.ipynb)

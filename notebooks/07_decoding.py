# %%
from collections import Counter
from math import exp

import ipywidgets
import torch

from course_utils import check, predict, reveal
from course_utils.data.measured import measured
from course_utils.figures import plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.files import load_pretrained
from course_utils.translation.rounds import rounds, step_of
from course_utils.translation.scores import bleu
from course_utils.translation.search import length_penalty, translate_all

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## The tree of continuations
#
# Whatever is written so far, a decoder gives each next word a probability. So all translations together form a tree. Here is one small enough for paper: it translates "le chien". Each line shows the probability of its word, given the words before it; each box shows the product of all lines up to it.
#
# **Greedy search** takes the most probable word at each step, as lessons 05 and 06 did in the small world. Which translation does it find, and what is its probability? Is there a better one?

# %%
next_word = {
    (): {"a": 0.5, "the": 0.4, "one": 0.1},
    ("a",): {"dog": 0.4, "hound": 0.3, "cat": 0.3},
    ("the",): {"dog": 0.9, "hound": 0.05, "cat": 0.05},
    ("one",): {"dog": 0.5, "hound": 0.3, "cat": 0.2},
}
probability = {(): 1.0}
for before, shares in next_word.items():
    for word, share in shares.items():
        probability[(*before, word)] = probability[before] * share
del probability[()]
plots.tree(probability, kept=[("a",), ("a", "dog")])

# %% [markdown]
# Greedy search begins with "a", as 0.5 is more than 0.4, and then has no good word left: "a dog" has the probability 0.20. "The dog" has 0.36. The most probable *first word* does not lead to the most probable *sentence*, and greedy search never comes back.
#
# ## Keep several beginnings
#
# We cannot look at all sentences: with 4,000 tokens there are $4{,}000^{10}$ of length ten. **Beam search** keeps the `width` most probable beginnings, continues each of them with every word, and again keeps the `width` best of all. Here are the rounds, one by one. Which width finds "the dog"?

# %%
vocabulary = ["BOS", "EOS", "a", "the", "one", "dog", "hound", "cat"]


def step(prefix):
    """The log probability of each next word: a list of ids, BOS first → V."""
    before = tuple(vocabulary[i] for i in prefix[1:])
    shares = next_word.get(before, {"EOS": 1.0})
    return torch.tensor([shares.get(word, 1e-9) for word in vocabulary]).log()


def beam_at(width, round_number):
    kept = [ids for one in rounds(step, 0, 1, width, longest=2)[:round_number] for ids, _ in one.kept]
    names = [tuple(vocabulary[i] for i in ids) for ids in kept]
    names = [name for name in names if name in probability]  # the others have next to none
    shown = [one for one in names if len(one) == round_number]
    plots.tree(probability, kept=names, title=f"width {width}, round {round_number}")
    return "Kept: " + ", ".join(f"“{' '.join(one)}” with {probability[one]:.2g}" for one in shown) + "."


width_slider = ipywidgets.IntSlider(value=1, min=1, max=4, description="width")
round_slider = ipywidgets.IntSlider(value=1, min=1, max=2, description="round")
beam_explorer = explore(beam_at, width=width_slider, round_number=round_slider)
beam_explorer

# %% [markdown]
# Width 2 is enough here: "a" and "the" both survive the first round, and in the second the best two continuations are "the dog" and "a dog". Width 1 is greedy search.
#
# Real translations end with EOS, at different lengths. One that ends is **set aside** with its log probability, and the search goes on with the others, of which the next round again keeps `width`. It is over when no open one can still win, or at a limit. (Yours, in the exercises, goes on until none is open, which finds the same winner.) Now we use the French model. How do the kept beginnings change between rounds?

# %%
model, subwords = load_pretrained("attention-en-fr")
text = "Two women are eating ice cream on a bench by the river."
(source,) = subwords.encode([text])
history = rounds(step_of(model, source), 1, 2, width=3, longest=16)


def round_at(number):
    kept = history[number - 1].kept
    names = [subwords.decode([list(ids)])[0] + " EOS" * (ids[-1] == 2) for ids, _ in kept]
    plots.ranked(names, [log_p for _, log_p in kept], "log probability", f"kept in round {number}")
    aside = [subwords.decode([list(ids)])[0] for one in history[:number] for ids, _ in one.ended]
    return f"Round {number}: the best one kept is “{names[0]}”, with {kept[0][1]:.2f}. Set aside so far: {'; '.join(aside) or 'none'}."


real_explorer = explore(
    round_at, number=ipywidgets.IntSlider(value=10, min=1, max=len(history), description="round")
)
real_explorer

# %% [markdown]
# In round 10 "à" is ahead, and greedy search takes it. Move the slider on: one round later "près de" and "au bord" have overtaken it, and from round 14 on translations end and are set aside. Here are the results of greedy search and of this one:
# %%
rows = {}
for width in (1, 3):
    (found,) = translate_all(model, [source], width=width, alpha=0.0)
    rows[subwords.decode([found.tokens])[0]] = [f"{found.log_probability:.2f}"]
table(rows, ["log probability"], corner="widths 1 and 3")

# %% [markdown]
# ## Longer translations are less probable
#
# The log probability of a translation is a sum of negative numbers, one for each token. So every further token costs something, and a short translation has an advantage that it has not earned. Look at what a wide beam finds for another sentence. Is it better?

# %%
(source,) = subwords.encode(["A girl jumping rope on a sidewalk near a parking garage."])
rows = {}
for width in (1, 5, 50):
    (found,) = translate_all(model, [source], width=width, alpha=0.0)
    rows[f"width {width}: {subwords.decode([found.tokens])[0]}"] = [
        found.log_probability,
        len(found.tokens) + 1,
    ]
table(rows, ["log probability", "tokens with EOS"], digits=2)

# %% [markdown]
# The first says that a girl is jumping rope on a sidewalk near a garage. Width 50 finds a more probable translation, "A girl jumping.", and loses the rope, the sidewalk and the garage. The search is better, but the translation is worse.
#
# Wu et al. 2016 divide the log probability by a **length penalty** that grows with the number of tokens, EOS included:
#
# $$s(y) = \frac{\log p(y \mid x)}{lp(y)} \qquad lp(y) = \left(\frac{5 + |y|}{6}\right)^{\alpha}$$
#
# With $\alpha = 0$ nothing changes. For which of these values does the longer one of the two win?

# %% tags=["nbval-check-output"]
alphas = [0.0, 0.2, 0.6, 1.0]
rows = {}
for length, log_p in ((16, -5.80), (5, -5.65)):
    rows[f"{length} tokens, {log_p}"] = [log_p / length_penalty(length, alpha) for alpha in alphas]
table(rows, [f"α = {alpha}" for alpha in alphas], corner="score", digits=2)

# %% [markdown]
# From 0.2 on the longer one wins: its score is nearer to 0. Too large an $\alpha$ would make translations too long, so it is chosen by how good the translations of the validation set are.
#
# ## How wide?
#
# Now we translate the whole test set, 1,000 captions, into French. **BLEU**, which the next section explains, says from 0 to 100 how much the translations share with human ones; higher is better. We try three models with different seeds, each at seven widths. Which width is best without a length penalty?

# %% tags=["nbval-check-output"]
predict("07.width", ...)

# %% tags=["reveals"]
left, right = plots.axes(2, width=5.2, height=3.8)
print("Three models, the whole test set:")
for column, name, ax in (("bleu", "BLEU", left), ("length", "length, reference = 1", right)):
    curves = {}
    for alpha in (0.0, 1.0):
        widths, runs = measured("beams", column, "width", pair="en-fr", alpha=alpha)
        curves[f"α = {alpha:g}"] = torch.tensor(runs)
    plots.curves(widths, curves, "width", name, ax=ax)
    ax.set_xscale("log")
    ax.set_xticks(widths, [f"{width:g}" for width in widths])
runs = measured("beams", "bleu", "width", pair="en-fr", alpha=0.0)[1]
reveal("07.width", widths[torch.tensor(runs).mean(0).argmax()])

# %% [markdown]
# Without a penalty, BLEU rises up to a width of about five and then falls sharply: at 50 the translations have lost a quarter of their length. This is called the **beam-search curse** (Koehn and Knowles 2017, Yang et al. 2018). Stahlberg and Byrne 2019 even found that for more than half of their sentences, the most probable translation of all was empty.
#
# With the penalty BLEU no longer falls; the translations still get shorter, but slowly. What does a wide beam cost?

# %%
NAMES = {
    "bleu": "BLEU",
    "log_probability": "log probability",
    "cpu_seconds": "seconds for 1,000 captions, one core",
}
rows = {}
for column in NAMES:
    widths, runs = measured("beams", column, "width", pair="en-fr", alpha=1.0)
    rows[NAMES[column]] = [[run[i] for run in runs] for i in range(len(widths))]
table(rows, [f"width {width:g}" for width in widths], corner="α = 1, three models", digits=1)

# %% [markdown]
# Beyond a width of five BLEU hardly improves, while the time keeps growing.
#
# ## BLEU by hand
#
# BLEU (Papineni et al. 2002) counts how many of a translation's **n-grams**, runs of n words, also occur in the reference. $p_n$ is their share, for n = 1 to 4; an n-gram counts at most as often as it occurs in the reference. The **brevity penalty** punishes translations that are too short, with $c$ words in all translations and $r$ in all references:
#
# $$\text{BLEU} = 100 \cdot \min(1, e^{1 - r/c}) \cdot (p_1\, p_2\, p_3\, p_4)^{1/4}$$
#
# The translation is "the cat sat on the mat", the reference "the black cat sat on the mat". How many of its six words, five pairs, four triples and three runs of four stand in the reference, on paper?

# %% tags=["nbval-check-output"]
said, reference = "the cat sat on the mat".split(), "the black cat sat on the mat".split()
product = 1.0
for n in range(1, 5):
    grams = [Counter(zip(*(words[i:] for i in range(n)), strict=False)) for words in (said, reference)]
    shared, total = (grams[0] & grams[1]).total(), grams[0].total()
    product *= shared / total
    print(f"n = {n}: {shared} of {total}")
brevity = min(1, exp(1 - len(reference) / len(said)))
print(f"brevity penalty {brevity:.3f}, BLEU by hand {100 * brevity * product**0.25:.2f}")

library = bleu([" ".join(said)], [" ".join(reference)])
print(f"sacrebleu {library.score:.2f}   {library.signature}")

# %% [markdown]
# The library agrees. Its **signature** says how the text was split, whether case counts and how zeros are treated. Two BLEU scores can be compared only if these agree: Post 2018 found differences of up to 1.8 between common settings. For a whole test set the counts of all sentences are added up first, and then divided.
#
# BLEU compares words, not meaning. Which of two translations does it prefer here?

# %% tags=["nbval-check-output"]
reference = "The black dog is not sleeping on the sofa ."
for said in ("The black dog is now sleeping on the sofa .", "The black dog lies awake on the sofa ."):
    print(f"{bleu([said], [reference]).score:5.1f}  {said}")

# %% [markdown]
# It prefers the one that says the opposite. A single sentence's BLEU means little; over a thousand sentences such accidents partly cancel, but what BLEU cannot see stays unseen.
#
# ## Our models beside others
#
# How good is our small translator? We compare three seeds with opus-mt-tc-big-en-fr, a large Transformer trained on many millions of pairs from the web. Its model card gives scores on the same test sets, with sacrebleu. Why is the small one as good on the first set?

# %%
rows = {
    "ours, 29,000 captions, width 5, α = 1": [
        "52.1 [51.7 to 52.2]",
        "43.2 [43.0 to 43.4]",
        "34.1 [33.8 to 34.5]",
    ],
    "opus-mt-tc-big-en-fr": ["52.4", "52.8", "54.7"],
}
table(rows, ["test 2016", "test 2017", "COCO 2017"], corner="English to French, BLEU")

# %% [markdown]
# The first set was drawn like the training captions, so the small model knows its words and its style. The further away a test set is, the less it knows. A BLEU score belongs to a test set.
#
# ## After its own errors
#
# In training the decoder reads the right words; in use it reads its own. What does an error do to the words after it? For lesson 05's one-vector model and 12-word sentences of the small world we plot the share of right words at each place: after the right words, after its own, and after the right words with a single wrong one at place 4. Does the model recover from it?

# %%
curves = {}
for fed in ("right words", "one wrong word", "own words"):
    places, runs = measured("exposure", "right", "place", fed=fed)
    curves[f"after {fed}"] = torch.tensor(runs)
plots.curves(
    places, curves, "place in the translation", "share of right words", ax=plots.axes(width=6.4, height=3.8)
)

# %% [markdown]
# It does not. The next word suffers most, but even eight places later fewer words are right. Nothing is shifted here, so this is **exposure bias** (Ranzato et al. 2016): an error leads to states that training has never shown. After the model's own words such errors add up. (There an omitted word also shifts all later ones.)
#
# ## So: which translation is best?
#
# Not always the most probable one, which is often too short. A beam of about five with a length penalty does well, as far as BLEU sees.
#
# ## Questions
#
# These five questions test the goals at the top. Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("07.q1", ...)

# %%
check("07.q2", ...)

# %%
check("07.q3", ...)

# %%
check("07.q4", ...)

# %%
check("07.q5", ...)

# %% [markdown]
# ## Recap
#
# - Which translation is best? Not always the most probable one, and greedy search does not even find that.
# - Beam search keeps the best few beginnings in each round and sets aside those that end.
# - Log probabilities add up, so short translations are favoured, and more so the wider the beam. A length penalty corrects that.
# - BLEU is the geometric mean of four shares of n-grams times a brevity penalty. It counts words and does not see meaning.
# - In use a decoder reads its own errors, and one leads to the next.
#
# **Exercises**: [open them](../exercises/07_decoding_exercises.ipynb)
#
# **Next**: all attention so far has been soft: every word gets some weight. [Must it be?](08_hard_and_local.ipynb) Lesson 08 picks single words and small windows.

# %%
from collections import Counter
from math import exp

import ipywidgets
import torch

from course_utils import check, predict, reveal
from course_utils.data.measured import measured
from course_utils.data.subwords import BOS, EOS, PAD
from course_utils.figures import plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.files import load_pretrained
from course_utils.translation.scores import bleu
from course_utils.translation.search import translate_all

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## Two translations
#
# A model like lesson 06's, trained on captions, translates a sentence into French, in two ways. Which one would you choose, and which is more probable? In French, "à la rivière" means *at the river*, "près de la rivière" *near the river*, and "au bord de la rivière", which we shall meet, *on its bank*.

# %%
model, subwords = load_pretrained("attention-en-fr")
river = "Two women are eating ice cream on a bench by the river."
opening = {width: translate_all(model, subwords.encode([river]), width=width, alpha=0.0)[0] for width in (1, 3)}
for found in opening.values():
    print(f"log probability {found.log_probability:.2f}: {subwords.decode([found.tokens])[0]}")

# %% [markdown]
# The second says what we mean, and it is more probable ($e^{0.47}$, about 1.6 times). Yet **greedy search**, which takes the most probable word at each step as lessons 05 and 06 did, finds only the first. Why?
#
# Given what has been written so far, a decoder assigns a probability to every possible next word. So all translations form a tree. This one translates "le chien": each line shows the probability of its word, each box the product of all lines up to it. The solid path is greedy search's. Is there a better one?

# %%
next_word = {
    (): {"a": 0.5, "the": 0.4, "one": 0.1},
    ("a",): {"dog": 0.4, "hound": 0.3, "cat": 0.3},
    ("the",): {"dog": 0.9, "hound": 0.05, "cat": 0.05},
    ("one",): {"dog": 0.5, "hound": 0.3, "cat": 0.2},
}
probability = {}
for before, shares in next_word.items():
    for word, share in shares.items():
        probability[(*before, word)] = probability.get(before, 1.0) * share

written, greedy = (), []
while written in next_word:
    written = (*written, max(next_word[written], key=next_word[written].get))
    greedy.append(written)
plots.tree(probability, kept=greedy)

# %% [markdown]
# Greedy search begins with "a", and then has no good word left: "a dog" has the probability 0.20, "the dog" 0.36. The most probable *first word* does not lead to the most probable *sentence*, and greedy search never goes back.
#
# ## Keep several beginnings
#
# We cannot try every sentence: with 4,000 tokens there are $4{,}000^{10}$ of length ten. **Beam search** keeps several beginnings. In each round it continues every open beginning, keeps the `width` most probable of all continuations, and **sets aside** those that end with EOS. We add up logarithms, because the product of many small probabilities would round to 0; the order stays the same. Which width finds "the dog"?


# %% tags=["nbval-check-output"]
def beam_search(step, width, longest, may_stop=None):  # may_stop: used below, under "When may the search stop?"
    open_ones, ended, history = [([BOS], 0.0)], [], []
    for _ in range(longest):
        continued = []
        for ids, log_p in open_ones:
            best = step(ids).topk(width)  # no more than these can be kept
            for token, of_token in zip(best.indices.tolist(), best.values.tolist(), strict=True):
                continued.append(([*ids, token], log_p + of_token))
        kept = sorted(continued, key=lambda one: -one[1])[:width]
        history.append(kept)
        ended += [one for one in kept if one[0][-1] == EOS]
        open_ones = [one for one in kept if one[0][-1] != EOS]
        if not open_ones or (may_stop and ended and may_stop(ended, open_ones)):
            break
    return sorted(ended, key=lambda one: -one[1]), history


def in_the_tree(prefix):
    """The log probability of each next word: a list of ids, BOS first → V."""
    shares = next_word.get(tuple(vocabulary[i] for i in prefix[1:]), {"EOS": 1.0})
    return torch.tensor([shares.get(word, 1e-9) for word in vocabulary]).log()


vocabulary = ["", "BOS", "EOS", "a", "the", "one", "dog", "hound", "cat"]  # BOS is 1, EOS is 2
for width in (1, 2):
    ids, log_p = beam_search(in_the_tree, width, longest=3)[0][0]
    print(f"width {width}: {' '.join(vocabulary[i] for i in ids[1:])}, probability {exp(log_p):.2f}")

# %% [markdown]
# A beam of width 1 is greedy search. Width 2 finds "the dog". Why? Move the sliders and see which beginnings each width keeps in each round.


# %%
def beam_at(width, number):
    _, history = beam_search(in_the_tree, width, longest=2)
    kept = [tuple(vocabulary[i] for i in ids[1:]) for kept in history[:number] for ids, _ in kept]
    kept = [words for words in kept if words in probability]  # drop those whose probability is almost 0
    shown = [f"“{' '.join(words)}” with {probability[words]:.2g}" for words in kept if len(words) == number]
    best = max((words for words in kept if len(words) == number), key=probability.get)
    plots.tree(probability, kept=kept, best=best, title=f"width {width}, round {number}")
    return f"Kept in round {number}: {', '.join(shown)}."


width_slider = ipywidgets.IntSlider(value=2, min=1, max=4, description="width")
round_slider = ipywidgets.IntSlider(value=2, min=1, max=2, description="round")
beam_explorer = explore(beam_at, width=width_slider, number=round_slider)
beam_explorer

# %% [markdown]
# Both "a" and "the" survive the first round, and in the second round "the dog" is the best, in red.
#
# Back to the bench. The model's `step` reads what is written so far and gives the log probability of each next token. When does the better translation overtake greedy search's?


# %%
def step_of(text):
    source = torch.tensor([[*subwords.encode([text])[0], EOS]])  # B S

    @torch.no_grad()
    def step(prefix):
        logits = model(source, torch.tensor([prefix]))[0, -1]  # V
        logits[[PAD, BOS]] = -torch.inf  # are never written
        return logits.log_softmax(-1)

    return step


def in_words(ids):
    return subwords.decode([ids[1:]])[0] + " EOS" * (ids[-1] == EOS)


# %%
beams, history = beam_search(step_of(river), width=3, longest=25)
print("the package's search finds the same:", beams[0][0][1:-1] == opening[3].tokens)


def round_at(number):
    names, log_ps = zip(*((in_words(ids), log_p) for ids, log_p in history[number - 1]), strict=True)
    plots.ranked(
        [f"… {' '.join(name.split()[-5:])}" for name in names], log_ps, "log probability", f"kept in round {number}"
    )
    return f"Round {number}: the best one kept is “{names[0]}”, with {log_ps[0]:.2f}."


for number in (10, 11, 14, 15, 16):
    print(f"round {number}:")
    for ids, log_p in history[number - 1]:
        print(f"{log_p:8.2f}  … {' '.join(in_words(ids).split()[7:])}")
slider = ipywidgets.IntSlider(value=11, min=1, max=len(history), description="round")
real_explorer = explore(round_at, number=slider)
real_explorer

# %% [markdown]
# In round 10 "à" is ahead, and greedy search takes it. One round later "au bord" and "près de" have overtaken it. In round 14 "à la rivière" ends and is set aside. "près de" ends one round later, as the most probable of the three.
#
# ## When may the search stop?
#
# Our search fills its beam again in each round, so it mostly goes on to the limit of 25 tokens. Can it stop as soon as one translation has ended? Or only when the best one that has ended is more probable than all open ones? We try both on ten captions. How many of the results become less probable if the first end stops the search?

# %% tags=["nbval-check-output"]
predict("07.stop", ...)

# %% tags=["reveals"]
print("A beam of five, with three rules for stopping:")
rope = "A girl jumping rope on a sidewalk near a parking garage."
captions = [
    "A man in a blue shirt is standing on a ladder cleaning a window.",
    "Two young girls are playing with a red ball in the park.",
    "A dog runs through the snow with a stick in its mouth.",
    "A woman with a large hat is reading a book on the beach.",
    "Children are climbing on a wall near the school.",
    "A man is selling fruit at a market while people walk by.",
    "The boy in the yellow jacket jumps into the water.",
    "People are waiting in front of a train station at night.",
]
rules = {
    "never": None,
    "at the first end": lambda ended, open_ones: True,
    "when none can win": lambda ended, open_ones: max(p for _, p in ended) >= max(p for _, p in open_ones),
}
found = {}
for name, rule in rules.items():
    runs = [beam_search(step_of(text), 5, longest=25, may_stop=rule) for text in [*captions, river, rope]]
    found[name] = torch.tensor([ended[0][1] for ended, _ in runs])
    print(f"{name}: {sum(len(history) for _, history in runs)} rounds,", end=" ")
    print("results less probable:", worse := int((found[name] < found["never"] - 1e-4).sum()))
    if name == "at the first end":
        reveal("07.stop", "0 to 2" if worse < 3 else "3 to 5" if worse < 6 else "6 to 10")

# %% [markdown]
# The translation that ends first need not be the best: an open one may still end with a higher probability. It is safe to stop when none can win, because every further token only lowers the sum. That needs only a few rounds more than stopping at the first end, and loses nothing.
#
# ## Is a wider beam better?
#
# A wider beam keeps more beginnings, so it can find a more probable translation. The last of the captions is "A girl jumping rope on a sidewalk near a parking garage." What do beams of 5 and of 20 find?

# %%
rows = {}
for width in (5, 20):
    found, _ = beam_search(step_of(rope), width, longest=25)
    ids, log_p = found[0]
    rows[f"width {width}: {in_words(ids)}"] = [log_p, f"{len(ids) - 1}"]
table(rows, ["log probability", "tokens with EOS"], digits=2)

# %% [markdown]
# The first says that a girl is jumping rope on a sidewalk near a garage. Width 20 finds a more probable translation, "A girl jumping.", and loses the rope, the sidewalk and the garage. The search is better, but the translation is worse. A log probability is a sum of negative numbers, one for each token, so short translations have an advantage that they have not earned.
#
# Wu et al. 2016 divide the log probability by a **length penalty** that grows with the number of tokens; we count EOS:
#
# $$s(y) = \frac{\log p(y \mid x)}{lp(y)} \qquad lp(y) = \left(\frac{5 + |y|}{6}\right)^{\alpha}$$
#
# An open translation may now lose log probability and still win, so our stopping rule is no longer safe. For which of these $\alpha$ does the longer translation win?


# %%
def score(ids, log_p, alpha):
    length = len(ids) - 1  # with EOS, without BOS
    return log_p / ((5 + length) / 6) ** alpha


rows = {}
for alpha in (0.0, 0.02, 0.1, 1.0, 4.0):
    ids, log_p = max(found, key=lambda one: score(*one, alpha))
    rows[f"α = {alpha}: {in_words(ids)}"] = [score(ids, log_p, alpha), log_p]
table(rows, ["score", "log probability"], corner="best of the translations found with width 20", digits=2)

# %% [markdown]
# At 0.02 the short one wins, at 0.1 a longer one. Too large an $\alpha$ favours one that says twice where the girl is. So choose $\alpha$ on validation captions.
#
# ## BLEU by hand
#
# **BLEU** (Papineni et al. 2002) says from 0 to 100 how much a translation shares with a human reference. $p_n$ is the share of its **n-grams**, runs of n words, that also occur there, each counted at most as often as it occurs there. A **brevity penalty** punishes short translations, with $c$ words in all translations and $r$ in all references:
#
# $$\text{BLEU} = 100 \cdot \min(1, e^{1 - r/c}) \cdot (p_1\, p_2\, p_3\, p_4)^{1/4}$$
#
# The translation is "the cat sat on the mat", the reference "the black cat sat on the mat". How many n-grams occur in both, for n = 1 to 4?

# %% tags=["nbval-check-output"]
translation, reference = "the cat sat on the mat".split(), "the black cat sat on the mat".split()
product = 1.0
for n in range(1, 5):
    grams = [Counter(zip(*(words[i:] for i in range(n)), strict=False)) for words in (translation, reference)]
    shared, total = (grams[0] & grams[1]).total(), grams[0].total()
    product *= shared / total
    print(f"n = {n}: {shared} of {total}")
brevity = min(1, exp(1 - len(reference) / len(translation)))
print(f"brevity penalty {brevity:.3f}, BLEU by hand {100 * brevity * product**0.25:.2f}")

library = bleu([" ".join(translation)], [" ".join(reference)])
print(f"sacrebleu {library.score:.2f}   {library.signature}")

# %% [markdown]
# The library agrees. Its **signature** says how the text was split, whether case counts and how zeros are treated. Two BLEU scores can be compared only if these agree: Post 2018 found differences of up to 1.8 between common settings. For a test set, the counts of all sentences are added up before they are divided. **Your turn**: let the translation be `the the the the`. Only two of its words count, as the reference has no more.
#
# BLEU compares words, not meaning. The reference is "The black dog is not sleeping on the sofa." Which does BLEU prefer: "… is now sleeping on the sofa." or "… lies awake on the sofa."?

# %% tags=["nbval-check-output"]
predict("07.meaning", ...)

# %% tags=["reveals", "nbval-check-output"]
print("BLEU of two sentences:")
reference = "The black dog is not sleeping on the sofa ."
pair = ("The black dog is now sleeping on the sofa .", "The black dog lies awake on the sofa .")
found = [bleu([translation], [reference]).score for translation in pair]
for value, translation in zip(found, pair, strict=True):
    print(f"{value:5.1f}  {translation}")
reveal("07.meaning", ("now sleeping", "lies awake")[found.index(max(found))])

# %% [markdown]
# It prefers the one that says the opposite. So a high BLEU does not say that the meaning is right.
#
# ## How wide?
#
# The course has translated a whole test set, 1,000 captions, into French, with three models of different seeds, each at seven widths, without a penalty and with $\alpha$ = 1 as an example. Which widths are best without it?

# %% tags=["nbval-check-output"]
predict("07.width", ...)


# %% tags=["reveals"]
print("Three seeds; the bands go from the lowest to the highest:")


def draw_by_width(columns):
    for (column, name), ax in zip(columns.items(), plots.axes(2, width=5.2, height=3.8), strict=True):
        curves = {}
        for alpha in (0.0, 1.0):
            widths, runs = measured("beams", column, "width", pair="en-fr", alpha=alpha)
            curves[f"α = {alpha:g}"] = torch.tensor(runs)
        plots.curves(widths, curves, "width", name, ax=ax)
        ax.set_xscale("log")
        ax.set_xticks(widths, [f"{width:g}" for width in widths])
        if column == "cpu_seconds":
            ax.set_yscale("log")
            ax.set_yticks([3, 10, 30, 100], ["3", "10", "30", "100"])


draw_by_width({"bleu": "BLEU", "length": "words of translation / of reference"})
widths, runs = measured("beams", "bleu", "width", pair="en-fr", alpha=0.0)
best = widths[torch.tensor(runs).mean(0).argmax()]
reveal("07.width", "1 or 2" if best < 3 else "3 or 5" if best < 10 else "10 or more")
by_width = dict(zip(widths, torch.tensor(runs).T, strict=True))
print("seed by seed, 5 minus 3:", by_width[5] - by_width[3], " 50 minus 5:", by_width[50] - by_width[5])

# %% [markdown]
# Without a penalty, the widths 3 and 5 are about level. Beyond 10 BLEU falls sharply: at 50 the translations have lost a quarter of the length that they have at 1. Koehn and Knowles 2017 described this; Yang et al. 2018 call it the **beam-search curse**.
#
# With the penalty BLEU hardly falls; the translations still get shorter, but slowly. Does a wide beam find more probable translations at all, and what does it cost?

# %%
draw_by_width({"log_probability": "mean log probability", "cpu_seconds": "seconds for 1,000 captions, one core"})

# %% [markdown]
# A wider beam finds more probable translations: the search does what it is asked, and that is the problem. Fifty times the width takes about forty times as long, and with the penalty, where stopping is harder, longer.
#
# ## After its own errors
#
# So far we have looked for faults in the search and its score. But in training the decoder read the right words, and now it reads its own, errors included. What does one error do to later words?
#
# Lesson 05's one-vector model translates sentences of 12 words from the small world. It reads only right words; only its own; or right words except at position 4, where we put its most likely wrong word. Does it recover?

# %%
curves = {}
for fed in ("right words", "one wrong word", "own words"):
    at, runs = measured("exposure", "right", "place", fed=fed)
    curves[f"after {fed}"] = torch.tensor(runs)
lost = curves["after one wrong word"] - curves["after right words"]
for place in (5, 8, 12):
    of_seeds = lost[:, place - 1]
    low, high = of_seeds.min(), of_seeds.max()
    print(f"position {place}: {of_seeds.mean():.2f} [{low:.2f} to {high:.2f} over {len(of_seeds)} seeds]")
plots.curves(at, curves, "position in the translation", "share of right words", ax=plots.axes(width=6.4, height=3.8))

# %% [markdown]
# It recovers in part: eight positions later fewer words are still right, with every seed. With its own words alone, hardly any of the last ones are right (a word moved by one position counts as wrong). This is **exposure bias** (Ranzato et al. 2016).
#
# ## So: which translation is best?
#
# On the bench, the more probable translation was better, and a beam of three found it. With the rope, it had lost most of the caption. A beam of five with $\alpha$ = 1 does well, as far as BLEU sees. What it misses, people judge, or models trained on their judgements, such as COMET (Rei et al. 2020).
#
# ## Questions
#
# Replace the dots with a letter in quotes or a number.

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
# - The best translation is not always the most probable one, and greedy search may miss even that one.
# - Beam search keeps the best few beginnings in each round and sets aside those that end.
# - Log probabilities add up, so short translations are favoured, and more so the wider the beam. A length penalty corrects that.
# - BLEU is the geometric mean of four shares of n-grams times a brevity penalty. It counts words and does not see meaning.
# - In use a decoder reads its own errors: after one wrong word, fewer of the later ones are right.
#
# **Exercises**: [open them](../exercises/07_decoding_exercises.ipynb)
#
# **Next**: all attention so far has been soft: every word gets some weight. [Must it be?](08_hard_and_local.ipynb) Lesson 08 picks single words and small windows.

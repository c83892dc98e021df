# %%
from collections import Counter
from functools import partial
from math import exp

import ipywidgets
import torch

from course_utils import check, predict, reveal
from course_utils.base.edits import edited
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


beams, history = beam_search(step_of(river), width=3, longest=25)
print("the package's search finds the same:", beams[0][0][1:-1] == opening[3].tokens)
for number in (10, 11, 14, 15, 16):
    print(f"round {number}:")
    for ids, log_p in history[number - 1]:
        print(f"{log_p:8.2f}  … {' '.join(in_words(ids).split()[7:])}")

# %% [markdown]
# In round 10 "à" is ahead, and greedy search takes it. One round later "au bord" and "près de" have overtaken it. In round 14 "à la rivière" ends and is set aside. "près de" ends one round later, as the most probable of the three.
#
# ## Change a line
#
# What are the lines of `beam_search` for? Each pair below names a piece of its code, and what `edited` writes there instead, in a copy. Only one of the four copies still finds "près de la rivière". Which one?

# %% tags=["nbval-check-output"]
changes = {
    "one word each": ("topk(width)", "topk(1)"),
    "last word only": ("log_p + of_token", "of_token"),
    "old ends lost": ("ended += [one", "ended = [one"),
    "ends stay open": ("open_ones = [one for one in kept if one[0][-1] != EOS]", "open_ones = kept"),
}
predict("07.change", ...)

# %% tags=["reveals"]
print("What each copy finds in the tree, with a beam of two, and for the bench, with a beam of three:")
rows = {}
for name, (old, new) in changes.items():
    search = edited(beam_search, old, new)
    ended = [search(in_the_tree, 2, longest=3)[0], search(step_of(river), 3, longest=25)[0]]
    in_tree, on_bench = (best[0][0] if best else [BOS] for best in ended)
    rows[name] = [" ".join(vocabulary[i] for i in in_tree[1:]), in_words(on_bench).split(" banc ")[-1]]
    if on_bench == beams[0][0]:
        reveal("07.change", name)
table(rows, ["tree", "… sur un banc"], corner="copy", left=("tree", "… sur un banc"))

# %% [markdown]
# "Ends stay open" changes nothing here, but what has ended takes a place that a later winner may need. With one word each there is never a second beginning: this is greedy search. The second copy forgets what earlier words have cost, the third what ended before its last round. In the tree neither mistake shows. **Your turn**: add a change of your own.
#
# ## When may the search stop?
#
# Our search mostly goes on to its limit of 25 tokens. May it stop at the first end, at the second (`mine`), or when no open beginning can win? How many of ten results become less probable with the first rule?

# %% tags=["nbval-check-output"]
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
    "mine": lambda ended, open_ones: len(ended) >= 2,  # a rule of your own
    "when none can win": lambda ended, open_ones: max(p for _, p in ended) >= max(p for _, p in open_ones),
}
predict("07.stop", ...)

# %% tags=["reveals"]
print("A beam of five, with four rules for stopping:")
found = {}
for name, rule in rules.items():
    runs = [beam_search(step_of(text), 5, longest=25, may_stop=rule) for text in [*captions, river, rope]]
    found[name] = torch.tensor([ended[0][1] for ended, _ in runs])
    print(f"{name}: {sum(len(history) for _, history in runs)} rounds,", end=" ")
    print("results less probable:", worse := int((found[name] < found["never"] - 1e-4).sum()))
    if name == "at the first end":
        reveal("07.stop", "0 to 2" if worse < 3 else "3 to 5" if worse < 6 else "6 to 10")

# %% [markdown]
# What ends first need not be the best: an open one may still end with a higher probability. Waiting for a second end still loses one result. It is safe to stop when none can win, since each further token can only lower the sum, and that takes hardly any more rounds. **Your turn**: for how many ends must `mine` wait to lose none of the ten? Does it then take more rounds than the safe rule?
#
# ## Is a wider beam better?
#
# A wider beam keeps more beginnings, so it can find a more probable translation. What do beams of 5 and of 20 find for "A girl jumping rope on a sidewalk near a parking garage."?

# %%
rows = {}
for width in (5, 20):
    found, _ = beam_search(step_of(rope), width, longest=25)
    ids, log_p = found[0]
    rows[f"width {width}: {in_words(ids)}"] = [log_p, f"{len(ids) - 1}"]
table(rows, ["log probability", "tokens with EOS"], digits=3)

# %% [markdown]
# The first says that a girl is jumping rope on a sidewalk near a garage. Width 20 finds a more probable translation, "A girl jumping.", and loses the rest. The search is better, but the translation is worse: a log probability adds up a negative number for each token, so short ones have an advantage.
#
# Wu et al. 2016 divide it by a **length penalty** (we count EOS):
#
# $$s(y) = \frac{\log p(y \mid x)}{lp(y)} \qquad lp(y) = \left(\frac{5 + |y|}{6}\right)^{\alpha}$$
#
# Stopping is then no longer safe: a further token also raises the divisor, so a longer beginning can overtake. For which $\alpha$ does the longer translation win? The second score, `mine`, adds 0.01 for each token, as Murray & Chiang 2018 do for each word. Does the longer win with it?


# %%
def over_penalty(length, log_p, alpha):  # length: with EOS, without BOS
    return log_p / ((5 + length) / 6) ** alpha


def mine(length, log_p):  # a score of your own
    return log_p + 0.01 * length


scores = {f"α = {alpha}": partial(over_penalty, alpha=alpha) for alpha in (0.0, 0.02, 0.1, 1.0, 4.0)} | {"mine": mine}
rows = {}
for name, score in scores.items():
    ids, log_p = max(found, key=lambda one: score(len(one[0]) - 1, one[1]))
    rows[f"{name}: {in_words(ids)}"] = [score(len(ids) - 1, log_p), log_p]
table(rows, ["score", "log probability"], corner="best of the translations found with width 20", digits=3)

# %% [markdown]
# At 0.02 the short one wins, at 0.1 a longer one, at 4, one that repeats where the girl is. So choose $\alpha$ on validation captions. With `mine`, eleven more tokens earn 0.11, but cost 0.14. **Your turn**: which reward lets the longer one win?
#
# ## BLEU by hand
#
# **BLEU** (Papineni et al. 2002) compares a translation with a human reference. $p_n$ is the share of its **n-grams**, runs of n words, that also occur there, each counted at most as often as it occurs there. Where its $c$ words are fewer than the reference's $r$, a **brevity penalty** lowers the score:
#
# $$\text{BLEU} = 100 \cdot \min(1, e^{1 - r/c}) \cdot (p_1\, p_2\, p_3\, p_4)^{1/4}$$
#
# How many n-grams does "the cat sat on the mat" share with "the black cat sat on the mat"?

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
# The library agrees. Its **signature** says how the text was split, whether case counts and how zeros are treated. Two scores can be compared only if these agree: Post 2018 found differences of up to 1.8 between common settings. For a test set, counts are added up over all sentences before they are divided. **Your turn**: let the translation be `the the the the`. Only two of its words count, as the reference has no more, and no pair. What does the library make of the zeros?
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


draw_by_width({"bleu": "BLEU", "length": "tokens of translation / of reference"})
(widths, runs), (_, others) = (measured("beams", "bleu", "width", pair="en-fr", alpha=alpha) for alpha in (0.0, 1.0))
without, penalised = torch.tensor(runs).T, torch.tensor(others).T  # 7 widths, 3 seeds
best = widths[without.mean(1).argmax()]
reveal("07.width", "1 or 2" if best < 3 else "3 or 5" if best < 10 else "10 or more")
print("α = 0, seed by seed, 5 minus 3:", without[3] - without[2], " 50 minus 5:", without[6] - without[3])
print("at 5, seed by seed, α = 1 minus α = 0:", penalised[3] - without[3])
lengths = torch.tensor(measured("beams", "length", "width", pair="en-fr", alpha=0.0)[1]).T  # 7 widths, 3 seeds
undone = without / (1 - 1 / lengths).exp().clamp(max=1)  # about, as these lengths are counted in tokens
print(
    "α = 0, about without the brevity penalty:", *(f"width {widths[i]:g}: {undone[i].mean():.0f} " for i in (0, 3, 6))
)

# %% [markdown]
# Without a penalty, the widths 3 and 5 are about level. Beyond 10 BLEU falls sharply: at 50 the translations have lost a quarter of the length that they have at 1. Without the brevity penalty their score would be higher than at 1: what is written is right more often, but too much is missing. Koehn and Knowles 2017 described this; Yang et al. 2018 call it the **beam-search curse**.
#
# With the penalty, a beam of 5 is better with each seed, and BLEU hardly falls as the beam grows; the translations still get shorter, but slowly. Does a wide beam find more probable translations at all, and what does it cost?

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
print("Share of right words after one wrong word, minus that after right words:")
for place in (5, 8, 12):
    of_seeds = lost[:, place - 1]
    low, high = of_seeds.min(), of_seeds.max()
    print(f"position {place}: {of_seeds.mean():.2f} [{low:.2f} to {high:.2f} over {len(of_seeds)} seeds]")
plots.curves(at, curves, "position in the translation", "share of right words", ax=plots.axes(width=6.4, height=3.8))

# %% [markdown]
# Even after right words the share falls, as one vector holds all twelve. After one wrong word the decoder recovers in part: eight positions later fewer words are right, with every seed. This is **exposure bias** (Ranzato et al. 2016). After its own words hardly any of the last are right; omissions shift words, too.
#
# ## So: which translation is best?
#
# On the bench, the more probable translation was better; for the rope, it had lost most of its words. A beam of five with $\alpha$ = 1 does well, by BLEU. What it misses needs people, or models trained on their judgements, such as COMET (Rei et al. 2020).
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

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
from course_utils.models.files import PRETRAINED, load_pretrained
from course_utils.translation.scores import bleu
from course_utils.translation.search import translate_all

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## The tree of continuations
#
# Whatever is written so far, a decoder gives each next word a probability. So all translations together form a tree. The one below translates "le chien". Each line shows the probability of its word, given the words before it. Each box shows the product of all lines up to it.
#
# **Greedy search** takes the most probable word at each step, as lessons 05 and 06 did in the small world. Its path is the solid one. Is there a better translation?

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
# Greedy search begins with "a", as 0.5 is more than 0.4, and then has no good word left: "a dog" has the probability 0.20. "The dog" has 0.36. The most probable *first word* does not lead to the most probable *sentence*, and greedy search never goes back.
#
# ## Keep several beginnings
#
# We cannot look at all sentences: with 4,000 tokens there are $4{,}000^{10}$ of length ten. **Beam search** keeps several beginnings. In each round it continues every open beginning, keeps the `width` most probable of all continuations, and **sets aside** those that end with EOS. Logarithms of probabilities are added up. Which width finds "the dog"?


# %% tags=["nbval-check-output"]
def beam_search(step, width, longest, enough=None):
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
        if not open_ones or (enough and len(ended) >= enough):
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
    kept = [words for words in kept if words in probability]  # the others have next to none
    shown = [f"“{' '.join(words)}” with {probability[words]:.2g}" for words in kept if len(words) == number]
    plots.tree(probability, kept=kept, title=f"width {width}, round {number}")
    return f"Kept in round {number}: {', '.join(shown)}."


width_slider = ipywidgets.IntSlider(value=2, min=1, max=4, description="width")
round_slider = ipywidgets.IntSlider(value=2, min=1, max=2, description="round")
beam_explorer = explore(beam_at, width=width_slider, number=round_slider)
beam_explorer

# %% [markdown]
# Both "a" and "the" survive the first round, and in the second round the two best continuations are "the dog" and "a dog".
#
# Now we use lesson 06's French model. Its `step` reads what is written so far and gives the log probability of each next token. How do the kept beginnings change from round to round?

# %%
model, subwords = load_pretrained("attention-en-fr")


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
river = "Two women are eating ice cream on a bench by the river."
_, history = beam_search(step_of(river), width=3, longest=16)


def round_at(number):
    names, log_ps = zip(*((in_words(ids), log_p) for ids, log_p in history[number - 1]), strict=True)
    plots.ranked(names, log_ps, "log probability", f"kept in round {number}")
    return f"Round {number}: the best one kept is “{names[0]}”, with {log_ps[0]:.2f}."


slider = ipywidgets.IntSlider(value=10, min=1, max=len(history), description="round")
real_explorer = explore(round_at, number=slider)
real_explorer

# %% [markdown]
# In round 10 "à" is ahead, and greedy search takes it. Move the slider on: one round later "près de" and "au bord" have overtaken it, and from round 14 on translations end and are set aside.
#
# The package's search computes all beginnings of many sentences in one batch. Does it find the same translations?

# %% tags=["nbval-check-output"]
rope = "A girl jumping rope on a sidewalk near a parking garage."
texts = [river, rope, "An old man sleeps."]
for width in (1, 3):
    ours = [beam_search(step_of(text), width, longest=25)[0][0] for text in texts]
    theirs = translate_all(model, subwords.encode(texts), width=width, alpha=0.0)
    same = [ids[1:-1] == found.tokens for (ids, _), found in zip(ours, theirs, strict=True)]
    near = [abs(log_p - found.log_probability) < 1e-3 for (_, log_p), found in zip(ours, theirs, strict=True)]
    print(f"width {width}: the same tokens {all(same)}, the same log probabilities {all(near)}")
    print(f"   the first: {in_words(ours[0][0])}, log probability {ours[0][1]:.2f}")

# %% [markdown]
# It does, and for the first sentence the wider beam finds a more probable translation.
#
# ## When may the search stop?
#
# Our search fills its beam again in each round, so it mostly goes on to the limit of 25 tokens. It is tempting to stop as soon as one translation has ended, which `enough=1` does. For how many of ten captions will that change the log probability of the result? Then put 2 or 3 in place of the 1.

# %%
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
rows = {}
for text in [*captions, river, rope]:
    found = [beam_search(step_of(text), 5, longest=25, enough=enough)[0][0] for enough in (None, 1)]
    log_ps = [log_p for _, log_p in found]
    rows[" ".join(text.split()[:5]) + " …"] = dict(zip(("stopped late", "stopped early"), log_ps, strict=True))
plots.dots(rows, "log probability of the result, width 5", xlim=(-6.5, 0))

# %% [markdown]
# Four of the ten results become less probable, and the others stay as they are. The translation that ends first need not be the best: an open one may still end with a higher probability. The search may stop only when no open one can win any more, which is how the package stops.
#
# ## Longer translations are less probable
#
# The log probability of a translation is a sum of negative numbers, one for each token. So every further token costs something, and a short translation has an advantage that it has not earned. Here is what a wider beam finds for the last caption. Is it better?

# %%
rows = {}
for width in (5, 20):
    found, _ = beam_search(step_of(rope), width, longest=25)
    ids, log_p = found[0]
    rows[f"width {width}: {in_words(ids)}"] = [log_p, f"{len(ids) - 1}"]
table(rows, ["log probability", "tokens with EOS"], digits=2)

# %% [markdown]
# The first says that a girl is jumping rope on a sidewalk near a garage. Width 20 finds a more probable translation, "A girl jumping.", and loses the rope, the sidewalk and the garage. The search is better, but the translation is worse.
#
# Wu et al. 2016 divide the log probability by a **length penalty** that grows with the number of tokens; we count EOS:
#
# $$s(y) = \frac{\log p(y \mid x)}{lp(y)} \qquad lp(y) = \left(\frac{5 + |y|}{6}\right)^{\alpha}$$
#
# That is one more division. For which of these $\alpha$ does the longer translation win? And what if you remove the division?


# %%
def score(ids, log_p, alpha):
    length = len(ids) - 1  # with EOS, without BOS
    return log_p / ((5 + length) / 6) ** alpha


rows = {}
for alpha in (0.0, 0.02, 0.1, 0.6, 1.0):
    ids, log_p = max(found, key=lambda one: score(*one, alpha))
    rows[f"α = {alpha}: {in_words(ids)}"] = [score(ids, log_p, alpha), log_p]
(theirs,) = translate_all(model, subwords.encode([rope]), width=20, alpha=1.0)
print("the package chooses the same for α = 1:", theirs.tokens == ids[1:-1])
table(rows, ["score", "log probability"], corner="best of those that width 20 set aside", digits=2)

# %% [markdown]
# From 0.1 on the longer one wins. Without the division, as with $\alpha = 0$, the short one wins. Too large an $\alpha$ would favour translations that are too long, so it is chosen by how good the translations of the validation set are.
#
# ## How wide?
#
# Now we translate the whole test set, 1,000 captions, into French. **BLEU**, which the next section explains, says from 0 to 100 how much the translations share with human ones; higher is better. We try three models with different seeds, each at seven widths. Which widths are best without a length penalty?

# %% tags=["nbval-check-output"]
predict("07.width", ...)


# %% tags=["reveals"]
def draw_by_width(columns):
    for (column, name), ax in zip(columns.items(), plots.axes(2, width=5.2, height=3.8), strict=True):
        curves = {}
        for alpha in (0.0, 1.0):
            widths, runs = measured("beams", column, "width", pair="en-fr", alpha=alpha)
            curves[f"α = {alpha:g}"] = torch.tensor(runs)
        plots.curves(widths, curves, "width", name, ax=ax)
        ax.set_xscale("log")
        ax.set_xticks(widths, [f"{width:g}" for width in widths])


draw_by_width({"bleu": "BLEU", "length": "length, reference = 1"})
widths, runs = measured("beams", "bleu", "width", pair="en-fr", alpha=0.0)
best = widths[torch.tensor(runs).mean(0).argmax()]
reveal("07.width", "1 or 2" if best < 3 else "3 or 5" if best < 10 else "10 or more")

# %% [markdown]
# Without a penalty, the widths 3 and 5 are about level, and then BLEU falls sharply: at 50 the translations have lost a quarter of their length. This is called the **beam-search curse** (Koehn and Knowles 2017, Yang et al. 2018). Stahlberg and Byrne 2019 even found that for more than half of their sentences, the most probable translation of all was empty.
#
# With the penalty BLEU hardly falls; the translations still get shorter, but slowly. Does a wide beam find more probable translations at all, and what does it cost?

# %%
draw_by_width({"log_probability": "mean log probability", "cpu_seconds": "seconds for 1,000 captions, one core"})

# %% [markdown]
# A wider beam finds more probable translations, above all without a penalty: the search does what it is asked, and that is the problem. Beyond a width of five time keeps growing, but BLEU hardly does. Choose the width on validation captions.
#
# ## BLEU by hand
#
# BLEU (Papineni et al. 2002) counts how many of a translation's **n-grams**, runs of n words, also occur in the reference, none more often than it occurs there. $p_n$ is their share. A **brevity penalty** punishes short translations, with $c$ words in all translations and $r$ in all references:
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
# The library agrees. Its **signature** says how the text was split, whether case counts and how zeros are treated. Two BLEU scores can be compared only if these agree: Post 2018 found differences of up to 1.8 between common settings. For a whole test set the counts of all sentences are added up first, and then divided.
#
# BLEU compares words, not meaning. Which of two translations does it prefer here?

# %% tags=["nbval-check-output"]
reference = "The black dog is not sleeping on the sofa ."
for translation in ("The black dog is now sleeping on the sofa .", "The black dog lies awake on the sofa ."):
    print(f"{bleu([translation], [reference]).score:5.1f}  {translation}")

# %% [markdown]
# It prefers the one that says the opposite. A single sentence's BLEU means little; over a thousand sentences such accidents partly cancel, but what BLEU cannot see stays unseen.
#
# ## Our models beside others
#
# How good is our small translator? [Its card](../course_utils/models/pretrained/attention-en-fr/README.md) gives BLEU on three test sets, of the model that ships and of three seeds. Beside it stands opus-mt-tc-big-en-fr, a large Transformer trained on many millions of pairs from the web: one model without a spread, with the scores on its own card, from the same library. Why is the small one as good on the first set?

# %%
card = (PRETRAINED / "attention-en-fr" / "README.md").read_text(encoding="utf-8")
ours = [line.strip("| ").split(" | ") for line in card.splitlines() if line.startswith("| test_")]
rows = {name: [ships, seeds, theirs] for (name, ships, seeds, *_), theirs in zip(ours, (52.4, 52.8, 54.7), strict=True)}
columns = ["ours, as it ships", "three seeds (lowest-highest)", "opus-mt-tc-big-en-fr"]
table(rows, columns, corner="English to French, BLEU", digits=1)

# %% [markdown]
# Perhaps the first set is most like the training captions, so that the small model knows its words and its style. A BLEU score belongs to a test set.
#
# ## After its own errors
#
# In training the decoder reads the right words, in use its own. What does an error do to the words after it? We take lesson 05's one-vector model and sentences of 12 words from the small world. The plot shows the share of right words at each position: after the right words, after the model's own, and after the right words but one: the model's likeliest wrong word, at position 4. Does the model recover from it?

# %%
curves = {}
for fed in ("right words", "one wrong word", "own words"):
    at, runs = measured("exposure", "right", "place", fed=fed)
    curves[f"after {fed}"] = torch.tensor(runs)
lost = curves["after one wrong word"] - curves["after right words"]
for place in (5, 8, 12):
    of_seeds = lost[:, place - 1]
    print(f"position {place}: {of_seeds.mean():.2f} [{of_seeds.min():.2f} to {of_seeds.max():.2f}], seed by seed")
plots.curves(at, curves, "position in the translation", "share of right words", ax=plots.axes(width=6.4, height=3.8))

# %% [markdown]
# It recovers only in part: the next word suffers most, but even eight positions later fewer words are right, with each of the five seeds. The usual name is **exposure bias** (Ranzato et al. 2016), the usual explanation that an error leads to states that training has never shown. After the model's own words more is lost: there are more errors, and an omitted word shifts later ones.
#
# ## So: which translation is best?
#
# Not always the most probable one, which is often too short. A beam of about five with a length penalty does well, as far as BLEU sees.
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a letter in quotes or a number.

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
# - In use a decoder reads its own errors: after one wrong word, fewer of the later ones are right.
#
# **Exercises**: [open them](../exercises/07_decoding_exercises.ipynb)
#
# **Next**: all attention so far has been soft: every word gets some weight. [Must it be?](08_hard_and_local.ipynb) Lesson 08 picks single words and small windows.

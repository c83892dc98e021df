# %%
from collections import Counter
from math import exp
from typing import NamedTuple

import torch
from sacrebleu.metrics import BLEU

from course_lessons.lesson_07_decoding import figures
from course_utils import check, predict, reveal
from course_utils.data.subwords import BOS, EOS, PAD
from course_utils.figures import plots
from course_utils.models.serialization import load_pretrained

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# A translation model assigns a probability to every possible translation. The best translation is the one people prefer, but the model knows only its probabilities, not people's preferences. We could choose the most probable translation, but it is hard to find and may not be the best. We look at both problems. At the end, we use a whole test set to see how many translations a search should follow at once.
#
# ## A tree of translations
#
# In lessons 05 and 06, the decoder wrote the most probable word at each step, which is called **greedy search**. Does it find the most probable translation? We use an example small enough to draw. A decoder translates "le chien" (*the dog*) into two English words. Given the previous words, it assigns a probability to every possible next word, and the probability of a whole translation $y$ of a source sentence $x$ is the product of these probabilities:
#
# $$p(y \mid x) = \prod_t p(y_t \mid x, y_1, \dots, y_{t-1})$$
#
# Together, all the translations form a tree. In the diagram, each line is labelled with the probability of one word and each box with the probability of all the words up to and including its own. The solid lines show the path greedy search takes. Look for a path that leads to a more probable translation.

# %%
next_word = {
    (): {"a": 0.5, "the": 0.4, "one": 0.1},
    ("a",): {"dog": 0.4, "hound": 0.3, "cat": 0.3},
    ("the",): {"dog": 0.9, "hound": 0.05, "cat": 0.05},
    ("one",): {"dog": 0.5, "hound": 0.3, "cat": 0.2},
}
probability = {}  # of one word, and of two words
for first, share in next_word[()].items():
    probability[(first,)] = share
    for second, share_after in next_word[(first,)].items():
        probability[(first, second)] = share * share_after

greedy = [("a",), ("a", "dog")]  # the most probable word at each step
plots.tree(probability, kept=greedy)

# %% [markdown]
# One such path leads to "the dog", with a probability of 0.4 · 0.9 = 0.36, whereas "a dog", found by greedy search, has only 0.5 · 0.4 = 0.20. The most probable *first* word is "a", but after "a", the probability is split more evenly than after "the", and greedy search never goes back.
#
# Missing a more probable translation is called a **search error**.
#
# ## Keep several hypotheses
#
# We cannot try every translation: the model we use below has 4,000 **tokens**, which are words and parts of words, so there are $4{,}000^{10}$ sequences of ten tokens. Greedy search scores only 10 · 4,000 continuations. Following a few translations at once costs only a few times as much. A partial translation is called a **hypothesis**; it begins with the token BOS and stays *open* until the token EOS ends it.
#
# **Beam search** keeps only the `width` most probable hypotheses. It works in rounds:
#
# 1. Extend every open hypothesis by one more token, in every possible way.
# 2. Of all these continuations, keep the `width` most probable.
# 3. Set aside those that end with EOS. The others stay open for the next round.
# 4. Stop after `longest` rounds. The result is the most probable hypothesis among those set aside.
#
# In step 1, the code tries only the `width` most probable tokens for each hypothesis, because only `width` continuations are kept in total. It adds logarithms instead of multiplying probabilities, because a product of many small numbers can underflow to 0. The ranking stays the same, since a larger probability has a larger logarithm.
#
# The function `step` is the decoder: it takes the token ids so far and returns the log probability of every possible next token.


# %%
class Hypothesis(NamedTuple):
    ids: list  # BOS first
    log_p: float


def by_log_p(hypothesis):
    return hypothesis.log_p


def beam_search(step, width, longest):
    open_ones = [Hypothesis([BOS], 0.0)]
    ended = []
    history = []  # what each round keeps
    for _ in range(longest):
        continued = []
        for ids, log_p in open_ones:
            of_next = step(ids)  # V: the log probability of each next token
            best = of_next.topk(width).indices  # width: the most probable tokens
            for token in best.tolist():
                total = log_p + of_next[token].item()
                continued.append(Hypothesis([*ids, token], total))
        continued.sort(key=by_log_p, reverse=True)
        kept = continued[:width]
        history.append(kept)
        ended += [one for one in kept if one.ids[-1] == EOS]
        open_ones = [one for one in kept if one.ids[-1] != EOS]
    ended.sort(key=by_log_p, reverse=True)
    return ended, history


# %% [markdown]
# For the tree, `step` looks up the probabilities we wrote down above. Work through the search with a width of 2 on paper: which two hypotheses are kept in the first round, and which in the second?

# %% tags=["nbval-check-output"]
# a word's place in this list is its id, so BOS is 1 and EOS is 2
vocabulary = ["PAD", "BOS", "EOS", "a", "the", "one", "dog", "hound", "cat"]


def in_the_tree(ids):  # the decoder of the small example
    words = tuple(vocabulary[i] for i in ids[1:])  # without BOS
    shares = next_word.get(words, {"EOS": 1.0})  # after two words comes EOS
    of_next = [shares.get(word, 0.0) for word in vocabulary]  # V: most are 0
    return torch.tensor(of_next).log()  # V: the logarithm of 0 is -∞


for width in (1, 2):
    ended, _ = beam_search(in_the_tree, width, longest=3)
    best = ended[0]
    text = " ".join(vocabulary[i] for i in best.ids[1:])
    print(f"width {width}: {text}, probability {exp(best.log_p):.2f}")

# %% [markdown]
# With a width of 2, beam search finds "the dog": the first round keeps "a" and "the", and the second keeps "the dog" with 0.36 and "a dog" with 0.20. With a width of 1, the first round keeps only "a": beam search reduces to greedy search.
#
# Move the sliders to see which hypotheses each round keeps at each width; the best of each round is shown in red. Which hypotheses does a width of 3 keep in the second round?

# %%
figures.beam_in_the_tree(beam_search, in_the_tree, vocabulary, probability)

# %% [markdown]
# A width of 3 keeps "the dog", "a dog" and one of the two hypotheses with a probability of 0.15. In the first round, it also keeps "one", but no hypothesis that begins with "one" survives the second.
#
# ## The bench by the river
#
# Now we run the same `beam_search` on a photo caption, which the larger model from lesson 06 translates into French. It needs only a different `step`, which `step_of` builds for a given source sentence and which asks the model for the next token's probabilities.

# %%
model, subwords = load_pretrained("attention-en-fr")


def step_of(text):
    source_ids = subwords.encode([text])[0] + [EOS]
    source = torch.tensor([source_ids])  # B S, with B = 1

    @torch.no_grad()
    def step(ids):
        logits = model(source, torch.tensor([ids]))  # B T V
        of_next = logits[0, -1]  # V: after the last token
        of_next[[PAD, BOS]] = -torch.inf  # these two are never written
        return of_next.log_softmax(-1)

    return step


def in_words(ids):
    text = subwords.decode([ids[1:]])[0]  # without BOS
    return text + " EOS" if ids[-1] == EOS else text


# %% [markdown]
# For each width, we print the best translation and the logarithm of its probability, which is negative: the closer to 0, the more probable. Is a width of 1 enough here?

# %%
river = "Two women are eating ice cream on a bench by the river."
for width in (1, 3):
    ended, history = beam_search(step_of(river), width, longest=25)
    print(f"log probability {ended[0].log_p:.2f}: {in_words(ended[0].ids)}")

# %% [markdown]
# Greedy search makes a search error: the logarithms differ by 0.47, and $e^{0.47}$ is 1.6, so the second translation is 1.6 times as probable as the first. It is also closer to the caption's meaning, because "près de la rivière" means *near the river*, whereas "à la rivière" means *at the river*.
#
# In four rounds of the search with a width of 3, we now see one of the hypotheses end before the others. Should the search stop at that point?

# %%
for number in (10, 11, 14, 15):
    print(f"round {number}:")
    for ids, log_p in history[number - 1]:
        print(f"{log_p:8.2f}  {in_words(ids)}")

# %% [markdown]
# The search should go on. The hypotheses diverge after "banc" (*bench*). In round 10, "à" is the most probable next token, so greedy search chooses it, but one round later, "près de" and "au bord" (*on the bank*) have overtaken it.
#
# The hypothesis with "à la rivière" ends first, in round 14, and is set aside. Although only two hypotheses are then open, round 15 again keeps three, because two continuations of one of them are among the three most probable. In that round, "près de la rivière" ends with a higher probability, so the first hypothesis to end need not be the best.
#
# ## Is the most probable translation the best?
#
# A wider beam usually makes fewer search errors. We now compare a beam of 5 with a beam of 20 on a different caption, for which the wider beam finds a more probable translation. Will this translation be shorter or longer than the one found by the beam of 5?

# %% tags=["nbval-check-output"]
predict("07.wider", ...)

# %% tags=["reveals"]
rope = "A girl jumping rope on a sidewalk near a parking garage."
print("The best hypothesis of each beam, and its number of tokens:")
lengths = []
for width in (5, 20):
    ended, _ = beam_search(step_of(rope), width, longest=25)
    ids, log_p = ended[0]
    lengths.append(len(ids) - 1)  # with EOS, without BOS
    print(f"width {width}, {lengths[-1]} tokens, {log_p:.3f}: {in_words(ids)}")
*before, full_stop, _ = ids  # of the second translation; the last one is EOS
of_next = step_of(rope)(before)  # V: after "sautant"
print(f"probability of the full stop after 'sautant': {of_next[full_stop].exp():.3f}")
reveal("07.wider", "shorter" if lengths[1] < lengths[0] else "longer")

# %% [markdown]
# The translation found by the wider beam is much shorter: in English, it reads "A girl jumping.", without the rope, the sidewalk and the garage. The translation found by the narrower beam leaves out very little: "parking garage" has become "garage".
#
# The beam of 20 is not to blame, because it found the more probable translation. It is the model that assigns the worse translation a higher probability; such an error is called a **model error**. The beam of 5 made a search error that, by luck, saved it from the model error. Stahlberg & Byrne (2019) used exact search. A hypothesis never becomes more probable as it grows, so this search discards only those already less probable than some ended one. For more than half of their sentences, the most probable translation was empty.
#
# How can such a short translation win? A perfect model would assign hardly any probability to a full stop after "Une fille sautant". Ours assigns it only 0.009, but the remaining words of the long translation together are even less probable. Both translations begin with "Une fille sautant", so this part cancels out when we compare them: the remaining words are $e^{-5.797 + 5.654} = 0.87$ times as probable as the full stop and EOS. The rest of the probability is spread over all other continuations. To correct for translations that end too early, Wu et al. (2016) divide the log probability by a number $lp$ that grows with the number of tokens $|y|$; we count EOS too. A larger divisor moves a negative number closer to 0, which favours long translations. We divide only at the end, and only for the finished hypotheses:
#
# $$s(y) = \frac{\log p(y \mid x)}{lp(y)} \qquad lp(y) = \left(\frac{5 + |y|}{6}\right)^{\alpha}$$
#
# The 5 and the 6 are the authors' choice. They call this division length normalization; like Vaswani et al. (2017), we call $lp$ a **length penalty**. Their score has another term, which we leave out: a coverage penalty lowers it if attention has hardly looked at some source words. With $\alpha = 0$, $lp$ is 1 and changes nothing. Work out the two scores for $\alpha = 1$: the short translation has 5 tokens and a log probability of -5.654, and the long one has 16 tokens and -5.797. Which translation wins? In the code, `ended` still holds the hypotheses that the beam of 20 found.


# %%
def penalised(hypothesis, alpha):
    tokens = len(hypothesis.ids) - 1  # with EOS, without BOS
    return hypothesis.log_p / ((5 + tokens) / 6) ** alpha


for alpha in (0.0, 0.1, 1.0, 4.0):
    scores = torch.tensor([penalised(one, alpha) for one in ended])
    winner = ended[scores.argmax()]
    print(f"α = {alpha}, score {scores.max():.3f}: {in_words(winner.ids)}")

# %% [markdown]
# With $\alpha = 1$, the long translation wins: it scores -5.797 / 3.5 = -1.656, whereas the short one scores -5.654 / 1.667 = -3.392. Even $\alpha = 0.1$ is enough here.
#
# Too large an $\alpha$ can do harm: with $\alpha = 4$, the winning translation says twice where the girl is. We therefore have to choose both $\alpha$ and the width. We keep $\alpha = 1$ and choose the width, for which we need a measure of translation quality.
#
# ## BLEU: compare with a human translation
#
# **BLEU** (Papineni et al., 2002) compares a translation with a **reference**, a translation written by a person. It counts **n-grams**, which are runs of $n$ words. The **precision** $p_n$ is the share of the translation's n-grams that also occur in the reference. An n-gram is counted no more often than it occurs in the reference, so repeating a word does not help.
#
# BLEU multiplies the four precisions for n from 1 to 4 and takes the fourth root of the product, which gives their geometric mean. If one precision is 0, so is BLEU. A translation could achieve high precision by saying very little, so a **brevity penalty** lowers the score if the translation has fewer words ($c$) than the reference ($r$):
#
# $$\text{BLEU} = 100 \cdot \min(1, e^{1 - r/c}) \cdot (p_1\, p_2\, p_3\, p_4)^{1/4}$$
#
# Suppose the translation is "the cat sat on the mat" and the reference "the black cat sat on the mat". Count on paper how many of the translation's five word pairs occur in the reference.


# %% tags=["nbval-check-output"]
def n_grams(words, n):
    counts = Counter()
    for place in range(len(words) - n + 1):
        n_gram = tuple(words[place : place + n])
        counts[n_gram] += 1
    return counts


translation = "the cat sat on the mat".split()
reference = "the black cat sat on the mat".split()
product = 1.0
for n in (1, 2, 3, 4):
    mine = n_grams(translation, n)
    shared = mine & n_grams(reference, n)  # the smaller of the two counts
    product = product * shared.total() / mine.total()
    print(f"n = {n}: {shared.total()} of {mine.total()}")

brevity = min(1, exp(1 - len(reference) / len(translation)))
print(f"brevity penalty {brevity:.3f}")
print(f"BLEU by hand {100 * brevity * product**0.25:.2f}")

metric = BLEU()
references = [" ".join(reference)]  # one for each translation
library = metric.corpus_score([" ".join(translation)], [references])
print(f"sacrebleu    {library.score:.2f}   {metric.get_signature()}")

# %% [markdown]
# Four of the five pairs occur in the reference. Only "the cat" does not, because "black" separates the two words there.
#
# The library `sacrebleu` gives the same score here, though it replaces a precision of 0 with a small number. It also prints a **signature**, which says how the text was split into words, whether case matters, and so on. Scores with different signatures are not comparable: Post (2018) found differences of up to 1.8 BLEU between common settings.
#
# A whole test set has a single BLEU score. Counts and lengths are added up over all sentences, and each $p_n$ and the brevity penalty are then computed once, from the sums.
#
# BLEU counts words, but can it tell whether the meaning is correct? Suppose the reference is "The black dog is not sleeping on the sofa." Which translation gets the higher BLEU: "The black dog is now sleeping on the sofa." or "The black dog lies awake on the sofa."?

# %% tags=["nbval-check-output"]
predict("07.meaning", ...)

# %% tags=["reveals", "nbval-check-output"]
print("BLEU of two sentences:")
references = ["The black dog is not sleeping on the sofa ."]
opposite = ["The black dog is now sleeping on the sofa ."]
same_meaning = ["The black dog lies awake on the sofa ."]
now_sleeping = metric.corpus_score(opposite, [references]).score
lies_awake = metric.corpus_score(same_meaning, [references]).score
print(f"now sleeping {now_sleeping:.1f}")
print(f"lies awake   {lies_awake:.1f}")
higher = now_sleeping > lies_awake
reveal("07.meaning", "now sleeping" if higher else "lies awake")

# %% [markdown]
# BLEU prefers the translation with "now sleeping", which says the opposite of the reference, so a high score does not guarantee that the meaning is correct. Over a whole test set, BLEU is still used to compare models or searches.
#
# ## How wide should the beam be?
#
# A single caption suggested that a beam can be too wide; with BLEU, we can check this on a whole test set. We trained three models with different seeds. Each of them translated a test set of 1,000 captions into French at seven widths, once without a penalty and once with $\alpha = 1$. Because that takes a while, we stored the results. Which widths give the best BLEU without a penalty?

# %% tags=["nbval-check-output"]
predict("07.width", ...)


# %% tags=["reveals"]
print("Lines show the mean of three seeds, bands the range from lowest to highest:")
reveal("07.width", figures.by_width())

# %% [markdown]
# Without a penalty, mean BLEU is best at widths of 3 and 5 and falls sharply beyond 10. Koehn & Knowles (2017) described this drop, which Yang et al. (2018) call the **beam-search curse**. The plot on the right shows why: the translations become too short. At a width of 50, they contain only 0.79 times as many words as the references, so the brevity penalty lowers their score.
#
# With $\alpha = 1$, the same beams choose longer translations, and a wide beam does hardly any harm. The drop is therefore due to length: the model assigns too high a probability to translations that are too short. Does the penalty help at a width of 5 as well, and do wide beams find more probable translations?

# %%
figures.table_by_width([1, 5, 50])

# %% [markdown]
# At a width of 5, the penalty raises BLEU by 0.4 to 0.5 for each of the three seeds. A wider beam finds more probable translations, but with the penalty, BLEU hardly changes between widths of 5 and 50. A width of 50 takes about fifty times as long as a width of 1. A width of 5 with the penalty is therefore enough here. To choose a width for your own model, do not use the test set as we did here to draw the curves: use other captions.
#
# ## Which translation is best?
#
# The best translation need not be the one that greedy search finds, nor the most probable one. But we now know how to get closer to the translation people prefer:
#
# - Greedy search makes search errors. A beam keeps several hypotheses and avoids many of these errors. As the width grows from 1 to 5, the mean log probability rises from -10.4 to -8.2 and BLEU from 49.6 to 51.6.
# - A more probable translation is not always better: for the rope caption, the more probable translation left out most of the content. A length penalty corrects most of this model error.
# - On a test set, BLEU helps us compare searches. Whatever BLEU misses has to be judged by people or by models trained on human judgements, such as COMET (Rei et al., 2020).
#
# ## Where you will meet this
#
# | here | in papers | in Hugging Face's `transformers` |
# | --- | --- | --- |
# | greedy search | greedy decoding | `generate(do_sample=False, num_beams=1)` |
# | `width` | beam size | `num_beams` |
# | $\alpha$ | length penalty $lp$ | `length_penalty`: divides by $\lvert y \rvert^{\alpha}$, by default 1.0 |
# | `longest` | | `max_new_tokens` |
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
# - Greedy search may miss the most probable translation, which is a search error.
# - Beam search keeps the `width` most probable hypotheses in each round and sets aside those that end with EOS.
# - The most probable translation is not always the best: a model may assign too much probability to ending early, and a length penalty corrects most of this error.
# - BLEU is the geometric mean of the n-gram precisions for n from 1 to 4, times a brevity penalty. It counts words and ignores meaning.
#
# **Exercises**: [open them](../exercises/07_decoding_exercises.ipynb)
#
# **Next**: so far, attention has always added up the values of all words. [Does it have to?](08_hard_and_local.ipynb) In lesson 08, it picks out single words and small windows.

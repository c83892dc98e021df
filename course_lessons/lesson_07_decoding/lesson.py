# %%
from collections import Counter
from math import exp
from typing import NamedTuple

import torch

from course_lessons.lesson_07_decoding import figures
from course_utils import check, predict, reveal
from course_utils.data.subwords import BOS, EOS, PAD
from course_utils.figures import plots
from course_utils.models.serialization import load_pretrained
from course_utils.translation.scores import bleu
from course_utils.translation.search import translate_all

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# A translation model assigns a probability to every possible translation. By the best translation we mean the one that people prefer, but the model does not know what people prefer: it only has its probabilities. We could therefore choose the most probable translation, but it is hard to find, and it may not be the best one. Finally, a whole test set shows how wide a search should be.
#
# ## Two translations of one sentence
#
# We use a model like the one in lesson 06, trained on photo captions, and let it translate an English caption into French in two ways. This lesson explains what `width` and `alpha` in the code mean.
#
# For each result we print the logarithm of its probability. It is negative, and the nearer it is to 0, the more probable the translation is. Which of the two translations is more probable?

# %%
model, subwords = load_pretrained("attention-en-fr")
river = "Two women are eating ice cream on a bench by the river."
source = subwords.encode([river])
for width in (1, 3):
    found = translate_all(model, source, width=width, alpha=0.0)[0]  # of one caption
    text = subwords.decode([found.tokens])[0]
    print(f"log probability {found.log_probability:.2f}: {text}")

# %% [markdown]
# The second translation is more probable. The logarithms differ by 0.47 and $e^{0.47}$ is 1.6, so it is 1.6 times as probable as the first. It is also closer to the meaning of the caption: "près de la rivière" is *near the river*, and "à la rivière" is *at the river*.
#
# The first translation comes from **greedy search**, which writes the most probable word at each step, as we did in lessons 05 and 06. Why does greedy search miss the more probable translation?
#
# ## A tree of translations
#
# We look for the reason in an example small enough to draw. A decoder translates "le chien" (*the dog*) into two English words. Given the previous words, it assigns a probability to each next word. The probability of a whole translation $y$ of a source $x$ is the product of these probabilities:
#
# $$p(y \mid x) = \prod_t p(y_t \mid x, y_1, \dots, y_{t-1})$$
#
# All translations therefore form a tree. In the diagram, each line shows the probability of one word, and each box shows the probability of all words up to it. The solid lines are the path of greedy search. Look for a path that leads to a more probable translation.

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
# There is such a path: "the dog" has the probability 0.4 · 0.9 = 0.36, whereas "a dog", which greedy search finds, has only 0.5 · 0.4 = 0.20. The word "a" is the most probable *first* word, but the probability after it is split more evenly among three words. Greedy search never goes back.
#
# Missing a more probable translation is called a **search error**.
#
# ## Keep several hypotheses
#
# We cannot try all translations. Our model has 4,000 **tokens**, which are words and parts of words, and these form $4{,}000^{10}$ sequences of length ten. But we can keep more than one translation while we search. A translation that the search has begun is called a **hypothesis**. It begins with the token BOS, and it is *open* until the token EOS ends it.
#
# **Beam search** keeps the most probable hypotheses; its `width` says how many. It works in rounds:
#
# 1. Continue every open hypothesis by one more token, in every possible way.
# 2. Of all these continuations, keep the `width` most probable ones.
# 3. Set aside those that end with EOS. The others stay open for the next round.
# 4. Stop after `longest` rounds. The result is the most probable hypothesis among those set aside.
#
# For step 1, the code tries only the `width` most probable tokens of each hypothesis, because only `width` are kept in all. It adds logarithms instead of multiplying probabilities, because a product of many small numbers can become 0 in the computer. The order stays the same, because a larger probability has a larger logarithm.
#
# The function `step` is the decoder: it is given the previous ids and returns the log probability of each next token.


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
# For the tree, `step` looks up the probabilities that we have written down. Try a width of 2 on paper: which two hypotheses are kept in the first round, and which in the second?

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
# With a width of 2, beam search finds "the dog". The first round keeps "a" and "the", and the second keeps "the dog" with 0.36 and "a dog" with 0.20. With a width of 1, only "a" is kept, which is greedy search.
#
# Move the sliders to see what each width keeps in each round. The best hypothesis of the round is red. What does a width of 3 keep in the second round?

# %%
figures.beam_in_the_tree(beam_search, in_the_tree, vocabulary, probability)

# %% [markdown]
# A width of 3 keeps "the dog", "a dog" and one of the two hypotheses with 0.15. In the first round it also kept "one", but nothing that begins with it is kept in the second.
#
# ## The bench by the river
#
# Now we use the same `beam_search` for the caption. All it needs is a different `step`, which asks the model for the next token. `step_of` builds it for one source sentence. One of the hypotheses will end before the others. Should the search stop there?


# %%
def step_of(text):
    source_ids = subwords.encode([text])[0] + [EOS]  # as `translate_all` does
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


ended, history = beam_search(step_of(river), width=3, longest=25)
for number in (10, 11, 14, 15):
    print(f"round {number}:")
    for ids, log_p in history[number - 1]:
        print(f"{log_p:8.2f}  {in_words(ids)}")

# %% [markdown]
# The search should go on. The hypotheses diverge after "banc", *bench*. In round 10, "à" is the most probable next token, so greedy search chooses it. One round later, "près de" and "au bord" (*on the bank*) have overtaken it.
#
# "à la rivière" ends first, in round 14. It is set aside, and the search goes on. In the next round, three hypotheses are again kept, though only two were open, because one of these two is continued in two ways. In round 15, "près de la rivière" ends with a higher probability, so the hypothesis that ends first need not be the best.
#
# ## Is the most probable translation the best?
#
# A wider beam usually makes fewer search errors. We now compare a beam of 5 with a beam of 20 on a different caption. The wider beam finds a more probable translation. Will it be shorter or longer than the translation that the beam of 5 finds?

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
of_next = step_of(rope)(ids[:-2])  # V: after "sautant" in the second translation
print(f"probability of the full stop after 'sautant': {of_next[ids[-2]].exp():.3f}")
reveal("07.wider", "shorter" if lengths[1] < lengths[0] else "longer")

# %% [markdown]
# The translation from the wider beam is much shorter. It says "A girl jumping." and leaves out the rope, the sidewalk and the garage. The other one leaves out little: it says "garage" for "parking garage".
#
# The search with 20 is not to blame, because it found the more probable one. It is the model that gives the worse translation a higher probability, which is called a **model error**. The beam of 5 did make a search error, and by luck this saved it from the model error. Stahlberg & Byrne (2019) used an exact search, which leaves out only what cannot win any more. For more than half of their sentences, the most probable translation was the empty one.
#
# How can such a short translation win? A perfect model would give the full stop after "Une fille sautant" hardly any probability. Ours gives it 0.009. That is little, but the rest of the long translation has in all only $e^{-5.797 + 5.654} = 0.87$ times as much as the full stop with its EOS. The other continuations share what is left. To correct for early ends, Wu et al. (2016) divide the log probability by a number $lp$ that grows with the number of tokens $|y|$. The larger the divisor, the nearer a negative number comes to 0, which helps long translations. This is done only at the end, among hypotheses that have ended. We count EOS as a token:
#
# $$s(y) = \frac{\log p(y \mid x)}{lp(y)} \qquad lp(y) = \left(\frac{5 + |y|}{6}\right)^{\alpha}$$
#
# The authors call this length normalization, and the 5 and the 6 are their choice. Vaswani et al. (2017) call $lp$ a **length penalty**, as we do. We leave out the other term of the score, a coverage penalty. With $\alpha = 0$, $lp$ is 1 and changes nothing. Work out the two scores for $\alpha = 1$: the short translation has 5 tokens and the log probability -5.654, and the long one has 16 tokens and -5.797. Which wins? In the code, `ended` still contains what the beam of 20 has found.


# %%
def penalised(hypothesis, alpha):
    tokens = len(hypothesis.ids) - 1  # with EOS, without BOS
    return hypothesis.log_p / ((5 + tokens) / 6) ** alpha


for alpha in (0.0, 0.1, 1.0, 4.0):
    scores = torch.tensor([penalised(one, alpha) for one in ended])
    winner = ended[scores.argmax()]
    print(f"α = {alpha}, score {scores.max():.3f}: {in_words(winner.ids)}")

# %% [markdown]
# With $\alpha = 1$, the long translation wins. Its score is -5.797 / 3.5 = -1.656, whereas the short one scores -5.654 / 1.667 = -3.392. Even $\alpha = 0.1$ is enough here.
#
# A large $\alpha$ can also do harm: with $\alpha = 4$, the winner says twice where the girl is. There are therefore two things to choose, $\alpha$ and the width. We keep $\alpha = 1$ and choose the width, for which we need a number that says how good a translation is.
#
# ## BLEU: compare with a human translation
#
# **BLEU** (Papineni et al., 2002) compares a translation with a **reference**, a translation that a person has written. It counts **n-grams**, runs of $n$ words. The share $p_n$ says how many of the translation's n-grams also occur in the reference. An n-gram counts at most as often as it occurs in the reference, so it does not help to write the same word again and again.
#
# BLEU multiplies the four shares for n from 1 to 4 and takes the fourth root, which gives their geometric mean. A single share of 0 makes it 0. A translation could get high shares by saying little, so a **brevity penalty** lowers the score if the translation has fewer words ($c$) than the reference ($r$):
#
# $$\text{BLEU} = 100 \cdot \min(1, e^{1 - r/c}) \cdot (p_1\, p_2\, p_3\, p_4)^{1/4}$$
#
# The translation is "the cat sat on the mat", and the reference is "the black cat sat on the mat". Count on paper how many of the five pairs of words occur in the reference.


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

library = bleu(["the cat sat on the mat"], ["the black cat sat on the mat"])
print(f"sacrebleu    {library.score:.2f}   {library.signature}")

# %% [markdown]
# Four of the five pairs occur in the reference. Only "the cat" does not, because "black" comes between its words.
#
# The library `sacrebleu` computes the same here. If a share is 0, it uses a small number instead. It also prints a **signature**, which says how the text was split into words, whether case counts, and so on. Scores with different signatures cannot be compared: Post (2018) found differences of up to 1.8 BLEU between common settings.
#
# A whole test set has a single BLEU. The counts of all sentences are added up, and so are the lengths, and each $p_n$ and the brevity penalty are computed once, from the sums.
#
# BLEU counts words. Can it also tell whether the meaning is right? The reference is "The black dog is not sleeping on the sofa." Which translation gets the higher BLEU: "The black dog is now sleeping on the sofa." or "The black dog lies awake on the sofa."?

# %% tags=["nbval-check-output"]
predict("07.meaning", ...)

# %% tags=["reveals", "nbval-check-output"]
print("BLEU of two sentences:")
reference = "The black dog is not sleeping on the sofa ."
now_sleeping = bleu(["The black dog is now sleeping on the sofa ."], [reference])
lies_awake = bleu(["The black dog lies awake on the sofa ."], [reference])
print(f"now sleeping {now_sleeping.score:.1f}")
print(f"lies awake   {lies_awake.score:.1f}")
higher = now_sleeping.score > lies_awake.score
reveal("07.meaning", "now sleeping" if higher else "lies awake")

# %% [markdown]
# BLEU prefers "now sleeping", which says the opposite of the reference. A high BLEU therefore does not mean that the meaning is right. The BLEU of a whole test set is still useful for comparing models or searches.
#
# ## How wide should the beam be?
#
# Now we can measure what one caption has suggested. Three models, trained with different seeds, have translated the 1,000 captions of a test set into French, each at seven widths, once without a penalty and once with $\alpha = 1$. Because that takes a while, we have stored the results. Which widths give the best BLEU without a penalty?

# %% tags=["nbval-check-output"]
predict("07.width", ...)


# %% tags=["reveals"]
print("Lines are means of three seeds, bands go from the lowest to the highest:")
reveal("07.width", figures.by_width())

# %% [markdown]
# Without a penalty, the widths 3 and 5 give the best BLEU. Beyond 10, BLEU falls sharply. Koehn & Knowles (2017) described this fall, and Yang et al. (2018) call it the **beam-search curse**. The plot on the right shows why: the translations become too short. At a width of 50, they have only 0.79 times as many words as the references, and BLEU lowers the score of translations with too few words.
#
# With $\alpha = 1$, the same beams choose longer translations, and a wide beam then does hardly any harm. The fall therefore comes from the length, because the model gives a higher probability to translations that are too short. Does the penalty also help at a width of 5, and do wide beams find more probable translations?

# %%
figures.table_by_width([1, 5, 50])

# %% [markdown]
# At a width of 5, the penalty gains 0.4 to 0.5 BLEU for each of the three seeds. A wider beam finds more probable translations, but with the penalty, BLEU no longer rises from 5 to 50. A width of 50 takes about fifty times as long as a width of 1, and with the penalty over seventy times. Here, a width of 5 with the penalty is enough. For your own model, choose the width on captions outside the test set: we have looked at these only to see the curves.
#
# ## Which translation is best?
#
# It need not be the one that greedy search finds, and it need not be the most probable one. But we know what helps us come closer to the one that people prefer:
#
# - Greedy search makes search errors. A beam keeps several hypotheses and avoids many of these errors: from a width of 1 to 5, the mean log probability rises from -10.4 to -8.2. BLEU rises with it, from 49.6 to 51.6.
# - A more probable translation is not always better: for the caption with the rope, the more probable one had lost most of its words. A length penalty makes up for most of this model error.
# - On a test set, BLEU tells us which search is better. What it misses has to be judged by people, or by models trained on people's judgements, such as COMET (Rei et al., 2020).
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
# - Greedy search may miss the most probable translation. That is a search error.
# - Beam search keeps the `width` most probable hypotheses in each round and sets aside those that end with EOS.
# - The best translation is not always the most probable one. A model may give early ends too much probability, and a length penalty makes up for most of that.
# - BLEU is the geometric mean of the shares of shared n-grams, for n from 1 to 4, times a brevity penalty. It counts words and ignores the meaning.
#
# **Exercises**: [open them](../exercises/07_decoding_exercises.ipynb)
#
# **Next**: all attention so far adds up the values of all words. [Does it have to?](08_hard_and_local.ipynb) Lesson 08 picks single words and small windows.

# %%
from itertools import product

import ipywidgets
import torch
import torch.nn.functional as F

from course_utils import check, predict, reveal
from course_utils.data.measured import measured_once
from course_utils.data.small_world import small_world
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.attention import masked_softmax
from course_utils.models.hard_attention import learn_to_look
from course_utils.models.intra_attention import LSTM, LookingBack, Recaller

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## Must we read everything?
#
# So far every value went into a weighted sum. This is **soft attention**, and it is **global**: it reads all positions, also those with hardly any weight. That is a waste if a value takes work to compute: in lesson 14 each is a patch of a picture that a network has to look at, and only a few patches matter.
#
# **Hard attention** treats the weights as probabilities, draws one position, and reads the value there alone. **Local attention** keeps the weighted sum, but within a window. Below, a word asks for the verb. How many of the eleven values does each of the three read?

# %%
sentence = "the old dog that sleeps in the yard barks at night".split()
asking = torch.tensor(
    [0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 0.5, 3.0, 0.0, 0.5]
)  # scores of a word that asks for the verb
soft = asking.softmax(0)
drawn = torch.multinomial(soft, 20, replacement=True, generator=torch.Generator().manual_seed(0))  # 20 draws
hard = F.one_hot(drawn[-1], len(sentence))  # the last of them
near = (torch.arange(len(sentence)) - 8).abs() <= 2  # True: may be read
local = masked_softmax(asking, near)
plots.weights(torch.stack([soft, hard, local]), sentence, ["soft", "hard", "local"], ylabel="")
print("values that are read:", *(int((row > 0).sum()) for row in (soft, hard, local)))
print("20 draws:", *(sentence[k] for k in drawn))

# %% [markdown]
# Soft attention reads all eleven values, hard attention one, and local attention five. (It is values that are saved: to draw, all eleven scores are needed.) Most of hard attention's 20 draws are "barks", but not all.
#
# ## One value instead of all
#
# To draw, take a random number $u$ between 0 and 1 and add up the weights from the left: pick the first position at which the sum exceeds $u$. The weights are 0.1, 0.2, 0.4, 0.2, 0.1. Work out on paper which position $u = 0.75$ picks.

# %% tags=["nbval-check-output"]
weights = torch.tensor([0.1, 0.2, 0.4, 0.2, 0.1])
values = torch.tensor([3.0, 1.0, 2.0, 5.0, 6.0])
sums = weights.cumsum(0)
print("sums from the left:", sums)
print("the picked position, from 0:", int((sums > 0.75).nonzero()[0]))
print("soft attention returns", weights @ values)

# %% [markdown]
# The sums are 0.1, 0.3, 0.7, 0.9 and 1, so it is position 3, and hard attention returns its value, 5. Soft attention returns 2.9. How are the two related? We draw again and again, and take the mean of what was read.

# %%
draws = [torch.Generator().manual_seed(seed) for seed in range(20)]
read = torch.stack([values[torch.multinomial(weights, 10_000, replacement=True, generator=draw)] for draw in draws])
numbers = (1, 10, 100, 1_000, 10_000)
means = torch.stack([read[:, :number].mean(1) for number in numbers], 1)  # 20 seeds, 5 numbers of draws
ax = plots.axes(width=6, height=3)
line = {"soft attention": [weights @ values] * len(numbers)}
plots.curves(numbers, {"hard attention, 20 seeds": means}, "draws", "mean of what is read", theory=line, ax=ax)
ax.set_xscale("log")
ax.set_xticks(numbers, [f"{number:,}" for number in numbers])
ax.minorticks_off()

# %% [markdown]
# The mean of many draws is the soft result: soft attention returns the **expectation** of hard attention. A draw reads only one value. It is right on average, but any single draw can be far off.
#
# But how can a loss change the scores if the value was drawn? We ask PyTorch for the gradient of both results.

# %% tags=["nbval-check-output"]
scores = weights.log().requires_grad_()  # their softmax is the weights again
p = scores.softmax(0)
soft, hard = p @ values, values[torch.multinomial(p, 1, generator=draws[0])]
print("gradient of the soft result:", torch.autograd.grad(soft, scores)[0])
print("the hard result depends on the scores, for PyTorch:", hard.requires_grad)
diagrams.soft_and_hard(new=["draw", "estimate"])

# %% [markdown]
# No gradient passes the draw, since a position is a whole number. Instead we need the arrow at the bottom: an estimate from the position $k$ that was drawn and its **reward** $R_k$, which says how good the value was.
#
# ## Two words by hand
#
# Two words have the probabilities $p$ = (0.7, 0.3) and the rewards 1 and 0. The expected reward is 0.7. Its gradient with respect to score $i$ is that of soft attention, $p_i (R_i - 0.7)$: 0.21 and -0.21.
#
# After a draw of word $k$ we make it more probable, in proportion to its reward. The estimate is $R_k$ times how much each score raises $\log p_k$: $1 - p_k$ for score $k$ itself, $-p_i$ for any other. What do the two draws give, and what is their average?

# %% tags=["nbval-check-output"]
p, rewards = torch.tensor([0.7, 0.3]), torch.tensor([1.0, 0.0])
rows, mean = {}, torch.zeros(2)
for k in range(2):
    estimate = rewards[k] * (torch.eye(2)[k] - p) + 0.0  # one number per score
    mean += p[k] * estimate
    rows[f"word {k} is drawn"] = [p[k], rewards[k], *estimate]
rows["on average"] = ["", p @ rewards, *mean]
rows["exact gradient"] = ["", "", *(p * (rewards - p @ rewards))]
table(rows, ["probability", "reward", "at score 0", "at score 1"], digits=2)

# %% [markdown]
# The mean is 0.7 · 0.3 = 0.21 and -0.21: the exact gradient. Now add 1 to both rewards in the cell. Before you run it again, say which numbers at the two scores will change. (The answer follows the next picture.)
#
# ## A gradient from rewards
#
# For any rewards, the mean of the estimates is the gradient, since $\nabla p_i = p_i \nabla \log p_i$:
#
# $$\nabla \sum_i p_i R_i = \sum_i p_i\, R_i\, \nabla \log p_i = \mathbb{E}_{k \sim p}\left[R_k \nabla \log p_k\right]$$
#
# For a softmax $\log p_k = s_k - \log \sum_j e^{s_j}$, so $\nabla \log p_k$ is a vector with 1 at position $k$ and 0 elsewhere, minus $p$. This is the **score-function estimator**, or REINFORCE (Williams 1992). How far off are the means of 10 and of 1,000 draws?

# %%
scores = torch.tensor([1.0, 0.0, -1.0, 0.5])
rewards = torch.tensor([2.0, 3.0, 1.0, 4.0])
p = scores.softmax(0)
exact = p * (rewards - p @ rewards)


def estimates(number, baseline, draw):
    k = torch.multinomial(p, number, replacement=True, generator=draw)  # which position each draw picks
    return (rewards[k] - baseline)[:, None] * (torch.eye(4)[k] - p)  # number 4


draw = torch.Generator().manual_seed(0)
means = {n: torch.stack([estimates(n, 0.0, draw).mean(0) for _ in range(20)]) for n in (10, 1_000)}
marks = {
    f"position {i}: p = {p[i]:.2f}, reward {rewards[i]:.0f}": {
        "means of 10": means[10][:, i],
        "means of 1,000": means[1_000][:, i],
    }
    for i in range(4)
}
ax = plots.axes(width=8, height=3)
plots.dots(marks, "gradient with respect to each score (grey line: exact)", ax=ax, xlim=(-1.2, 1.2))
for row, value in enumerate(exact):
    ax.plot([value, value], [row - 0.45, row + 0.45], color="0.4", linewidth=2)

# %% [markdown]
# The means lie around the exact gradient, those of 10 draws so widely that even the sign can be wrong. (By hand, with both rewards larger by 1, the draws give 0.6 and -0.6, or -0.7 and 0.7; their mean is unchanged.)
#
# ## Better than expected?
#
# Why so noisy? All rewards are positive, so every draw pushes up the score that was drawn, at a good position and at a bad one. With a **baseline** $b$ we take $(R_k - b) \nabla \log p_k$: a reward below $b$ now pushes the score down. By what factor does the variance, summed over the four scores, become smaller if $b$ is the mean reward, 2.69?

# %% tags=["nbval-check-output"]
predict("08.baseline", ...)

# %% tags=["reveals"]
print("The variance against the baseline:")
squares = ((torch.eye(4) - p) ** 2).sum(1)  # |∇ log p|² of each position
baselines = torch.linspace(0, 5, 101)
variance = ((p * squares) @ (rewards[:, None] - baselines) ** 2) - (exact**2).sum()  # the mean square minus the mean's
ax = plots.axes(width=6.4, height=3.4)
ax.plot(baselines, variance, color=plots.COLOURS[0])
ax.plot(baselines[variance.argmin()], variance.min(), "o", color=plots.COLOURS[0], label="smallest")
ax.axvline(p @ rewards, color="0.5", linestyle=":", label="mean reward")
ax.set(xlabel="baseline", ylabel="variance of an estimate", ylim=(0, None))
ax.legend(frameon=False)
none, mean = variance[0], variance[(baselines - p @ rewards).abs().argmin()]
print(f"with b = 0: {none:.2f}, with the mean reward: {mean:.2f}, the smallest: {variance.min():.2f}")
reveal("08.baseline", min(("2", "5", "13"), key=lambda factor: abs(none / mean - float(factor))))

# %% [markdown]
# The smallest variance lies close to the mean reward. Is that always so, and is the mean of the estimates still right? Back to the two words, whose mean reward is 0.7, with two draws at a time. Each number is the estimate at score 0, which should be 0.21 on average. The last baseline is the mean of the same two draws' rewards. In which column is the average wrong, and in which is the variance largest?

# %% tags=["nbval-check-output"]
p2, rewards2 = torch.tensor([0.7, 0.3]), torch.tensor([1.0, 0.0])  # of the two words
rows, mean, square = {}, torch.zeros(4), torch.zeros(4)
for first, second in product(range(2), repeat=2):
    k = torch.tensor([first, second])
    R = rewards2[k]  # 2: of each draw
    pushed = (torch.eye(2)[k] - p2)[:, 0]  # 2: ∇ log p at score 0
    found = torch.stack([((R - b) * pushed).mean() for b in (0.0, 0.3, 0.7, R.mean())]) + 0.0
    mean, square = mean + p2[k].prod() * found, square + p2[k].prod() * found**2
    rows[f"{first} and {second}"] = [p2[k].prod(), *found]
rows |= {"on average": ["", *mean], "variance": ["", *(square - mean**2).clamp(min=0)]}
table(rows, ["probability", "b = 0", "b = 0.3", "b = 0.7", "b = their mean"], corner="words drawn")

# %% [markdown]
# A constant baseline leaves the mean unchanged: $\sum_i p_i \nabla \log p_i = \nabla \sum_i p_i = \nabla 1 = 0$. But here the mean reward, 0.7, makes the variance larger, since the rare word has the larger $\nabla \log p$. The best baseline weights each reward by $p_i |\nabla \log p_i|^2$: it is 0.3.
#
# The mean of the two contains each draw's own reward, and half of the gradient is lost: the estimate is **biased**. A running mean of *past* rewards (Xu et al. 2015) avoids this.
#
# ## Nobody says where to look
#
# Can a model learn from rewards alone where to look? As in lesson 04, a state asks for one of ten hidden states. Each has one of four colours, and the reward is 1 if the position that is read has the right one's colour.


# %%
def hard(scores, rewards, baseline):  # returns a loss and the mean reward; it sees the reward of one drawn position
    log_p = scores.log_softmax(-1)  # B S
    k = torch.multinomial(log_p.exp(), 1)  # B 1
    reward = rewards.gather(1, k)  # B 1
    return -((reward - baseline) * log_p.gather(1, k)).mean(), reward.mean()


def soft(scores, rewards, baseline):  # the expected reward, which takes the rewards of all positions
    reward = (scores.softmax(-1) * rewards).sum(-1)  # B
    return -reward.mean(), reward.mean()


ways = {
    "soft": soft,
    "hard, with baseline": hard,
    "hard, rewards + 1, no baseline": lambda scores, rewards, baseline: hard(scores, rewards + 1, 0.0),
    "mine": lambda scores, rewards, baseline: hard(scores, rewards + 1, baseline),  # a way of your own
}

# %% [markdown]
# Why is `soft` soft attention? The weighted sum of one-hot colours holds, at the right colour, the sum of the weights of its positions: the expected reward. Colours are drawn anew for each question, so only the right position earns it every time.
#
# `learn_to_look` trains lesson 04's score $s^\top W h$ with Adam, five models in each way, on 8 new questions per step; the baseline is a running mean of the rewards. `mine` has both the + 1 and the baseline: which of the other hard ways will it resemble?
#
# And what if hard attention gets 80 questions per step, and so reads as many values as soft attention with 8?

# %% tags=["nbval-check-output"]
predict("08.values_read", ...)

# %% tags=["reveals"]
grown = {name: torch.tensor([learn_to_look(way, seed, B=8) for seed in range(5)]) for name, way in ways.items()}
more = {way: torch.tensor([learn_to_look(way, seed, B=80) for seed in range(5)]) for way in (hard, soft)}
steps, (left, right) = range(0, 275, 25), plots.axes(2, width=4.6, height=3.6)
plots.curves(steps, grown, "step, 8 questions each", "weight on the right position", ax=left, legend="above")
equal = {"soft, 8 questions": grown["soft"], "hard, 80 questions": more[hard], "soft, 80 questions": more[soft]}
first = {name: runs[:, :5] for name, runs in equal.items()}
plots.curves(steps[:5], first, "step", "", ax=right, legend="above")
left.set(ylim=(0, 1), xticks=range(0, 251, 50))
right.set(ylim=(0, 1), xticks=steps[:5])
gained = (more[hard] - grown["soft"])[:, 1]  # after 25 steps, seed by seed
print("How far the weights differ, seed by seed:")
print("after 25 steps, hard with 80 questions minus soft with 8:", gained)
print("after 25 steps, soft with 80 questions minus hard with 80:", (more[soft] - more[hard])[:, 1])
near = "about equal" if gained.mean().abs() < 0.1 else "ahead" if gained.mean() > 0 else "behind"
reveal("08.values_read", near)

# %% [markdown]
# With equally many *values* hard attention learns a little faster, but needs ten times as many questions. With as many, soft attention learns more: draws are noisy.
#
# `mine` starts slowly, as its baseline begins at 0, and ends near the second curve: the baseline takes the + 1 away. Without it, every draw pushes its score up. **Your turn**: let `mine` have neither the + 1 nor a baseline. Say first where its curve will end.
#
# ## Look near one position
#
# Can we read less without draws? **Local attention** (Luong et al. 2015) looks at most $D$ positions away from a centre $c$, and more at near ones:
#
# $$\alpha_s = \text{softmax}_{|s - c| \le D}(e)_s \cdot \exp\left(-\frac{(s - c)^2}{2\sigma^2}\right) \qquad \sigma = D / 2$$
#
# With $D = 2$, five equal scores give 0.2 each. What is left one and two positions away? ($e^{-0.5} = 0.607$, $e^{-2} = 0.135$)


# %% tags=["nbval-check-output"]
def local_weights(scores, centre, window):
    away = torch.arange(len(scores)) - centre  # S
    weights = masked_softmax(scores, away.abs() <= window)  # S
    gaussian = torch.exp(-(away**2) / (2 * (window / 2) ** 2))  # S
    return weights * gaussian


weights = local_weights(torch.zeros(7), centre=3.0, window=2.0)
print(weights, "sum", round(weights.sum().item(), 3))
learns = local_weights(torch.zeros(7, requires_grad=True), 3.0, 2.0).requires_grad
print("the weights depend on the scores, for PyTorch:", learns)

# %% [markdown]
# 0.2 · 0.607 = 0.121 is left one position away, and 0.027 two positions away. The weights no longer add up to 1, as nothing rescales them. Nothing is drawn, so a gradient reaches the scores.
#
# Back to the sentence. Move the centre to 2: how large must $D$ be before "barks" gets any weight? Then find a window of six words in which it gets more than 0.7.


# %%
def window_at(centre, window):
    weights = local_weights(asking, centre, window)
    ax, place, x = plots.axes(width=7.6, height=3), torch.arange(len(sentence)), torch.linspace(-0.5, 10.5, 200)
    ax.axvspan(centre - window, centre + window, color="0.92", label="window")
    ax.plot(x, torch.exp(-((x - centre) ** 2) / (2 * (window / 2) ** 2)), color="0.5", label="Gaussian")
    ax.bar(place, weights.tolist(), color=plots.COLOURS[0], label="weight")
    ax.set(xlim=(-0.5, 10.5), ylim=(0, 1.05), ylabel="weight")
    ax.set_xticks(place, sentence, rotation=40, ha="right")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    best = int(weights.argmax())
    return f"The largest weight is {weights[best]:.2f}, on “{sentence[best]}”; the weights sum to {weights.sum():.2f}."


window_explorer = explore(
    window_at,
    centre=ipywidgets.FloatSlider(value=8.0, min=0, max=10, step=0.5, description="centre"),
    window=ipywidgets.FloatSlider(value=2.0, min=1, max=10, step=0.5, description="window D"),
)
window_explorer

# %% [markdown]
# From position 2, $D$ must be 6 or more. Around "barks" itself, $D = 3$ for example gives six words, and "barks" 0.76.
#
# The centre? **local-m** takes the position of the word that is being written: word 5 of the translation looks around word 5 of the source, without the Gaussian. **local-p** lets the decoder's state $h_t$ predict it for $S$ words: $c = S \cdot \text{sigmoid}(v^\top \tanh(W h_t))$.
#
# We train Luong's decoder of lesson 06 in four kinds: global, local-m and local-p with window 2, and one without attention, which has the encoder's last states alone. We train them on sentences of at most 12 words, in each of three word orders. With the right earlier words given, which is best on 20 words in monotone order?

# %% tags=["nbval-check-output"]
predict("08.window", ...)

# %% tags=["reveals"]
print("The percentage below each order: the share of words whose source word lies in local-m's window.")
kinds, best = ("global", "local-m", "local-p", "none"), {}
for length, ax in zip((12, 20), plots.axes(2, width=5.2, height=3.4), strict=True):
    marks = {}
    for order in ("monotone", "verb-last", "reversed"):
        links = [link for links in small_world(200, 7, order, shortest=length, longest=length).links for link in links]
        near = sum(abs(source - target) <= 2 for source, target in links) / len(links)
        where = {"length": length, "order": order}
        right = {kind: torch.tensor(measured_once("local", "words_right", setup=kind, **where)[0]) for kind in kinds}
        marks[f"{order}\n{near:.0%}"] = right
        print(f"{length} words, {order}, local-m minus global, seed by seed:", right["local-m"] - right["global"])
    plots.dots(marks, f"share right, sentences of {length} words, five seeds", ax=ax)
    monotone = next(iter(marks.values()))
    best[length] = max(kinds, key=lambda kind: sum(monotone[kind]))
reveal("08.window", best[20])

# %% [markdown]
# local-m is right more often than these percentages: even without attention a third to a half of the words are right. On 12 words it is a little behind global attention, on 20 ahead with every seed, but far behind in reversed order, where its rule is wrong. local-p does well on 12 words, but far worse on 20; we have not looked at its centres.
#
# ## Can a network attend to its own past?
#
# A network may also look at something else. An LSTM can attend to its *own* earlier states (Cheng et al. 2016): ours puts a weighted sum of them beside each state. Does this help? Three LSTMs read letters with digits, `a 6 d 4`, then say each letter's digit, `d? a?`.

# %%
setups, marks = ("LSTM", "LSTM, twice as wide", "LSTM that looks back"), {}
for n in (1, 2, 4, 8):
    lstm, wide, back = (torch.tensor(measured_once("recall", "answers_right", setup=one, pairs=n)[0]) for one in setups)
    marks[f"{n} pair{'s' * (n > 1)}"] = dict(zip(setups, (lstm, wide, back), strict=True))
    if n > 1:
        print(f"{n} pairs, seed by seed, twice as wide minus LSTM: {wide - lstm}")
        print(f"{n} pairs, seed by seed, looks back minus twice as wide: {back - wide}")
layers = ((LSTM, 32), (LSTM, 64), (LookingBack, 32))  # the width of the states
print("weights:", *(sum(p.numel() for p in Recaller(layer, hidden=width).parameters()) for layer, width in layers))
plots.dots(marks, "share of digits right, five seeds")

# %% [markdown]
# The LSTM that looks back gets every digit right. Others must hold all pairs in one state. From two pairs on, twice the width helps with every seed, by widely different amounts; from four on, looking back is ahead of it with every seed, and with fewer weights.
#
# ## So: must attention be soft?
#
# No. Where values are costly, hard attention reads one and learns from draws, but needs more questions. Where a rule says where the source word is, a window did best on 20 words, after training on at most 12. Otherwise soft global attention is the safe choice.
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("08.q1", ...)

# %%
check("08.q2", ...)

# %%
check("08.q3", ...)

# %%
check("08.q4", ...)

# %%
check("08.q5", ...)

# %% [markdown]
# ## Recap
#
# - Hard attention draws one position and estimates its gradient; local attention reads a window, draws nothing, and keeps its gradient.
# - The mean of hard attention over many draws is what soft attention returns.
# - The score-function estimator learns from the rewards of draws alone. A baseline leaves its mean unchanged, unless it contains the draw's own reward. The best one lies near the mean reward, if no position has a much larger gradient of log p than the others.
# - On 20 words, after training on at most 12, a window helped where a rule says where to put it; on 12 it cost a little. A learned centre fell far behind on 20.
#
# **Exercises**: [open them](../exercises/08_hard_and_local_exercises.ipynb)
#
# **Next**: a network that looks back at its states still reads one word after the other. [What if every word looks at every word at once?](09_self_attention.ipynb)

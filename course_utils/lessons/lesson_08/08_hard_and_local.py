# %%
from itertools import product

import ipywidgets
import torch
import torch.nn.functional as F

from course_utils import check, predict, reveal
from course_utils.data.measured import measured_at
from course_utils.data.small_world import small_world
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.attention import masked_softmax
from course_utils.models.hard_attention import learn_to_look

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## Must we read everything?
#
# So far every value went into a weighted sum. This is **soft attention**, and it is **global**: it reads the whole sentence for each word that it writes. That is a waste where only one word matters, and a price where a value takes work to compute, such as a look at a part of a picture (lesson 14).
#
# **Hard attention** treats the weights as probabilities, draws one position, and reads the value there alone. **Local attention** keeps the weighted sum, but within a window. How many values does each of them read here?

# %%
sentence = "the old dog that sleeps in the yard barks at night".split()
# scores of a word that asks for the verb
asking = torch.tensor([0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 0.5, 3.0, 0.0, 0.5])
soft = asking.softmax(0)
drawn = torch.multinomial(soft, 1, generator=torch.Generator().manual_seed(0))
hard = F.one_hot(drawn[0], len(sentence))
near = (torch.arange(len(sentence)) - 8).abs() <= 2  # True: may be read
local = masked_softmax(asking, near)
plots.weights(torch.stack([soft, hard, local]), sentence, ["soft", "hard", "local"], ylabel="")
print("values that are read:", *(int((row > 0).sum()) for row in (soft, hard, local)))

# %% [markdown]
# Soft attention reads all eleven values, hard attention one, and local attention five. Draw with other seeds: hard attention reads "barks" about half of the time, and sometimes it reads "sleeps" or another word.
#
# ## One value instead of all
#
# To draw, take a random number $u$ between 0 and 1 and add up the weights from the left: pick the first position at which the sum exceeds $u$. The weights are 0.1, 0.2, 0.4, 0.2, 0.1. Which position does $u = 0.75$ pick, on paper?

# %% tags=["nbval-check-output"]
weights = torch.tensor([0.1, 0.2, 0.4, 0.2, 0.1])
values = torch.tensor([3.0, 1.0, 2.0, 5.0, 4.0])
sums = weights.cumsum(0)
print("sums from the left:", sums)
print("the picked position, from 0:", int((sums > 0.75).nonzero()[0]))

# %% [markdown]
# The sums are 0.1, 0.3, 0.7, 0.9 and 1, so it is position 3, and hard attention returns its value, 5. Soft attention returns 2.7. How are the two related? We draw again and again, and take the mean of what was read.

# %%
draws = [torch.Generator().manual_seed(seed) for seed in range(5)]
read = torch.stack([values[torch.multinomial(weights, 10_000, replacement=True, generator=draw)] for draw in draws])
numbers = (1, 10, 100, 1_000, 10_000)
means = torch.stack([read[:, :number].mean(1) for number in numbers], 1)  # 5 seeds, 5 numbers of draws
ax = plots.axes(width=6, height=3)
line = {"soft attention": [weights @ values] * len(numbers)}
plots.curves(numbers, {"hard attention, five seeds": means}, "draws", "mean of what is read", theory=line, ax=ax)
ax.set_xscale("log")
ax.set_xticks(numbers, [f"{number:,}" for number in numbers])
ax.minorticks_off()

# %% [markdown]
# The mean of many draws is the soft result: soft attention returns the **expectation** of hard attention. A single draw costs one value and is right on average, though far off each time.
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
# No gradient passes the draw, since a position is a whole number. In its place we need the lowest arrow: an estimate from what a draw shows, the position $k$ and its **reward** $R_k$, a number that says how good the value was.
#
# ## Two words by hand
#
# Two words have the probabilities $p$ = (0.7, 0.3). Drawing word 0 earns the reward 1, word 1 earns 0. The expected reward is $0.7 \cdot 1 + 0.3 \cdot 0 = 0.7$. Its gradient with respect to score $i$ is that of soft attention, $p_i (R_i - 0.7)$: 0.21 and -0.21.
#
# A draw of word $k$ gives the estimate $R_k$ times a vector: 1 at score $k$ and 0 elsewhere, minus $p$. What do the two draws give, and what do they give on average?

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
# The mean is 0.7 · 0.3 = 0.21 and -0.21: the exact gradient. Now add 1 to both rewards in the cell. Before you run it again, say which rows will change.
#
# ## A gradient from rewards
#
# With both rewards larger by 1, each draw gives another estimate, and their mean stays. It is the gradient for any rewards, since $\nabla p_i = p_i \nabla \log p_i$:
#
# $$\nabla \sum_i p_i R_i = \sum_i p_i\, R_i\, \nabla \log p_i = \mathbb{E}_{k \sim p}\left[R_k \nabla \log p_k\right]$$
#
# For a softmax $\log p_k = s_k - \log \sum_j e^{s_j}$, so $\nabla \log p_k$ is 1 at score $k$, minus $p$. This is the **score-function estimator**, or REINFORCE (Williams 1992). How far off are the means of 10 and of 1,000 draws?

# %%
scores = torch.tensor([1.0, 0.0, -1.0, 0.5])
rewards = torch.tensor([2.0, 3.0, 1.0, 4.0])
p = scores.softmax(0)
exact = p * (rewards - p @ rewards)


def estimates(number, baseline, draw):
    k = torch.multinomial(p, number, replacement=True, generator=draw)  # which position each draw picks
    return (rewards[k] - baseline)[:, None] * (torch.eye(4)[k] - p)  # number 4


leaf = scores.clone().requires_grad_()
(rewards[0] * leaf.log_softmax(0)[0]).backward()  # the same by PyTorch, for a draw of position 0
print("one draw of position 0:", leaf.grad, "by hand:", rewards[0] * (torch.eye(4)[0] - p))
draw = torch.Generator().manual_seed(0)
means = {n: torch.stack([estimates(n, 0.0, draw).mean(0) for _ in range(20)]) for n in (10, 1_000)}
marks = {
    f"position {i}: p = {p[i]:.2f}, reward {rewards[i]:.0f}": {
        "means of 10": means[10][:, i],
        "means of 1,000": means[1_000][:, i],
        "exact gradient": exact[i],
    }
    for i in range(4)
}
plots.dots(marks, "gradient of the expected reward with respect to the score", xlim=(-1.2, 1.2))

# %% [markdown]
# The means lie around the exact gradient, those of 10 draws so widely that even the sign can be wrong. Position 0 is the most probable one, but its reward is below the mean of 2.69, so its score should fall.
#
# ## Better than expected?
#
# Why so noisy? All rewards are positive, so every draw pushes up the score that was drawn. A **baseline** $b$ helps: we take $(R_k - b) \nabla \log p_k$. By what factor does the best one reduce the variance, summed over the four scores?

# %% tags=["nbval-check-output"]
predict("08.baseline", ...)

# %% tags=["reveals"]
print("The variance against the baseline:")
baselines = torch.linspace(0, 5, 21)
squares = ((torch.eye(4) - p) ** 2).sum(1)  # of ∇ log p for each position
theory = torch.stack([(p * (rewards - b) ** 2 * squares).sum() - (exact**2).sum() for b in baselines])
draws = [torch.Generator().manual_seed(seed) for seed in range(5)]
runs = torch.stack([torch.stack([estimates(10_000, b, draw).var(0).sum() for b in baselines]) for draw in draws])
ax = plots.axes(width=6.4, height=3.6)
ax.axvline((p * rewards).sum(), color="0.5", linestyle=":", label="mean reward")
plots.curves(
    baselines, {"measured, five seeds": runs}, "baseline", "variance of an estimate", theory={"theory": theory}, ax=ax
)
ax.set_ylim(bottom=0)
reveal("08.baseline", round((theory[0] / theory.min()).item(), 1))

# %% [markdown]
# With a baseline near the mean reward the variance is 13 times smaller. The measured values match the theory, $\sum_i p_i (R_i - b)^2 \lVert\nabla \log p_i\rVert^2$ minus the squared exact gradient.
#
# Does the mean stay as it is? Back to the two words, with two draws at a time. The last baseline is the mean reward of the same two draws. In which column will the average be wrong, and why?

# %% tags=["nbval-check-output"]
p2, rewards2 = torch.tensor([0.7, 0.3]), torch.tensor([1.0, 0.0])  # of the two words
rows, mean = {}, torch.zeros(4)
for first, second in product(range(2), repeat=2):
    k = torch.tensor([first, second])
    R = rewards2[k]  # 2: of each draw
    pushed = (torch.eye(2)[k] - p2)[:, 0]  # 2: ∇ log p at score 0
    found = torch.stack([((R - b) * pushed).mean() for b in (0.0, 0.3, 0.7, R.mean())]) + 0.0
    mean += p2[k].prod() * found
    rows[f"{first} and {second}"] = [p2[k].prod(), *found]
rows["on average"] = ["", *mean]
table(rows, ["probability", "b = 0", "b = 0.3", "b = 0.7", "b = their mean"], corner="words drawn")

# %% [markdown]
# A constant leaves the mean, because $\sum_i p_i \nabla \log p_i = \nabla \sum_i p_i = \nabla 1 = 0$. With 0.3 every pair gives the exact gradient: the expected reward, 0.7, is only a rule of thumb. But the mean of the two holds half of each draw's own reward, and half of the gradient is lost: the estimate is **biased**. A running mean of *past* rewards (Xu et al. 2015) is safe.
#
# ## Nobody says where to look
#
# Now hard attention learns: as in lesson 04, a state must find the one of ten hidden states that belongs to it. Each hidden state has one of four colours; the reward is 1 if the right one's colour is read. Each function returns a loss and the mean reward.


# %%
def hard(scores, rewards, baseline):  # one position is drawn, and its reward alone is seen
    log_p = scores.log_softmax(-1)  # B S
    k = torch.multinomial(log_p.exp(), 1)  # B 1
    reward = rewards.gather(1, k)  # B 1
    return -((reward - baseline) * log_p.gather(1, k)).mean(), reward.mean()


def soft(scores, rewards, baseline):  # the expected reward, which takes the rewards of all positions
    reward = (scores.softmax(-1) * rewards).sum(-1)  # B
    return -reward.mean(), reward.mean()


ways = {
    "soft": soft,
    "hard, baseline": hard,
    "hard, no baseline": lambda scores, rewards, baseline: hard(scores, rewards, 0.0),
    "hard, rewards + 1": lambda scores, rewards, baseline: hard(scores, rewards + 1, 0.0),
}

# %% [markdown]
# `learn_to_look` trains lesson 04's score $s^\top W h$ with 16 questions per step; the baseline is a running mean of the rewards, from 0. Five models are trained in each of the four ways. Soft attention reads ten values for each question, hard attention one. What if hard attention gets 160 questions per step, and so reads as many values?

# %% tags=["nbval-check-output"]
predict("08.values_read", ...)

# %% tags=["reveals"]
print("Weight on the right position, five seeds:")
grown = {name: torch.tensor([learn_to_look(way, seed) for seed in range(5)]) for name, way in ways.items()}
marks = {f"after {25 * at} steps": {name: runs[:, at] for name, runs in grown.items()} for at in (1, 2, 10)}
equal = {
    name: torch.tensor([learn_to_look(way, seed, steps=25, B=16 if name == "soft" else 160)[-1] for seed in range(5)])
    for name, way in ways.items()
}
plots.dots(marks | {"25 steps, as many values": equal}, "weight on the right position")
gained = equal["hard, baseline"] - equal["soft"]
near = "about equal" if gained.mean().abs() < 0.1 else "ahead" if gained.mean() > 0 else "behind"
reveal("08.values_read", near)
helped = (grown["hard, baseline"] - grown["hard, no baseline"])[:, 2]
table(
    {"hard minus soft, as many values": [gained], "after 50 steps, baseline minus none": [helped]},
    ["seed by seed"],
    digits=2,
)

# %% [markdown]
# After equally many *steps* soft attention is ahead; with equally many *values* hard attention is about as good. Once trained, it reads one value in place of ten, which pays where values are expensive (lesson 14). The scores still take all keys.
#
# After 50 steps the baseline has helped a little, with every seed. With rewards + 1, learning without it is slow: add a fifth way to `ways`, rewards + 1 *with* the baseline.
#
# ## Look near one position
#
# Can we read less and keep the exact gradient? **Local attention** (Luong et al. 2015) looks at most $D$ positions away from a centre $c$; nearer ones get more weight:
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

# %% [markdown]
# 0.2 · 0.607 = 0.121 is left one position away, and 0.027 two positions away. The weights no longer add up to 1: they are not normalised again. Leave out the Gaussian: the five weights stay at 0.2, and their sum is 1.
#
# Back to the sentence. Move the centre to 2: how large must $D$ be before "barks" gets any weight?


# %%
def window_at(centre, window):
    weights = local_weights(asking, centre, window)
    plots.weights(weights[None], sentence, [""], xlabel="", ylabel="")
    place = int(weights.argmax())
    return f"The largest weight is {weights[place]:.2f}, on “{sentence[place]}”; together they are {weights.sum():.2f}."


window_explorer = explore(
    window_at,
    centre=ipywidgets.FloatSlider(value=8.0, min=0, max=10, step=0.5, description="centre"),
    window=ipywidgets.FloatSlider(value=2.0, min=1, max=10, step=0.5, description="window D"),
)
window_explorer

# %% [markdown]
# From position 2 "barks" is six positions away, so it is within reach once $D$ is 6 or more, though the Gaussian leaves little of its weight there. Moving the centre helps more.
#
# Where does the centre come from? **local-m** takes the position of the word that is being written: word 5 of the translation looks around word 5 of the source, and there is no Gaussian. **local-p** lets the decoder's state $s$ predict it for $S$ words: $c = S \cdot \sigma(v^\top \tanh(W s))$, where this $\sigma$ is the logistic function.
#
# We train Luong's decoder of lesson 06 with both, using window 2, on three word orders. In which one does local-m do worst?

# %% tags=["nbval-check-output"]
predict("08.window", ...)

# %% tags=["reveals"]
marks, orders = {}, ("monotone", "verb-last", "reversed")
for length, order in product((12, 20), orders):
    row = {
        setup: measured_at("local", "words_right", "length", (length,), order=order, setup=setup)[0]
        for setup in ("global", "local-m", "local-p")
    }
    links = [link for links in small_world(200, 7, order, shortest=length, longest=length).links for link in links]
    near = [abs(source - target) <= 2 for source, target in links]  # is the source word within local-m's window?
    marks[f"{order}, {length} words"] = row | {"in the window": sum(near) / len(near)}
plots.dots(marks, "share of words right, given the right words before them; five seeds")
worst = min(orders, key=lambda order: sum(marks[f"{order}, 12 words"]["local-m"]))
reveal("08.window", worst)

# %% [markdown]
# Only in the reversed order does local-m fail; local-p learns where to look. At 20 words, more than in any training sentence, local-p drops most and, where its rule fits, local-m least, perhaps because that rule holds at any length. Diamonds show how often a word's source word is in local-m's window at all. It gets more words right: perhaps states know their neighbours.
#
# ## One's own past
#
# A network can read its *own* earlier states, as the LSTMN of Cheng et al. 2016 does. Here LSTMs read letters with digits, such as `a 6 d 4`, and then say the digit of each letter asked for: `d? a?`. One of them attends from each state to those before it.

# %%
marks, pairs = {f"{n} pair{'s' * (n > 1)}": {} for n in (1, 2, 4, 8)}, (1, 2, 4, 8)
for setup in ("LSTM", "LSTM, twice as wide", "LSTM that looks back"):
    for row, runs in zip(
        marks.values(), measured_at("recall", "answers_right", "pairs", pairs, setup=setup), strict=True
    ):
        row[setup] = runs
plots.dots(marks, "share of digits right, five seeds")

# %% [markdown]
# The LSTM that looks back gets every digit right. A plain one has to hold all pairs in one state, and the more pairs, the fewer digits it gets right, even at twice the width. An exercise builds this attention.
#
# ## So: must attention be soft?
#
# No. Hard attention learns from draws, more slowly per step, but here about as well per value; trained, it reads one. Local attention keeps the exact gradient and reads a window: it helped in long sentences where a rule placed the window well. Soft global attention need not know where to look, and reads everything.
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
# - Must attention be soft? No: hard attention reads one value and estimates its gradient, local attention reads a window and keeps an exact one.
# - Hard attention draws one position. Its mean over many draws is what soft attention returns.
# - The score-function estimator learns from the rewards of draws alone. A good baseline lowers its variance, here 13 times, and leaves its mean, unless it contains the draw's own reward.
# - A window is enough where we know, or can learn, where to put it.
# - A network that attends to its own past need not hold everything in one state.
#
# **Exercises**: [open them](../exercises/08_hard_and_local_exercises.ipynb)
#
# **Next**: a network that looks back at its states still reads one word after the other. [What if every word looks at every word at once?](09_self_attention.ipynb)

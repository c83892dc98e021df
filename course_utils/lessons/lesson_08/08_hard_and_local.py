# %%
import ipywidgets
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.measured import measured_at
from course_utils.data.recall import TOKENS, recall
from course_utils.data.small_world import small_world
from course_utils.figures import plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models import intra_attention
from course_utils.models.attention import masked_softmax
from course_utils.models.hard_attention import learn_to_look

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## A sum of all, or one of them
#
# So far every value went into a weighted sum. That is **soft attention**. **Hard attention** treats the weights as probabilities, draws one position, and reads only the value there.
#
# To draw, take a random number $u$ between 0 and 1 and add up the weights from the left: pick the first position at which the sum exceeds $u$. The weights are 0.1, 0.2, 0.4, 0.2, 0.1. Which position does $u = 0.75$ pick, on paper?

# %% tags=["nbval-check-output"]
weights = torch.tensor([0.1, 0.2, 0.4, 0.2, 0.1])
values = torch.tensor([3.0, 1.0, 2.0, 5.0, 4.0])
sums = weights.cumsum(0)
print("sums from the left:", sums)
print("the picked position, from 0:", int((sums > 0.75).nonzero()[0]))

# %% [markdown]
# The sums are 0.1, 0.3, 0.7, 0.9 and 1, so it is position 3, and hard attention returns its value, 5. Soft attention returns 2.7. How are the two related?

# %% tags=["nbval-check-output"]
draw = torch.Generator().manual_seed(0)
picked = torch.multinomial(weights, 10_000, replacement=True, generator=draw)
rows = {"soft attention": [(weights * values).sum()]}
for number in (10, 100, 10_000):
    rows[f"mean of {number:,} picks"] = [values[picked[:number]].mean()]
table(rows, ["result"])

# %% [markdown]
# The soft result is the **expectation** of the hard one. Soft attention reads all five values; hard attention reads a single one, which saves work where a value is expensive to compute.
#
# But how can a loss change the scores if the value was drawn at random? We ask PyTorch for the gradient of both results.

# %% tags=["nbval-check-output"]
scores = weights.log().requires_grad_()  # their softmax is the weights again
probabilities = scores.softmax(0)
soft = (probabilities * values).sum()
hard = values[torch.multinomial(probabilities, 1, generator=draw)]
print("soft:", torch.autograd.grad(soft, scores)[0])
print("hard:", hard.requires_grad)

# %% [markdown]
# The hard result has no gradient at all: it depends on a position, which is a whole number. So what can a draw teach the scores?
#
# ## Two words by hand
#
# Two words have the probabilities 0.7 and 0.3. Drawing the first one earns the **reward** 1, the other one 0. The expected reward is $0.7 \cdot 1 + 0.3 \cdot 0 = 0.7$. Its gradient with respect to score $i$ is that of soft attention, $p_i (R_i - 0.7)$: 0.21 and -0.21.
#
# A draw of word $k$ shows one reward only. It gives the estimate $R_k$ times a vector: 1 at score $k$ and 0 elsewhere, minus $p$. What does each draw give, and what do they give on average?

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
# With both rewards larger by 1, each draw gives another estimate, and their mean stays. It is the gradient for any rewards. Since $\nabla p_i = p_i \nabla \log p_i$,
#
# $$\nabla \sum_i p_i R_i = \sum_i p_i\, R_i\, \nabla \log p_i = \mathbb{E}_{k \sim p}\left[R_k \nabla \log p_k\right]$$
#
# and for a softmax $\nabla \log p_k$ is 1 at score $k$, minus $p$.

# %% tags=["nbval-check-output"]
scores = torch.tensor([1.0, 0.0, -1.0, 0.5])
rewards = torch.tensor([2.0, 3.0, 1.0, 4.0])
p = scores.softmax(0)
exact = p * (rewards - p @ rewards)


def estimates(number, baseline, draw):
    k = torch.multinomial(p, number, replacement=True, generator=draw)  # which position each draw picks
    return (rewards[k] - baseline)[:, None] * (torch.eye(4)[k] - p)  # number 4


leaf = scores.clone().requires_grad_()
(2.0 * leaf.log_softmax(0)[0]).backward()  # the same by PyTorch, for a draw of position 0
print("one draw of position 0:", leaf.grad, "by hand:", 2.0 * (torch.eye(4)[0] - p))
found = estimates(10_000, baseline=0.0, draw=torch.Generator().manual_seed(0))
rows = {"probabilities": p, "rewards": rewards, "exact gradient": exact}
rows |= {"mean of 10,000 estimates": found.mean(0), "its standard error": found.std(0) / 10_000**0.5}
table(rows, [f"position {i}" for i in range(4)])

# %% [markdown]
# No difference between mean and gradient is much larger than its standard error. This **score-function gradient** is also called REINFORCE (Williams 1992). Position 0 is the most probable one, but its reward is below the mean of 2.69, so its score should fall.
#
# ## Better than expected?
#
# A single estimate is very noisy. All rewards are positive, so every draw pushes up the score that was drawn. A **baseline** $b$ helps: we take $(R_k - b) \nabla \log p_k$. By what factor does the best one reduce the variance, summed over the four scores?

# %% tags=["nbval-check-output"]
predict("08.baseline", ...)

# %% tags=["reveals"]
baselines = torch.linspace(0, 5, 21)
print("The variance against the baseline, with five seeds:")
squares = ((torch.eye(4) - p) ** 2).sum(1)  # of ∇ log p for each position
theory = torch.stack([(p * (rewards - b) ** 2 * squares).sum() - (exact**2).sum() for b in baselines])
draws = [torch.Generator().manual_seed(seed) for seed in range(5)]
runs = torch.stack([torch.stack([estimates(10_000, b, draw).var(0).sum() for b in baselines]) for draw in draws])
ax = plots.axes(width=6.4, height=3.6)
plots.curves(baselines, {"measured": runs}, "baseline", "variance", theory={"theory": theory}, ax=ax)
ax.axvline((p * rewards).sum(), color="0.5", linestyle=":")
reveal("08.baseline", round((theory[0] / theory.min()).item(), 1))

# %% [markdown]
# With a baseline near the mean reward (the dotted line) the variance is 13 times smaller. The measured values match the theory, $\sum_i p_i (R_i - b)^2 \lVert\nabla \log p_i\rVert^2$ minus the squared exact gradient.
#
# Does the mean stay the same? Here are the two words again, with two draws at a time. The last baseline is the mean reward of the same two draws. Which row will be wrong, and why?


# %% tags=["nbval-check-output"]
def of_two_draws(baseline_of):
    p, rewards = torch.tensor([0.7, 0.3]), torch.tensor([1.0, 0.0])
    draw = torch.Generator().manual_seed(0)
    k = torch.multinomial(p, 100_000, replacement=True, generator=draw).view(-1, 2)  # pairs of draws
    R = rewards[k]  # N 2
    return ((R - baseline_of(R))[..., None] * (torch.eye(2)[k] - p)).mean(1)[:, 0]  # N: at score 0


rows = {}
for name, baseline_of in {
    "0": lambda R: 0.0,
    "0.3": lambda R: 0.3,
    "0.7, the expected reward": lambda R: 0.7,
    "the mean of the same draws": lambda R: R.mean(1, keepdim=True),
}.items():
    found = of_two_draws(baseline_of)
    rows[name] = [found.mean(), found.var()]
table(rows, ["mean at score 0", "variance"], corner="baseline", digits=3)

# %% [markdown]
# A constant changes nothing about the mean, because $\sum_i p_i \nabla \log p_i = \nabla \sum_i p_i = \nabla 1 = 0$. With 0.3 each draw gives 0.21, and the variance is zero; at 0.7 it is larger than at 0: the mean is only a rule of thumb. Half of each draw's own reward is in the mean of the same two, so half of the gradient is lost: the estimate is **biased**. A running mean of *past* rewards (Xu et al. 2015 use one) is safe.
#
# ## Another way to draw
#
# Add $g_i = -\log(-\log u_i)$ to each log probability, with a random $u_i$ between 0 and 1, and take the largest. This is **Gumbel noise**. Does each position win as often as its probability says?

# %% tags=["nbval-check-output"]
draw = torch.Generator().manual_seed(1)
noise = -torch.log(-torch.log(torch.rand(100_000, 4, generator=draw)))
largest = (p.log() + noise).argmax(1)  # which position wins
drawn = torch.multinomial(p, 100_000, replacement=True, generator=draw)
rows = {"probability": p, "drawn by it": drawn.bincount() / 100_000}
rows |= {"log probability plus Gumbel noise, the largest": largest.bincount() / 100_000}
rows |= {"the same with half of the noise": (p.log() + 0.5 * noise).argmax(1).bincount() / 100_000}
table(rows, [f"position {i}" for i in range(4)], digits=2)

# %% [markdown]
# The largest follows the same distribution as a draw; with half of the noise it does not. The noise does not depend on the scores, so a softmax can stand in for the largest: the **straight-through Gumbel-softmax** (Jang et al. 2017) takes the largest, but for the gradient it pretends to have returned $\text{softmax}((s + g) / \tau)$. Which temperature $\tau$ is best?

# %%
temperatures = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
means, spreads = [], []
for seed in range(5):
    torch.manual_seed(seed)
    for temperature in temperatures:
        leaf = scores.repeat(10_000, 1).requires_grad_()
        (F.gumbel_softmax(leaf, temperature, hard=True) @ rewards).sum().backward()
        means.append((leaf.grad.mean(0) - exact).norm() / exact.norm())
        spreads.append(leaf.grad.var(0).sum())
left, right = plots.axes(2, width=4.8, height=3.4)
errors, spreads = (torch.stack(found).view(5, -1) for found in (means, spreads))
best = {"score function with baseline": [theory.min()] * len(temperatures)}
plots.curves(temperatures, {"Gumbel-softmax": errors}, "temperature", "error of the mean, relative", ax=left)
plots.curves(temperatures, {"Gumbel-softmax": spreads}, "temperature", "variance", theory=best, ax=right)
for ax in (left, right):
    ax.set_xscale("log")
    ax.set_xticks(temperatures, temperatures)
    ax.minorticks_off()

# %% [markdown]
# No temperature is best. A high one gives estimates that lie close together, but around a wrong gradient. A low one is nearly right on average, with a large variance.
#
# ## Nobody says where to look
#
# Now hard attention learns something. As in lesson 04, a state must find the one of ten hidden states that belongs to it. Each hidden state has one of four colours, and the reward is 1 if the colour that is read is that of the right state. Each function returns a loss and the mean reward.


# %%
def draw_one(scores, rewards, baseline):  # one position is drawn, and its reward alone is seen
    log_p = scores.log_softmax(-1)  # B S
    k = torch.multinomial(log_p.exp(), 1)  # B 1
    reward = rewards.gather(1, k)  # B 1
    return -((reward - baseline) * log_p.gather(1, k)).mean(), reward.mean()


def stand_in(scores, rewards, baseline):  # the straight-through Gumbel-softmax
    reward = (F.gumbel_softmax(scores, 1.0, hard=True) * rewards).sum(-1)  # B
    return -reward.mean(), reward.mean()


def all_positions(scores, rewards, baseline):  # the expected reward, as for soft attention
    reward = (scores.softmax(-1) * rewards).sum(-1)  # B
    return -reward.mean(), reward.mean()


# %% [markdown]
# `learn_to_look` trains lesson 04's score $s^\top W h$, with 16 questions per step and a running mean of the rewards, from 0, as the baseline. We train five models in each of five ways. Which way learns fastest, and what does adding 1 to all rewards do?

# %%
losses = {
    "soft": all_positions,
    "Gumbel-softmax": stand_in,
    "drawn, with baseline": draw_one,
    "drawn, no baseline": lambda scores, rewards, baseline: draw_one(scores, rewards, 0.0),
    "drawn, rewards + 1, no baseline": lambda scores, rewards, baseline: draw_one(scores, rewards + 1, 0.0),
}
curves = {name: torch.tensor([learn_to_look(loss, seed) for seed in range(5)]) for name, loss in losses.items()}
drawn = "drawn, with baseline"
for ax, others in zip(plots.axes(2, width=5, height=4.4), (list(losses)[:2], list(losses)[3:]), strict=True):
    found = {name: curves[name] for name in (drawn, *others)}
    plots.curves(range(0, 251, 25), found, "step", "weight on the right position", ax=ax, legend="above")
    ax.set(ylim=(0, 1), xticks=range(0, 251, 50))
gained = (curves[drawn] - curves["drawn, no baseline"])[:, 2]
print("after 50 steps, with baseline minus without, seed by seed:", [f"{x:+.2f}" for x in gained.tolist()])

# %% [markdown]
# All of them learn where to look. Soft attention and the Gumbel-softmax, which use the rewards of all positions, are faster. After 50 steps the baseline has helped a little, with every seed; with the constant 1, learning without it is slow. Write a sixth way: rewards + 1, *with* the baseline. It lags only until the running mean, which begins at 0, has grown.
#
# A model that draws reads one value in place of ten (lesson 14).
#
# ## Look near one position
#
# **Local attention** (Luong et al. 2015) looks at most $D$ positions away from a centre $c$, and gives nearer ones more weight:
#
# $$\alpha_s = \text{softmax}_{|s - c| \le D}(e)_s \cdot \exp\left(-\frac{(s - c)^2}{2\sigma^2}\right) \qquad \sigma = D / 2$$
#
# With $D = 2$, five equal scores give 0.2 each. How much of this is left one and two positions away? ($e^{-0.5} = 0.607$, $e^{-2} = 0.135$.)


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
# Now move the window over a sentence. The scores belong to a word that asks for the verb. Move the centre to 2: how large must $D$ be before "barks" gets any weight?

# %%
sentence = "the old dog that sleeps in the yard barks at night".split()
word_scores = torch.tensor([0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 0.5, 3.0, 0.0, 0.5])


def window_at(centre, window):
    weights = local_weights(word_scores, centre, window)
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
# Where does the centre come from? **local-m** takes the position of the word that is being written: word 5 of the translation looks around word 5 of the source, and there is no Gaussian. **local-p** lets the decoder's state predict it: $c = S \cdot \sigma(v^\top \tanh(W s))$, where here σ is the logistic function.
#
# We train Luong's decoder of lesson 06 with both, using window 2, on three word orders. In which one does local-m do worst?

# %% tags=["nbval-check-output"]
predict("08.window", ...)

# %% tags=["reveals"]
print("Sentences as long as the longest in training, and longer ones; five seeds:")
rows, orders = {}, ("monotone", "verb-last", "reversed")
for length in (12, 20):
    for setup in ("global", "local-m", "local-p"):
        rows[f"{length} words, {setup}"] = [
            measured_at("local", "words_right", "length", (length,), order=order, setup=setup)[0] for order in orders
        ]
worst = min(orders, key=lambda order: sum(rows["12 words, local-m"][orders.index(order)]))
reveal("08.window", worst)
table(rows, orders, corner="share of words right, given the right words before them", digits=2)

# %% [markdown]
# Only in the reversed order does local-m fail, while local-p learns where to look. Elsewhere local-m drops least at 20 words, and local-p most: perhaps because the rule of local-m holds at any length. In Luong et al., with $D = 10$, local-p brought 0.9 BLEU more than global attention with another score.
#
# Does local-m's window even hold what it needs? Some words of this world vanish and some become two, so words drift. We count how often the source word that a word comes from is at most two positions away.

# %% tags=["nbval-check-output"]
for length in (12, 20):
    shares = []
    for order in orders:
        pairs = small_world(200, 7, order, shortest=length, longest=length)
        away = [abs(source - target) for links in pairs.links for source, target in links]
        shares.append(f"{order} {sum(distance <= 2 for distance in away) / len(away):.2f}")
    print(f"{length} words:", *shares, sep="  ")

# %% [markdown]
# So local-m gets more words right than its window holds: 0.96, end marks among them, against 0.88 with the verb last, at 12 words. Perhaps the states in the window know their neighbours, and the decoder's state remembers earlier ones.
#
# ## Beside the question: attention to one's own past
#
# A network can also look at its own states. Here it reads letters with their digits, such as `a 6 d 4`, and then says the digit of each letter that is asked: `d? a?`. An LSTM has to hold all pairs in one state; below, each state attends to those *before* it. Which line hides the future?


# %%
class LookingBack(nn.Module):
    def __init__(self, D, H):
        super().__init__()
        self.lstm, self.query = nn.LSTM(D, H, batch_first=True), nn.Linear(H, H, bias=False)
        self.output = 2 * H

    def forward(self, x):  # B T D
        states, _ = self.lstm(x)  # B T H
        T, H = states.shape[1:]
        scores = self.query(states) @ states.mT / H**0.5  # B T T
        earlier = torch.ones(T, T, dtype=torch.bool).tril(-1)  # True before the diagonal
        weights = masked_softmax(scores, earlier)  # B T T: zeros in the first row
        return torch.cat([states, weights @ states], -1), weights  # B T 2H


losses = []
for layer in (LookingBack, intra_attention.LookingBack):
    torch.manual_seed(0)
    losses.append(torch.tensor(intra_attention.fit(intra_attention.Recaller(layer), steps=20)))
print("the same losses as the package's:", torch.allclose(*losses, atol=1e-3))

# %% [markdown]
# `tril(-1)` hides it, and the state itself, too. The first state has nothing to look at: its context is zeros. Now we train on one to eight pairs. Where do the questions look? Then write `H` in place of `H**0.5` above, and run both cells again.

# %%
torch.manual_seed(0)
model = intra_attention.Recaller(LookingBack)
losses = intra_attention.fit(model, steps=500)
tokens, answers, asked = recall(1, pairs=4, draw=torch.Generator().manual_seed(3))
logits, weights = model(tokens)
names = [TOKENS[i] for i in tokens[0]]
print("right digits:", *(answers[0] + 1).tolist(), "  answers:", *(logits[0].argmax(-1) + 1).tolist())
marks = [(row, int(column)) for row, column in enumerate(asked[0])]
plots.weights(weights[0, -4:], names, [f"{name}?" for name in names[-4:]], marked=marks, xlabel="states", ylabel="")

# %% [markdown]
# Each question looks at the state at its letter's digit (framed), where letter and digit have both been read. With `H` the scores begin so small that 500 steps are not enough: lesson 04 measured what a scale does.
#
# In the **LSTMN** of Cheng et al. 2016 the weighted sums of past states and memory cells *take the place* of the previous state and cell, $\tilde h_t = \sum_{i<t} a_{ti} h_i$ and $\tilde c_t = \sum_{i<t} a_{ti} c_i$. So each step waits for the attention of the one before. How many answers do the networks get right?

# %%
rows, pairs = {}, (1, 2, 4, 8)
setups = ("LSTM", "LSTM, twice as wide", "LSTM that looks back", "LSTMN", "LSTMN, three times as long")
for setup in setups:
    rows[setup] = measured_at("recall", "answers_right", "pairs", pairs, setup=setup)
table(rows, [f"{n} pair{'s' * (n > 1)}" for n in pairs], corner="share right, five seeds", digits=2)

# %% [markdown]
# The LSTM that looks back gets everything right. A plain LSTM has to hold the pairs in one state, and fails even at twice the width. The LSTMN learns less reliably, even in three times as many steps. [Lesson 09](09_self_attention.ipynb) leaves the recurrent network out.
#
# ## So: must attention be soft?
#
# No. Soft attention has an exact gradient and learned faster here. Hard attention learns from draws, with a noisy gradient: it is for values that are expensive to read. Local attention is soft within a window: it helped in long sentences where a rule placed the window.
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
# - Must attention be soft? No, but a soft sum, global or local, has an exact gradient; hard attention estimates it.
# - Hard attention draws one position and reads one value. Its mean over many draws is what soft attention returns.
# - The score-function gradient learns from the rewards of draws alone. A good baseline lowers its variance, here 13 times, and leaves its mean, unless it contains the draw's own reward.
# - Local attention is soft, but reads only a window. It is enough where we know, or can learn, where to put it.
# - A network that attends to its own past need not hold everything in one state.
#
# **Exercises**: [open them](../exercises/08_hard_and_local_exercises.ipynb)
#
# **Next**: our network looks back at all its states, but still reads one word after the other. [What if every word looks at every word at once?](09_self_attention.ipynb)

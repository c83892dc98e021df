# %%
import ipywidgets
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data import episodes
from course_utils.data.digit_fields import digits
from course_utils.data.measured import measured_once
from course_utils.figures import diagrams, pictures, plots
from course_utils.figures.widgets import explore
from course_utils.models import snail

torch.set_printoptions(precision=3, sci_mode=False)


def drawn(seed):
    return torch.Generator().manual_seed(seed)


# %% [markdown]
# ## Five examples in a prompt
#
# Nobody has ever trained you for this prompt. What comes next?
#
# > tolo 2, karu 0, bime 4, sedi 1, karu 0, tolo
#
# You read, and say 2. Large language models can do this, too, and no weight changes: **in-context learning** (Brown et al. 2020). Until now each network of this course has learned fixed tasks. Can a small one learn to learn a new task from what it reads? Here are pictures in place of words. They are of five classes, and each class has a label from 0 to 4, drawn by chance, which stands above its pictures. What is the last label?

# %%
shown = episodes.character_episodes(1, "held out", drawn(2484))
for t, ax in enumerate(plots.axes(8, width=1.5, height=1.8)):
    pictures.picture(shown.pictures[0, t].view(8, 8), str(shown.labels[0, t].item()) if t < 7 else "?", ax)
    ax.images[0].set_interpolation("bicubic")  # 8×8 pixels, smoothed for our eyes

# %% [markdown]
# The fourth picture looks like the last, so the label is 1. Such a sequence, an **episode**, draws its labels anew: none can be known beforehand.
#
# Training on many episodes is meant to teach a network the same for a new one: **meta-learning**. But training only lowers a loss. How can that teach it?
#
# ## What do many tasks teach?
#
# We shrink the world until we can compute it. An episode shows a picture, its label $y$ (1 or -1) and the same picture again. The network has two weights: $w$ remembers a label, and $c$ reads the one shown. A positive score $s$ means the label 1:
#
# $$s = w + c\, y \qquad \text{loss} = \log(1 + e^{-y s})$$
#
# Both weights are 0. What are the gradients if $y$ is 1, and if $y$ is -1?


# %% tags=["nbval-check-output"]
def gradients(labels, w, c):
    y, weights = torch.tensor(labels), torch.tensor([w, c], requires_grad=True)
    s = weights[0] + weights[1] * y  # one score per episode
    loss = (1 + (-y * s).exp()).log().mean()
    return torch.autograd.grad(loss, weights)[0].tolist()


for labels in ([1.0], [-1.0], [1.0, -1.0]):
    print("labels", labels, "gradients of w and c:", gradients(labels, w=0.0, c=0.0))

# %% [markdown]
# By hand: where $s = 0$, the loss has the slope $-y/2$ in $s$. So $w$ has the gradient $-y/2$, and $c$ has $-y/2 \cdot y$, which is -1/2 for both labels.
#
# If both labels occur, the gradients of $w$ cancel, and those of $c$ agree: reading the label is right in every episode, remembering one is not. Which way will the two weights go if we train on one label, on both, and on four episodes, three of them with the label 1? Then add a list of your own.

# %%
ax = plots.axes(width=5.5)
lists = ([1.0], [1.0, 1.0, 1.0, -1.0], [1.0, -1.0])
for labels, (colour, dash, marker) in zip(lists, plots.LOOKS, strict=False):
    path = [(0.0, 0.0)]
    for _ in range(100):
        w, c = path[-1]
        of_w, of_c = gradients(labels, w, c)
        path.append((w - of_w, c - of_c))
    w, c = path[-1]
    ax.plot(*torch.tensor(path).T, linestyle=dash, marker=marker, markevery=10, color=colour, label=f"labels {labels}")
    print(f"trained on {labels}: w = {w:.2f}, c = {c:.2f}; read 1: score {w + c:.2f}; read -1: score {w - c:.2f}")
ax.set(xlabel="w: remembers", ylabel="c: reads", xlim=(-0.5, 5))
_ = ax.legend(loc="lower right")

# %% [markdown]
# Trained on one label, the network is undecided about the other: its score is 0. Trained on both, it says what it has read. Trained on three 1s and one -1, it remembers a little and still reads.
#
# So what is the same in all tasks goes into the weights: here the rule *say what you have read*. In a new task they stay, and what is new is read.
#
# ## What does our model read?
#
# In our episodes there are five classes, so the model must find *which* label to say. It reads a picture $x_t$ beside $y_{t-1}$, the true label of the picture before, to predict $y_t$. If the labels are 2, 0 and 2, which labels does it read?


# %% tags=["nbval-check-output"]
def one_step_later(y):  # B T V
    return F.pad(y, (0, 0, 1, 0))[:, :-1]  # B T V: the first step gets zeros


def read(x, y):  # B T D, B T V
    return torch.cat([x, one_step_later(y)], -1)  # B T D+V


y = F.one_hot(torch.tensor([[2, 0, 2]]), 5).float()  # B T V
print(read(torch.zeros(1, 3, 64), y)[0, :, 64:])

# %% [markdown]
# It reads no label at first, then 2, then 0. Suppose that the pictures are of the classes A, B and A:
#
# | step | 0 | 1 | 2 |
# | --- | --- | --- | --- |
# | picture read | A | B | A |
# | label read | none | 2 (of A) | 0 (of B) |
# | label to predict | 2 | 0 | 2 |
#
# A network that should learn to compare pictures may need many classes. Mishra et al. (2018) have 1,200 characters of many alphabets (Omniglot), and their rotations. We have the digits 0 to 4: we turn or mirror two of them, cut both along a line and join one side of each. What does a turned 4 joined with a mirrored 3 look like?

# %%
drawings, digit = digits()  # N 8 8, N
turned, mirrored = drawings[digit == 4][0].rot90(), drawings[digit == 3][0].flip(-1)
side = torch.arange(8)[:, None] + torch.arange(8) < 7  # 8 8: above a slanting line
parts = {"a 4, turned": turned, "a 3, mirrored": mirrored, "side of a line": side.float()}
parts["joined: a new class"] = torch.where(side, turned, mirrored)
for (title, part), ax in zip(parts.items(), plots.axes(4, width=1.8, height=2), strict=True):
    pictures.picture(part, title, ax)

# %% [markdown]
# Each picture of the new class joins other drawings of 4 and 3. An episode has 26 pictures, the class of each drawn among five such classes. We test on the digits 5 to 9, which occur in none of the training classes, and count apart the pictures whose class came once before, twice, and so on. The first one of a class has no loss.
#
# ## Is attention enough?
#
# At step 2, attention can find the A of step 0. We put what it finds beside x:
#
# $$\text{attention}(x)_t = \Big[x_t;\ \sum_{s \le t} \alpha_{ts} v_s\Big] \qquad \alpha_{t} = \underset{s \le t}{\text{softmax}} \frac{q_t \cdot k_s}{\sqrt K}$$
#
# From this, a linear layer makes a score for each label. Will it beat a rule that sees no picture and always says the most frequent label so far?


# %%
class AttentionBlock(nn.Module):
    def __init__(self, D, K=32, E=16):  # widths of x, of queries and keys, of values
        super().__init__()
        self.query, self.key, self.value = nn.Linear(D, K), nn.Linear(D, K), nn.Linear(D, E)

    def forward(self, x):  # B T D
        q, k, v = self.query(x), self.key(x), self.value(x)  # B T K, B T K, B T E
        later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)  # T T
        scores = (q @ k.mT / k.shape[-1] ** 0.5).masked_fill(later, -torch.inf)  # B T T
        self.weights = scores.softmax(-1)  # B T T
        return torch.cat([x, self.weights @ v], -1)  # B T D+E


# %%
predict("19.without", ...)

# %% tags=["reveals"]
print("One attention layer, and the rule:")
unseen = episodes.character_episodes(400, "held out", drawn(1))  # digits 5 to 9
lines = {"most frequent label": [snail.by_examples(episodes.most_frequent(unseen), unseen)]}


def train_and_show(name, model, read=read):
    snail.fit_characters(model, steps=400, rate=4e-3, read=read)
    lines[name] = [snail.by_examples(snail.predict_labels(model, unseen, read), unseen)]
    ax = plots.axes(width=7, height=4)
    ax.set_ylim(0, 1)
    ylabel, guessing = "right labels, digits 5 to 9", {"guessing": [0.2] * 5}
    plots.curves(range(1, 6), lines, "examples so far", ylabel, ax=ax, theory=guessing, legend="above")


torch.manual_seed(0)
train_and_show("one attention layer", nn.Sequential(AttentionBlock(64 + 5), nn.Linear(64 + 5 + 16, 5)))
reveal("19.without", round(lines["one attention layer"][0][-1], 2))

# %% [markdown]
# It does about as well as the rule. (The rule climbs because a class with five examples has been frequent so far, and one with a single example rare.) Why? Attention can find the A of step 0, but the label of A is read at step 1, beside B.
#
# If this is the reason, the same attention succeeds as soon as each label is read beside its own picture. We do so by hand, in one line. What will the curve be now?


# %%
def read_pairs(x, y):  # B T D, B T V
    return torch.cat([x, one_step_later(x), one_step_later(y)], -1)  # B T 2D+V


torch.manual_seed(0)
paired = nn.Sequential(AttentionBlock(2 * 64 + 5), nn.Linear(2 * 64 + 5 + 16, 5))
train_and_show("one layer, pairs given", paired, read_pairs)

# %% [markdown]
# With the pairs, attention is enough. So what it lacked was the label beside its picture.
#
# ## A convolution brings them together
#
# How can a network join them itself? A **causal convolution** joins each step with an earlier one, and never looks ahead. Its **dilation** says how many steps back it looks:
#
# $$z_t = W_1\, x_t + W_0\, x_{t - \text{dilation}} + b$$
#
# With $W_1 = 1$, $W_0 = 10$, $b = 0$ and a dilation of 1, what becomes of the sequence 1, 2, 3?


# %% tags=["nbval-check-output"]
def causal_convolution(x, W_0, W_1, b, dilation):  # B T D, F D, F D, F
    earlier = F.pad(x, (0, 0, dilation, 0))[:, : x.shape[1]]  # B T D: zeros before the first step
    return x @ W_1.T + earlier @ W_0.T + b  # B T F


x, b = torch.tensor([[[1.0], [2.0], [3.0]]]), torch.zeros(1)  # B T D, F
W_0, W_1 = torch.tensor([[10.0]]), torch.tensor([[1.0]])  # F D
by_torch = F.conv1d(F.pad(x.mT, (1, 0)), torch.stack([W_0, W_1], -1), b).mT  # B T F
print(causal_convolution(x, W_0, W_1, b, dilation=1).flatten(), by_torch.flatten())

# %% [markdown]
# 1, then 2 + 10 · 1 = 12, then 3 + 10 · 2 = 23; PyTorch's convolution agrees. For every step the convolution looks back along one line. Attention has a line to every step so far:

# %%
diagrams.snail(new=["convolution"])

# %% [markdown]
# This is **SNAIL**, the simple neural attentive learner of Mishra et al. (2018, section 3). Its **dense block** has two convolutions, $f$ with $W_0, W_1, b$ and a gate $g$ with weights of its own, and puts their product beside x:
#
# $$\text{dense}(x)_t = [x_t;\ \tanh(f_t) \odot \sigma(g_t)]$$
#
# SNAIL stacks such blocks with the dilations 1, 2, 4 and so on, each of which reads what the one before it has made. Change the dilations below until the last of 16 steps sees all of them. How few are enough?


# %%
class DenseBlock(nn.Module):
    def __init__(self, D, filters, dilation):
        super().__init__()
        self.f, self.g = nn.Linear(2 * D, filters), nn.Linear(2 * D, filters)  # each holds W_0 beside W_1
        self.dilation = dilation

    def forward(self, x):  # B T D
        earlier = F.pad(x, (0, 0, self.dilation, 0))[:, : x.shape[1]]  # B T D
        both = torch.cat([earlier, x], -1)  # B T 2D
        return torch.cat([x, self.f(both).tanh() * self.g(both).sigmoid()], -1)  # B T D+filters


dilations, sees = (1, 2), torch.eye(16)
for dilation in dilations:
    sees = sees + torch.diag(torch.ones(16 - dilation), -dilation) @ sees
plots.mask(sees[-1:] > 0, None, ["step 15"], f"dilations {dilations}", None, "step seen", "")

# %% [markdown]
# Here is a small SNAIL, with as many dilations as our 26 steps need. Will it do without the pairs?


# %%
class Snail(nn.Module):
    def __init__(self, D, out, dilations=(1, 2, 4, 8, 16), filters=32, E=16):
        super().__init__()
        blocks = [DenseBlock(D + i * filters, filters, dilation) for i, dilation in enumerate(dilations)]
        D = D + len(dilations) * filters
        self.blocks = nn.Sequential(*blocks, AttentionBlock(D, E=E))
        self.readout = nn.Linear(D + E, out)

    def forward(self, x):  # B T D
        return self.readout(self.blocks(x))  # B T out


torch.manual_seed(0)
model = Snail(64 + 5, 5)
train_and_show("SNAIL", model)

# %% [markdown]
# (Each doubling of the dilation doubles the steps that are seen, so 16 steps need four, and 26 need five.) SNAIL gets most labels right after five examples, though fewer than attention that is given the pairs.
#
# What of other seeds, more steps and more layers? The course has stored five seeds with 1,500 steps each. *Dilation 1 only* is SNAIL with its first convolution alone; *convolutions only* has ten. The models with attention in their names have four layers of it and no convolutions. Each dot is the difference from SNAIL with the same seed (lesson 13). Which parts can be taken out of SNAIL without loss?


# %%
def after(examples, setup, value="held_out"):
    found = measured_once("characters", "seed", value, setup=setup, examples=examples)
    return torch.tensor([share for _, share in sorted(zip(*found, strict=True))])  # by seed


rows, ax = {}, plots.axes(width=8, height=2.8)
for i, setup in enumerate(list(snail.SETUPS)[1:]):
    rows[setup] = {f"after {n}": after(n, setup) - after(n, "SNAIL") for n in (1, 5)}
    size = sum(p.numel() for p in snail.made(setup, 64, 5, steps=26)[0].parameters())
    ax.text(0.22, i, f"{size:,}", va="center")
ax.text(0.22, -0.7, "parameters")
ax.axvline(0, color="0.6", linewidth=1)
plots.dots(rows, "share of right labels, digits 5 to 9, minus SNAIL's", "", ax, (-0.4, 0.2))
print(
    f"SNAIL, {sum(p.numel() for p in model.parameters()):,} parameters: {after(1, 'SNAIL').mean():.2f} after one example, {after(5, 'SNAIL').mean():.2f} after five"
)

# %% [markdown]
# - Without attention, *convolutions only* are far worse, although they have the most parameters.
# - After five examples, though not after one, *dilation 1 only* is about as good as SNAIL.
# - *Attention only* is worse, but better than one layer after 400 steps; perhaps it knows the order from the mask.
# - With positions, it beats SNAIL after one example, and is worse with most seeds after five. With pairs, it beats SNAIL.
#
# All share one learning rate.
#
# ## Where does it look?
#
# Below, each picture stands above its label. The weight on a label is that of the step that read it, one after its picture. Labels of the last picture's class are framed. How much of the weight do they get?


# %%
with torch.no_grad():
    snail.answers(model, unseen)  # a forward pass, in which the attention keeps its weights
weights = model.blocks[-1].weights  # B T T
share, equal = snail.weight_on_label(weights, unseen)  # B T each
again = unseen.before > 0  # B T: steps whose class was shown before
print(f"weight on the right label: {share[again].mean():.2f}; equal weights: {equal[again].mean():.2f}")


def looked_back(step):
    labels, shown = unseen.labels[0], unseen.pictures[0].view(-1, 8, 8).numpy()
    ax = plots.axes(1, 1.4 + 0.7 * step, 2.1)
    framed = [(0, t) for t in range(step) if labels[t] == labels[step]]
    plots.weights(weights[0, step, 1 : step + 1][None], None, ["weight"], "", ax, "label", "", framed)
    places = [*range(step), step + 0.4]  # the last picture apart, as its label is asked for
    for t, place in enumerate(places):
        ax.imshow(shown[t], "gray", extent=(place - 0.48, place + 0.48, -0.55, -1.51), interpolation="bicubic")
    ax.set_xticks(places, [*labels[:step].tolist(), "?"])
    ax.set(xlim=(-0.5, step + 0.9), ylim=(0.5, -1.6))
    return f"The right label at step {step} is {labels[step]}: it has {share[0, step]:.2f} of the weight, and would have {equal[0, step]:.2f} with equal weights."


look_explorer = explore(looked_back, step=ipywidgets.IntSlider(value=10, min=1, max=14))
look_explorer

# %% [markdown]
# The right label gets nearly twice as much weight as with equal weights.
#
# ## What do the weights bring?
#
# Is the 0.50 of SNAIL after one example good? An untrained rule copies the label of the most similar picture so far, by the squared distance of pixels. We compare it with SNAILs trained on five classes (the digits 0 to 4), forty (these turned and mirrored) and many (joined). In the last row, *in any light*, a number from -1 to 1 is added to a picture's pixels, also in the test. After one example of a digit from 5 to 9, which is right more often, SNAIL trained on many classes or the rule?

# %%
predict("19.one_example", ...)


# %% tags=["reveals"]
def rule(kind, lit=False, minus_mean=False):
    shown = episodes.character_episodes(1000, kind, drawn(10_000))
    pictures = episodes.in_any_light(shown.pictures, drawn(1)) if lit else shown.pictures
    means = pictures.mean(-1, keepdim=True) if minus_mean else 0.0
    return snail.by_examples(episodes.nearest(shown._replace(pictures=pictures - means)), shown)


print("Shares of right labels, for SNAIL with five seeds and for the rule:")
kinds = {"five classes": "upright", "forty classes": "turned", "SNAIL": "joined", "any light": "joined"}
names = {"SNAIL": "many classes", "any light": "many, in any light"}
tests = {"own": "classes as in training", "held_out": "digits 5 to 9"}
for ax, (value, title) in zip(plots.axes(2, width=5, height=2.8), tests.items(), strict=True):
    rows = {}
    for setup, kind in kinds.items():
        by_rule = rule(kind if value == "own" else "held out", setup == "any light")[0]
        rows[names.get(setup, setup)] = {"SNAIL": after(1, setup, value), "the rule": by_rule}
    plots.dots(rows, f"after one example: {title}", "", ax)
reveal("19.one_example", "SNAIL" if after(1, "SNAIL").mean() > rule("held out")[0] else "the rule")
five = [f"{setup} {after(5, setup).mean():.2f}" for setup in ("five classes", "forty classes")]
many, by_rule, without_light = after(5, "SNAIL").mean(), rule("held out")[4], rule("held out", True, True)[0]
print(f"digits 5 to 9, after five examples: {', '.join(five)}, many {many:.2f}; the rule {by_rule:.2f}")
print(f"the rule in any light, each picture's mean subtracted: {without_light:.2f} after one example")

# %% [markdown]
# On classes as in training, SNAIL beats the rule by far if there were five: their look is in its weights. With many, it equals the rule. On new digits the rule wins in the first three rows, after one example and after five. There, training on forty classes beats many after one, but not after five.
#
# In any light, SNAIL wins after one example. On new digits the rule wins again if each picture's mean is subtracted.
#
# ## Too good to be true?
#
# With five classes, nearly all labels are right. Does SNAIL see the label that it should predict? We train two small ones, one of which does. Which answers may change with the label at step 10?


# %%
def leaking_read(x, y):
    return torch.cat([x, y], -1)  # B T D+V


known = episodes.character_episodes(400, "upright", drawn(1))
changed = known.labels.clone()
changed[:, 10] = (changed[:, 10] + 1) % 5  # another label at step 10
for name, steps, reads in (("five classes", 400, read), ("leaking", 60, leaking_read)):
    torch.manual_seed(0)
    one = Snail(64 + 5, 5, dilations=(1,))
    snail.fit_characters(one, "upright", steps=steps, rate=4e-3, read=reads)
    before = snail.predict_labels(one, known, reads)
    moved = (before != snail.predict_labels(one, known._replace(labels=changed), reads)).float().mean(0)
    right = snail.by_examples(before, known)[0]
    print(f"{name}: {right:.2f} right after one example")
    print(f"    share moved at steps 0 to 9: {moved[:10].max():.2f}, at 10: {moved[10]:.2f}, at 11: {moved[11]:.2f}")

# %% [markdown]
# The leaking model cheats: its answer at step 10 changes with that step's label. The other model's answers change only from step 11 on.
#
# ## So: can it learn from five examples?
#
# Yes, if many tasks have taught it how. After five examples of a new digit, three out of four labels are right, and no weight has changed. The rule that compares pixels has 0.90 without any training. So what *similar* means was no secret here; SNAIL shows that a part of it can be learned.
#
# For that, picture and label must meet, as through a convolution or, in a Transformer, a head that looks one token back (lesson 21).
#
# ## Questions

# %%
check("19.q1", ...)

# %%
check("19.q2", ...)

# %%
check("19.q3", ...)

# %%
check("19.q4", ...)

# %%
check("19.q5", ...)

# %% [markdown]
# ## Recap
#
# - A network can learn from five examples if its training tasks varied enough: what is the same in all goes into the weights, and the rest has to be read. It helps if classes, like words, are many, rare and bursty (Chan et al. 2022, for Transformers).
# - A causal convolution with a dilation joins two steps. Through the dilations 1, 2, 4 and so on the last step sees all steps.
# - A convolution brings a picture to the step where its label is read, and attention finds that step. Without convolutions, pairs of picture and label do the same, or positions in several layers. (With photographs of new classes, Mishra et al. report 0.56 after one example and 0.69 after five.)
# - A rule without training shows what a share is worth. Copying the label of the most similar picture beats SNAIL on new digits; in any light, only if the rule is told to ignore it: what *similar* means can be learned.
# - Change one label and see what moves. This shows whether a model sees the answers.
#
# **Exercises**: [open them](../exercises/19_snail_exercises.ipynb)
#
# **Next**: you have seen many kinds of attention. What will your own attention be? [Lesson 20](20_your_own_attention.ipynb) asks for it.

# %%
import ipywidgets
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data import episodes
from course_utils.data.digit_fields import digits
from course_utils.data.measured import measured, measured_once
from course_utils.figures import diagrams, pictures, plots
from course_utils.figures.widgets import explore
from course_utils.models import snail

torch.set_printoptions(precision=3, sci_mode=False)


def drawn(seed):
    return torch.Generator().manual_seed(seed)


# %% [markdown]
# ## A new task in every episode
#
# Until now each network has learned a single task. Here is a new task. The pictures are of five classes, and each class has one of the labels 0 to 4, written above its pictures. A label has nothing to do with which digit is shown. From which picture on could you give most labels yourself?

# %%
shown = episodes.character_episodes(1, "held out", drawn(15))
for t, ax in enumerate(plots.axes(9, width=1.3, height=1.6)):
    pictures.picture(shown.pictures[0, t].view(8, 8), str(shown.labels[0, t].item()), ax)

# %% [markdown]
# From the fifth picture on, nearly every class has a label. (The nines, labelled 4, are hard to recognise.) Each such sequence, an **episode**, draws its labels anew.
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
# If both labels occur, the gradients of $w$ cancel, and those of $c$ add up: reading the label is right in every episode, remembering one is not. Which way will the two weights go if we train on one label, on both, and on four episodes, three of them with the label 1? Put a list of your own into the loop, too.

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
    ax.plot(*torch.tensor(path).T, linestyle=dash, marker=marker, markersize=4, color=colour, label=f"labels {labels}")
    print(f"trained on {labels}: w = {w:.2f}, c = {c:.2f}; read 1: score {w + c:.2f}; read -1: score {w - c:.2f}")
ax.set(xlabel="w: remembers", ylabel="c: reads", xlim=(-0.5, 5))
_ = ax.legend(loc="lower right")

# %% [markdown]
# Trained on one label, the network is undecided when it reads the other: its score is 0. On both, it says what it has read. With three of four, it remembers a little and still reads.
#
# So what is the same in all tasks goes into the weights: here the rule *say what you have read*. In a new task they do not change: what the network learns there is what it reads.
#
# ## What does our model read?
#
# In our episodes there are five classes, so the model must find *which* label to say. It reads a picture $x_t$ beside $y_{t-1}$, the label of the picture before, to predict $y_t$. If the labels are 2, 0 and 2, which labels does it read?


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
# | label read | none | 2 | 0 |
# | label to predict | 2 | 0 | 2 |
#
# The rule that holds in every episode is *say the label that was read one step after a picture like this one*.
#
# ## Bring picture and label together
#
# At step 2, attention can find A at step 0. But the label of A is read at step 1, beside B. A **causal convolution** joins two steps and never looks ahead; its **dilation** says how many steps back it looks:
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
loop = torch.stack([x[0, t, 0] + 10 * (x[0, t - 1, 0] if t else 0) for t in range(3)])
by_torch = F.conv1d(F.pad(x.mT, (1, 0)), torch.stack([W_0, W_1], -1), b).mT  # B T F
print(loop, causal_convolution(x, W_0, W_1, b, 1).flatten(), by_torch.flatten())

# %% [markdown]
# A loop, two matrix products and PyTorch's convolution all give 1, 12 and 23.
#
# One convolution sees two steps. If a second one with a dilation of 2 reads its result, four steps are seen, and each doubling of the dilation doubles that number. For T steps, Mishra et al. (2018) stack ⌈log₂ T⌉ convolutions. Their listing takes the dilations $2^i$ for $i$ = 1, 2, …, which begin with 2. Which of 16 steps does the last step see then?


# %%
def seen_from(dilations, steps=16):
    sees = torch.eye(steps)
    for dilation in dilations:
        sees = sees + torch.diag(torch.ones(steps - dilation), -dilation) @ sees
    return sees > 0


for ax, dilations in zip(plots.axes(2, width=4.4, height=3.4), ((1, 2, 4, 8), (2, 4, 8, 16)), strict=True):
    plots.mask(seen_from(dilations), title=f"dilations {dilations}", ax=ax, xlabel="step seen", ylabel="step")

# %% [markdown]
# With the dilations 1, 2, 4 and 8 the last step sees all steps. With 2, 4, 8 and 16 it sees every other step, and never the one right before it, since sums of even numbers are even. So we begin with 1.
#
# ## The model
#
# **SNAIL**, the simple neural attentive learner of Mishra et al. (2018, section 3), has two kinds of blocks. The paper's models alternate them several times; ours has one of each kind, with five convolutions in the first. Which of them can pick a single step out of many, and which always knows what came right before?

# %%
diagrams.snail(new=["convolutions", "attention"])

# %% [markdown]
# Attention weighs every step so far by how well it fits, at any distance. A convolution always looks back the same number of steps. Each block puts its result beside its input. A **dense block** has two causal convolutions, $f$ with $W_0, W_1, b$, and its gate $g$ with weights of its own:
#
# $$\text{dense}(x)_t = [x_t;\ \tanh(f_t) \odot \sigma(g_t)] \qquad \text{attention}(x)_t = \Big[x_t;\ \sum_{s \le t} \alpha_{ts} v_s\Big] \qquad \alpha_{t} = \underset{s \le t}{\text{softmax}} \frac{q_t \cdot k_s}{\sqrt K}$$
#
# Here x has 69 dimensions, 64 pixels and 5 for the label. Our episodes have 26 steps, so we need five dense blocks. Each has 32 filters (rows of $W_0$), and the attention has values of width 16. How many dimensions come out?


# %% tags=["nbval-check-output"]
class DenseBlock(nn.Module):
    def __init__(self, D, filters, dilation):
        super().__init__()
        self.f, self.g = nn.Linear(2 * D, filters), nn.Linear(2 * D, filters)  # each holds W_0 beside W_1
        self.dilation = dilation

    def forward(self, x):  # B T D
        earlier = F.pad(x, (0, 0, self.dilation, 0))[:, : x.shape[1]]  # B T D
        both = torch.cat([earlier, x], -1)  # B T 2D
        return torch.cat([x, self.f(both).tanh() * self.g(both).sigmoid()], -1)  # B T D+filters


class AttentionBlock(nn.Module):
    def __init__(self, D, K, E):  # widths of x, of queries and keys, of values
        super().__init__()
        self.query, self.key, self.value = nn.Linear(D, K), nn.Linear(D, K), nn.Linear(D, E)

    def forward(self, x):  # B T D
        q, k, v = self.query(x), self.key(x), self.value(x)  # B T K, B T K, B T E
        later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)  # T T
        scores = (q @ k.mT / k.shape[-1] ** 0.5).masked_fill(later, -torch.inf)  # B T T
        self.weights = scores.softmax(-1)  # B T T
        return torch.cat([x, self.weights @ v], -1)  # B T D+E


five = nn.Sequential(*[DenseBlock(69 + 32 * i, 32, dilation=2**i) for i in range(5)])
x = five(torch.zeros(1, 26, 69))  # B T 69+5·32
print("after five dense blocks:", x.shape[-1])
print("and an attention:", AttentionBlock(x.shape[-1], K=32, E=16)(x).shape[-1])

# %% [markdown]
# Each dense block adds 32 dimensions and the attention adds 16, so 69 become 245. A linear layer makes a score for each label from them. Here is the whole model. The course's own version computes the same faster. Do the two agree if they have the same weights?


# %% tags=["nbval-check-output"]
class Snail(nn.Module):
    def __init__(self, D, out, dilations=(1, 2, 4, 8, 16), attention=True, filters=32, K=32, E=16):
        super().__init__()
        blocks = [DenseBlock(D + i * filters, filters, dilation) for i, dilation in enumerate(dilations)]
        D = D + len(dilations) * filters
        if attention:
            blocks.append(AttentionBlock(D, K, E))
        self.blocks, self.readout = nn.Sequential(*blocks), nn.Linear(D + attention * E, out)

    def forward(self, x):  # B T D
        return self.readout(self.blocks(x))  # B T out


torch.manual_seed(0)
model, shipped, x = Snail(64 + 5, 5), snail.Snail(64 + 5, 5, steps=26), torch.randn(1, 26, 69)
for block, other in zip([*model.blocks, model.readout], [*shipped.blocks, shipped.readout], strict=True):
    if isinstance(block, DenseBlock):  # there f and g are one tensor, 2 F D 2
        other.weights.data = torch.stack([part.weight.unflatten(1, (2, -1)).mT for part in (block.f, block.g)])
        other.biases.data = torch.stack([block.f.bias, block.g.bias])
    else:
        other.load_state_dict(block.state_dict())
print("the course's model agrees:", torch.allclose(model(x), shipped(x), atol=1e-5))

# %% [markdown]
# ## Many classes from ten digits
#
# To learn how to compare, the model needs many classes. Mishra et al. train on 1,200 characters of Omniglot, a collection of alphabets, and their rotations. We have the digits 0 to 4. We turn or mirror two of them, cut both along a line and join one side of each. What does a turned 4 joined with a mirrored 3 look like?
#
# An episode has 26 pictures of five classes, drawn at random. The loss leaves out the first picture of each class. We test with the digits 5 to 9, which occur in no training class. Guessing gets 0.2. What share will be right after one example?

# %%
drawings, digit = digits()  # N 8 8, N
turned, mirrored = drawings[digit == 4][0].rot90(), drawings[digit == 3][0].flip(-1)
side = torch.arange(8)[:, None] + torch.arange(8) < 7  # 8 8: above a slanting line
parts = {"a 4, turned": turned, "a 3, mirrored": mirrored, "side of a line": side.float()}
parts["joined: a new class"] = torch.where(side, turned, mirrored)
for (title, part), ax in zip(parts.items(), plots.axes(4, width=1.8, height=2), strict=True):
    pictures.picture(part, title, ax)

losses = snail.fit_characters(model, steps=400, rate=4e-3)
unseen = episodes.character_episodes(400, "held out", drawn(1))
shares = snail.by_examples(snail.predict_labels(model, unseen), unseen)
print("share of right labels, digits 5 to 9, after 1 to 5 examples:", torch.tensor(shares))

# %% [markdown]
# The new class has the turned 4 above the line and the mirrored 3 below it; each picture of it takes other drawings of 4 and 3. After one example of a digit the model is clearly better than guessing, and after five it gets most labels right.
#
# The course has trained five such models for 1,500 steps instead of 400. We compare them with a rule that needs no training: copy the label of the most similar picture so far (by the squared distance of pixels). What share will the models get right after one example, on average?

# %% tags=["nbval-check-output"]
predict("19.one_example", ...)

# %% tags=["reveals"]
print("Five models that learned longer, and the label of the most similar picture so far:")
examples, runs = measured("characters", "held_out", "examples", setup="SNAIL")
own = measured("characters", "own", "examples", setup="SNAIL")[1]
reveal("19.one_example", round(sum(run[0] for run in runs) / len(runs), 2))
lines = {"SNAIL, classes as in training": own, "SNAIL, digits 5 to 9": runs}
for kind, name in (("joined", "classes as in training"), ("held out", "digits 5 to 9")):
    shown = episodes.character_episodes(400, kind, drawn(1))
    lines[f"most similar, {name}"] = [snail.by_examples(episodes.nearest(shown), shown)]
print("most similar, digits 5 to 9:", torch.tensor(lines["most similar, digits 5 to 9"][0]))
ax = plots.axes(width=5.5)
ax.set_ylim(0, 1)
plots.curves(examples, lines, "examples so far", "share of right labels", ax=ax)

# %% [markdown]
# On new classes like those of training, SNAIL does about as well as the rule. On the digits 5 to 9 it gets half of the labels right after one example and three out of four after five, less than the rule. Perhaps it compares features in which its joined classes differ, and these do not tell a 5 from a 6. The paper's, behind a convolutional network, gets 99.1 % and 99.8 % on Omniglot (table 1).
#
# ## Does it see the answer?
#
# How would we notice if a model saw the answers, as each label was read beside its own picture? We train such a model, then change the label at step 10. Which predictions may change?


# %%
def leaking_read(x, y):
    return torch.cat([x, y], -1)  # B T D+V


torch.manual_seed(0)
leaking = Snail(64 + 5, 5)
losses = snail.fit_characters(leaking, steps=60, read=leaking_read)
changed = unseen.labels.clone()
changed[:, 10] = (changed[:, 10] + 1) % 5  # another label at step 10
for name, one, reads in (("right", model, read), ("leaking", leaking, leaking_read)):
    before = snail.predict_labels(one, unseen, reads)
    moved = (before != snail.predict_labels(one, unseen._replace(labels=changed), reads)).float().mean(0)
    right = snail.by_examples(before, unseen)[0]
    print(f"{name}: {right:.2f} right after one example; share moved at 9, 10, 11: {moved[[9, 10, 11]]}")

# %% [markdown]
# The leaking model is always right after one example, even on new classes, but its answer at step 10 changes with the label of step 10. The right model's answers at steps 9 and 10 stay, and some change at step 11. How does it find the right label?
#
# ## Where does it look?
#
# If the model has learned the rule, its attention looks one step after pictures of the same class, where the right label is read (framed below). How much of the weight is there?


# %%
with torch.no_grad():
    snail.answers(model, unseen)  # a forward pass, in which the attention keeps its weights
weights = model.blocks[-1].weights  # B T T
share, equal = snail.weight_on_label(weights, unseen)  # B T each
again = unseen.before > 0  # B T: steps whose class was shown before
print(f"weight on the right label: {share[again].mean():.2f}; equal weights: {equal[again].mean():.2f}")


def looked_back(step):
    names = ["0:", *(f"{t}: {label}" for t, label in enumerate(unseen.labels[0, :step].tolist(), 1))]
    label, right, even = unseen.labels[0, step], share[0, step], equal[0, step]
    framed = [(0, t) for t in range(1, step + 1) if unseen.labels[0, t - 1] == label]
    row, ax = weights[0, step : step + 1, : step + 1], plots.axes(width=0.8 + 0.6 * (step + 1), height=2)
    plots.weights(row, names, [f"step {step}"], "", ax, "step, and the label read there", "", framed)
    for t, picture in enumerate(unseen.pictures[0, : step + 1].view(-1, 8, 8).numpy()):
        ax.imshow(picture, cmap="gray", aspect="auto", extent=(t - 0.48, t + 0.48, -0.6, -1.56))
    ax.set(xlim=(-0.5, step + 0.5), ylim=(0.5, -1.6))
    return f"The right label at step {step} is {label}: it has {right:.2f} of the weight, and would have {even:.2f} with equal weights."


look_explorer = explore(looked_back, step=ipywidgets.IntSlider(value=10, min=1, max=14))
look_explorer

# %% [markdown]
# The right label at step 10 is 1. It was read at the steps 4, 5 and 6, after pictures of the same digit, and they get most of the weight. On average, the right label gets nearly twice as much weight as with equal weights.
#
# ## Take a part out
#
# Below, the model has no convolutions: its single attention reads x as it is. Will it beat a rule that sees no pictures and always gives the most frequent label so far? Guess its share after five examples. Then try the other changes in the comment, and guess each time.

# %%
changes = {"dilations": ()}  # or {"attention": False}, {"dilations": (1,)}, {"dilations": (2, 4, 8, 16)}
predict("19.without", ...)

# %% tags=["reveals"]
torch.manual_seed(0)
altered = Snail(64 + 5, 5, **changes)
losses = snail.fit_characters(altered, steps=400, rate=4e-3)
print("The altered model beside the whole one, and the rule:")
lines = {"whole": [shares], "altered": [snail.by_examples(snail.predict_labels(altered, unseen), unseen)]}
lines["most frequent label"] = [snail.by_examples(episodes.most_frequent(unseen), unseen)]
reveal("19.without", round(lines["altered"][0][-1], 2))
plots.curves(range(1, 6), lines, "examples so far", "share of right labels", legend="above")

# %% [markdown]
# Without convolutions the model does about as well as the rule that sees no pictures. (The rule climbs because a class with five examples has been frequent so far, and one with a single example rare.) The attention could find a similar picture, but the label that is read beside that picture belongs to the picture before it. If this is the reason, attention alone should be enough once each label is read beside its own picture. In one line we do by hand what the convolution did. What will the share be?


# %%
def read_pairs(x, y):  # B T D, B T V
    return torch.cat([x, one_step_later(x), one_step_later(y)], -1)  # B T 2D+V


torch.manual_seed(0)
paired = Snail(2 * 64 + 5, 5, dilations=())
losses = snail.fit_characters(paired, steps=400, rate=4e-3, read=read_pairs)
lines["altered, pairs given"] = [snail.by_examples(snail.predict_labels(paired, unseen, read_pairs), unseen)]
plots.curves(range(1, 6), lines, "examples so far", "share of right labels", legend="above")

# %% [markdown]
# With the pairs, a single attention does even better than the whole model: it is enough. Does this hold for five seeds and 1,500 steps? Below, models with attention alone have four layers of it. All use one learning rate; some might do better with another. Each dot is the difference from SNAIL with the same seed (lesson 13). Does one convolution of dilation 1 replace all five?


# %%
def after(examples, setup, value="held_out"):
    found = measured_once("characters", "seed", value, setup=setup, examples=examples)
    return torch.tensor([share for _, share in sorted(zip(*found, strict=True))])  # by seed


rows = {}
for setup in snail.SETUPS:
    size = sum(p.numel() for p in snail.made(setup, 64, 5, steps=26)[0].parameters())
    name = f"{setup} ({size:,} parameters)"
    rows[name] = {f"after {n}": after(n, setup) - after(n, "SNAIL") for n in (1, 5)}
plots.dots(rows, "share of right labels, digits 5 to 9, minus SNAIL's", xlim=(-0.5, 0.25))

# %% [markdown]
# One convolution replaces all five after five examples, but after one example it is worse with every seed. Dilations from 2 never join a label with its picture. Convolutions alone, with the most parameters, are worse, too. So are four layers of attention alone, but less so: perhaps the mask hints at the order. With positions (lesson 11) attention comes close, and with pairs it beats SNAIL.
#
# ## How much must the tasks vary?
#
# In our smallest world, $w$ remembered a label that never changed. What if the classes never change? We train SNAIL on five classes (0 to 4), on forty (these turned and mirrored) and on many (joined). Which will be good on its own classes, which on new ones?

# %%
rows = {}
for setup, name in (("five classes", "five classes"), ("forty classes", "forty"), ("SNAIL", "many, joined")):
    rows[name] = {"classes as in training": after(5, setup, "own"), "digits 5 to 9": after(5, setup)}
plots.dots(rows, "share of right labels after five examples, five seeds", xlim=(0, 1.03))

# %% [markdown]
# With five classes SNAIL is perfect on them and poor on new ones: perhaps its weights store the five. With forty it does better on new digits, with many best.
#
# Language models learn from examples in prompts: **in-context learning** (Brown et al. 2020). Chan et al. (2022) find it in Transformers if classes, like words, are many, rare and bursty.
#
# ## So: can it learn from five examples?
#
# Yes, if it has learned how from many tasks. After five examples of a new digit, three out of four labels are right, and no weight has changed. But the most similar picture's label is right nine times out of ten, without training. SNAIL keeps up only on classes like its own.
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
# - A network can learn from five examples if its training tasks varied enough: what is the same in all goes into the weights, and the rest has to be read.
# - A causal convolution with a dilation joins two steps. Through the dilations 1, 2, 4 and so on the last step sees all steps.
# - Attention finds the example, and convolutions bring its label to it. Without convolutions, positions or pairs of picture and label can do the same.
# - A rule without training, such as copying the label of the most similar picture, shows what a share is worth: here it beats SNAIL on new digits.
# - Change one label and see what moves. This shows whether a model sees the answers.
#
# **Exercises**: [open them](../exercises/19_snail_exercises.ipynb)
#
# **Next**: you have seen many kinds of attention. What will your own attention be? [Lesson 20](20_your_own_attention.ipynb) asks for it.

# %%
import ipywidgets
import torch
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.measured import measured_once
from course_utils.data.scenes import WORDS, say, scenes, things
from course_utils.data.subwords import BOS, EOS, PAD
from course_utils.figures import diagrams, pictures, plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models import captions as package
from course_utils.models.captions import Encoder, Told, by_kind, fit, names_kept, score, soft_loss

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## A picture and its sentence
#
# Lesson 14 looked at a picture in order to give one answer. Now we want a sentence about it, word by word. Our scenes of digits and shapes are drawn, so we know where the thing is that a word names. (Photographs, for which nobody knows, come at the end.) A caption names the things from left to right, and says whether each is above the next one, below it, or beside it in the same row. It always writes "a", even before "eight". Which part of each picture do you look at for its last word?

# %%
draw = torch.Generator().manual_seed(0)
training, unseen = scenes(3000, draw, most=3), scenes(500, draw, part="test", most=3)
axes = plots.axes(3, width=3.2, height=3)
for number, ax in enumerate(axes):
    first, *others = training.caption(number).split(" a ")
    pictures.attended(training.images[number], title=" a ".join([first + "\n", *others]), ax=ax)

# %% [markdown]
# Each scene holds two or three things in different cells of a 5×5 grid, and the last word names the one furthest to the right. In lesson 06 a decoder looked back at a vector for each source word. What are the "words" of a picture?
#
# ## A vector for each cell
#
# In **Show, Attend and Tell** (Xu et al. 2015) they are **annotations**, made by a convolutional network that has learned to classify pictures and then stays fixed. Ours learns to name single things of a cell's size, and makes an annotation of each cell. How often is a single thing named correctly? And does its annotation change when the scene moves by one cell?

# %%
torch.manual_seed(0)
encoder = Encoder()
encoder.fit(steps=500, batch=64)
images, which = things(1000, torch.Generator().manual_seed(1), part="test")
with torch.no_grad():
    named = encoder.name(encoder.see(images[:, None]).flatten(1)).argmax(-1)
print(f"single things named correctly: {(named == which).float().mean():.2f}")
annotations, unseen_annotations = encoder(training.images), encoder(unseen.images)
print("annotations:", tuple(annotations.shape))

moved = encoder(training.images[:1].roll(10, dims=2))[0]  # by one cell to the right
at, next_to_it = training.true[0, 1], training.true[0, 1] + 1
same = torch.allclose(annotations[0, at, :64], moved[next_to_it, :64], atol=1e-5)
print("the first 64 dimensions stay the same:", same)
print("the last ten:", annotations[0, at, 64:], "and", moved[next_to_it, 64:])

# %% [markdown]
# The first 64 dimensions say what is seen, wherever it is. As in lesson 11, we add the position: the last ten hold the row and the column, as ones among zeros. The paper adds none.
#
# ## A decoder that looks before each word
#
# The decoder is an LSTM, a recurrent network like lesson 05's GRU with a second vector, its memory. Before each word, its state asks the annotations. Where do the keys and the values come from?

# %%
diagrams.captioner(new=["gate"])

# %% [markdown]
# Both come from the annotations $a_i$. The score is lesson 04's perceptron, and no mask is needed, as no cell is padding. What is new is the **gate** $\beta_t$, a number between 0 and 1: how much of the picture does the next word need?
#
# $$e_{ti} = v^\top \tanh(U a_i + W h_{t-1}) \qquad \alpha_t = \text{softmax}(e_t) \qquad \beta_t = \sigma(w^\top h_{t-1} + b) \qquad \hat z_t = \beta_t \sum_i \alpha_{ti}\, a_i$$
#
# Let all scores be equal, let the annotations be (4, -8) and (0, 0) and the state (1, 2), with $w$ = (ln 3, 0) and $b$ = 0. What does the decoder read?


# %% tags=["nbval-check-output"]
class Look(nn.Module):
    def __init__(self, E, H, A):  # widths of an annotation, of a state, and of the perceptron
        super().__init__()
        self.key, self.query = nn.Linear(E, A), nn.Linear(H, A, bias=False)  # U, W
        self.v, self.gate = nn.Linear(A, 1, bias=False), nn.Linear(H, 1)  # v, (w, b)

    def forward(self, a, keys, h):  # B L E, B L A, B H
        e = self.v(torch.tanh(keys + self.query(h)[:, None]))[..., 0]  # B L
        alpha = e.softmax(-1)  # B L
        beta = torch.sigmoid(self.gate(h))  # B 1
        z = beta * (alpha[:, None] @ a)[:, 0]  # B E
        return z, alpha, beta


look, a, h = Look(2, 2, 1), torch.tensor([[[4.0, -8.0], [0.0, 0.0]]]), torch.tensor([[1.0, 2.0]])
for parameter in look.parameters():
    nn.init.zeros_(parameter)
with torch.no_grad():
    look.gate.weight[0, 0] = torch.tensor(3.0).log()
    print("context, weights, gate:", *look(a, look.key(a), h))

# %% [markdown]
# The weights are 1/2 each, which gives (2, -4), and σ(ln 3) = 3/4 of it passes through: (1.5, -3). The rest of the decoder computes the first state from the mean annotation $\bar a$. The LSTM reads the previous word together with $\hat z_t$. From that word, the new state and $\hat z_t$ come the scores of the next word (without biases; the tanh is in the authors' code, not in equation 7):
#
# $$h_0 = \tanh(W_0 \bar a) \qquad h_t = \text{LSTM}([E y_{t-1}; \hat z_t],\, h_{t-1}) \qquad \text{logits}_t = L_o \tanh(E y_{t-1} + L_h h_t + L_z \hat z_t)$$
#
# `Told` holds the logits, weights and gates of all steps; the logits can wait until all states are known. The course's `Captioner` computes the same, and can also draw a cell. Do the two agree?


# %% tags=["nbval-check-output"]
class Captioner(nn.Module):
    def __init__(self, V=21, E=74, D=32, H=64):  # words; widths of annotation, word, state
        super().__init__()
        self.embedding, self.look = nn.Embedding(V, D), Look(E, H, 64)  # the equation's E, and the look
        self.first_state, self.first_memory = nn.Linear(E, H), nn.Linear(E, H)  # W_0, and the same for the memory
        self.cell = nn.LSTMCell(D + E, H)
        self.from_state, self.from_context = nn.Linear(H, D), nn.Linear(E, D, bias=False)  # L_h, L_z
        self.readout = nn.Linear(D, V)  # L_o

    def forward(self, a, given):  # B L E, B T
        mean, keys, steps = a.mean(1), self.look.key(a), []
        h, c = torch.tanh(self.first_state(mean)), torch.tanh(self.first_memory(mean))  # B H each
        y = self.embedding(given)  # B T D
        for y_before in y.unbind(1):  # B D: one word after the other
            z, alpha, beta = self.look(a, keys, h)
            h, c = self.cell(torch.cat([y_before, z], -1), (h, c))
            steps.append((h, z, alpha, beta))
        h, z, alpha, beta = (torch.stack(part, 1) for part in zip(*steps, strict=True))  # B T …
        logits = self.readout(torch.tanh(y + self.from_state(h) + self.from_context(z)))  # B T V
        return Told(logits, alpha, beta)


model, shipped = Captioner(), package.Captioner()
shipped.load_state_dict(model.state_dict())
both = [one(annotations[:9], training.given[:9]).logits for one in (model, shipped)]
print("the package's captioner agrees:", torch.allclose(*both, atol=1e-5))

# %% [markdown]
# Now we train the decoder for 600 steps, with the right words before each word. Nothing tells it where a thing stands: it sees pictures and captions alone.
#
# Afterwards we look at the words that name things. For what share of them does the largest weight lie on the thing? This share is the **pointing accuracy**, or "pointing" in our tables. A random cell would be right in 1 of 25 cases.

# %% tags=["nbval-check-output"]
predict("15.pointing", ...)

# %% tags=["reveals"]
print("On scenes with other handwritten digits:")
torch.manual_seed(0)
model = Captioner()
fit(model, annotations, training, steps=600, rate=1e-2)
found = score(model, unseen_annotations, unseen)
reveal("15.pointing", round(found.pointing, 2))
rows = {"share": [found.words, found.captions, found.pointing, found.on_thing]}
table(rows, ["right words", "right captions", "pointing", "mean weight on the thing"], digits=2)

# %% [markdown]
# The largest weight lies on the thing for nearly all names, although nothing in the training asks for it. What does it look at for "a", and for a relation such as "above"? The ink is black here, and the colour shows the weights. Move the slider to see other scenes.

# %%
with torch.no_grad():
    told = model(unseen_annotations, unseen.given)


def looks_at(scene):
    words = [WORDS[word] for word in unseen.wanted[scene] if word not in (EOS, PAD)]
    at_each = []
    for word, ax in enumerate(plots.axes(len(words), width=1.4, height=2)):
        weights = told.weights[scene, word]
        cell = int(unseen.true[scene, word]) if unseen.named[scene, word] else None
        pictures.attended(unseen.images[scene], weights, cell, words[word], ax)
        at_each.append(f"{words[word]} {weights.max():.2f}")
    return f"A map for each word of “{unseen.caption(scene)}”. The largest weights: {', '.join(at_each)}."


scene_explorer = explore(looks_at, scene=ipywidgets.IntSlider(value=1, min=0, max=29))
scene_explorer

# %% [markdown]
# Which words need the picture at all? For each kind of word, here are the gate, the largest weight, and the weights on the thing that is named next and on the one named last. After a relation comes "a", whatever the picture shows. Does the gate close for it?

# %%
columns = ["gate", "largest weight", "on the thing named next", "on the one named last"]
table(by_kind(told, unseen), columns, corner="means after the first name", digits=2)

# %% [markdown]
# The gate stays open: "a" lets through about as much as a name, although it needs nothing of the picture. Nothing in the loss asks a gate to close. So an open gate does not say that a word needs the picture.
#
# So far the model was given the right words. Now it reads its own most probable words (lesson 07's greedy search). A caption is right if all its words are. Of 500 captions, will fewer be right, or as many?

# %%
with torch.no_grad():
    written = torch.full((500, 1), BOS)
    for _ in range(unseen.wanted.shape[1]):
        best = model(unseen_annotations, written).logits[:, -1:].argmax(-1)  # 500 1
        written = torch.cat([written, best], 1)
captions = [say(row[: (row == EOS).nonzero()[0]] if EOS in row else row) for row in written]
right = sum(caption == unseen.caption(i) for i, caption in enumerate(captions))
print(f"right captions, given the right words: {found.captions * 500:.0f}; when it writes on its own: {right}")
wrong = next(i for i, caption in enumerate(captions) if caption != unseen.caption(i))
print(f"\nright:   {unseen.caption(wrong)}\nwritten: {captions[wrong]}")

# %% [markdown]
# Exactly as many, necessarily: while its words are right, it reads what it would be given. Only the words after a wrong one can differ.
#
# ## Draw one cell
#
# **Hard attention** reads one annotation $a_s$; the cell $s$ is drawn with the weights. A draw has no gradient, so the weights learn by REINFORCE (lesson 08). The reward is the word's log probability, and $b$ is the mean of past rewards. For one word (equations 11 and 12):
#
# $$s \sim \alpha \qquad \hat z = a_s \qquad \text{loss} = -\log p(y \mid \hat z) - \big(\log p(y \mid \hat z) - b\big) \log \alpha_s$$
#
# Two cells have the weight 1/2 each. If cell 0 is read, the right word gets the probability 0.9, if cell 1 is read, 0.1. Which weight grows after each draw?

# %% tags=["nbval-check-output"]
b = -1.0  # your turn: what goes wrong with 0?
e = torch.zeros(2, requires_grad=True)  # the scores of both cells
log_p = torch.tensor([0.9, 0.1]).log()  # of the right word, if the cell is read
for s in (0, 1):
    loss = -(log_p[s] - b) * e.softmax(0)[s].log()  # the part that teaches the weights
    step = -torch.autograd.grad(loss, e)[0]
    print(f"cell {s} drawn: reward {log_p[s]:.2f}, the scores change by {step[0]:+.2f} and {step[1]:+.2f}")

# %% [markdown]
# The weight of cell 0 grows both times: one draw is rewarded, the other punished. With $b = 0$ a draw of the good cell makes its weight smaller, since its reward is negative, too.
#
# Such draws are noisy, so the paper reads softly half of the time. What do soft batches change? When tested, hard attention reads the cell with the largest weight. "Average" reads the mean annotation, "no places" lacks row and column. Differences are paired (lesson 13).

# %%
columns = ["right words", "right captions"]


def runs(name, setup, values):
    """What five captioners of a setup reach, seeds×values, in the order of their seeds."""
    found = measured_once(name, "seed", *values, setup=setup)
    return torch.tensor(sorted(zip(*found, strict=True)))[:, 1:]


setups = (
    "soft",
    "no gate",
    "no places",
    "hard, half of the batches",
    "hard, all batches",
    "average",
)
by_setup = {setup: runs("captions", setup, ["words", "captions"]) for setup in setups}
marks = {setup: dict(zip(columns, found_by_seed.T, strict=True)) for setup, found_by_seed in by_setup.items()}
plots.dots(marks, "share; 1,200 steps, up to four things, five seeds")
soft, no_gate, _, half, draws, average = by_setup.values()
print("right words, soft less no gate, run by run:", (soft - no_gate)[:, 0])
rows = {"hard in half of the batches, less hard in all": half - draws}
rows |= {"soft, less hard in half": soft - half, "hard in all, less average": draws - average}
table(rows, columns, corner="differences, run by run", digits=2)

# %% [markdown]
# In every run, soft batches give hard attention more right words, but soft attention gets more captions right. Draws alone do no better than the mean annotation. Without row and column soft attention loses in every run. Without the gate, three of five runs get *more* words right: here the gate is not shown to help. On photographs, soft and hard attention are each ahead once:
#
# | the paper, photographs of COCO (higher is better) | BLEU-4 | METEOR, a similar score |
# | --- | --- | --- |
# | soft attention | 24.3 | 23.90 |
# | hard attention | 25.0 | 23.04 |
#
# ## A penalty for overlooking
#
# A word's weights add up to 1. The **doubly stochastic** penalty (equation 14) asks the same of a *cell's* weights over all words.
#
# $$\lambda \sum_i \Big(1 - \sum_t \alpha_{ti}\Big)^2$$
#
# With six words and two things, is it cheaper to look three times at each, or at all cells alike?


# %% tags=["nbval-check-output"]
def overlooked(weights):  # … T L
    in_all = weights.sum(-2)  # … L: what each cell gets over all words
    return (1 - in_all).square().sum(-1)


things_alone = torch.zeros(6, 25)
things_alone[:3, 7], things_alone[3:, 11] = 1.0, 1.0
alike = torch.full((6, 25), 1 / 25)
print("at the things alone:", overlooked(things_alone), " at all cells alike:", overlooked(alike))

# %% [markdown]
# The two things get 3 each and 23 cells nothing: 2 · 4 + 23 = 31. Spread out, each cell gets 0.24, which costs least. The authors write, without figures, that the penalty improved BLEU and gave richer captions. What happens here to the pointing accuracy, with λ = 0.01?

# %% tags=["nbval-check-output"]
predict("15.penalty", ...)


# %% tags=["reveals"]
LAMBDA = 0.01  # your turn: another λ takes a quarter of a minute
print("The same captioner, trained in the same way, with the penalty:")


def with_penalty(told, wanted):
    real = (wanted != PAD)[..., None]  # B T 1
    return soft_loss(told, wanted) + LAMBDA * overlooked(told.weights * real).mean()


torch.manual_seed(0)
penalised = Captioner()
fit(penalised, annotations, training, steps=600, rate=1e-2, loss=with_penalty)
with torch.no_grad():
    elsewhere = penalised(unseen_annotations, unseen.given)
rows = {"no penalty": score(model, unseen_annotations, unseen)}
rows["penalty"] = score(penalised, unseen_annotations, unseen)
reveal("15.penalty", round(rows["penalty"].pointing, 2))
columns = ["right words", "right captions", "pointing", "pointing one word earlier", "weight on the thing"]
table(rows, columns, digits=2)

# %% [markdown]
# The pointing accuracy falls to almost nothing, though at the "a" before a name the model still looks at many of the things. Fewer words are right, too: is this only a bad map of a bad model? Here are other seeds, longer training, and λ = 1 as in the authors' code (which sums the loss over words, where we take the mean).

# %%
setups = {
    "600 steps, no penalty": ("emptied", "no penalty"),
    "600 steps, λ = 0.01": ("emptied", "penalty 0.01"),
    "1,200 steps, no penalty": ("captions", "soft"),
    "1,200 steps, λ = 0.01": ("captions", "penalty 0.01"),
    "1,200 steps, λ = 1": ("captions", "penalty 1"),
}
columns, marks = ["right words", "pointing", "pointing one word earlier"], {}
for name, (measurement, setup) in setups.items():
    found_by_seed = runs(measurement, setup, ["words", "pointing", "one_earlier"])  # 5 3
    marks[name] = dict(zip(columns, found_by_seed.T, strict=True))
shown = {name: {column: found[column] for column in columns[:2]} for name, found in marks.items()}
plots.dots(shown, "share; five seeds; after 1,200 steps: up to four things")
for steps in ("600", "1,200"):
    without, with_it = (marks[f"{steps} steps, {setup}"]["right words"] for setup in ("no penalty", "λ = 0.01"))
    print(f"right words lost with λ = 0.01, {steps} steps, run by run:", without - with_it)
table(marks["1,200 steps, λ = 0.01"], [f"seed {seed}" for seed in range(5)], corner="1,200 steps, λ = 0.01", digits=2)

# %% [markdown]
# Pointing is near 1 without the penalty. With λ = 1 it is 0 in all runs; with λ = 0.01 in four of five, after 600 and 1,200 steps. It costs every run words. But the map can fail where most words are right: with seed 0 and 1,200 steps, 0.92 of them are, and nearly every thing has the largest weight one word *before* its name.
#
# ## Is the map an explanation?
#
# Dashes mark what the penalised captioner looks at for word 1, and names as word 2. An **intervention** can tell what word 2 depends on: we give one cell the annotation of an empty cell. Which must be emptied for word 2 to change?

# %%
empty = encoder(torch.zeros(1, 50, 50))[0]  # 25 74
right = elsewhere.logits[:, 1].argmax(-1) == unseen.wanted[:, 1]  # 500: whether the first name is right
seen = elsewhere.weights[:, 0].argmax(-1) == unseen.true[:, 1]  # 500: whether the word before looks at it
once = (unseen.wanted == unseen.wanted[:, 1:2]).sum(1) == 1  # 500: whether no other thing has this name
SCENE = int((right & seen & once).nonzero()[0])  # the first such scene; your turn: any from 0 to 499
cell, weights = int(unseen.true[SCENE, 1]), elsewhere.weights[SCENE, :2]  # _, 2 25
for ax, word in zip(plots.axes(2, width=3, height=3), (0, 1), strict=True):
    title = f"word {word + 1}: {WORDS[elsewhere.logits[SCENE, word].argmax()]}"
    pictures.attended(unseen.images[SCENE], weights[word], cell, title, ax)

tries = {"with the largest weight at word 2": weights[1].argmax(), "with the dashes": cell}
for name, emptied in tries.items():
    changed = unseen_annotations[SCENE].clone()  # 25 74
    changed[emptied] = empty[emptied]
    with torch.no_grad():
        logits = penalised(changed[None], unseen.given[SCENE][None]).logits[0, 1]  # V
    print(f"without the cell {name}, word 2 is “{WORDS[logits.argmax()]}”")
whole = [names_kept(one, unseen_annotations, unseen, None, empty) for one in (model, penalised)]
print(f"names right in all scenes, with nothing emptied: {whole[0]:.2f}, with the penalty {whole[1]:.2f}")

# %% [markdown]
# At word 2 hardly any weight lies on the marked thing. And yet the word is right, and it changes when that cell is emptied. Now we empty a cell for every name, with both models. How many of its right names will the penalised model lose?

# %% tags=["nbval-check-output"]
predict("15.emptied", ...)

# %% tags=["reveals"]
print("Names that are right:")
picture, word = unseen.named.nonzero(as_tuple=True)
rows = {"nothing": whole}
both = {model: told.weights, penalised: elsewhere.weights}
anywhere = torch.randint(25, word.shape, generator=draw)
for name, cell_of in (
    ("the cell with the largest weight", lambda weights: weights[picture, word].argmax(-1)),
    ("the one with the largest weight a word before", lambda weights: weights[picture, word - 1].argmax(-1)),
    ("a random cell", lambda weights: anywhere),
):
    rows[name] = [names_kept(one, unseen_annotations, unseen, cell_of(w), empty) for one, w in both.items()]
reveal("15.emptied", round(rows["the cell with the largest weight"][1], 2))
table(rows, ["no penalty", "with penalty"], corner="names right, if we empty", digits=2)

# %% [markdown]
# Without the penalty, most names are lost with the cell that has the largest weight. With the penalty, that cell matters no more than a random one; the cell with the largest weight a word before matters. At the name itself the thing gets hardly any weight, so the state must have kept what was seen earlier. Do other seeds say so, too?

# %%
cells = ("the largest weight", "the largest weight a word before", "a random cell")
lost = {cell: {} for cell in cells}
for setup in ("no penalty", "penalty 0.01"):
    whole, *kept = runs("emptied", setup, ["whole", "largest", "before", "random"]).T  # 5 each
    for cell, left in zip(cells, kept, strict=True):
        lost[cell][setup] = 1 - left / whole
plots.dots(lost, "share of the right names that are lost if this cell is emptied; five seeds")

# %% [markdown]
# Without the penalty the map passes this test in every run: most names are lost with the largest weight. With it the map fails in four of five: hardly any are lost. So a map says where a context came from, but not *necessarily* what a word depends on. In models of text, too, weights often disagree with other measures of importance (Jain & Wallace 2019). Are they explanations? That depends on what we call one (Wiegreffe & Pinter 2019).
#
# ## Captions today
#
# Today a large language model writes the caption, and reaches the picture in other ways:
#
# | | the picture becomes | the words reach it by |
# | --- | --- | --- |
# | Show, Attend and Tell | 14×14 = 196 annotations | attention before each word, with the gate β |
# | Flamingo (Alayrac et al. 2022) | 64 vectors | layers of cross-attention in a frozen language model, each with a gate tanh(α), where α is one learned number that starts at 0 |
# | LLaVA-1.5 (Liu et al. 2023) | 24×24 = 576 tokens among the words | the language model's own self-attention |
#
# How many scores does one layer need for 576 parts of a picture and 20 words?

# %% tags=["nbval-check-output"]
parts, words = 576, 20
print("cross-attention:", words * parts)
print("tokens among the words, causal:", (parts + words) * (parts + words + 1) // 2)

# %% [markdown]
# Among the words, the parts of the picture are also compared with one another.
#
# And on *photographs*? There people must mark the things. A captioner whose weights were trained on such marks pointed better, and wrote better captions (Liu et al. 2017). Models that answer questions do not look where people look (Das et al. 2016). So the clear maps of drawn scenes are no rule.
#
# ## So: which part of the picture is this word?
#
# The part without which the word is lost. In our first model, the weight lies there when the word is written; in the penalised one, mostly one word earlier.
#
# ## Questions
#
# Run a cell, then replace the dots with a letter in quotes or a number.

# %%
check("15.q1", ...)

# %%
check("15.q2", ...)

# %%
check("15.q3", ...)

# %%
check("15.q4", ...)

# %%
check("15.q5", ...)

# %% [markdown]
# ## Recap
#
# - Which part of the picture is this word? The part without which the word is lost. To find it, empty one cell after another.
# - A captioner attends to annotations, one vector for each cell, to which positions have been added. A gate says how much of the context a word gets; here it is not shown to help.
# - Hard attention reads one annotation, and learns from a reward. Soft batches in between gave it more right words in every run.
# - A map of weights shows where a context came from. It passed the test without the penalty, and failed in four of five runs with it.
# - Today's models read a picture by cross-attention or as tokens among words.
#
# **Exercises**: [open them](../exercises/15_captions_exercises.ipynb)
#
# **Next**: the picture lay open before the decoder. How can a network reason over what it has read and stored? [Lesson 16](16_memory_networks.ipynb) answers this.

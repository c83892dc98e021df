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
from course_utils.models.captions import Encoder, Output, by_kind, fit, kinds, score, soft_loss, words_kept

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## A picture and its sentence
#
# Lesson 14 looked at a picture in order to give one answer. Now we want a sentence about it, word by word. Our scenes of digits and shapes are drawn, so for each word we know where the thing it names is. A caption names the things from left to right, and says whether each is above the next one, below it, or beside it in the same row. It always writes "a", even before eight. Which part of each picture do you look at for its last word?

# %%
draw = torch.Generator().manual_seed(0)
training, unseen = scenes(3000, draw, most=3), scenes(500, draw, part="test", most=3)
axes = plots.axes(3, width=3.2, height=3)
for number, ax in enumerate(axes, 1):
    first, *others = unseen.caption(number).split(" a ")
    pictures.attended(unseen.images[number], title=" a ".join([first + "\n", *others]), ax=ax)

# %% [markdown]
# Each scene holds two or three things in different columns of a 5×5 grid, and the last word names the one furthest to the right. In lesson 06 a decoder looked back at a vector for each source word. What are the "words" of a picture?
#
# ## A vector for each cell
#
# In **Show, Attend and Tell** (Xu et al. 2015) they are **annotations**, made by a convolutional network that has learned to classify pictures and then stays fixed. Ours has learned to name things; it turns each cell, with its neighbours' edges, into an annotation. How often is a single thing named correctly? And does its annotation change when the scene moves by one cell?

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

moved = encoder(unseen.images[[1]].roll(10, dims=2))[0]  # by one cell to the right
here, at = unseen_annotations[1], unseen.true[1, 1]  # at: the first thing's cell
print("the first 64 dimensions stay the same:", torch.allclose(here[at, :64], moved[at + 1, :64], atol=1e-5))
print("the last ten:", here[at, 64:], "and", moved[at + 1, 64:])

# %% [markdown]
# The first 64 dimensions say what is seen, wherever it is. The position is put beside them, whereas lesson 11 added it to them: the last ten hold the row and the column, as ones among zeros. (The paper uses no positions.)
#
# ## A decoder that looks before each word
#
# The decoder is an LSTM, a recurrent network like lesson 05's GRU with a second vector, its memory. Before each word, its state is the query, compared with all annotations. Where do the keys and the values come from?

# %%
diagrams.captioner(new=["gate"])

# %% [markdown]
# Both come from the annotations $a_i$. The score is lesson 04's perceptron, and no mask is needed, as no cell is padding. What is new is the **gate** $\beta_t$, a number between 0 and 1: how much of the picture does the next word need?
#
# $$e_{ti} = v^\top \tanh(U a_i + W h_{t-1}) \qquad \alpha_t = \text{softmax}(e_t) \qquad \beta_t = \sigma(w^\top h_{t-1} + b) \qquad \hat z_t = \beta_t \sum_i \alpha_{ti}\, a_i$$
#
# Let the scores be equal, the annotations (4, -8) and (0, 0), and $w^\top h_{t-1} + b$ = ln 3. What does the decoder read?


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


look, a = Look(2, 2, 1), torch.tensor([[[4.0, -8.0], [0.0, 0.0]]])
for parameter in look.parameters():
    nn.init.zeros_(parameter)
nn.init.constant_(look.gate.bias, torch.tensor(3.0).log())
print("context, weights, gate:", *(part.data for part in look(a, look.key(a), torch.zeros(1, 2))))

# %% [markdown]
# The weights are 1/2 each, which gives (2, -4), and σ(ln 3) = 3/4 of it passes through: (1.5, -3). Here is the rest of the decoder. The first state is computed from the mean annotation $\bar a$, and the LSTM reads the previous word together with $\hat z_t$. The scores of the next word are computed from that word, the new state and $\hat z_t$:
#
# $$h_0 = \tanh(W_0 \bar a) \qquad h_t = \text{LSTM}([E y_{t-1}; \hat z_t],\, h_{t-1}) \qquad \text{logits}_t = L_o \tanh(E y_{t-1} + L_h h_t + L_z \hat z_t)$$
#
# The tanh in the logits is in the authors' code, not in their equation 7. How many weights does a caption of T words have?


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
        return Output(logits, alpha, beta)


output = Captioner()(annotations[:8], training.given[:8])
print("logits, weights and gates of eight captions:", *(tuple(part.shape) for part in output[:3]))

# %% [markdown]
# Each word has 25 weights, one for each cell: 25·T in all. Now we train the decoder for 600 steps, always reading the right words so far (the measurements below do the same). Nothing tells it where a thing stands: it sees pictures and captions alone.
#
# Afterwards we look at the words that name things. The **pointing accuracy**, or "pointing" in our tables, is the share of them for which the largest weight lies on the thing. A random cell would be right in 1 of 25 cases.

# %% tags=["nbval-check-output"]
predict("15.pointing", ...)

# %% tags=["reveals"]
print("On scenes with other handwritten digits:")
torch.manual_seed(1)
model = Captioner()
fit(model, annotations, training, steps=600, rate=1e-2)
found = score(model, unseen_annotations, unseen)
reveal("15.pointing", round(100 * found.pointing))
with torch.no_grad():
    output = model(unseen_annotations, unseen.given)
right = output.logits.argmax(-1) == unseen.wanted  # B T
shares = {kind: right[where].float().mean() for kind, where in kinds(unseen).items()}
table({"share right": [*shares.values(), found.captions]}, [*shares, "whole captions"], digits=2)

# %% [markdown]
# The largest weight lies on the thing for nearly all names, although nothing in the training asks for it. Most names are right, too. Relations are wrong most often, and one wrong word spoils a caption: perhaps finding a thing is easier than comparing two.
#
# Where does it look when a name is wrong? The next cell takes the first five wrong names, each after right words. In the cell after it, the captioner reads its own words; we begin with the three scenes of the beginning, and the slider shows others. Under each map stands the word that it writes. The drawing is black; the darker the orange, the larger the weight; dashes frame the thing to be named.

# %%
scene, word = (unseen.named & ~right).nonzero(as_tuple=True)  # N wrong names
cell, weights = unseen.true[scene, word][:, None], output.weights[scene, word]  # N 1, N L
on_thing, elsewhere = weights.gather(1, cell)[:, 0], weights.scatter(1, cell, 0.0).amax(1)  # N each
share = (on_thing > elsewhere).float().mean()
print(f"{len(scene)} wrong names; for {share:.2f} of them, the largest weight lies on the thing. The first five:")
for s, t, on, other in zip(scene[:5].tolist(), word[:5].tolist(), on_thing, elsewhere, strict=False):
    named, written_name = (WORDS[ids[s, t]] for ids in (unseen.wanted, output.logits.argmax(-1)))
    print(f"scene {s}: {named}, written {written_name}; weight on it {on:.2f}, on another cell at most {other:.2f}")


# %%
@torch.no_grad()
def write(a):  # 1 L E
    words = [BOS]
    while words[-1] != EOS and len(words) < 9:
        output = model(a, torch.tensor([words]))
        words.append(output.logits[0, -1].argmax().item())
    return words[1:], output.weights[0]  # T, T L


def cells_of(scene):
    """The cell of the thing where a word names one, else None."""
    return [int(cell) if named else None for cell, named in zip(unseen.true[scene], unseen.named[scene], strict=True)]


def written(first):
    three = range(first, first + 3)
    captions, maps = zip(*(write(unseen_annotations[[scene]]) for scene in three), strict=True)
    words = [say(caption).split() for caption in captions]
    pictures.written(unseen.images[first : first + 3], words, maps, [cells_of(scene) for scene in three])
    pairs = [
        f"“{say(caption)}”, right is “{unseen.caption(scene)}”" for caption, scene in zip(captions, three, strict=True)
    ]
    return f"It writes {'; '.join(pairs)}."


written_explorer = explore(written, first=ipywidgets.IntSlider(value=1, min=0, max=27))
written_explorer

# %% [markdown]
# For nearly all wrong names, too, the largest weight lies on the thing: the captioner points at the right thing and writes another name. So a map that points well does not make the word right.
#
# Which words need the picture at all? For each kind of word, here are the gate, the largest weight, and the weights on the thing to be named and on the one named before. After a relation comes "a", whatever the picture shows. Does the gate close for it?

# %%
columns = ["gate", "largest weight", "on the thing to be named", "on the one named before"]
rows = by_kind(output, unseen) | {"a random cell": ["", *[1 / 25] * 3]}
table(rows, columns, corner="mean, after the first name", digits=2)

# %% [markdown]
# The gate stays open even for "a", which is the same in every picture. So an open gate does not say that the *word* needs the picture; the look may serve the name to come. And for a relation, the two things get only a part of the weight. How then does the captioner know "below"? We come back to this.
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
# The two things get 3 each and 23 cells nothing: 2 · 4 + 23 = 31. Spread out, each cell gets 0.24, which costs least. The authors report better BLEU and richer captions with the penalty (section 4.2.1). What happens here to the pointing accuracy, with λ = 0.01?

# %% tags=["nbval-check-output"]
predict("15.penalty", ...)


# %% tags=["reveals"]
LAMBDA = 0.01  # your turn: another λ takes ten seconds
print("The same captioner, trained in the same way, with the penalty:")


def with_penalty(output, wanted):
    real = (wanted != PAD)[..., None]  # B T 1
    return soft_loss(output, wanted) + LAMBDA * overlooked(output.weights * real).mean()


torch.manual_seed(1)
penalised = Captioner()
fit(penalised, annotations, training, steps=600, rate=1e-2, loss=with_penalty)
with torch.no_grad():
    elsewhere = penalised(unseen_annotations, unseen.given)
rows = {"no penalty": score(model, unseen_annotations, unseen)}
rows["penalty"] = score(penalised, unseen_annotations, unseen)
reveal("15.penalty", round(100 * rows["penalty"].pointing))
columns = ["right words", "pointing", "pointing one word earlier"]
table({name: [one.words, one.pointing, one.one_earlier] for name, one in rows.items()}, columns, digits=2)

# %% [markdown]
# The pointing accuracy falls to almost nothing. (In the last column, the largest weight of the word *before* has to lie on the thing.) Where does this model look instead?

# %%
looking = {"no penalty": output, "penalty": elsewhere}


def looks_at(scene):
    words = unseen.caption(scene).split()
    rows = {name: one.weights[scene, : len(words)] for name, one in looking.items()}
    pictures.each_word(unseen.images[scene], words, rows, cells_of(scene))
    largest = (f"{name}: {', '.join(f'{most:.2f}' for most in weights.amax(-1))}" for name, weights in rows.items())
    return f"A map for each word of “{unseen.caption(scene)}”. The largest weights: {'; '.join(largest)}."


both_explorer = explore(looks_at, scene=ipywidgets.IntSlider(value=1, min=0, max=29))
both_explorer

# %% [markdown]
# With the penalty, most things are pointed to only one word *before* their name, at the "a". But fewer words are right, too: is this only a bad map of a bad model? Here are five seeds: twice the steps, half the rate, up to four things, and also λ = 1 as in the authors' code. (That code's loss and penalty are summed and averaged over other things, so the two λ cannot be compared.)


# %%
def runs(name, setup, values):
    """What five captioners of a setup reach, seeds×values, in the order of their seeds."""
    found = measured_once(name, "seed", *values, setup=setup)
    return torch.tensor(sorted(zip(*found, strict=True)))[:, 1:]


setups = {"no penalty": "soft", "λ = 0.01": "penalty 0.01", "λ = 1": "penalty 1"}
columns, marks = ["pointing", "pointing one word earlier", "right words"], {}
for name, setup in setups.items():
    found_by_seed = runs("captions", setup, ["pointing", "one_earlier", "words"])  # 5 3
    marks[name] = dict(zip(columns, found_by_seed.T, strict=True))
shown = {name: {column: found[column] for column in columns[:2]} for name, found in marks.items()}
plots.dots(shown, "share of the names; 1,200 steps, up to four things, five seeds")
rows = {name: found["right words"] for name, found in marks.items()}
table(rows, [f"seed {seed}" for seed in range(5)], corner="share of right words", digits=2)

# %% [markdown]
# Without the penalty, pointing is near 1 (one word earlier: 0.36 to 0.53). With λ = 0.01 it is 0 in four of five runs, with λ = 1 in all (one word earlier: below 0.42 in four). With either, every run gets fewer words right than the same seed without it. But a map can fail where most words are right: of the two runs with λ = 0.01 and more than 0.9 right, one points a word too early.
#
# ## Is the map an explanation?
#
# What does a name *depend* on? An **intervention** can tell: we empty one cell after another. Does the name's probability fall most where the weight lies (a gain counts as 0)?

# %%
empty = encoder(torch.zeros(1, 50, 50))[0]  # 25 74
models = {"no penalty": model, "penalty": penalised}


def depends_on(scene, word):
    maps, texts, wanted = {}, [], unseen.wanted[scene, word]
    emptied = unseen_annotations[scene].repeat(26, 1, 1)  # 26 25 74: one picture for each cell, and the whole one
    emptied[range(25), range(25)] = empty
    for setup, one in models.items():
        with torch.no_grad():
            output = one(emptied, unseen.given[scene].expand(26, -1))
        p = output.logits[:, word].softmax(-1)[:, wanted]  # 26
        lost = (p[25] - p[:25]).clamp(min=0)  # 25
        maps[setup] = torch.stack([output.weights[25, word], lost])
        texts.append(f"{setup}: most is lost without cell {lost.argmax()}, {lost.max():.2f} of {p[25]:.2f}")
    columns = [f"weights for “{WORDS[wanted]}”", "lost without the cell"]
    pictures.each_word(unseen.images[scene], columns, maps, [cells_of(scene)[word]] * 2, width=2)
    return f"For “{WORDS[wanted]}”, {'; '.join(texts)}. Cells are counted from 0, row by row."


words = ipywidgets.Dropdown(options={"a name": 1, "a relation": 2})
kept = words_kept(penalised, unseen_annotations, unseen, unseen.named, None, empty)
print(f"With the penalty, and nothing emptied, {100 * kept:.0f} of 100 names are right.")
explore(depends_on, scene=ipywidgets.IntSlider(value=1, min=0, max=29), word=words)

# %% [markdown]
# In the first model the name suffers most without the thing's cell, where the weight lies. Does the penalised one need the cell at which it looks most (or those near the thing, which see its edge)? We empty that cell for every name. Of 100 names, how many will the penalised model still get right?

# %% tags=["nbval-check-output"]
predict("15.emptied", ...)

# %% tags=["reveals"]
print("Names that are right:")
where, rows = unseen.named, {}
largest = [one.weights[where].argmax(-1) for one in (output, elsewhere)]  # of each name
anywhere = [torch.randint(25, largest[0].shape, generator=draw)] * 2
tries = {"nothing": [None] * 2, "the cell with the largest weight": largest, "a random cell": anywhere}
for name, cells in tries.items():
    pairs = zip(models.values(), cells, strict=True)
    rows[name] = [words_kept(one, unseen_annotations, unseen, where, cell, empty) for one, cell in pairs]
reveal("15.emptied", round(100 * rows["the cell with the largest weight"][1]))
table(rows, ["no penalty", "penalty"], corner="names still right after emptying", digits=2)

# %% [markdown]
# Without the penalty, most names are lost with the cell that has the largest weight. With it, in this model, that cell matters no more than a random one. So when does the penalised model read the thing: at the start, in the mean annotation; one word before the name; or at the name? We empty the thing's cell everywhere, then in one of these places alone, for five seeds of each model.

# %%
ways = {"thing": "everywhere", "start": "only in the mean"}
ways |= {"look_before": "only one word before the name", "look": "only at the name"}
lost = {way: {} for way in ways.values()}
for setup in ("no penalty", "penalty 0.01"):
    whole, *kept = runs("emptied", setup, ["whole", *ways]).T  # 5 each
    for way, left in zip(lost, kept, strict=True):
        lost[way][setup] = 1 - left / whole
    print(f"{setup}, nothing emptied: names right in five runs:", whole)
plots.dots(
    lost, "share of right names lost when the thing's cell is emptied; 600 steps, five seeds", xlim=(-0.08, 1.03)
)

# %% [markdown]
# Without the penalty, names are lost mainly when the thing's cell is empty *at the name*, where the weight lies. With it, only 0.28 to 0.57 of the names are right at all, and four of five runs lose more of these *one word earlier* (0.37 to 0.82): at the name, the state already holds the thing. So a map says where a context came from, but not *necessarily* what a word depends on.
#
# And a relation, such as "below"? Choose it in the menu above. Does it need the thing named before it, the one named after, or both? We ask captioners trained twice as long, at half the rate, on up to four things.

# %% tags=["nbval-check-output"]
predict("15.relation", ...)

# %% tags=["reveals"]
ways = {"whole": "nothing", "random": "a random cell", "largest": "the cell with the largest weight"}
ways |= {"before": "the thing named before", "after": "the thing named after"}
*kept, on_before, on_after = runs("relations", "soft", [*ways, "on_before", "on_after"]).T  # 5 each
marks = {way: {"right": found_by_seed} for way, found_by_seed in zip(ways.values(), kept, strict=True)}
guess = "guessing", [10 / 25] * 5  # of 25 pairs of rows, 10 are “above”
plots.dots(
    marks, "share of relations still right after emptying…; 1,200 steps, up to four things, five seeds", guess=guess
)
before, after = (marks[f"the thing named {way}"]["right"].mean() for way in ("before", "after"))
reveal("15.relation", "before" if before < after else "after")
print("weights on the things:", f"{on_before.mean():.2f} before, {on_after.mean():.2f} after; equal weights: 0.04")

# %% [markdown]
# It needs both. In every run most relations are lost without the thing named before, which gets little weight: perhaps the state has kept it. (Fewer are right than by guessing, only partly because captions end early.)
#
# ## Draw one cell
#
# **Hard attention** reads one annotation $a_s$ alone, drawn with the weights as probabilities. They are learned by REINFORCE (lesson 08): the reward is the word's log probability (the paper's is the caption's), $b$ a moving mean of past rewards (equations 11, 12; our code adds their entropy term).
#
# $$s \sim \alpha \qquad \hat z = \beta\, a_s \qquad \text{loss} = -\log p(y \mid \hat z) - \big(\log p(y \mid \hat z) - b\big) \log \alpha_s$$
#
# No gradient flows through the bracket. We train a copy of our first captioner for 50 more steps, with one drawn cell per word; a ring marks it. Does it lie on the thing?


# %%
drawing = package.Captioner()  # the same model, which can also draw a cell
drawing.load_state_dict(model.state_dict())
fit(drawing, annotations, training, steps=50, hard=1.0)
scene, length = 1, 5
with torch.no_grad():
    draws = [drawing(unseen_annotations, unseen.given, hard=True, draw=draw) for _ in range(2)]
words = [WORDS[word] for word in unseen.wanted[scene, :length]]
rows = {f"draw {number}": one.weights[scene, :length] for number, one in enumerate(draws, 1)}
drawn = [one.places[scene].tolist() for one in draws]
pictures.each_word(unseen.images[scene], words, rows, cells_of(scene), drawn=drawn)
on_thing = (draws[0].places == unseen.true)[unseen.named].float().mean()
print(f"share of the names for which the drawn cell is the thing's: {on_thing:.2f}")

# %% [markdown]
# For most names, the drawn cell is the thing's. But this captioner had learned to look before it drew. The paper trains with draws from the start, and reads softly for half of the pictures, which makes it more robust; we do so in half of the batches. What do these soft batches change? (When scored, both hard models read the cell with the largest weight. The last row reads the average of all cells.)


# %%
columns = ["right words", "pointing"]
setups = "soft", "hard, half of the batches", "hard, all batches", "average"
by_setup = {setup: runs("captions", setup, ["words", "pointing"]) for setup in setups}
marks = {setup: dict(zip(columns, found_by_seed.T, strict=True)) for setup, found_by_seed in by_setup.items()}
plots.dots(marks, "share; 1,200 steps, up to four things, five seeds")
soft, half, draws_alone, _ = by_setup.values()
print("right words, run by run: soft minus hard in half:", (soft - half)[:, 0])
print("hard in half of the batches minus hard in all:", (half - draws_alone)[:, 0])

# %% [markdown]
# Soft batches help hard attention in every run. With draws alone, no run points at more than a third of the things, and words are right about as often as with the average. Soft attention gets most words right in every run, twice by less than 0.01.
#
# ## So: which part of the picture is this word?
#
# The part without which the word is lost: for a name the thing itself, for a relation both things. The weights may lie there, as for the names of our first model, or elsewhere, as with the penalty.
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
# - Which part of the picture is this word? The part without which it is lost. To find it, empty one cell after another.
# - A captioner attends to annotations, one vector for each cell, with its position beside what is seen. A gate says how much of the context a word gets; ours stays open, even for "a".
# - Hard attention reads one annotation, and learns from a reward. Mixing in soft batches helped it in every run.
# - A map of weights shows where a context came from. For names, it passed our test without the penalty; with it, four of five runs failed.
# - Today's models look at pictures by attention, too: Flamingo's words attend to the picture in layers of their own (Alayrac et al. 2022), LLaVA reads its patches as if they were words (Liu et al. 2023). Whether a map explains an answer has to be tested there as well.
#
# **Exercises**: [open them](../exercises/15_captions_exercises.ipynb)
#
# **Next**: the picture lay open before the decoder. How can a network reason over what it has read and stored? [Lesson 16](16_memory_networks.ipynb) answers this.

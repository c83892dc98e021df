# %%
import ipywidgets
import torch
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.scenes import CELL, GRID, WORDS, scenes
from course_utils.data.subwords import BOS, EOS, PAD
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.lessons.lesson_15 import _maps as maps
from course_utils.models.captions import (
    Encoder,
    Output,
    fit,
    soft_loss,
    words_kept,
)

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# In lesson 14, a network looked at a picture and gave one answer. In this lesson, a network describes a picture in a sentence. Before each word it attends to the picture, so each word has a map of weights. Does this map show which part of the picture the word is about? We build such a network and look at its maps. Then we change the pictures, and see which change makes the word change.
#
# ## A picture and its caption
#
# We make our own pictures, which we call scenes, because then we know where each thing is. A scene has 5 × 5 cells, and two or three things in different columns. A thing is a handwritten digit or one of four shapes.
#
# The sentence that describes a scene is its **caption**. It names the things from left to right. Between two **names** stands a **relation**: the first thing is "above" the second, "below" it, or "beside" it if both are in the same row. Before each name stands "a", even before "eight".
#
# Which part of each scene do you look at for the last word of its caption, and which for a relation?

# %%
draw = torch.Generator().manual_seed(0)
training = scenes(3000, draw, most=3)
unseen = scenes(500, draw, part="test", most=3)  # other handwritten digits
maps.show_scenes(unseen, [1, 2, 3])

# %% [markdown]
# For the last word you look at one thing, the one furthest to the right. For a relation you have to look at two things.
#
# Our example is the scene in the middle, which has the number 2. The captions are stored as numbers, one for each word. The decoder gets the words of `given`, and should predict those of `wanted`. Which words name a thing?

# %% tags=["nbval-check-output"]
scene = 2
given = unseen.given[scene]  # T
wanted = unseen.wanted[scene]  # T
print("given ", *[WORDS[word] for word in given])
print("wanted", *[WORDS[word] for word in wanted])
print("named ", unseen.named[scene].tolist())
print("true  ", unseen.true[scene].tolist())

# %% [markdown]
# The words at the positions 1 and 4 name a thing, and there `named` is True. `true` holds the cells of these things. Cells are counted from 0, row by row, so the five is in cell 1 and the six in cell 19. The three last positions are padding.
#
# ## A vector for each cell
#
# In lesson 06, a decoder looked back at a vector for each word of a source. What takes the place of the words here? In *Show, Attend and Tell* (Xu et al. 2015) it is the parts of the picture. Each of our cells gets a vector of width E, which is called its **annotation**.
#
# A convolutional network makes the annotations. Such a network computes something from each small square of pixels, with the same weights everywhere. Ours first learns to name single things, on pictures of its own, and then it stays as it is.
#
# An annotation has 74 numbers: 64 for what is seen in the cell, five for its row, and five for its column. The paper has no such positions, but our captions speak of rows. What are the last ten numbers for the cell of the five?

# %% tags=["nbval-check-output"]
torch.manual_seed(0)
encoder = Encoder()
encoder.fit(steps=500, batch=64)
annotations = encoder(training.images)  # N L E: L = 25 cells, E = 74
unseen_annotations = encoder(unseen.images)  # N L E
of_five = unseen_annotations[scene, 1]  # E
print("row   ", of_five[64:69])
print("column", of_five[69:74])

# %% [markdown]
# The five is in row 0 and column 1, so there is a 1 at these places among zeros. In lesson 11, the position was added to the word. Here it stands beside what is seen.
#
# ## A look before each word
#
# The decoder is an **LSTM**, a recurrent network like the GRU of lesson 05. Besides its state h, it hands on a second vector, the memory c. You need not know how it computes them. Before each word, the decoder attends to the annotations, and we call this a **look**. In the drawing, where do the query, the keys and the values of a look come from?

# %%
diagrams.captioner(new=["gate"])

# %% [markdown]
# The query is the state before the word. The keys and the values come from the annotations. A look has the three steps of lesson 06, and its score is the perceptron of lesson 04. For the word t and the cell i, with the state $h_{t-1}$ and the annotation $a_i$:
#
# $$e_{ti} = v^\top \tanh(U a_i + W h_{t-1}) \qquad \alpha_t = \text{softmax}(e_t) \qquad z_t = \sum_i \alpha_{ti}\, a_i$$
#
# Only the **gate** $\beta_t$ is new. It is a number between 0 and 1 that is computed from the state, with a learned vector w and the sigmoid σ. The gate says how much of the picture the next word gets:
#
# $$\beta_t = \sigma(w^\top h_{t-1} + b) \qquad \hat z_t = \beta_t\, z_t$$
#
# Take two cells with the annotations (4, -8) and (0, 0). Their scores are equal, and $w^\top h_{t-1} + b = \ln 3$, so the gate is $\sigma(\ln 3) = 3 / (3 + 1)$, as $\sigma(x) = e^x / (e^x + 1)$. Do it on paper: what does the decoder get?

# %% tags=["nbval-check-output"]
a = torch.tensor([[4.0, -8.0], [0.0, 0.0]])  # L E
e = torch.tensor([0.0, 0.0])  # L: equal scores
alpha = e.softmax(-1)  # L
beta = torch.sigmoid(torch.tensor(3.0).log())
print("weighted sum:", alpha @ a)  # E
print("gated:       ", beta * (alpha @ a))  # E

# %% [markdown]
# Both weights are 1/2, so the weighted sum is (2, -4). The gate lets 3/4 of it pass, and the decoder gets (1.5, -3). Here is the look for a batch of B scenes. The keys $U a_i$ are the same for all words, so they are computed once and passed to each look.


# %%
class Look(nn.Module):
    def __init__(self, E, H, A):  # widths: annotation, state, perceptron
        super().__init__()
        self.key = nn.Linear(E, A)  # U
        self.query = nn.Linear(H, A, bias=False)  # W
        self.v = nn.Linear(A, 1, bias=False)
        self.gate = nn.Linear(H, 1)  # w and b

    def forward(self, a, keys, h):  # B L E, B L A, B H
        query = self.query(h).unsqueeze(1)  # B 1 A: the same for all cells
        e = self.v(torch.tanh(keys + query)).squeeze(-1)  # B L
        alpha = e.softmax(-1)  # B L
        z = (alpha.unsqueeze(-1) * a).sum(1)  # B E
        beta = torch.sigmoid(self.gate(h))  # B 1
        return beta * z, alpha, beta


# %% [markdown]
# ## The captioner
#
# The first state is computed from the mean $\bar a$ of all annotations. Then, for each word, the LSTM reads the vector $y_{t-1}$ of the previous word and the result $\hat z_t$ of the look. The logits of the next word come from the previous word, the new state and the look. Brackets join two vectors:
#
# $$h_0 = \tanh(W_0\, \bar a) \qquad h_t = \text{LSTM}([y_{t-1}; \hat z_t],\, h_{t-1}) \qquad \text{logits}_t = R \tanh(y_{t-1} + W_h h_t + W_z \hat z_t)$$


# %%
class Parts(nn.Module):
    def __init__(self, V=21, E=74, D=32, H=64):  # V words of width D, states of width H
        super().__init__()
        self.embedding = nn.Embedding(V, D)
        self.look = Look(E, H, A=64)
        self.first_state = nn.Linear(E, H)  # W_0
        self.first_memory = nn.Linear(E, H)  # the same for the memory
        self.lstm = nn.LSTMCell(D + E, H)
        self.from_state = nn.Linear(H, D)  # W_h
        self.from_look = nn.Linear(E, D, bias=False)  # W_z
        self.readout = nn.Linear(D, V)  # R


# %%
class Captioner(Parts):
    def forward(self, a, given):  # B L E, B T
        keys = self.look.key(a)  # B L A
        mean = a.mean(1)  # B E
        h = torch.tanh(self.first_state(mean))  # B H
        c = torch.tanh(self.first_memory(mean))  # B H
        steps = []
        for y in self.embedding(given).unbind(1):  # B D: one word after the other
            gated, alpha, beta = self.look(a, keys, h)
            h, c = self.lstm(torch.cat([y, gated], -1), (h, c))
            mixed = torch.tanh(y + self.from_state(h) + self.from_look(gated))  # B D
            steps.append((self.readout(mixed), alpha, beta))
        logits = [step[0] for step in steps]  # B V each
        weights = [step[1] for step in steps]
        gates = [step[2] for step in steps]
        logits = torch.stack(logits, 1)  # B T V
        weights = torch.stack(weights, 1)  # B T L
        gates = torch.stack(gates, 1)  # B T 1
        return Output(logits, weights, gates)  # a tuple whose parts have names


# %% [markdown]
# Now we train the captioner for 1,200 steps. As in lesson 05, the loss is the cross-entropy of the words, with teacher forcing: each word is predicted from the right words before it. We test the captioner in this way, too. Nothing tells it where the things are. It sees scenes and captions, and nothing else.
#
# The **pointing accuracy** is the share of the names for which the largest weight lies on the thing. A random cell would be right in 1 of 25 cases. But most cells are empty: whoever looks at any of the two or three things is right in about 40 of 100.

# %% tags=["nbval-check-output"]
predict("15.pointing", ...)

# %% tags=["reveals"]
torch.manual_seed(1)
model = Captioner()
fit(model, annotations, training, steps=1200, rate=1e-2)
with torch.no_grad():
    output = model(unseen_annotations, unseen.given)
pointing = maps.share_pointed(output, unseen, unseen.named)
print("On scenes with other handwritten digits:")
reveal("15.pointing", round(100 * pointing))

# %% [markdown]
# For nearly all names, the largest weight lies on the thing. The captioner has learned where to look from captions alone.
#
# ## Where does each word look?
#
# Now the captioner writes by itself: it begins with BOS and stops at EOS. Then we draw the map of each word. The stronger the orange, the larger the weight. Dashes frame the thing that should be named. For which words is nearly all weight in one cell? The slider shows other scenes.


# %%
@torch.no_grad()
def write(a):  # 1 L E
    words = [BOS]
    while words[-1] != EOS and len(words) < 9:
        output = model(a, torch.tensor([words]))
        next_word = output.logits[0, -1].argmax()  # the most probable one
        words.append(next_word.item())
    return [WORDS[word] for word in words[1:-1]], output.weights[0]  # T L


# %%
def written(scene):
    words, weights = write(unseen_annotations[[scene]])
    cells = maps.cells_of(unseen, scene)
    maps.show_written(unseen.images[scene], words, weights, cells)
    return f"It writes “{' '.join(words)}”, right is “{unseen.caption(scene)}”."


slider = ipywidgets.IntSlider(value=scene, min=0, max=29)
written_explorer = explore(written, scene=slider)
written_explorer

# %% [markdown]
# Nearly all weight is in one cell for the two names. For "a" and for "above", the weight is spread over several cells.
#
# <details><summary>Could the captioner read only one cell for each word?</summary>
#
# Yes, with **hard attention** (lesson 08). For each word one cell is drawn, with the weights as probabilities. The paper trains captioners in both ways. Ours get fewer words right with hard attention on average ([our measurements](../docs/measurements.md#what-glimpses-and-captions-can-do)), so we stay with soft attention.
#
# </details>
#
# ## Does the word change if the cell is emptied?
#
# A map shows where the captioner looks at a word. Does the word also depend on it? To find out, we change the picture and see what happens to the word. Such a change is called an **intervention**.
#
# Our first intervention empties a cell: the cell gets the annotation that it has in an empty scene. We empty one cell after another, each in a copy of our scene. Without which cell does "five" lose the most probability?

# %%
empty = encoder(torch.zeros(1, 50, 50))[0]  # L E


@torch.no_grad()
def probability(a, t):  # a: 1 L E, of the right word at position t
    logits = model(a, unseen.given[[scene]]).logits[0, t]  # V
    return logits.softmax(-1)[unseen.wanted[scene, t]]


a = unseen_annotations[[scene]]  # 1 L E
lost = torch.zeros(25)  # L
for cell in range(25):
    emptied = a.clone()
    emptied[0, cell] = empty[cell]
    lost[cell] = probability(a, t=1) - probability(emptied, t=1)
lost = lost.clamp(min=0)  # where the word gains, it loses nothing
maps.show_effect(unseen, scene, 1, output.weights[scene, 1], lost)

# %% [markdown]
# "five" loses the most without the cell of the five, where the weight lies. Does this hold for all names? For each name, we empty the cell with the largest weight. Most cells are empty already, so for comparison we empty the cell of another thing in the scene.

# %%
scenes_of, words_of = unseen.named.nonzero(as_tuple=True)  # where the names are
largest = output.weights[scenes_of, words_of].argmax(-1)  # a cell for each name
another = maps.cells_of_another(unseen)  # the next thing, or after the last the first


def names_right(model, cells):  # cells: one for each name, which is emptied, or None
    named = unseen.named  # N T: we count the right ones among the names
    return words_kept(model, unseen_annotations, unseen, named, cells, empty)


rows = {
    "nothing": [names_right(model, None)],
    "the cell with the largest weight": [names_right(model, largest)],
    "the cell of another thing": [names_right(model, another)],
}
table(rows, ["names still right"], corner="what is emptied", digits=2)

# %% [markdown]
# Without the cell with the largest weight, hardly any name is right: there are 14 names, so a guess would be right in about 7 of 100. Without another thing, most names stay right. So for names, our maps point to what the word depends on.
#
# ## Which things does a relation need?
#
# In the map of "above", the six has more weight than the five. But "above" is right only because of both. Does the captioner use both?
#
# Emptying a cell cannot tell us. A name should be lost without its thing. But without the six, no relation is right, because the caption should end after "five". We need a change after which we know the right word. So we move a thing to another row of its column. The five is in the top row, and we move it to the bottom row. What should the caption be now?


# %%
def move(image, cell, row):  # image: 50 50
    left = CELL * (cell % GRID)  # in pixels
    old_top = CELL * (cell // GRID)
    new_top = CELL * row
    moved = image.clone()
    moved[old_top : old_top + CELL, left : left + CELL] = 0
    thing = image[old_top : old_top + CELL, left : left + CELL]
    moved[new_top : new_top + CELL, left : left + CELL] = thing
    return moved


moved = move(unseen.images[scene], cell=1, row=4)  # your turn: make it "beside"
words, weights = write(encoder(moved[None]))
maps.show_written(moved, words, weights, [None] * len(words))
print("It writes:", *words)

# %% [markdown]
# The caption should be "a five below a six", and this is what the captioner writes. So here the relation depends on where the five is.
#
# **Your turn**: move the six in cell 19 instead, so that "beside" is right.
#
# <details><summary>Answer</summary>
#
# The five is in row 0, so the six has to move there: `move(unseen.images[scene], cell=19, row=0)`. Then "beside" is right. Our captioner still wrote "above", so it does not always follow a move.
#
# </details>
#
# One scene is no proof, so we take 1,000 scenes of up to four things, and five captioners. They were trained in advance, for as many steps as ours. We look at the first relation of each caption. It stands between two names, and we call their things "the first thing" and "the second thing". In each scene, one of the two moves to another row, so that "above" should become "below", for example.
#
# How much weight does this relation put on its two things, if nothing moves? With equal weights, each cell would get 0.04.

# %%
for called, thing in (("first", "before"), ("second", "after")):
    weight = maps.by_seed("relations", f"{thing}_weight", "soft").mean()
    print(f"mean weight on the {called} thing: {weight:.2f}")

# %% [markdown]
# On average, the first thing has less than a third of the weight of the second thing. Now the first thing moves. Of 100 relations, how many become the new, right one?

# %% tags=["nbval-check-output"]
predict("15.relation", ...)

# %% tags=["reveals"]
rows = {
    "nothing moves": maps.by_seed("relations", "whole", "soft"),
    "the first thing moves": maps.by_seed("relations", "before_new", "soft"),
    "the second thing moves": maps.by_seed("relations", "after_new", "soft"),
}
print("The mean of five captioners, when the first thing moves:")
reveal("15.relation", round(100 * rows["the first thing moves"].mean().item()))
seeds = [f"seed {seed}" for seed in range(5)]
table(rows, seeds, corner="share of first relations right", digits=2)

# %% [markdown]
# The relation follows the first thing about as often as the second thing. With four of the five seeds, most relations become the new one. With seed 3 fewer do, but there fewer relations are right even if nothing moves. So a relation depends on both things, although the first thing has little weight.
#
# How can the captioner know where the first thing is? It looked at this thing when it wrote the first name, so its state may have kept the place. We test this in two ways. Either only the look at the relation gets the changed scene, or only the earlier looks get it, together with the first state. All other looks get the scene as it was. Which looks make the relation change?

# %%
looks = {
    "moves in earlier looks": "earlier",
    "moves in the look at the relation": "look",
}
rows = {}
for text, column in looks.items():
    rows[text] = {
        "first thing": maps.by_seed("relations", f"before_{column}", "soft"),
        "second thing": maps.by_seed("relations", f"after_{column}", "soft"),
    }
plots.dots(rows, "share of relations that become the new one; 1,200 steps, five seeds")

# %% [markdown]
# With every seed, the first thing counts more in the *earlier* looks, and the second thing more in the look *at* the relation. With the weakest seed, only about four in ten relations change. So the captioner knew the place of the first thing already, from a look or from the first state, and its state has kept it. The map of the relation cannot show this.
#
# ## A map that shows something else
#
# The maps of names have passed our test so far. Do they always? Here is a training after which they do not. The paper adds a penalty to the loss, so that no part of the picture is overlooked. The weights of a word add up to 1. The **doubly stochastic** penalty asks the same of the weights of a cell, added up over all words of the caption. λ is a number that we choose, 0.01 here:
#
# $$\lambda \sum_i \Big(1 - \sum_t \alpha_{ti}\Big)^2$$
#
# Take a caption of 6 words, with EOS, about two things. Captioner A looks at each thing for three words. Captioner B gives all 25 cells the same weight for each word. Do it on paper: which of the two has the smaller sum?


# %% tags=["nbval-check-output"]
def overlooked(weights):  # B T L, or T L
    in_all = weights.sum(-2)  # B L, or L: what each cell gets over all words
    return (1 - in_all).square().sum(-1)  # one number for each caption


things_alone = torch.zeros(6, 25)  # T L
things_alone[:3, 1] = 1.0  # three words look at cell 1
things_alone[3:, 19] = 1.0  # three words look at cell 19
alike = torch.full((6, 25), 1 / 25)  # T L
print("A, at the things alone:", overlooked(things_alone))
print("B, at all cells alike: ", overlooked(alike))

# %% [markdown]
# B has the smaller sum. In A, two cells get 3 and the other 23 get 0, so the sum is 2 · 4 + 23 = 31. In B, each cell gets 6/25 = 0.24, so the sum is 25 · 0.76² = 14.44.
#
# In the paper, captions become better with the penalty (section 4.2.1). We train a second captioner as we trained the first, but with the penalty. What happens to its pointing accuracy?

# %% tags=["nbval-check-output"]
predict("15.penalty", ...)


# %% tags=["reveals"]
def with_penalty(output, wanted):
    real = (wanted != PAD).unsqueeze(-1)  # B T 1: padding does not count
    penalty = overlooked(output.weights * real).mean()
    return soft_loss(output, wanted) + 0.01 * penalty


torch.manual_seed(1)
penalised = Captioner()
fit(penalised, annotations, training, steps=1200, rate=1e-2, loss=with_penalty)
with torch.no_grad():
    penalised_output = penalised(unseen_annotations, unseen.given)
pointing = maps.share_pointed(penalised_output, unseen, unseen.named)
print("With the penalty:")
reveal("15.penalty", round(100 * pointing))

# %% [markdown]
# The pointing accuracy falls to almost nothing. Does a name no longer depend on its thing? We empty cells for all names, as before.

# %%
of_thing = unseen.true[scenes_of, words_of]  # the cell of the thing
rows = {
    "nothing": [names_right(penalised, None)],
    "the cell of another thing": [names_right(penalised, another)],
}
print("With the penalty:")
table(rows, ["names still right"], corner="what is emptied", digits=2)

# %% [markdown]
# If nothing is emptied, most names are right. Now we empty the cell of the thing itself, to which the map of its name gives hardly any weight. Of 100 names, how many are still right?

# %% tags=["nbval-check-output"]
predict("15.emptied", ...)

# %% tags=["reveals"]
print("With the penalty, the cell of the thing emptied:")
reveal("15.emptied", round(100 * names_right(penalised, of_thing)))

# %% [markdown]
# Without the cell of the thing, hardly any name is right. So the name depends on the thing, and its map does not show the thing. Where has the captioner read it? The next picture shows the maps of both captioners. Below each map stand the gate and the word that the captioner says. Which word's map shows the five with the penalty?

# %%
outputs = {"no penalty": output, "penalty": penalised_output}


def both(scene):
    return maps.show_both(unseen, scene, outputs)


slider = ipywidgets.IntSlider(value=scene, min=0, max=29)
both_explorer = explore(both, scene=slider)
both_explorer

# %% [markdown]
# With the penalty, the map of the "a" before "five" shows the five, and the map of "five" does not. Is this so for all names? And how far is the gate open, on average?

# %%
rows = {}
for name, found in outputs.items():
    before = maps.at_names(found, unseen, earlier=1)  # at the "a"
    rows[name] = [*before, *maps.at_names(found, unseen)]
columns = ['pointing at "a"', 'gate at "a"', "pointing at name", "gate at name"]
table(rows, columns, digits=2)

# %% [markdown]
# With the penalty, the largest weight lies on the thing one word before its name. At the name, the gate is less than half open on average, so what the look finds there reaches the word weakened.
#
# Does the name depend on the earlier look, then? We have trained five captioners of each kind in advance, for half as many steps. We empty the cell of the thing in all looks and in the first state, or in one look only. For which look is the share of lost names large?

# %%
places = {
    "in all looks": "thing",
    "only one word before the name": "look_before",
    "only at the name": "look",
}
rows = {}
for text, column in places.items():
    rows[text] = {
        "no penalty": maps.names_lost("no penalty", column),
        "penalty": maps.names_lost("penalty 0.01", column),
    }
plots.dots(rows, "share of right names that are lost; 600 steps, five seeds")
print("With the penalty, seed by seed:")
print("pointing accuracy    ", maps.by_seed("emptied", "pointing", "penalty 0.01"))
print("lost only at the name", rows["only at the name"]["penalty"])

# %% [markdown]
# Without the penalty, most names are lost if the thing is missing at the name, where the map shows it. With the penalty, four of the five captioners lose hardly any name there. These four lose more names if the thing is missing one word earlier, so they have read it at least partly there. Only the captioner of seed 4 still points at some things at their names, and it loses names there, too.
#
# ## So: which part of the picture is this word?
#
# It is the part that, when we change it, changes the word. For a name this is the thing, and for a relation it is both things.
#
# The map of a word shows where one look points. The gate says how strongly this look reaches the word, and what was read before is in the state. So the map of a name may show the right part, as in our first captioner, or miss it, as with the penalty. The map of a relation showed mainly one of its two things. To know which part matters, we have to change the picture.
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a letter in quotes or a number.

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
# - A captioner attends to annotations, one vector for each cell of the picture, before each word. It learns from captions alone where to look.
# - The map of a word shows where one look points, and its gate how strongly this look reaches the word. What the word depends on shows when the picture is changed.
# - Without the penalty, map and test agreed for names. A relation depends on both things, but its map showed mainly the second thing: the state had kept the other.
# - With the doubly stochastic penalty, the maps of names missed the thing in our run, and in four of five others. Yet the names depended on it.
#
# <details><summary>And today?</summary>
#
# Today's models look at pictures by attention, too. In Flamingo, words attend to the picture in layers of their own (Alayrac et al. 2022). LLaVA reads the parts of a picture as if they were words (Liu et al. 2023). Whether a map explains an answer has to be tested there as well.
#
# </details>
#
# **Exercises**: [open them](../exercises/15_captions_exercises.ipynb)
#
# **Next**: the picture lay open before the decoder. How can a network reason over what it has read and stored? [Lesson 16](16_memory_networks.ipynb) answers this.

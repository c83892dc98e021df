# %%
from typing import NamedTuple

import ipywidgets
import torch
from torch import nn
from torch.nn import functional as F

from course_lessons.lesson_15_captions import figures
from course_utils import check, predict, reveal
from course_utils.data.scenes import GRID, RELATIONS, THINGS, WORDS, scenes, things
from course_utils.data.subwords import BOS, EOS, PAD
from course_utils.figures import diagrams
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.train_model import train_model

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# In this lesson, a network describes a picture in a sentence. It attends to the picture before each word, so each word has its own map of weights. Does this map show which part of the picture the word depends on? To find out, we change the pictures and see which changes affect the word.
#
# ## A picture and its caption
#
# We make our own pictures, called scenes, so that we know where each thing is. A scene has 5 × 5 cells and contains two or three things in different columns, each a handwritten digit or one of four shapes.
#
# The sentence that describes a scene is its **caption**, which names the things from left to right. Between two **names** is a **relation**: the first thing is "above" the second, "below" it, or "beside" it if both are in the same row. Every name follows the word "a", even "eight".
#
# Which part of a scene do you need for the last word of its caption, and which for a relation?

# %%
draw = torch.Generator().manual_seed(0)
training = scenes(number=3000, draw=draw, most=3)  # at most 3 things
unseen = scenes(number=500, draw=draw, part="test", most=3)  # other digits
figures.show_scenes(unseen, [1, 2, 3])

# %% [markdown]
# For the last word, you need the rightmost thing, and for a relation, you need two things.
#
# Our example is the scene in the middle, number 2. The network reads the words in `given` and should predict the words in `wanted`. Which of these words name a thing?

# %% tags=["nbval-check-output"]
scene = 2
given = unseen.given[scene]  # T
wanted = unseen.wanted[scene]  # T
print("given ", " ".join(WORDS[word] for word in given))
print("wanted", " ".join(WORDS[word] for word in wanted))
print("named ", unseen.named[scene].tolist())
print("true  ", unseen.true[scene].tolist())

# %% [markdown]
# The words at positions 1 and 4 name things, so `named` is True there. `true` contains the cells of these things and a meaningless 0 elsewhere. Cells are counted from 0, row by row, so the five is in cell 1 and the six in cell 19. The last three positions are padding.
#
# ## A vector for each cell
#
# In lesson 06, a decoder attended to one vector for each source word. In *Show, Attend and Tell* (Xu et al., 2015), parts of the picture replace the words. Each of our cells gets a vector of dimension E, called its **annotation**.
#
# A convolutional network computes the annotations. Each of its three layers computes features from small squares of the previous layer's output, or of the pixels in the first layer. The last layer computes 64 features at each position, and `MaxPool2d` keeps each feature's largest value in a cell.
#
# An annotation has 74 entries: 64 for the cell's content, five for its row and five for its column. The paper adds no such positions, but our captions say which thing is above which.


# %%
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        first = [nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        second = [nn.Conv2d(16, 32, 3, padding=1), nn.ReLU()]
        third = [nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(5)]
        self.see = nn.Sequential(*first, *second, *third)
        self.name = nn.Linear(64, len(THINGS))  # for its own training

    @torch.no_grad()
    def forward(self, images):  # B 50 50
        few = images.unsqueeze(1).split(20)  # at a time: all take much memory
        seen = torch.cat([self.see(part).flatten(2).mT for part in few])  # B L 64
        row = torch.eye(GRID).repeat_interleave(GRID, 0)  # L 5
        column = torch.eye(GRID).repeat(GRID, 1)  # L 5
        place = torch.cat([row, column], 1).expand(len(images), -1, -1)  # B L 10
        return torch.cat([F.layer_norm(seen, (64,)), place], -1)  # B L E


# %% [markdown]
# The encoder first learns to name single things and is then frozen. `train_model` is the loop from lesson 13. Before you run the cell, write down the last ten entries for the five.


# %% tags=["nbval-check-output"]
def naming_loss(draw):
    images, which = things(64, draw)  # B 10 10, B
    seen = encoder.see(images.unsqueeze(1)).flatten(1)  # B 64
    return F.cross_entropy(encoder.name(seen), which)


torch.manual_seed(0)
encoder = Encoder()
train_model(encoder, naming_loss, seed=0, steps=500, rate=3e-3)
annotations = encoder(training.images)  # N L E: L = 25 cells, E = 74
unseen_annotations = encoder(unseen.images)  # N L E
of_five = unseen_annotations[scene, 1]  # E
print("row   ", of_five[64:69])
print("column", of_five[69:74])

# %% [markdown]
# The last ten entries show that the five is in row 0 and column 1.
#
# ## A look before each word
#
# The decoder is an **LSTM**, a recurrent network like the GRU of lesson 05 that passes on a second vector besides its state h: the memory c. Before each word, the decoder attends to the annotations once, which we call the **look** for that word. Where in the diagram do its query, keys and values come from?

# %%
diagrams.captioner(new=["gate"])

# %% [markdown]
# The query is the decoder state before the word, and the keys and values come from the annotations. A look follows the three steps from lesson 06, and its score is lesson 04's perceptron. For word t and cell i, with the decoder state $h_{t-1}$ and the annotation $a_i$:
#
# $$e_{ti} = v^\top \tanh(U a_i + W h_{t-1}) \qquad \alpha_t = \text{softmax}(e_t) \qquad z_t = \sum_i \alpha_{ti}\, a_i$$
#
# Only the **gate** $\beta_t$ is new. It is a number between 0 and 1, computed from the decoder state with a learned vector w and the sigmoid σ. The gate controls how much of this look reaches the next word:
#
# $$\beta_t = \sigma(w^\top h_{t-1} + b) \qquad \hat z_t = \beta_t\, z_t$$
#
# Take two cells with annotations (4, -8) and (0, 0). With equal scores, the weighted sum is (2, -4), which a gate of 3/4 scales to (1.5, -3), the vector that the decoder gets. The keys $U a_i$ are the same for all words, so we compute them only once.


# %%
class Look(nn.Module):
    def __init__(self, E, H, A):  # dimensions: annotation, state, perceptron
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
# The first state is computed from the mean $\bar a$ of all annotations. For each word, the LSTM then reads the previous word's vector $y_{t-1}$ and the look's result $\hat z_t$. The next word's logits are computed from the previous word, the new state and the look. Square brackets concatenate two vectors:
#
# $$h_0 = \tanh(W_0\, \bar a) \qquad (h_t, c_t) = \text{LSTM}([y_{t-1}; \hat z_t],\, (h_{t-1}, c_{t-1})) \qquad \text{logits}_t = R \tanh(y_{t-1} + W_h h_t + W_z \hat z_t)$$


# %%
class Parts(nn.Module):
    def __init__(self, V=21, E=74, D=32, H=64):  # D: word vector, H: state
        super().__init__()
        self.embedding = nn.Embedding(V, D)
        self.look = Look(E, H, A=64)
        self.first_state = nn.Linear(E, H)  # W_0
        self.first_memory = nn.Linear(E, H)  # the same for the memory
        self.lstm = nn.LSTMCell(D + E, H)
        self.from_state = nn.Linear(H, D)  # W_h
        self.from_look = nn.Linear(E, D, bias=False)  # W_z
        self.readout = nn.Linear(D, V)  # R


class Output(NamedTuple):
    logits: torch.Tensor  # B T V
    weights: torch.Tensor  # B T L
    gates: torch.Tensor  # B T 1


# %%
class Captioner(Parts):
    def forward(self, a, given, looks=None):  # B L E, B T, B T L E
        keys = self.look.key(a)  # B L A
        mean = a.mean(1)  # B E
        h = torch.tanh(self.first_state(mean))  # B H
        c = torch.tanh(self.first_memory(mean))  # B H
        words = self.embedding(given)  # B T D
        logits = []  # these lists will hold a tensor for each word
        weights = []
        gates = []
        for t in range(words.shape[1]):
            y = words[:, t]  # B D
            if looks is not None:  # in a later test, each look sees its own picture
                a = looks[:, t]  # B L E
                keys = self.look.key(a)
            gated, alpha, beta = self.look(a, keys, h)
            h, c = self.lstm(torch.cat([y, gated], -1), (h, c))
            mixed = torch.tanh(y + self.from_state(h) + self.from_look(gated))  # B D
            logits.append(self.readout(mixed))  # B V
            weights.append(alpha)  # B L
            gates.append(beta)  # B 1
        return Output(*(torch.stack(part, 1) for part in (logits, weights, gates)))


# %% [markdown]
# We train the captioner for 1,200 steps. In training and testing, we use teacher forcing (lesson 05): each word is predicted from the correct previous words. Nothing tells the captioner which cell a word is about.


# %%
def word_loss(output, wanted):  # B T
    logits = output.logits.flatten(0, 1)  # B·T V
    return F.cross_entropy(logits, wanted.flatten(), ignore_index=PAD)


def train(model, loss):
    def batch_loss(draw):
        rows = torch.randint(len(annotations), (64,), generator=draw)  # B
        output = model(annotations[rows], training.given[rows])
        return loss(output, training.wanted[rows])

    train_model(model, batch_loss, seed=0, steps=1200, rate=1e-2)


# %%
torch.manual_seed(1)
model = Captioner()
train(model, word_loss)
with torch.no_grad():
    output = model(unseen_annotations, unseen.given)
predicted = output.logits.argmax(-1)  # N T
frequent = figures.most_frequent(unseen)  # N T
rows = {
    "our captioner": figures.shares_right(predicted, unseen),
    "always the most frequent": figures.shares_right(frequent, unseen),
}
parts = ["names right", "relations right", "whole captions right"]
table(rows, parts, digits=2)

# %% [markdown]
# On scenes with new handwritten digits, the captioner gets more than nine in ten names and relations right. Is the mean of all annotations enough for this? On scenes of up to four things, we have trained five captioners with looks and five that get the mean before each word instead.

# %%
figures.with_and_without_looks()

# %% [markdown]
# With only the mean, hardly any captions are correct. Does a name's map show its thing? The **pointing accuracy** is the share of names for which the largest weight lies on the thing. A random cell would be correct 1 time in 25. But most cells are empty, and picking one of the two or three things at random succeeds about 40 times in 100.

# %% tags=["nbval-check-output"]
predict("15.pointing", ...)

# %% tags=["reveals"]
pointing = figures.share_pointed(output, unseen, unseen.named)
print("On new scenes:")
reveal("15.pointing", round(100 * pointing))

# %% [markdown]
# For nearly all names, the largest weight lies on the thing. The captioner has learned from captions where to look, although the annotations may have made this easier, because their network had learned to name things.
#
# ## Where does each word look?
#
# Now the captioner writes by itself, from BOS to EOS, and we plot each word's map. A dashed frame marks the thing to be named. Look for words with nearly all their weight in one cell, then try other scenes with the slider.


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
    words, weights = write(unseen_annotations[[scene]])  # [[ ]]: a batch of one
    cells = figures.cells_of(unseen, scene)
    figures.show_written(unseen.images[scene], words, weights, cells)
    caption = unseen.caption(scene)
    return f"It writes “{' '.join(words)}”; the correct caption is “{caption}”."


slider = ipywidgets.IntSlider(value=scene, min=0, max=29)
written_explorer = explore(written, scene=slider)
written_explorer

# %% [markdown]
# For the two names, nearly all the weight is in one cell, whereas for "a" it is spread over many cells. For "above", more than half of the weight is on the six.
#
# ## Does the word change when the cell is emptied?
#
# Does a word really depend on the cell that its map shows? We change what the captioner sees, which is called an **intervention**, and see what happens to the word. Our first intervention empties a cell by giving it the annotation that it has in an empty scene. We empty one cell at a time, each in a copy of our scene. Which emptied cell costs "five" the most probability?

# %%
empty = encoder(torch.zeros(1, 50, 50))[0]  # L E


@torch.no_grad()
def probability(a, t):  # 1 L E: how probable the correct word at position t is
    logits = model(a, unseen.given[[scene]]).logits[0, t]  # V
    right_word = unseen.wanted[scene, t]
    return logits.softmax(-1)[right_word]


a = unseen_annotations[[scene]]  # 1 L E
lost = torch.zeros(25)  # L
for cell in range(25):
    emptied = a.clone()
    emptied[0, cell] = empty[cell]
    lost[cell] = probability(a, t=1) - probability(emptied, t=1)
lost = lost.clamp(min=0)  # where the word gains, it loses nothing
figures.show_effect(unseen, scene, 1, output.weights[scene, 1], lost)

# %% [markdown]
# "five" loses the most probability when we empty the five's cell, where its weight lies. Does this hold for all names? For each name, we empty the cell with the largest weight and, for comparison, the cell of a different thing.

# %%
scenes_of, words_of = unseen.named.nonzero(as_tuple=True)  # where the names are
largest = output.weights[scenes_of, words_of].argmax(-1)  # a cell for each name
another = figures.cells_of_another(unseen)  # the next thing, the first after the last


@torch.no_grad()
def names_right(model, cells, only=None):  # the cell to empty for each name
    a = unseen_annotations[scenes_of]  # names L E
    given = unseen.given[scenes_of]  # names T
    each = torch.arange(len(a))
    changed = a.clone()
    if cells is not None:
        changed[each, cells] = empty[cells]
    looks = a.unsqueeze(1).repeat(1, given.shape[1], 1, 1)  # names T L E
    if only is None:  # in the first state and in all looks
        output = model(changed, given)
    elif only == "start":
        output = model(changed, given, looks)
    else:  # 0: in the look for the name, 1: one look earlier
        looks[each, words_of - only] = changed
        output = model(a, given, looks)
    predicted = output.logits[each, words_of].argmax(-1)
    return (predicted == unseen.wanted[scenes_of, words_of]).float().mean().item()


# %%
rows = {
    "nothing": [names_right(model, None)],
    "the cell with the largest weight": [names_right(model, largest)],
    "the cell of another thing": [names_right(model, another)],
}
table(rows, ["names still right"], corner="what is emptied", digits=2)

# %% [markdown]
# Without the cell with the largest weight, hardly any names are correct; with 14 names, guessing would succeed about 7 times in 100. When we empty a different thing's cell instead, nearly as many names stay correct as before, given the correct previous words. For names, our maps therefore point to what the word depends on.
#
# ## Which things does a relation need?
#
# In the map of "above", the six has more weight than the five, but "above" is correct only because of both. Does the captioner use both things? Emptying a cell would only show that the word is lost, because without the six, the caption should end after "five". We need a change after which we know the correct relation, so we move the five from the top row to the bottom row of its column. Before you run the cell, say what the caption should be now.


# %%
def move(image, cell, row):  # image: 50 50, a cell has 10 × 10 pixels
    left = 10 * (cell % GRID)
    old_top = 10 * (cell // GRID)
    new_top = 10 * row
    moved = image.clone()
    moved[old_top : old_top + 10, left : left + 10] = 0
    thing = image[old_top : old_top + 10, left : left + 10]
    moved[new_top : new_top + 10, left : left + 10] = thing
    return moved


moved = move(unseen.images[scene], cell=1, row=4)  # your turn: another row
new = encoder(moved.unsqueeze(0))  # 1 L E
words, weights = write(new)
figures.show_written(moved, words, weights, [None] * len(words))  # no frames
print("It writes:", " ".join(words))

# %% [markdown]
# The caption should be "a five below a six", and that is what the captioner writes. The relation therefore depends on where the five is, although its map hardly shows the five.
#
# How can the captioner know where the five is? It looked at the five when it wrote "five", so its state may have stored the position. To test this, we give one look the moved scene and everything else the old scene. In which look does the move turn "above" into "below"?


# %%
@torch.no_grad()
def relation(first, looks):  # 1 L E for the first state, 1 T L E: one for each look
    logits = model(first, unseen.given[[scene]], looks).logits[0, 2]  # V
    probabilities = logits.softmax(-1)
    return [probabilities[WORDS.index(word)] for word in RELATIONS]


old = unseen_annotations[[scene]]  # 1 L E
old_looks = old.unsqueeze(1).repeat(1, len(given), 1, 1)  # 1 T L E
rows = {
    "nothing": relation(old, old_looks),
    "the first state": relation(new, old_looks),
}
for t in range(3):
    looks = old_looks.clone()
    looks[:, t] = new  # this look alone
    word = WORDS[wanted[t]]
    rows[f'the look for "{word}"'] = relation(old, looks)
table(rows, RELATIONS, corner="what gets the moved scene", digits=2)

# %% [markdown]
# Moving the five only in the look for "five" turns "above" into "below". Moving it in the look for the relation does not, nor does moving it in the first state, where the mean of all cells hardly shows where a thing is. The captioner therefore saw where the five was when naming it, and its state stored the position.
#
# **Your turn**: move the five to the row that makes "beside" correct and rerun the last two cells. Which look decides now?
#
# <details><summary>Answer</summary>
#
# It is row 3, the six's row. Again, the look for "five" decides.
#
# </details>
#
# One scene proves little, so we use 1,000 scenes of up to four things and five captioners that were trained in advance for as many steps as ours. In each caption, we call the things before and after the first relation "the first thing" and "the second thing". In each scene, we move one of the two to a row that changes the relation. The thing moves everywhere, only in the earlier looks and the first state, or only in the look for the relation.

# %% tags=["nbval-check-output"]
predict("15.relation", ...)

# %% tags=["reveals"]
rows = figures.relations_followed("soft")
print("The mean of five captioners, when the first thing moves:")
reveal("15.relation", round(100 * rows["the first thing moves"].mean().item()))
seeds = [f"seed {seed}" for seed in range(5)]
weights = figures.weights_on_things("soft")
table(rows, seeds, corner="share of first relations right", digits=2, caption=weights)

# %% [markdown]
# When nothing moves, the captioners get 87% of the relations right on average. The relation follows the first thing about as often as the second, so it depends on both, although the first has less than a third of the second's weight.
#
# For every seed, the first thing matters more in the *earlier* looks and the second thing more in the look *for* the relation. The relation's map shows only the last of these looks.
#
# ## A map that shows something else
#
# If the state can store what an earlier look has read, can a name's map also miss its thing? We try a penalty that the paper adds to the loss so that no part of the picture is overlooked. A word's weights add up to 1. The **doubly stochastic** penalty asks each cell's weights to add up to 1 as well, over all words in the caption. λ is a number that we choose, here 0.01:
#
# $$\lambda \sum_i \Big(1 - \sum_t \alpha_{ti}\Big)^2$$
#
# Take a caption of 6 words, including EOS, about two things. Captioner A looks at each thing for three words, whereas captioner B gives all 25 cells the same weight for every word. Work out on paper which of the two has the smaller sum.


# %% tags=["nbval-check-output"]
def overlooked(weights):  # B T L, or T L
    in_all = weights.sum(-2)  # B L, or L: what each cell gets over all words
    return (1 - in_all).square().sum(-1)  # one number for each caption


things_alone = torch.zeros(6, 25)  # T L
things_alone[:3, 1] = 1.0  # three words look at cell 1
things_alone[3:, 19] = 1.0  # three words look at cell 19
alike = torch.full((6, 25), 1 / 25)  # T L
print("A, the things alone:   ", overlooked(things_alone))
print("B, all cells alike:    ", overlooked(alike))

# %% [markdown]
# Captioner B has the smaller sum. For A, two cells get 3 and the other 23 get 0, so the sum is 2 · 4 + 23 = 31. For B, each cell gets 6/25 = 0.24, so the sum is 25 · 0.76² = 14.44.
#
# In the paper, the penalty improves the captions (section 4.2.1). We train a second captioner like the first, but with the penalty.

# %% tags=["nbval-check-output"]
predict("15.penalty", ...)


# %% tags=["reveals"]
def with_penalty(output, wanted):
    real = (wanted != PAD).unsqueeze(-1)  # B T 1: padding does not count
    penalty = overlooked(output.weights * real).mean()
    return word_loss(output, wanted) + 0.01 * penalty


torch.manual_seed(1)
penalised = Captioner()
train(penalised, with_penalty)
with torch.no_grad():
    penalised_output = penalised(unseen_annotations, unseen.given)
pointing = figures.share_pointed(penalised_output, unseen, unseen.named)
print("With the penalty:")
reveal("15.penalty", round(100 * pointing))
words = penalised_output.logits.argmax(-1)
table({"with the penalty": figures.shares_right(words, unseen)}, parts, digits=2)

# %% [markdown]
# After the same number of steps, fewer captions are correct: 56% instead of 77%. But the pointing accuracy falls far more, to almost nothing, although most names are correct. Does a name no longer depend on its thing? Now we empty the thing's own cell, which hardly ever has the largest weight.

# %% tags=["nbval-check-output"]
predict("15.emptied", ...)

# %% tags=["reveals"]
of_thing = unseen.true[scenes_of, words_of]  # the cell of the thing
print("With the penalty, the cell of the thing emptied:")
reveal("15.emptied", round(100 * names_right(penalised, of_thing)))

# %% [markdown]
# Without the thing's cell, hardly any names are correct. The name therefore depends on the thing, but its map does not show the thing. Where did the captioner read it? The next plot shows both captioners' maps, with the gate and the predicted word below each map. With the penalty, which word's map shows the five?


# %%
outputs = {"no penalty": output, "penalty": penalised_output}


def both(scene):
    return figures.show_both(unseen, scene, outputs)


slider = ipywidgets.IntSlider(value=scene, min=0, max=29)
both_explorer = explore(both, scene=slider)
both_explorer

# %% [markdown]
# With the penalty, the map of the "a" before "five" shows the five, but the map of "five" does not. For all names, we now empty the thing's cell only in the first state or only in one look. Which look do the names need?


# %%
def both_right(cells, only=None):  # shares of correct names
    return [names_right(model, cells, only), names_right(penalised, cells, only)]


rows = {
    "nowhere": both_right(None),
    "everywhere": both_right(of_thing),
    "only in the first state": both_right(of_thing, only="start"),
    "only one look earlier": both_right(of_thing, only=1),  # for the "a"
    "only in the look for the name": both_right(of_thing, only=0),
}
for name, one in outputs.items():
    for_name = one.gates[scenes_of, words_of].mean()
    earlier = one.gates[scenes_of, words_of - 1].mean()  # for the "a"
    print(f"{name}: mean gate {for_name:.2f} for names, one look earlier {earlier:.2f}")
columns = ["no penalty", "penalty"]
table(rows, columns, corner="names right, thing emptied", digits=2)

# %% [markdown]
# Without the penalty, the names need the look for the name, whose map shows the thing. With the penalty, they need the look one word earlier and hardly use the look for the name. The gates agree with this: with the penalty, the look for a name is scaled to about a quarter on average.
#
# One look at a thing satisfies the penalty: with two looks, for "a" and for its name, the cell would cost $(1 - 2)^2 = 1$, and with one it costs 0. But the penalty does not say which word this look should be for. Is it the same word in other training runs? We have trained five more captioners with the penalty and five without it, for as long as ours. What share of the correct names is lost without the thing?

# %%
figures.names_by_seed()

# %% [markdown]
# Without the penalty, all five captioners point at nearly all things. With the penalty, four of the five point at almost none. These four lose most of their names when the thing is missing one look earlier, and hardly any when it is missing in the look for the name. The captioner with seed 4 does the opposite and still points at the things. With the same penalty, the look may therefore be for either word. We have not tested why it is mostly for the "a".
#
# ## Which part of the picture does this word describe?
#
# A word describes the part that, when changed on its own, changes the word. For a name, this part is the thing, and for a relation, both things.
#
# A word's map shows where one look points. The gate controls how much of this look reaches the word, and the state holds what was read before. A name's map may therefore show the right part, as in our first captioner, or miss it, as with the penalty. To know which part matters, we have to change the picture.
#
# ## Where you will meet this
#
# | here | in the paper | in PyTorch | in Hugging Face's `transformers` |
# | --- | --- | --- | --- |
# | annotations, B L E | $a_i$ | none | `last_hidden_state` of `ViTModel`, without its first vector |
# | `Look`, perceptron score | soft attention, $f_\text{att}$ | none: `nn.MultiheadAttention` uses dot products | `VisionEncoderDecoderModel`, dot products |
# | gate from the state | $\beta_t$ | none | `cross_attn_attn_gate` (Mllama): a parameter per layer, tanh |
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
# - Before each word, a captioner attends to annotations, one vector per cell. It learns from captions where to look.
# - For names, maps and tests agreed without the penalty. With the penalty, the maps missed the things in our run and in four of five others.
# - A relation depends on both things, but its map showed mainly the second: the first mattered more in earlier looks.
#
# <details><summary>And today?</summary>
#
# In Flamingo, words attend to the picture in separate layers (Alayrac et al., 2022), while LLaVA reads a picture's parts as if they were words (Liu et al., 2023). Whether a map explains an answer has to be tested in these models as well.
#
# </details>
#
# **Exercises**: [open them](../exercises/15_captions_exercises.ipynb)
#
# **Next**: our decoder could look at the whole picture at any time. [Can a network reason about what it has read and stored?](16_memory_networks.ipynb)

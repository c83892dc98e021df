# %%
import json
import re
from typing import NamedTuple

import ipywidgets
import numpy as np
import torch
from PIL import Image, ImageOps, UnidentifiedImageError
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

from course_lessons.lesson_15_captions import figures
from course_utils import check, predict, reveal
from course_utils.data.photographs import FOLDER
from course_utils.data.scenes import GRID, RELATIONS, THINGS, WORDS, scenes, things
from course_utils.data.subwords import BOS, EOS, PAD, UNK
from course_utils.figures import diagrams
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.photographs import load_captioner, load_network
from course_utils.models.train_model import train_model

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# One of our networks describes the first picture below as "a brown dog is running through the grass". What made it write "dog"?
#
# Before each word, such a network can attend to the picture anew, so every word comes with its own map of weights. It is tempting to read a map as an explanation, but does it show which part of the picture the word depends on? To find out, we change pictures and see whether the words change.
#
# The maps below it belong to a network for our own pictures. The stronger the colour of a cell, the larger its weight for the word above; a dashed outline marks the object to be named.

# %%
draw = torch.Generator().manual_seed(0)
training = scenes(number=3000, draw=draw, most=3)  # at most 3 things
unseen = scenes(number=500, draw=draw, part="test", most=3)  # other digits
figures.show_finished_captions(unseen)

# %% [markdown]
# Before "five", the network looks at the five. Before "above", it looks mostly at the six, although this word is about both. Does this map leave something out?
#
# ## A picture and its caption
#
# To test a map, we have to know where each object is, so we make our own pictures, called scenes. A scene of 5 × 5 cells contains two or three objects ("things" in the code) in different columns, each a handwritten digit or one of four shapes.
#
# The **caption** of a scene is a sentence that names the objects from left to right. Between two **names**, it states a **relation**: the first object is "above" the second, "below" it, or "beside" it if both are in the same row.
#
# We will follow scene 2, in the middle. The network reads the words in `given` and should predict the words in `wanted`. Where would you look for the last word, and where for the relation?

# %%
scene = 2
figures.show_scenes(unseen, [1, 2, 3])
given = unseen.given[scene]  # T
wanted = unseen.wanted[scene]  # T
print("given ", " ".join(WORDS[word] for word in given))
print("wanted", " ".join(WORDS[word] for word in wanted))
print("named ", unseen.named[scene].tolist())
print("true  ", unseen.true[scene].tolist())

# %% [markdown]
# For the last word, it is enough to look at the rightmost object, but for a relation, you need two objects.
#
# Only "five" and "six" name objects, so `named` is True at their positions, 1 and 4. There, `true` gives the cell that contains the object; elsewhere, its 0 is only a placeholder. The cells are counted from 0, row by row, so the five is in cell 1 and the six in cell 19. The rest is padding.
#
# ## A vector for each cell
#
# In lesson 06, a decoder attended to one vector per source word. In *Show, Attend and Tell* (Xu et al., 2015), parts of the picture take the place of the words. In our case, the parts are the cells, each of which has a vector of dimension E, called its **annotation**.
#
# A convolutional network computes the annotations. Each of its layers extracts features from small squares of the previous layer's output. The last layer has 64 features at each position, and `MaxPool2d` keeps each feature's largest value within a cell.
#
# Unlike Xu et al., we append five entries for the cell's row and five for its column, so an annotation has 74 entries.


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
# We first train this encoder to name individual objects, with `train_model` from lesson 13, and then freeze it. Before you run the code, write down the last ten entries of the annotation for the cell that contains the five.


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
# The first 1 stands for row 0 and the second for column 1, where the five is.
#
# ## Attention before each word
#
# The decoder is an **LSTM** (long short-term memory), a recurrent network like the GRU of lesson 05. From step to step, it passes on its state h and a second vector, the memory c. Before each word, the decoder attends to the annotations once, which we call its **look** for that word. Where in the diagram do the query, keys and values of a look come from?

# %%
diagrams.captioner(new=["gate"])

# %% [markdown]
# To name the next object, the decoder has to know what it has already named, so the query is its state before it writes the word. The keys and values come from the annotations. For word t and cell i, with the state $h_{t-1}$ and the annotation $a_i$, the three steps of lesson 06 use lesson 04's perceptron score:
#
# $$e_{ti} = v^\top \tanh(U a_i + W h_{t-1}) \qquad \alpha_t = \text{softmax}(e_t) \qquad z_t = \sum_i \alpha_{ti}\, a_i$$
#
# The weights sum to 1 even if a word needs nothing from the picture. The one new part, the paper's **gate** $\beta_t$, controls how much of $z_t$ is passed on. It is a number between 0 and 1, computed from the decoder state with the learned parameters w and b and the sigmoid σ:
#
# $$\beta_t = \sigma(w^\top h_{t-1} + b) \qquad \hat z_t = \beta_t\, z_t$$
#
# For two cells with annotations (4, -8) and (0, 0), scores of log 3 and 0 give weights of 3/4 and 1/4. The weighted sum is (3, -6), which a gate of 1/2 scales to (1.5, -3).


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
# The captioner starts with an overview: its first state $h_0$ is computed from the mean $\bar a$ of all annotations. For each word, the LSTM then reads the previous word's vector $y_{t-1}$ and the gated sum $\hat z_t$. The logits are computed from these two vectors and the new state $h_t$. Square brackets denote concatenation:
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
        keys = self.look.key(a)  # B L A: the same for all words
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
# We train the captioner for 1,200 steps, with teacher forcing (lesson 05) during both training and testing: each word is predicted from the correct previous words. Nothing tells the captioner which cell a word is about.


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
print("Five others, up to four objects,", figures.with_and_without_looks())
table(rows, parts, digits=2)

# %% [markdown]
# On scenes with handwritten digits that it has not seen before, the captioner gets more than 90% of the names and relations right. Without attention, given only the mean of the annotations, captioners get hardly any caption right. Does the captioner look at the object whose name it writes? We measure this by the **pointing accuracy**, the share of names for which the largest weight is on the named object. Picking one of the objects at random would be correct about 40% of the time.

# %% tags=["nbval-check-output"]
predict("15.pointing", ...)

# %% tags=["reveals"]
pointing = figures.share_pointed(output, unseen, unseen.named)
print("On new scenes:")
reveal("15.pointing", round(100 * pointing))

# %% [markdown]
# For nearly every name, the captioner points at the right object. It has learned from captions where to look, but its encoder had already been trained to name objects.
#
# ## Where does the captioner look for each word?
#
# Now the captioner writes on its own, from BOS to EOS, with a map for each word. Try other scenes with the slider.


# %%
@torch.no_grad()
def write(model, a, vocabulary):  # a: 1 L E
    words = [BOS]
    while words[-1] != EOS and len(words) <= 20:
        output = model(a, torch.tensor([words]))
        next_word = output.logits[0, -1].argmax()  # the most probable one
        words.append(next_word.item())
    written = [vocabulary[word] for word in words[1:] if word != EOS]
    return written, output.weights[0]  # T L


def written(scene):
    a = unseen_annotations[[scene]]  # [[ ]]: a batch of one
    words, weights = write(model, a, WORDS)
    cells = figures.cells_of(unseen, scene)
    figures.show_written(unseen.images[scene], words, weights, cells)
    caption = unseen.caption(scene)
    return f"It writes “{' '.join(words)}”; the correct caption is “{caption}”."


slider = ipywidgets.IntSlider(value=scene, min=0, max=29)
written_explorer = explore(written, scene=slider)
written_explorer

# %% [markdown]
# For the two names, nearly all the weight is on one cell, whereas for "a" it is spread over many cells.
#
# ## Does the word change when the cell is emptied?
#
# Does a name really depend on the cell that its map points to? The map alone cannot tell us, so we change what the captioner sees (an **intervention**). For each name, we empty the cell with the largest weight or, for comparison, the cell of another object. To empty a cell, we give it the annotation that it has in an empty scene.

# %%
scenes_of, words_of = unseen.named.nonzero(as_tuple=True)  # where the names are
largest = output.weights[scenes_of, words_of].argmax(-1)  # a cell for each name
empty = encoder(torch.zeros(1, 50, 50))[0]  # L E
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
    "the cell of another object": [names_right(model, another)],
}
table(rows, ["names still right"], corner="what is emptied", digits=2)

# %% [markdown]
# When the cell with the largest weight is emptied, hardly any names are correct; with 14 names to choose from, a guess would be right about 7% of the time. Emptying the cell of another object instead hardly costs any correct names. For names, our maps therefore do point to what the name depends on.
#
# ## Which objects does a relation depend on?
#
# In the map for "above", the six has more weight than the five, although it takes both to make "above" correct. Does the captioner use both objects? If we emptied the six's cell, the correct caption would end after "five". We need a change after which we still know the correct relation, so we move the five from the top row to the bottom row of its column. What should the caption be now?


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


moved = move(unseen.images[scene], cell=1, row=4)  # your turn: try row 3
new = encoder(moved.unsqueeze(0))  # 1 L E
words, weights = write(model, new, WORDS)
figures.show_written(moved, words, weights, [None] * len(words))  # no frames
print("It writes:", " ".join(words))

# %% [markdown]
# The caption should be "a five below a six", and that is what the captioner writes. The relation therefore depends on where the five is, although the map for the relation hardly shows it.
#
# How can the captioner know where the five is? It looked at the five when it wrote "five", so its state may have stored the position. To test this, we show the changed scene during only one look at a time. Which look turns "above" into "below"?


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
# Showing the changed scene only during the look for "five" turns "above" into "below". Showing it only during the look for the relation does not, and neither does using it only for the first state. The captioner therefore saw where the five was when naming it and stored the position in its state.
#
# One scene proves little, so we use 1,000 scenes with up to four objects and five captioners trained in advance. The first and the second object in the table are those named before and after the first relation. In each scene, we move one of the two to a row that changes the relation. The captioner sees the move throughout, only in the earlier looks and the first state, or only in the look for the relation.

# %% tags=["nbval-check-output"]
predict("15.relation", ...)

# %% tags=["reveals"]
rows = figures.relations_followed("soft")
print("The mean of five captioners, when the first object moves:")
reveal("15.relation", round(100 * rows["the first object moves"].mean().item()))
seeds = [f"seed {seed}" for seed in range(5)]
weights = figures.weights_on_things("soft")
table(rows, seeds, corner="share of first relations right", digits=2, caption=weights)

# %% [markdown]
# When nothing moves, the captioners get 87% of the relations right on average. The relation responds to a move of the first object about as often as to a move of the second, so it depends on both. Yet the first object has less than a third of the weight of the second.
#
# For each captioner, the first object matters more in the *earlier* looks and the second object more in the look *for* the relation, the only one that its map shows.
#
# ## A map that shows something else
#
# If the state can store what an earlier look has read, can the map for a name also miss the named object? We try this with a penalty that the paper adds to the loss so that no part is overlooked. The weights for each word already sum to 1; the **doubly stochastic** penalty encourages the weights of each cell to sum to 1 as well, over all the words of the caption. We set λ to 0.01:
#
# $$\lambda \sum_i \Big(1 - \sum_t \alpha_{ti}\Big)^2$$
#
# Take a caption of 6 words, including EOS, about two objects. Captioner A looks at each object for three words, whereas captioner B gives all 25 cells the same weight for every word. Work out on paper which has the smaller sum.


# %% tags=["nbval-check-output"]
def overlooked(weights):  # B T L, or T L
    in_all = weights.sum(-2)  # B L, or L: what each cell gets over all words
    return (1 - in_all).square().sum(-1)  # one number for each caption


objects_alone = torch.zeros(6, 25)  # T L
objects_alone[:3, 1] = 1.0  # three words look at cell 1
objects_alone[3:, 19] = 1.0  # three words look at cell 19
alike = torch.full((6, 25), 1 / 25)  # T L
print("A, the objects alone:  ", overlooked(objects_alone))
print("B, all cells alike:    ", overlooked(alike))

# %% [markdown]
# Captioner B has the smaller sum, although it looks at nothing in particular. For A, two cells get 3 and the other 23 get 0, so the sum is 2 · 4 + 23 = 31. For B, each cell gets 6/25 = 0.24, so the sum is 25 · 0.76² = 14.44.
#
# In the paper, the penalty improves the captions (section 4.2.1), so we train a second captioner with it. What will its maps show?

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
outputs = {"no penalty": output, "penalty": penalised_output}
figures.show_both(unseen, scene, outputs)
table({"with the penalty": figures.shares_right(words, unseen)}, parts, digits=2)

# %% [markdown]
# Fewer captions are correct: 56% instead of 77%. The pointing accuracy falls much further, almost to 0, even though most names are still correct. Below each map are its gate and the predicted word. With the penalty, the map for the "a" before "five" shows the five, but the map for "five" does not.
#
# Do names no longer depend on their objects? We now empty the cell of the object throughout ("everywhere" in the table), then only for the first state or only during one look.


# %%
of_thing = unseen.true[scenes_of, words_of]  # the cell of the thing


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
table(rows, columns, corner="names right, object emptied", digits=2)

# %% [markdown]
# With the cell of the object emptied everywhere, hardly any names are correct, so a name depends on its object even if its map does not show it. Without the penalty, the names depend on the look for the name. With it, they depend on the look one word earlier and hardly use the look for the name. The gates agree: with the penalty, the gate lets through only about a quarter of the look for a name on average.
#
# One look at an object satisfies the penalty, whereas a second one would cost $(1 - 2)^2 = 1$. But the penalty does not say for which word the captioner should look. Is it the same word in other training runs? We have trained five more captioners with the penalty and five without it. What share of the correct names is lost without the object?

# %%
figures.names_by_seed()

# %% [markdown]
# Without the penalty, all five captioners point at nearly all objects, whereas with it, four of the five point at almost none. These four lose most of their correct names when the object is missing one look earlier but hardly any when it is missing in the look for the name. The captioner with seed 4 does the opposite and still points at the objects.
#
# ## Photographs
#
# Do maps of photographs show what a word depends on? The paper's smallest data set is Flickr8k: 8,000 photographs, mostly of people and dogs, with five captions each. A network pretrained on ImageNet, EfficientNet-Lite0, computes 7 × 7 annotations of dimension 1,280 for each photograph.
#
# As in lesson 01, a `Dataset` returns one example, here a photograph's annotations and the caption in word numbers; `collate` makes a batch. Before a long training run, check that the whole pipeline can learn a few examples by heart, here eight photographs. Their file has MS COCO's format, which calls captions "annotations"; `read_flickr8k` gives Flickr8k's the same form.


# %%
def preprocess(image):  # Y X 3, from 0 to 255
    rows, columns, _ = image.shape
    side = min(rows, columns)
    top = (rows - side) // 2
    left = (columns - side) // 2
    square = image[top : top + side, left : left + side]
    channels = square.permute(2, 0, 1).unsqueeze(0).float()  # 1 3 side side
    small = F.interpolate(channels, (224, 224), mode="bilinear", antialias=True)
    return (small - 127) / 128  # 1 3 224 224


network = load_network()  # pretrained; it stays as it is


def annotate(image):  # Y X 3
    features = network(preprocess(image))  # 1 1280 7 7
    return F.layer_norm(features.flatten(2).mT, (1280,))  # 1 L E


def read(file):
    try:
        image = Image.open(file)
    except UnidentifiedImageError:
        message = f"{file} is in a format that Pillow cannot read: save it as a JPEG"
        raise ValueError(message) from None
    image = ImageOps.exif_transpose(image)  # upright, however the camera was held
    if image.mode.startswith("I"):  # grey from 0 to 65,535
        image = Image.fromarray((np.array(image) / 257).astype(np.uint8))
    image = image.convert("RGBA")
    white = Image.new("RGBA", image.size, "white")  # seen where it is transparent
    return torch.tensor(np.array(Image.alpha_composite(white, image)))[..., :3]  # Y X 3


# %%
def tokenize(caption):
    return re.findall(r"\w+", caption.lower())


class CaptionDataset(Dataset):
    def __init__(self, captions, annotations):  # annotations: L E for each id
        self.captions = captions
        self.annotations = annotations

    def __len__(self):
        return len(self.captions)

    def __getitem__(self, i):  # L E, words + 2
        caption = self.captions[i]
        words = tokenize(caption["caption"])
        numbers = [number_of.get(word, UNK) for word in words]
        words = torch.tensor([BOS, *numbers, EOS])
        return self.annotations[caption["image_id"]], words


def collate(examples):  # a list of B such pairs
    annotations, words = zip(*examples, strict=True)
    padded = pad_sequence(words, batch_first=True, padding_value=PAD)  # B T+1
    return torch.stack(annotations), padded[:, :-1], padded[:, 1:]  # given, wanted


# %%
def read_flickr8k(path):
    captions = []
    with open(path, encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            # a line is NAME.jpg#0, a tab and a caption, or NAME.jpg,caption
            parts = re.fullmatch(r"([^\t,#]+)(?:#\d)?[\t,](.*\S.*)\n?", line)
            assert parts or not line.strip(), f"{path}, line {number}: no caption"
            if parts and parts[1] != "image":  # that would be a heading
                captions.append({"image_id": parts[1], "caption": parts[2]})
    return captions


# %%
coco = json.loads((FOLDER / "captions.json").read_text(encoding="utf-8"))
images = {photo["id"]: read(FOLDER / photo["file_name"]) for photo in coco["images"]}
by_id = {number: annotate(image)[0] for number, image in images.items()}  # L E each
all_words = tokenize(" ".join(caption["caption"] for caption in coco["annotations"]))
vocabulary = ["PAD", "BOS", "EOS", "UNK", *sorted(set(all_words))]
number_of = {word: number for number, word in enumerate(vocabulary)}
photos = CaptionDataset(coco["annotations"], by_id)
# one batch of eight; for Flickr8k, as in lesson 05
batches = list(DataLoader(photos, batch_size=8, collate_fn=collate))

torch.manual_seed(0)
photo_model = Captioner(V=len(vocabulary), E=1280)
optimizer = torch.optim.Adam(photo_model.parameters(), lr=3e-3)
schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=250)
for _ in range(250):  # passes over the data
    for photo_annotations, photo_given, photo_wanted in batches:
        dropped = F.dropout(photo_annotations, 0.3)  # lesson 13
        loss = word_loss(photo_model(dropped, photo_given), photo_wanted)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(photo_model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
known = [write(photo_model, a.unsqueeze(0), vocabulary)[0] for a in by_id.values()]
print("\n".join(" ".join(words) for words in known))

# %% [markdown]
# The captioner has learned all eight captions, so the pipeline works. We ran it twice on Flickr8k's 6,000 training photographs and the words that occur at least five times. Batches had 64 captions of similar length; D was 64, H 128 and the rate 0.002. Each [run](../docs/measurements.md#what-glimpses-and-captions-can-do) of six passes took ten minutes on one core, not counting the annotations. BLEU-n compares n-grams of up to n words with all five captions of a test photograph (lesson 07).
#
# Which of our eight photographs, which it has never seen, will the Flickr8k captioner describe correctly? To try one of your own, call `caption_of(read(...))` with the path of its file.

# %%
weights, vocabulary = load_captioner()  # trained on Flickr8k, seed 0
photo_model = Captioner(V=len(vocabulary), E=1280, D=64, H=128)
photo_model.load_state_dict(weights)


def caption_of(image):
    return " ".join(write(photo_model, annotate(image), vocabulary)[0])


figures.show_captioned(images.values(), [caption_of(each) for each in images.values()])
words, weights = write(photo_model, annotate(images[7]), vocabulary)
figures.show_photo_maps(images[7], words, weights)
figures.on_flickr8k()

# %% [markdown]
# With beam search, our BLEU-4 is close to the paper's, but BLEU-1 is lower. In these runs, the mean of all annotations does about as well.
#
# Most of the six captions of test photographs fit. But our eight photographs show other things, and none of their captions is quite correct. Coffee and a moose become dogs, and so does grass alone. Of the training captions with "grass", [70% mention dogs](../docs/measurements.md#what-glimpses-and-captions-can-do), compared with 24% of all, but coffee becomes a dog without grass.
#
# Grace Hopper, a computer scientist and naval officer, is described best, except for "man". Which part made the captioner write "man", and which part "hat"? The maps tell us little: no weight exceeds 0.06. We cover the hat, the face or the uniform and compute each word's probability, given the words before it.


# %%
def cover(image, left, top, right, bottom):  # Y X 3, with the mean colour
    covered = image.clone()
    covered[top:bottom, left:right] = image.float().mean((0, 1)).byte()
    return covered


@torch.no_grad()
def probabilities(image):
    numbers = torch.tensor([vocabulary.index(word) for word in words])  # T
    given = torch.cat([torch.tensor([BOS]), numbers[:-1]]).unsqueeze(0)  # 1 T
    logits = photo_model(annotate(image), given).logits[0]  # T V
    return logits.softmax(-1)[torch.arange(len(words)), numbers]


hopper = images[7]
covers = {
    "nothing": hopper,
    "the hat": cover(hopper, 62, 6, 166, 64),
    "the face": cover(hopper, 66, 60, 166, 148),
    "the uniform": cover(hopper, 8, 140, 224, 224),
}
captions = [caption_of(image) for image in covers.values()]
figures.show_captioned(covers.values(), captions, list(covers))
rows = {name: probabilities(image) for name, image in covers.items()}
table(rows, words, corner="what is covered", digits=2)

# %% [markdown]
# Without the hat, "hat" is half as probable, although no map is strongest on the hat. Without the face, it is even less probable. "Man" is written whichever part we cover, so none of them alone decides it.
#
# One photograph proves little. In our caption of each of the 1,000 test photographs, we take the word with the largest weight on any cell, leaving out words such as "a". We cover 3 × 3 cells around this cell or elsewhere. How often is the word still the most probable one?

# %%
figures.effect_of_covers()

# %% [markdown]
# Covering the largest weight changes nearly half of the words, and a random square changes a third. But is the map for a word about *this* word? In our eight photographs, covering its largest weight changes 29% of the words, and covering that of another word 19% ([control](../docs/measurements.md#what-glimpses-and-captions-can-do)): too few words for a clear answer. Nor does the square hide the whole map, since it contains less than a third of the weight.
#
# ## Which part of the picture does this word describe?
#
# A word describes the part of the picture whose change alone changes the word. For a name in our scenes, this is the named object; for a relation, both objects; for "man", none of the parts that we covered.
#
# The map for a word shows where one look points. The gate controls how much of this look reaches the word, and the state stores what was read before. The map for a name may therefore miss the right part, or point to it although the word does not depend on it. To know which part matters, we have to change the picture.
#
# ## Where you will meet this
#
# A [public implementation](https://github.com/sgrvinod/a-PyTorch-Tutorial-to-Image-Captioning) of the paper reaches a BLEU-4 of 33 on COCO, with beam 5 and a fine-tuned ResNet-101.
#
# Flamingo attends to the picture in separate layers (Alayrac et al., 2022), while LLaVA reads parts of the picture as words (Liu et al., 2023).
#
# | here | in the paper | in PyTorch | in Hugging Face's `transformers` |
# | --- | --- | --- | --- |
# | annotations, B L E | $a_i$ | torchvision's `create_feature_extractor` | `ResNetModel` after `AutoImageProcessor` |
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
# - For names, the maps and our interventions agreed without the penalty. With it, the maps missed the objects in our run and in four of five others.
# - A relation depends on both objects, but its map showed mainly the second.
# - Captioners of photographs kept half of the words after we had covered the part where their map was strongest.
#
# **Exercises**: [open them](../exercises/15_captions_exercises.ipynb)
#
# **Next**: our decoder could look at the whole picture at any time. [Can a network reason about what it has read and stored?](16_memory_networks.ipynb)

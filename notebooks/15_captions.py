# %%
import ipywidgets
import torch

from course_utils import check, predict, reveal
from course_utils.data.measured import measured
from course_utils.data.scenes import FIRST, WORDS, say, scenes, things
from course_utils.data.subwords import EOS
from course_utils.figures import diagrams, pictures, plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.captions import Captioner, Described, Encoder, fit, score
from course_utils.translation.search import beam_search

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## A picture and its sentence
#
# Lesson 14 looked at a picture in order to give one answer. Now we want a sentence about it, word by word. Our scenes hold digits and shapes, and a caption names them from left to right, each with its height relative to the next one. Which part of each picture do you look at for its last word?

# %%
draw = torch.Generator().manual_seed(0)
training, unseen = scenes(4000, draw), scenes(500, draw, part="test")
axes = plots.axes(3, width=3.2, height=3)
for number, ax in enumerate(axes):
    first, *others = training.caption(number).split(" a ")
    pictures.picture(training.images[number], " a ".join([first + "\n", *others]), ax)

# %% [markdown]
# At the thing furthest to the right. In lesson 06 a decoder looked back at the words of the source, each of which was a vector. What are the "words" of a picture?
#
# ## A vector for each cell
#
# **Show, Attend and Tell** (Xu et al. 2015) takes them from a convolutional network that was trained beforehand to classify pictures, and then stays as it is. Ours learns to name single things of 10×10 pixels. On a scene of 50×50 pixels, the same convolutions give 5×5 vectors, one for each cell: the **annotations**. How many of the single things does it name correctly?

# %%
torch.manual_seed(0)
encoder = Encoder()
encoder.fit(steps=500)
images, which = things(1000, torch.Generator().manual_seed(1), part="test")
with torch.no_grad():
    named = encoder.name(encoder.see(images[:, None]).flatten(1)).argmax(-1)
print(f"single things named correctly: {(named == which).float().mean():.2f}")
annotations, unseen_annotations = encoder(training.images), encoder(unseen.images)
print("annotations:", tuple(annotations.shape))

# %% [markdown]
# Each annotation has 74 numbers. The first 64 say what is seen. Do they also say where? We move a scene by one cell to the right and compare.

# %% tags=["nbval-check-output"]
moved = encoder(training.images[:1].roll(10, dims=2))[0]
at, next_to_it = training.true[0, 1], training.true[0, 1] + 1
same = torch.allclose(annotations[0, at, :64], moved[next_to_it, :64], atol=1e-5)
print("the same thing in the next cell looks the same:", same)
print("row and column:", annotations[0, at, 64:], "and", moved[next_to_it, 64:])

# %% [markdown]
# What is seen does not depend on the place. As in lesson 11, the place has to be added: the last ten numbers are the row and the column, as ones among zeros.
#
# ## A decoder that looks before each word
#
# The decoder is an LSTM, a recurrent network like lesson 05's GRU with a second vector, its memory. Before each word, its state asks the annotations. Where do the keys and the values come from?

# %%
cells = "annotations: one per cell"
diagrams.attention(
    "state: before a word", cells, cells, "perceptron", then="LSTM", title="Show, Attend and Tell"
)

# %% [markdown]
# Both are the annotations $a_i$ (and no cell is padding, so the mask closes nothing). In the paper's symbols, with $E y_{t-1}$ the embedding of the word before:
#
# $$h_0 = \tanh(W \bar a + b) \qquad \alpha_t = \text{softmax}(f_\text{att}(a, h_{t-1})) \qquad \hat z_t = \beta_t \sum_i \alpha_{ti}\, a_i \qquad h_t = \text{LSTM}(E y_{t-1}, \hat z_t, h_{t-1})$$
#
# The first state is made of the mean annotation $\bar a$. The score is lesson 04's perceptron. What is new is the **gate** $\beta_t = \sigma(w^\top h_{t-1} + b)$, one number between 0 and 1: how much of the picture does the next word need? Take a state (1, 2), $w$ = (ln 3, 0), $b$ = 0 and the context (4, -8). What passes through?

# %% tags=["nbval-check-output"]
state, w, context = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 1.0]).log(), torch.tensor([4.0, -8.0])
gate = (state @ w).sigmoid()
print("gate:", gate, " what passes through:", gate * context)

# %% [markdown]
# σ(ln 3) is 3/4, so (3, -6) passes through. Now we train the decoder for 1,000 steps, with the right words before each word. It is never told where a thing stands: it sees pictures and captions alone.
#
# Afterwards we look at the largest weight at each word that names a thing. For what share of them does it lie on that thing? At random it would be 1 in 25.

# %% tags=["nbval-check-output"]
predict("15.pointing", ...)

# %% tags=["reveals"]
print("On scenes with other handwritten digits:")
torch.manual_seed(0)
model = Captioner()
losses = fit(model, annotations, training, steps=1000)
found = score(model, unseen_annotations, unseen)
reveal("15.pointing", round(found.pointing, 2))
rows = {"share": [found.words, found.captions, found.pointing, found.on_thing]}
table(rows, ["right words", "right captions", "pointing", "mean weight on the thing"], digits=2)

# %% [markdown]
# For nearly all of them, though nothing in the training asks for it: to say "seven", it helps to look at the seven. Move the sliders. What does it look at for "a", and for a relation such as "above"?

# %%
with torch.no_grad():
    told = model(unseen_annotations, unseen.given)


def word_of(scene, word):
    length = int((unseen.wanted[scene] > 2).sum())
    word = min(word, length - 1)
    weights = told.weights[scene, word]
    named = bool(unseen.named[scene, word])
    cell = int(unseen.true[scene, word]) if named else None
    name, most = WORDS[unseen.wanted[scene, word]], weights.max().item()
    pictures.attended(unseen.images[scene], weights, cell, f"word {word + 1}: {name}")
    row, column = divmod(int(weights.argmax()), 5)
    return f"{unseen.caption(scene)}. For word {word + 1}, “{name}”, the largest weight is {most:.2f}, in row {row + 1}, column {column + 1}."


word_explorer = explore(
    word_of,
    scene=ipywidgets.IntSlider(value=2, min=0, max=29),
    word=ipywidgets.IntSlider(value=1, min=0, max=10),
)
word_explorer

# %% [markdown]
# Which words need the picture at all? Here are the gate, the largest weight, and the weight on the thing that is named next, by the kind of word. Which kind do you expect to have the lowest gate?

# %%
with torch.no_grad():
    (h, c), keys, gates = model.begin(unseen_annotations), model.key(unseen_annotations), []
    for word in model.embedding(unseen.given).unbind(1):
        gates.append(model.gate(h).sigmoid()[:, 0])
        context = (model.attend(h, keys)[:, None] @ unseen_annotations)[:, 0]
        _, h, c = model.say(word, context, h, c)
gates, wanted, largest = torch.stack(gates, 1), unseen.wanted, told.weights.amax(-1)  # N T each
kinds = {"things": (wanted >= FIRST, 0), "“a”": (wanted == WORDS.index("a"), 1)}
kinds["relations"] = ((wanted > WORDS.index("a")) & (wanted < FIRST), 2)  # two words before the next name
rows = {}
for kind, (where, ahead) in kinds.items():
    scene, word = where.nonzero(as_tuple=True)
    on_next = told.weights[scene, word, unseen.true[scene, word + ahead]].mean()
    rows[kind] = [gates[where].mean(), largest[where].mean(), on_next]
rows["end"] = [gates[wanted == EOS].mean(), largest[wanted == EOS].mean(), ""]
table(rows, ["gate", "largest weight", "weight on the next thing"], corner="means", digits=2)

# %% [markdown]
# At a name nearly all weight lies on the thing. At a relation much of it lies on the next thing, whose row decides which relation it is; for “a” the weights are spread more widely. The end of a caption has the lowest gate. But “a”, which needs no picture, lets through as much as a name: nothing in the loss asks a gate to close where the context does no harm.
#
# So far, at each word, the model was given the right words before it. Lesson 07's beam search lets the model write on its own. How many of 500 whole captions are right?

# %%
described = Described(model, unseen_annotations)
written = beam_search(described, described.source, width=3, longest=14)
captions = [say(translation.tokens) for translation in written]
right = sum(said == unseen.caption(i) for i, said in enumerate(captions))
print(f"{right} of {len(captions)} captions are right as a whole")
for i in (0, 1, 2):
    print(f"\nright:   {unseen.caption(i)}\nwritten: {captions[i]}")

# %% [markdown]
# As many as when it is given the right words: it hardly ever loses its way.
#
# ## Draw one cell
#
# **Hard attention** reads a single annotation, drawn with the weights. As in lesson 08, REINFORCE teaches the weights: the log probability of the word is the reward, a running mean the baseline. To keep the noise low, the paper takes soft attention in half of the cases. What do these soft batches change?

# %%
columns = ["right words", "right captions", "pointing"]
rows = {}
for setup in ("soft", "hard, half of the batches", "hard, all batches", "soft, read hard", "average"):
    values = [
        measured("captions", value, "steps", setup=setup)[1] for value in ("words", "captions", "pointing")
    ]
    rows[setup] = [[run[0] for run in runs] for runs in values]
table(rows, columns, corner="1,200 steps, five seeds", digits=2)

# %% [markdown]
# With half of the batches soft, hard attention points well in most runs. With draws alone it hardly learns where to look: its words are no better than those of a model that reads the average: that one never looks. And a model trained with soft attention does badly if it reads only one cell, presumably because some words need a mixture.
#
# | the paper, photos of COCO (higher is better) | BLEU-4 | METEOR |
# | --- | --- | --- |
# | soft attention | 24.3 | 23.90 |
# | hard attention | 25.0 | 23.04 |
#
# ## A penalty on what is overlooked
#
# A word's weights add up to 1. The **doubly stochastic** penalty (equation 14) asks that a *cell's* weights over all words add up to 1 as well, so that nothing is overlooked:
#
# $$\lambda \sum_i \Big(1 - \sum_t \alpha_{ti}\Big)^2$$
#
# Two words have the weights (1, 0) and (0.5, 0.5). How large is the sum?

# %% tags=["nbval-check-output"]
weights = torch.tensor([[1.0, 0.0], [0.5, 0.5]])  # T L
print("each cell over time:", weights.sum(0), " penalty:", (1 - weights.sum(0)).square().sum())

# %% [markdown]
# The cells get 1.5 and 0.5, so it is 0.25 + 0.25. The authors report that it makes captions better. What happens here to the share of things that are pointed at when they are named?

# %% tags=["nbval-check-output"]
predict("15.penalty", ...)

# %% tags=["reveals"]
print("With the penalty, and without a part of the model:")
reveal("15.penalty", "a fall to almost 0")
columns = ["right words", "right captions", "pointing", "pointing one word earlier"]
rows = {}
for setup in ("soft", "penalty 0.01", "penalty 1", "no gate", "no places"):
    names = ("words", "captions", "pointing", "one_earlier")
    values = [measured("captions", value, "steps", setup=setup)[1] for value in names]
    rows[setup] = [[run[0] for run in runs] for runs in values]
table(rows, columns, corner="1,200 steps, five seeds", digits=2)

# %% [markdown]
# It falls to almost 0, with λ = 1 in all runs and with 0.01 in most. This has a price: fewer captions are right. (The authors report a gain, on photos.) Twenty-five cells share at most twelve words here, so the penalty is lowest if weights are spread out. Without a gate, the model does no worse; without rows and columns, most captions are wrong.
#
# ## Is the map an explanation?
#
# We train a captioner with the penalty and look at its map for a name. Has it seen the thing that is framed?

# %%
PENALTY, SCENE = 0.01, 2  # change them: another λ takes half a minute, another scene from 0 to 499 does not
torch.manual_seed(0)
penalised = Captioner()
fit(penalised, annotations, training, steps=1000, penalty=PENALTY)
with torch.no_grad():
    elsewhere = penalised(unseen_annotations, unseen.given)
axes = plots.axes(2, width=3, height=3)
for ax, word in zip(axes, (0, 1), strict=True):
    said = f"word {word + 1}: {WORDS[elsewhere.logits[SCENE, word].argmax()]}"
    cell = unseen.true[SCENE, 1].item()
    pictures.attended(unseen.images[SCENE], elsewhere.weights[SCENE, word], cell, said, ax)

# %% [markdown]
# At the name, the second word, the weights are spread thinly over the other cells, and yet this name is right. So what does a name depend on? We replace the annotation of one cell by that of an empty cell, and see how many names are still right. Which cell matters, for each of the two models?


# %%
picture, word = unseen.named.nonzero(as_tuple=True)
empty, rows = encoder(torch.zeros(1, 50, 50))[0], {}  # 25 74


def still_right(captioner, cell):
    """Return the share of right names if a cell is emptied for each of them."""
    changed = unseen_annotations[picture]
    if cell is not None:
        changed[torch.arange(len(cell)), cell] = empty[cell]
    with torch.no_grad():
        logits = captioner(changed, unseen.given[picture]).logits[torch.arange(len(word)), word]
    return (logits.argmax(-1) == unseen.wanted[picture, word]).float().mean()


both = {model: told, penalised: elsewhere}
rows["nothing"] = [still_right(one, None) for one in both]
for name, back in (("where the weight is", 0), ("where it was one word earlier", 1)):
    rows[name] = [
        still_right(one, seen.weights[picture, word - back].argmax(-1)) for one, seen in both.items()
    ]
anywhere = torch.randint(25, word.shape, generator=draw)
rows["a random cell"] = [still_right(one, anywhere) for one in both]
table(rows, ["no penalty", "with penalty"], corner="names right, if we empty", digits=2)

# %% [markdown]
# Without the penalty, a name depends on the cell with the largest weight (where the “a” often looks too). With the penalty, it matters no more than a random one; what matters is the cell looked at one word earlier. A map says where a context came from, not what a word depends on (Jain & Wallace 2019, for texts).
#
# ## So: which part of the picture is this word?
#
# In our first model, the part where the weight lies when the word is written. But a model may look earlier and remember.
#
# ## Questions
#
# These five questions test the goals at the top. Run a cell to see its question, then replace the dots with a letter in quotes or a number.

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
# - Which part of the picture is this word? The cells from which its context comes, if the model looks at a thing when it names it; ours does.
# - Annotations are one vector for each cell, and places have to be added to them.
# - A gate says how much of the context a word needs.
# - Hard attention reads one annotation. Soft batches in between help it to learn where to look.
# - A penalty can move the weights away from the word that needs them. So a map of weights has to be tested, not only looked at.
#
# **Exercises**: [open them](../exercises/15_captions_exercises.ipynb)
#
# **Next**: the picture lay open before the decoder. How can a network reason over what it has read and stored? [Lesson 16](16_memory_networks.ipynb) answers this.

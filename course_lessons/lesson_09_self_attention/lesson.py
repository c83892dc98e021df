# %%
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from course_lessons.shared.timing import seconds
from course_utils import check, predict, reveal
from course_utils.data.measured import by_seed, measured
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.models.train_model import train_model

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# In lesson 06, the decoder looked at all the encoder states, but a GRU had to compute these states one word at a time.
#
# Vaswani et al. (2017) do without the recurrent network. Information passes between words through attention alone: every word in a sentence looks at every word, all at once. This is the self-attention from lesson 03. We first build such a layer, then look at its two gains and three prices.
#
# ## Every word looks at every word
#
# We begin by hand, with three words from the sentence "the sad dog took the wooden ball": "sad", "dog" and "ball". We want "sad" to find the word it describes.
#
# Each word has two features: the first is 1 for something alive and -1 for something lifeless; the second is 1 for a word that describes something alive. A feature that does not apply is 0. The matrix X has a row for each word: (0, 1) for "sad", (1, 0) for "dog" and (-1, 0) for "ball".
#
# As in lesson 03, three matrices turn the words into queries, keys and values. The scores are divided by √d, as in lesson 04. Here d is the dimension of the queries and keys and, in this lesson, also the dimension D of the word vectors.
#
# $$Q = X W_Q \qquad K = X W_K \qquad V = X W_V \qquad \text{contexts} = \text{softmax}\left(\frac{Q K^\top}{\sqrt{d}}\right) V$$
#
# Our $W_Q = \begin{pmatrix} 0 & 0 \\ 6 & 0 \end{pmatrix}$ has a row for each feature. It turns "sad", (0, 1), into the query (6, 0), which asks for the first feature. The large 6 brings the weights close to 0 and 1. $W_K$ and $W_V$ leave the vectors unchanged. The loop computes one word's context at a time. Work out the three scores of "sad" on paper: which word does "sad" look at?

# %% tags=["nbval-check-output"]
X = torch.tensor([[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]])  # T D: sad, dog, ball
W_Q = torch.tensor([[0.0, 0.0], [6.0, 0.0]])  # D d
W_K = torch.eye(2)  # D d
W_V = torch.eye(2)  # D D
Q = X @ W_Q  # T d
K = X @ W_K  # T d
V = X @ W_V  # T D


def one_by_one(Q, K, V):
    contexts = torch.zeros(V.shape)  # T D
    for t in range(len(Q)):
        scores = K @ Q[t] / K.shape[1] ** 0.5  # T: each key's score, divided by √d
        weights = scores.softmax(0)  # T
        contexts[t] = weights @ V  # D
    return contexts


scores = K @ Q[0] / 2**0.5  # T
print("scores of sad: ", scores)
print("weights of sad:", scores.softmax(0))
print("context of sad:", one_by_one(Q, K, V)[0])

# %% [markdown]
# "sad" looks at "dog". The three scores of "sad" are 0, 6 / √2 = 4.24 and -4.24, so "dog" gets nearly all the weight. The context of "sad" is close to the value of "dog", (1, 0).
#
# No pass through the loop needs the result of an earlier one, so all the contexts can be computed at once. One matrix product gives all the scores, another all the contexts. PyTorch also has a function for this. Do the three agree?


# %% tags=["nbval-check-output"]
def at_once(Q, K, V):
    scores = Q @ K.T / K.shape[1] ** 0.5  # T T: a row for each query
    weights = scores.softmax(-1)  # T T
    return weights @ V  # T D


contexts = at_once(Q, K, V)
by_library = F.scaled_dot_product_attention(Q, K, V)
print("loop and product agree:   ", torch.allclose(one_by_one(Q, K, V), contexts))
print("product and library agree:", torch.allclose(contexts, by_library))

# %% [markdown]
# The loop, the product and the library agree.
#
# ## What does a layer learn to look at?
#
# So far, we have chosen the three matrices by hand. Now we write a layer that can learn them. It adds each word's own vector to its context, `x + contexts`, so that the word itself is not lost. Such a sum is a **residual connection** (lesson 03). We pass the mask, which is True where a word may look, as an argument, since it depends on the sentences.


# %%
class SelfAttention(nn.Module):
    def __init__(self, D):
        super().__init__()
        self.query = nn.Linear(D, D, bias=False)
        self.key = nn.Linear(D, D, bias=False)
        self.value = nn.Linear(D, D, bias=False)

    def weights(self, x, mask=None):  # B T D; None: every word may look anywhere
        Q = self.query(x)  # B T D: here d = D
        K = self.key(x)  # B T D
        scores = Q @ K.mT / Q.shape[-1] ** 0.5  # B T T, K.mT: B D T
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        return scores.softmax(-1)  # B T T

    def forward(self, x, mask=None):  # B T D
        contexts = self.weights(x, mask) @ self.value(x)  # B T D
        return x + contexts  # B T D


# %% [markdown]
# Can this layer learn where to look? We train it on sentences like "the sad dog took the wooden ball", in which an animal acts on an object. For each word except "the", the model has to name the noun it belongs to. "sad", "dog" and "took" belong to "dog", and "wooden" and "ball" belong to "ball". A word such as "sad" occurs only with animals, and "wooden" only with objects.


# %% tags=["nbval-check-output"]
nouns = "dog cat horse bird ball box chair stone".split()  # four animals, four objects
others = "hungry sad young found took broke wooden round new".split()
vocabulary = ["the", *nouns, *others]


def draw_sentences(draw, number=64):  # draw: the generator of random numbers
    animal, thing = torch.randint(4, (2, number), generator=draw)  # B, B
    mood, verb, look = torch.randint(3, (3, number), generator=draw)  # B, B, B
    the = torch.zeros_like(animal)  # B: "the" is number 0
    ids = [the, 9 + mood, 1 + animal, 12 + verb, the, 15 + look, 5 + thing]
    # the answers are places in `nouns`; the loss leaves out -100
    none = torch.full_like(animal, -100)  # B
    belongs_to = [none, animal, animal, animal, none, 4 + thing, 4 + thing]
    return torch.stack(ids, 1), torch.stack(belongs_to, 1)  # B T, B T


ids, belongs_to = draw_sentences(torch.Generator().manual_seed(0), number=1)
print(" ".join(vocabulary[i] for i in ids[0]))
print("nouns:", belongs_to[0])

# %% [markdown]
# `train_model`, from lesson 05, trains for 300 steps on batches of 64 sentences. What share of the words will the model get right?

# %%
torch.manual_seed(0)
embedding = nn.Embedding(len(vocabulary), 16)
layer = SelfAttention(16)
readout = nn.Linear(16, 8)  # a logit for each of eight nouns
model = nn.Sequential(embedding, layer, readout)


def loss_of_batch(draw):
    ids, belongs_to = draw_sentences(draw)  # B T, B T
    logits = model(ids).flatten(0, 1)  # B·T 8
    return F.cross_entropy(logits, belongs_to.flatten())  # it leaves out -100


@torch.no_grad()
def share_right(model):
    ids, belongs_to = draw_sentences(torch.Generator().manual_seed(1), 1000)
    asked = belongs_to != -100  # B T
    right = model(ids).argmax(-1) == belongs_to  # B T
    return right[asked].float().mean().item()


train_model(model, loss_of_batch, seed=0, steps=300, rate=0.01)
print(f"share of words with the right noun: {share_right(model):.2f}")

# %% [markdown]
# The model gets nearly every word right. Where does each word look? The two rows for "the" do not matter, because we never asked about "the".


# %%
def numbers_of(sentence):
    return torch.tensor([[vocabulary.index(word) for word in sentence.split()]])  # B T


sentence = "the sad dog took the wooden ball"
x = embedding(numbers_of(sentence))  # B T D, with B = 1
weights = layer.weights(x)[0]  # T T
plots.weights(weights, sentence.split(), sentence.split())

# %% [markdown]
# "sad", "dog" and "took" look at "dog", and "wooden" and "ball" look at "ball". The only supervision was the correct noun for each word.
#
# ## The first gain: nothing waits
#
# A **recurrent** layer computes each state from the previous one (lesson 05), so each word waits for the one before it. In self-attention, no word waits, because a few matrix products process all the words at once. We give texts of 10, 100 and 1,000 words to our layer and to `nn.RNN`, PyTorch's implementation of the plain recurrent layer from lesson 05. For which texts is our layer faster?

# %%
recurrent = nn.RNN(64, 64, batch_first=True)
layers = {"recurrent": recurrent, "self-attention": SelfAttention(64)}
rows = {}
for n in (10, 100, 1_000):
    words = torch.randn(1, n, 64)  # B T D
    rows[f"{n:,} words"] = [1_000 * seconds(each, words) for each in layers.values()]
table(rows, list(layers), corner="milliseconds", digits=2)

# %% [markdown]
# For 100 words, the recurrent layer takes several times as long as self-attention. It processes the words one after the other, whereas our layer uses a few large products. For 1,000 words, our layer has lost much of its lead, or all of it, because it compares all pairs of words. Your times may differ.
#
# ## The second gain: a short path
#
# "sad" and "dog" are neighbours, but a word may need information from far away. How many steps does that take? We compare self-attention with three other layers:
#
# - The recurrent layer passes its state on from word to word.
# - A **convolution** computes each output from k words, here 2. It multiplies each of them by a separate matrix and adds up the results. In the first layer, the two words are neighbours. The next two layers are *dilated*: their inputs are 2 and 4 positions apart.
# - **Restricted self-attention** lets each word look only at nearby words, here at most 2 positions away. This distance is its **radius**.
#
# Count how many steps it takes each of the four layers to carry information from the first of eight words to the last.

# %%
diagrams.paths()

# %% [markdown]
# Self-attention needs one step, the convolution three, and restricted self-attention four. The recurrent layer needs eight, because reading the first word into its state counts as a step. This number of steps is called the layer's **longest path** (*maximum path length* in the paper). Only in self-attention is every word one step from every other.
#
# Does this short path help a model learn, as Vaswani et al. (2017) expect? We compare self-attention with an LSTM, a relative of the GRU that also reads word by word.
#
# Each model gets three words that pair a letter with one of eight digits, then filler words and one of the letters, and has to give this letter's digit. The order does not matter: it is enough to find the word with the same letter. The number of filler words is the distance, so at distance 4, the three pairs are 5, 6 and 7 positions from the last letter.


# %%
def draw_pairs(number, distance, draw):
    # argsort of random numbers is a random order: no letter is drawn twice
    letters = torch.rand(number, 8, generator=draw).argsort(1)[:, :3]  # B 3
    digits = torch.randint(8, (number, 3), generator=draw)  # B 3
    place = torch.randint(3, (number, 1), generator=draw)  # B 1: the pair asked for
    pairs = 8 * letters + digits  # B 3: numbers 0 to 63
    filler = torch.full((number, distance), 72)  # B distance
    question = 64 + letters.gather(1, place)  # B 1: numbers 64 to 71
    ids = torch.cat([pairs, filler, question], 1)  # B T
    return ids, digits.gather(1, place)[:, 0]  # B T, B


# %% tags=["nbval-check-output"]
pair_words = [letter + digit for letter in "ABCDEFGH" for digit in "12345678"]
all_words = [*pair_words, *"ABCDEFGH", "-"]  # "-" is the filler word
ids, answers = draw_pairs(1, 4, torch.Generator().manual_seed(0))
print(" ".join(all_words[i] for i in ids[0]), "  answer:", 1 + answers[0].item())

# %% [markdown]
# We train one model of each kind for 500 steps, at all distances from 0 to 32, and test it at distance 32. Which of the two gets more answers right?


# %%
class LSTM(nn.Module):
    def __init__(self, D):
        super().__init__()
        self.lstm = nn.LSTM(D, D, batch_first=True)

    def forward(self, x):  # B T D
        states, _ = self.lstm(x)  # B T D: the state after each word
        return states


# %%
def train_on_pairs(layer_class, furthest, steps, seed):
    torch.manual_seed(seed)
    reader = layer_class(32)
    model = nn.Sequential(nn.Embedding(73, 32), reader, nn.Linear(32, 8))

    def loss_of_batch(draw):
        distance = torch.randint(furthest + 1, (1,), generator=draw).item()
        ids, answers = draw_pairs(64, distance, draw)  # B T, B
        logits = model(ids)[:, -1]  # B 8: at the last letter
        return F.cross_entropy(logits, answers)

    train_model(model, loss_of_batch, seed, steps, rate=0.01)
    return model


# %%
for layer_class in (SelfAttention, LSTM):
    trained = train_on_pairs(layer_class, furthest=32, steps=500, seed=0)
    ids, answers = draw_pairs(500, 32, torch.Generator().manual_seed(10_000))
    right = trained(ids)[:, -1].argmax(-1) == answers  # B
    print(f"{layer_class.__name__:13} {right.float().mean():.2f}")

# %% [markdown]
# Self-attention gets nearly all the answers right, the LSTM fewer than half. Is it the distance, and would more steps help? The table has five seeds, of which ours is the first. Each model is trained at all distances up to the one in the table and tested at that one.

# %% tags=["nbval-check-output"]
rows = {}
for kind in ("self-attention", "LSTM"):
    for furthest in (0, 32):
        row = []
        for steps in (100, 500, 2_000):
            where = {"setup": kind, "furthest": furthest, "steps": steps}
            row.append(by_seed("path_steps", "answers_right", **where))
        rows[f"{kind}, distance {furthest}"] = row
caption = "Share of answers right, mean and range of five seeds; a guess: 0.12"
table(rows, ["100 steps", "500 steps", "2,000 steps"], digits=2, caption=caption)

# %% [markdown]
# Self-attention learns faster, and within these 2,000 steps, it suffers less from distance. At distance 32, after 100 steps, it gets about 80% of the answers right, while the LSTM is still guessing. At distance 0, self-attention is clearly ahead at 100 steps but not later. After 500 steps, the LSTM is 51 percentage points less accurate at distance 32 than at distance 0; for self-attention, the gap is 2 points. The LSTM improves with more steps: after 2,000 at distance 32, it gets 87% right.
#
# What about layers that look only at nearby words? The distance that a stack of layers can bridge is called its **reach**. One restricted layer with radius 2 has a reach of 2, and four of them have a reach of 8. We test layers with a radius of 4 on the same task.

# %% tags=["nbval-check-output"]
predict("09.reach", ...)

# %% tags=["reveals"]
print("Lines are means of five seeds, bands go from the lowest to the highest.")
print("2,500 steps; the best of four learning rates for self-attention and of two for")
print("the LSTM and one restricted layer; one rate for two restricted layers.")
kinds = ["self-attention", "LSTM", "restricted, radius 4", "two restricted, radius 4"]
runs = {}
for kind in kinds:
    setup = "self-attention, rate 0.01" if kind == "self-attention" else kind
    distances, shares = measured("paths", "answers_right", "distance", setup=setup)
    runs[kind] = torch.tensor(shares)  # seeds, distances
at_16 = distances.index(16)
able = [kind for kind in kinds if runs[kind][:, at_16].mean() > 0.5]
reveal("09.reach", " and ".join(able))
guess = {"guess among eight digits": [1 / 8] * len(distances)}
ax = plots.axes(width=7, height=4.2)
label = "share of answers right"
plots.curves(distances, runs, "distance", label, ax=ax, theory=guess, legend="above")

# %% [markdown]
# At distance 16, self-attention and the LSTM get more than 90% of the answers right. A single restricted layer gets gradually worse, because the pairs move out of its reach one by one. From distance 4 on, even the last pair is more than 4 positions away, and the layer can only guess. From distance 8 on, two layers can only guess too: training cannot extend their reach. Even what is within reach has to be learned: at distance 4, two layers get about 60% right.
#
# ## The first price: the order is lost
#
# A recurrent network reads the words in order, self-attention all at once. Does the order matter to self-attention? We give our trained layer two sentences with the same words: "sad dog took hungry cat" and "sad cat took hungry dog". Guess how much each word's output changes.


# %% tags=["nbval-check-output"]
@torch.no_grad()
def outputs(sentence):
    x = embedding(numbers_of(sentence))[0]  # T D
    # your turn: add a line here
    return layer(x[None])[0]  # T D


first = outputs("sad dog took hungry cat")
second = outputs("sad cat took hungry dog")
place = [0, 4, 2, 3, 1]  # where each word of the first sentence is in the second
moved_back = second[place]  # T D: the second outputs, in the order of the first
change = (moved_back - first).abs().amax(-1)  # T: the largest of each word
names = "sad dog took hungry cat".split()
table({"largest change": change}, names, corner="output of", digits=2)

# %% [markdown]
# Each word keeps its output; only the positions have changed. "sad" gets the same output before "dog" as before "cat", so the model cannot tell which of the two is sad.
#
# The formula shows why. A score depends on two vectors, not on where they are, and a sum does not depend on the order of its terms. When words change places, their outputs move with them. This property is called **permutation equivariance**.
#
# **Your turn**: in `outputs`, add the number of its position to each vector, with `x = x + torch.arange(5)[:, None]`. Which outputs change now?
#
# <details><summary>Answer</summary>
#
# All five outputs change. Even a word that stays in place now attends to different vectors. Lesson 11 looks for better ways to tell a model where each word is.
#
# </details>
#
# ## The second price: later words are in sight
#
# A decoder learns to predict the next word. If every word looks at every word, the next word is in sight, and the decoder could copy it. The decoder therefore needs the causal mask from lesson 03. A wrong mask raises no error, so we test ours: a **leak test** changes words in the input and checks which outputs change. We create new layers with random matrices and change one of five words at a time. Which outputs change without a mask, and which with the causal mask?


# %% tags=["nbval-check-output"]
def causal_mask(T):
    return torch.ones(T, T, dtype=torch.bool).tril()  # T T: True up to the diagonal


torch.manual_seed(0)
x = torch.randn(1, 5, 4)  # B T D
masks = {"no mask": None, "causal mask": causal_mask(5)}  # T T
rows = {}
for name, mask in masks.items():
    tested = SelfAttention(4)
    for t in range(5):
        changed = x.clone()
        changed[0, t] += 1.0
        difference = (tested(changed, mask) - tested(x, mask)).abs()[0]  # T D
        rows[f"{name}, word {t} changed"] = difference.amax(-1) > 1e-6  # T: it moves
table(rows, ["0", "1", "2", "3", "4"], corner="output at position")

# %% [markdown]
# Without a mask, all the outputs change. With the causal mask, changing a word affects only its own output and later ones: no word sees a later one.
#
# In training, no word waits even with this mask, because the correct words are all given (teacher forcing, lesson 05). But when a decoder generates text, each new word has to wait for the words before it.
#
# ## The third price: n² pairs
#
# If each of n words looks at n words, there are n² scores. What does this cost? Our table, adapted from table 1 of Vaswani et al. (2017), shows how a layer's work grows with the number n and the dimension d of its words. It leaves out constant factors and the matrices that compute queries, keys and values. A score takes d multiplications, and multiplying a vector by a d×d matrix takes d². **Sequential steps** are steps that must wait for one another. The longest path is as in our diagram, and k is the number of words that a convolution reads at once.
#
# | layer | work | sequential steps | longest path |
# | --- | --- | --- | --- |
# | self-attention | $n^2 d$ | 1 | 1 |
# | recurrent | $n d^2$ | $n$ | $n$ |
# | convolution | $k n d^2$ | 1 | $\log_k n$, if dilated |
# | restricted self-attention | $\text{radius} \cdot n d$ | 1 | $n / \text{radius}$ |
#
# According to these formulas, self-attention should need more work than a recurrent layer for a long text, and less whenever n is smaller than d. PyTorch can count how many multiplications a layer actually needs.
#
# For this, we write the restricted layer so that it does not even score distant words. `unfold` cuts the keys and values into windows of W words, one around each word.


# %%
class RestrictedSelfAttention(SelfAttention):
    def __init__(self, D, radius):
        super().__init__(D)
        self.radius = radius

    def windows(self, vectors):  # B T D
        R = self.radius
        padded = F.pad(vectors, (0, 0, R, R))  # B T+2R D: zeros at both ends
        return padded.unfold(1, 2 * R + 1, 1)  # B T D W

    def forward(self, x):  # B T D
        B, T, D = x.shape
        queries = self.query(x)[:, :, None]  # B T 1 D
        scores = queries @ self.windows(self.key(x)) / D**0.5  # B T 1 W
        is_word = self.windows(torch.ones(1, T, 1))[:, :, 0] > 0  # 1 T W
        weights = scores.masked_fill(~is_word[:, :, None], -torch.inf).softmax(-1)
        contexts = self.windows(self.value(x)) @ weights.mT  # B T D 1
        return x + contexts[..., 0]  # B T D


@torch.no_grad()
def multiplications(layer, x):  # B T D
    with FlopCounterMode(display=False) as counter:
        layer(x)
    return counter.get_total_flops() // 2  # flops: multiplications and additions


# %% [markdown]
# Here k is 3 and the radius 4.

# %% tags=["nbval-check-output"]
predict("09.fewest", ...)

# %% tags=["nbval-check-output", "reveals"]
convolution = nn.Conv1d(512, 512, kernel_size=3, padding=1)  # B D T → B D T
four_layers = {
    "self-attention": SelfAttention(512),
    "recurrent": nn.RNN(512, 512, batch_first=True),
    "convolution": lambda x: convolution(x.mT),
    "restricted": RestrictedSelfAttention(512, radius=4),
}
rows = {}
for n in (50, 2000):
    x = torch.randn(1, n, 512)  # B T D
    counts = [multiplications(each, x) / 1e6 for each in four_layers.values()]
    rows[f"{n:,} words"] = counts
at_50 = rows["50 words"]
reveal("09.fewest", list(four_layers)[at_50.index(min(at_50))])
table(rows, list(four_layers), corner="millions of multiplications", digits=1)

# %% [markdown]
# For 50 words, self-attention needs more multiplications than the recurrent layer, not fewer. The formula in the table counts only the pairs, but the three matrices that compute queries, keys and values take $3nd^2$ multiplications. The scores take $n^2 d$, and so do the weighted sums. The recurrent layer has two matrices, one for the word and one for the state.
#
# $$\text{self-attention: } 3nd^2 + 2n^2 d \qquad\qquad \text{recurrent: } 2nd^2$$
#
# This plain recurrent layer therefore always needs fewer multiplications than self-attention. Yet it was slower for 10 and 100 words in our table of times, because steps that wait for one another cannot be merged into a few large products. The formula in the table describes the work of self-attention only if n is much larger than d. For 50 words, nearly all the work is $3nd^2$. Restricted self-attention needs the same three matrices, so it saves little for 50 words and a lot for 2,000.
#
# The n² weights also take up memory, because training keeps them for the gradients. At 4 bytes per number, 2,000 words take 16 megabytes in one layer, and 100,000 words, about a novel, take 40,000. An exercise in lesson 22 computes attention without storing all the weights.
#
# ## The layer in a language model
#
# A model that writes text, such as the one in lesson 21, learns to predict each next word. Its layer often stores the causal mask as a *buffer*, a tensor that is not trained but moves to the GPU with the model. An option adds a bias to each projection, as in GPT-2, and dropout sets random attention weights to 0 in training (lesson 13).


# %%
class CausalSelfAttention(nn.Module):
    def __init__(self, D, longest, dropout=0.1, bias=False):
        super().__init__()
        self.query = nn.Linear(D, D, bias=bias)
        self.key = nn.Linear(D, D, bias=bias)
        self.value = nn.Linear(D, D, bias=bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", causal_mask(longest))  # not trained

    def forward(self, x):  # B T D, T up to `longest`
        T = x.shape[1]
        Q = self.query(x)  # B T D
        K = self.key(x)  # B T D
        V = self.value(x)  # B T D
        scores = Q @ K.mT / Q.shape[-1] ** 0.5  # B T T
        scores = scores.masked_fill(~self.mask[:T, :T], -torch.inf)
        weights = self.dropout(scores.softmax(-1))  # B T T
        return weights @ V  # B T D


# %% [markdown]
# Does it agree with PyTorch's causal attention and pass the leak test? `eval` turns dropout off.

# %% tags=["nbval-check-output"]
torch.manual_seed(0)
causal = CausalSelfAttention(16, longest=8, bias=True).eval()
x = torch.randn(2, 7, 16)  # B T D
Q = causal.query(x)  # B T D
K = causal.key(x)  # B T D
V = causal.value(x)  # B T D
by_library = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
print("equal to the library:", torch.allclose(causal(x), by_library, atol=1e-6))

# %% tags=["nbval-check-output"]
for t in range(1, 7):
    changed = x.clone()
    changed[:, t:] += 1.0
    same = torch.allclose(causal(changed)[:, :t], causal(x)[:, :t], atol=1e-6)
    print(f"words {t} to 6 changed, earlier outputs the same: {same}")

# %% [markdown]
# The layer does both. The model adds an embedding, the residual connection and a readout. For our sentences, a plain training loop is enough.


# %%
class LanguageModel(nn.Module):
    def __init__(self, V, D=16):  # V words
        super().__init__()
        self.embedding = nn.Embedding(V, D)
        self.attention = CausalSelfAttention(D, longest=6)
        self.readout = nn.Linear(D, V)

    def forward(self, ids):  # B T
        x = self.embedding(ids)  # B T D
        x = x + self.attention(x)  # B T D: the residual connection
        return self.readout(x)  # B T V


# %%
def next_word_loss(model, ids):  # B T
    logits = model(ids[:, :-1])  # B T-1 V: the last word has no next one
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


def train_language_model(model, steps=300):
    draw = torch.Generator().manual_seed(0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    model.train()  # dropout on
    for _ in range(steps):
        ids, _ = draw_sentences(draw)  # B T
        loss = next_word_loss(model, ids)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()  # dropout off


# %% [markdown]
# Of the six words to predict in a sentence, three are drawn from three words and two from four, and one is always "the". Without seeing the next word, no model can get a mean loss below $(3 \ln 3 + 2 \ln 4) / 6 = 1.01$. We train the model twice, the second time with a mask that hides nothing. Which model gets the lower loss?

# %%
for name in ("causal mask", "nothing hidden"):
    torch.manual_seed(0)
    language_model = LanguageModel(len(vocabulary))
    if name == "nothing hidden":
        language_model.attention.mask.fill_(True)
    train_language_model(language_model)
    new_ids, _ = draw_sentences(torch.Generator().manual_seed(1), 1000)  # B T
    with torch.no_grad():
        loss = next_word_loss(language_model, new_ids)
    print(f"{name:14}  loss on new sentences {loss:.2f}")

# %% [markdown]
# With the causal mask, the loss is close to the lowest possible. With a mask that hides nothing, the loss is less than half as large, because the next word is in sight. Such a model cannot write, because then there is no next word to see.
#
# ## What if every word looks at every word at once?
#
# Each word can then learn to find the word it needs. In training, no word waits for another. Any two words are one step apart: in our task, self-attention learned faster than an LSTM, and within the first 2,000 steps, it suffered far less from distance. We pay three prices. Without positions or a causal mask, the order of the words is lost. A decoder needs a mask that hides later words. And in long texts, work and memory grow quadratically.
#
# ## Where you will meet this
#
# | here | in papers | in PyTorch | in Hugging Face's `transformers` |
# | --- | --- | --- | --- |
# | `SelfAttention` | self-attention; over an LSTM's states, *intra-attention* (Cheng et al., 2016) | `F.scaled_dot_product_attention` | `attn_implementation`: `sdpa` |
# | mask: True means "may look" | mask | `attn_mask`: True means "may look" | `attention_mask`: 1 means "may be seen" |
# | `causal_mask`, `CausalSelfAttention` | masking in the decoder | `is_causal=True` | `is_causal` in `LlamaAttention` |
# | restricted, radius on both sides | *local*, *sliding-window* | `flex_attention` with a block mask | `sliding_window` in `MistralConfig`: only back |
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a number or a letter in quotes.

# %%
check("09.q1", ...)

# %%
check("09.q2", ...)

# %%
check("09.q3", ...)

# %%
check("09.q4", ...)

# %%
check("09.q5", ...)

# %% [markdown]
# ## Recap
#
# - In self-attention, queries, keys and values come from the same words. A few matrix products compute all the contexts at once.
# - Without a mask, self-attention is permutation equivariant: when words change places, their outputs move with them.
# - A causal mask hides later words, and a leak test shows whether it does.
# - Restricted self-attention needs less work and memory for long texts, but training cannot extend its reach.
#
# **Exercises**: [open them](../exercises/09_self_attention_exercises.ipynb)
#
# **Next**: each word has one set of weights, so it gets one average. What if a word has to look for two things at once? [Lesson 10](10_multi_head_attention.ipynb) answers this.

# %% [markdown]
# Thirty people sit in a row, and each of them needs something that one of the others knows. They could pass a note along the row, and everybody adds a line. A recurrent network works like this. Or everybody could ask everybody at once.
#
# Before you read on, think of one thing that gets better and one that goes wrong. We shall find two gains and three costs.

# %%
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from course_lessons.lesson_09_self_attention import figures
from course_lessons.shared.timing import seconds
from course_utils import check, predict, reveal
from course_utils.data.measured import measured
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.models.train_model import train_model

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## Every word asks at once
#
# In **self-attention**, the words of a sentence ask one another (lesson 03). In the model of Vaswani et al. (2017), information passes between words by attention alone, without a recurrent network.
#
# Three words are enough to see how. Each has two features, 0 where they do not apply, and asks for something:
#
# | word | alive | describes something alive | asks for |
# | --- | --- | --- | --- |
# | "sad" | 0 | 1 | something alive |
# | "dog" | 1 | 0 | a word that describes it |
# | "ball" | -1 | 0 | the opposite |
#
# Three matrices turn the words, the rows of $X$, into queries, keys and values. The scores are divided by √d (lesson 04), where d is the dimension of the queries and keys, here equal to the dimension D of the word vectors.
#
# $$Q = X W_Q \qquad K = X W_K \qquad V = X W_V \qquad \text{contexts} = \text{softmax}\left(\frac{Q K^\top}{\sqrt{d}}\right) V$$
#
# Our $W_Q = \begin{pmatrix} 0 & 7 \\ 7 & 0 \end{pmatrix}$ swaps the two features: the query of "sad" becomes (7, 0), and the query of "dog" becomes (0, 7). The large 7 brings some weights close to 1. $W_K$ and $W_V$ leave the vectors as they are.
#
# The loop takes the words one at a time. Before you run it, work out the three scores of "sad" on paper: which word does it look at?

# %% tags=["nbval-check-output"]
names = ["sad", "dog", "ball"]
X = torch.tensor([[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]])  # T D
W_Q = torch.tensor([[0.0, 7.0], [7.0, 0.0]])  # D d
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
# It looks at "dog": the scores are 0, 7 / √2 = 4.95 and -4.95, so "dog" gets nearly all the weight.
#
# No pass through the loop needs the result of another, so nobody has to wait. One matrix product gives all nine scores, and a second gives all the contexts. The query of "ball" is (0, -7): what will it find?


# %% tags=["nbval-check-output"]
def at_once(Q, K, V):
    scores = Q @ K.T / K.shape[1] ** 0.5  # T T: a row for each query
    weights = scores.softmax(-1)  # T T
    return weights @ V, weights, scores  # T D, T T, T T


contexts, weights, scores = at_once(Q, K, V)
by_library = F.scaled_dot_product_attention(Q, K, V)
print("loop and products agree:   ", torch.allclose(one_by_one(Q, K, V), contexts))
print("products and library agree:", torch.allclose(contexts, by_library))
figures.all_at_once(names, X, Q, K, V, scores, weights, contexts)

# %% [markdown]
# PyTorch's function gives the same contexts, so you can forget the loop: self-attention is two products and a softmax. "Ball" finds nothing that describes it. Its weights still have to sum to 1, so "dog" and "ball" get half each, and their values cancel.
#
# ## What does a layer learn to look at?
#
# We chose these matrices by hand; here is a layer that learns its own. Its `x + contexts` is a residual connection (lesson 03), which keeps the word itself, and its mask is True where a word may look.


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
# We train it on sentences like "the sad dog took the wooden ball", in which an animal does something to an object. For each word except "the", the model has to name the noun it belongs to. "Sad", "dog" and "took" belong to "dog"; "wooden" and "ball", to "ball".


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
# `train_model`, from lesson 05, trains for 300 steps on batches of 64 sentences. How many of the words will the model get right?

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
# The model gets nearly every word right. Where does each word look? Ignore the two rows for "the": we never asked about it.


# %%
def numbers_of(sentence):
    return torch.tensor([[vocabulary.index(word) for word in sentence.split()]])  # B T


sentence = "the sad dog took the wooden ball"
x = embedding(numbers_of(sentence))  # B T D, with B = 1
weights = layer.weights(x)[0]  # T T
plots.weights(weights, sentence.split(), sentence.split())

# %% [markdown]
# Every word looks at its noun, although nobody told it where to look: the labels named only the right noun.
#
# ## Who is "it"?
#
# Does this happen in a real model that learns from text without labels? SmolLM2, the language model of lesson 22, has 270 sets of weights, called *heads*. The picture shows one head's stored weights; in this model, a word can look only at itself and earlier words. Where will "it" look, and where will "wide"?

# %% tags=["nbval-check-output"]
figures.who_is_it()

# %% [markdown]
# "It" finds "animal", and "wide" finds "street", though nobody told the model what a pronoun is. So does the head understand the sentence? Not so fast: we picked this head out of 270 because its "it" finds "animal" here. The next cell tries it on twelve other pairs of nouns, such as a dog and a road. To see whether the model uses what the head finds, we also switch the head off.

# %% tags=["nbval-check-output"]
print(figures.probability_moved())
figures.tried()

# %% [markdown]
# "It" passes: in both orders, the animal gets more weight on average than the place. The lowest weights belong to the sentences about a girl, whom nobody calls "it". "Wide" passes only half of the test. When the place comes first, it mostly finds the place, and "tired" the animal; but when the animal comes first, "wide" still finds the animal, as if the dog were too wide. Nor do this head's weights decide much: in the picture's first sentence, switching it off moves only 4.5% of the next word's probability. That is about twice the median, and 56 heads move more. Weights show where a head looks, not what comes of it; lesson 22 looks further.
#
# ## Nobody waits
#
# In a **recurrent** layer, the note goes along the row: each state is computed from the previous one (lesson 05). In self-attention, a few matrix products process all the words at once. We give texts of 10, 100 and 1,000 words to our layer and to `nn.RNN`, the plain recurrent layer from lesson 05. For which texts is our layer faster?

# %%
recurrent = nn.RNN(64, 64, batch_first=True)
layers = {"recurrent": recurrent, "self-attention": SelfAttention(64)}
rows = {}
for n in (10, 100, 1_000):
    words = torch.randn(1, n, 64)  # B T D
    rows[f"{n:,} words"] = [1_000 * seconds(each, words) for each in layers.values()]
table(rows, list(layers), corner="milliseconds", digits=2)

# %% [markdown]
# For 100 words, the recurrent layer takes several times as long as self-attention, because its words wait for one another. From 100 to 1,000 words, self-attention's time grows far more than tenfold, because it compares every pair of words. Your times may differ.
#
# ## Everybody is one step away
#
# A note that passes through thirty hands may lose what the first person wrote. How many steps lead from the first of eight words to the last? We compare self-attention with three other layers:
#
# - The recurrent layer passes its state on from word to word.
# - A **convolution** computes each output from k words, here 2, each multiplied by its own matrix. In the first of three layers, the two words are neighbours; the other layers are *dilated*, with inputs 2 and 4 positions apart.
# - **Restricted self-attention** lets each word look only at nearby words, here at most 2 positions away. This distance is its **radius**.

# %%
diagrams.paths()

# %% [markdown]
# Self-attention needs one step, the convolution three, restricted self-attention four and the recurrent layer eight, because reading the first word into its state counts as a step. This number of steps is the layer's **longest path** (*maximum path length* in the paper).
#
# Does a short path help a model learn, as Vaswani et al. (2017) expect? We compare self-attention with an LSTM, a relative of the GRU that also reads word by word. Each model reads three words that pair a letter with one of eight digits, then filler words and one of the letters. It has to give this letter's digit. The distance is the number of fillers; the order of the three pairs does not matter.


# %% tags=["nbval-check-output"]
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
# Self-attention gets nearly all the answers right, the LSTM fewer than half. Is distance the reason, and would more steps help? The lines are means of five seeds, of which ours is the first; each model is trained at all distances up to the one named, where it is tested.

# %%
runs = {}
for kind in ("self-attention", "LSTM"):
    for furthest in (0, 32):
        where = {"setup": kind, "furthest": furthest}
        steps, shares = measured("path_steps", "answers_right", "steps", **where)
        runs[f"{kind}, distance {furthest}"] = torch.tensor(shares)  # seeds, steps
guess = {"guess": [1 / 8] * len(steps)}
ax = plots.axes(width=7, height=4)
label = "share of answers right"
plots.curves(steps, runs, "steps", label, ax=ax, theory=guess, legend="above")

# %% [markdown]
# At distance 32, after 100 steps, self-attention gets about 80% of the answers right, while the LSTM is still guessing. Self-attention does more than learn faster: after 500 steps, the LSTM is 51 percentage points less accurate at distance 32 than at 0. For self-attention, the gap is 2 points. But the LSTM improves with more steps: after 2,000, it gets 87% right at distance 32.
#
# What about layers that look only at nearby words? The distance that a stack of layers can bridge is called its **reach**: one restricted layer with radius 2 has a reach of 2, four of them a reach of 8. Our restricted layer does not even score distant words: `unfold` cuts the keys and values into windows of W words, one around each word.


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


# %% [markdown]
# We test one such layer, then two, of radius 4 on the same task. What happens to them as the distance grows?

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
# ## Nobody knows who sits where
#
# So much for the gains; now the costs. The note tells you who wrote before whom. What if everybody asks at once and two people change places? We swap "dog" and "ball" in our three words. Which numbers will change?

# %% tags=["nbval-check-output"]
order = [0, 2, 1]  # sad, ball, dog
contexts, weights, _ = at_once(Q, K, V)
new_contexts, new_weights, _ = at_once(Q[order], K[order], V[order])
print(new_contexts)
figures.swapped(names, order, (contexts, weights), (new_contexts, new_weights))

# %% [markdown]
# None of them change. A score depends on two vectors, not on where they are, and a sum does not depend on the order of its terms. When words change places, their contexts move with them. This property is called **permutation equivariance**.
#
# For language, this is a disaster. We give our trained layer "sad dog took hungry cat" and "sad cat took hungry dog", in which different animals are sad.


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
for word, largest in zip("sad dog took hungry cat".split(), change, strict=True):
    print(f"{word:7} largest change {largest:.2f}")

# %% [markdown]
# Each word keeps its output: "sad" gets the same one before "dog" as before "cat", so the model cannot tell which of the two is sad.
#
# **Your turn**: in `outputs`, add to each vector the number of its position, with `x = x + torch.arange(5)[:, None]`. Which outputs change now?
#
# <details><summary>Answer</summary>
#
# All five outputs change. Even a word that stays in place now attends to different vectors. Lesson 11 looks for better ways to tell a model where each word is.
#
# </details>
#
# ## Everybody hears the answer
#
# A decoder learns to predict the next word. If every word asks every word, the next word is in sight, and the decoder could copy it. The decoder therefore needs the causal mask from lesson 03, here inside a layer for language models. The mask is a *buffer*, which is not trained but moves to the GPU with the model. A bias, which GPT-2 has, is optional, and dropout sets random weights to 0 in training (lesson 13).


# %%
def causal_mask(T):
    return torch.ones(T, T, dtype=torch.bool).tril()  # T T: True up to the diagonal


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
# A wrong mask raises no error, so we test ours: a **leak test** changes one word at a time and checks which outputs change. Which will change with the mask, and which with a mask that hides nothing? (`eval` turns dropout off.)

# %%
torch.manual_seed(0)
causal = CausalSelfAttention(16, longest=8, bias=True).eval()
unmasked = CausalSelfAttention(16, longest=8, bias=True).eval()
unmasked.mask.fill_(True)  # it hides nothing
x = torch.randn(1, 5, 16)  # B T D
Q = causal.query(x)  # B T D
K = causal.key(x)  # B T D
V = causal.value(x)  # B T D
by_library = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
print("equal to the library:", torch.allclose(causal(x), by_library, atol=1e-6))
moved = {}
for name, tested in {"nothing hidden": unmasked, "causal mask": causal}.items():
    columns = []
    for t in range(5):
        changed = x.clone()
        changed[0, t] += 1.0
        difference = (tested(changed) - tested(x)).abs()[0]  # T D
        columns.append(difference.amax(-1) > 1e-6)  # T: which outputs change
    moved[name] = torch.stack(columns, 1), range(5), range(5)
names_of_axes = {"xlabel": "word changed", "ylabel": "output that changes"}
plots.side_by_side(plots.mask, moved, **names_of_axes)

# %% [markdown]
# With nothing hidden, all the outputs change. With the causal mask, a word affects only its own output and later ones, and the picture is the mask itself: no word sees a later one. PyTorch's function has the same mask built in. Even with the mask, nobody waits in training, because the correct words are all given (teacher forcing, lesson 05). But a decoder that generates text needs each word before it can compute the next.
#
# What would a decoder without the mask learn? We add an embedding, the residual connection and a readout.


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
# Of the six words to predict in a sentence, three have three equally likely candidates each, two have four, and one is always "the". Without seeing the next word, no model can get a mean loss below $(3 \ln 3 + 2 \ln 4) / 6 = 1.01$. Which model gets the lower loss?

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
# With the causal mask, the loss is close to the lowest possible. With a mask that hides nothing, it is less than half as large, which should make you suspicious: the next word is in sight. Such a model cannot write, because then there is no next word to see.
#
# ## Thirty people, 900 questions
#
# If each of n words asks n words, there are n² scores: 9 for our three words, 4 million for 2,000 words. Table 1 of Vaswani et al. (2017), adapted here, shows how a layer's work grows with n and the dimension d. A score takes d multiplications, and multiplying a vector by a d×d matrix takes d². **Sequential steps** must wait for one another; k is the number of words that a convolution reads at once. The table leaves out constant factors and the matrices for queries, keys and values.
#
# | layer | work | sequential steps | longest path |
# | --- | --- | --- | --- |
# | self-attention | $n^2 d$ | **1** | **1** |
# | recurrent | $n d^2$ | $n$ | $n$ |
# | convolution | $k n d^2$ | 1 | $\log_k n$, if dilated |
# | restricted self-attention | $\text{radius} \cdot n d$ | 1 | $n / \text{radius}$ |
#
# According to the table, self-attention should need less work than a recurrent layer whenever n is smaller than d. Is that so? PyTorch can count the multiplications. Here k is 3 and the radius 4.


# %%
@torch.no_grad()
def multiplications(layer, x):  # B T D
    with FlopCounterMode(display=False) as counter:
        layer(x)
    return counter.get_total_flops() // 2  # flops: multiplications and additions


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
# Self-attention needs more multiplications than the recurrent layer even for 50 words. What the paper's table leaves out is what happens before anybody asks: each word is multiplied by three d×d matrices, while the recurrent layer has only two. The scores take $n^2 d$ multiplications, and so do the weighted sums.
#
# $$\text{self-attention: } 3nd^2 + 2n^2 d \qquad\qquad \text{recurrent: } 2nd^2$$
#
# For 50 words, nearly all the work is $3nd^2$; only in long texts do the pairs decide, where restricted self-attention saves a lot. The recurrent layer always needs fewer multiplications, and yet it was slower for 100 words: steps that wait for one another cannot be merged into a few large products. An LSTM, with eight matrices, needs more than self-attention until n exceeds 2.5d.
#
# Training also keeps the n² weights for the gradients. At 4 bytes each, 2,000 words take 16 megabytes in one layer; the 100,000 words of a novel take 40 gigabytes. An exercise in lesson 22 avoids storing them all.
#
# ## What if every word looks at every word at once?
#
# Then each word can learn to find the word it needs. Nobody waits in training, and everybody is one step away: in our task, self-attention learned faster than an LSTM, and within the first 2,000 steps, it suffered far less from distance. It costs us three things that the note in the row gave us for nothing. Nobody knows who sits where, unless we tell the model. Everybody hears the answer, unless a mask hides later words. And thirty people ask 900 questions: in long texts, work and memory grow quadratically. How many of these had you thought of?
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
# - In self-attention, queries, keys and values come from the same words. Two matrix products and a softmax compute all the contexts at once.
# - Without a mask, self-attention is permutation equivariant: when words change places, their outputs move with them.
# - A causal mask hides later words, and a leak test shows whether it does.
# - Restricted self-attention needs less work and memory for long texts, but training cannot extend its reach.
#
# **Exercises**: [open them](../exercises/09_self_attention_exercises.ipynb)
#
# **Next**: each word has one set of weights, so it gets one average. What if a word has to look for two things at once? [Lesson 10](10_multi_head_attention.ipynb) answers this.

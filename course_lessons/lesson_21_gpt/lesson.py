# %%
import math
import time

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from course_lessons.lesson_21_gpt import figures
from course_utils import check, predict, reveal
from course_utils.data.measured import by_seed
from course_utils.data.recall import WORDS, recall_next
from course_utils.data.tales import CHARACTERS, decode, encode, letters_to_copy, tales
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.models.gpt import FeedForward, SubLayer
from course_utils.models.train_model import train_model

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# The models that answer our questions every day write text piece by piece: they predict the next piece, append it, and predict again. We build such a model from the parts of lesson 12, train it and let it write. Then we find out how a model can copy something it has read only once.
#
# ## Half a Transformer
#
# The Transformer of lesson 12 translates: an encoder reads the source, and a decoder writes the target. But most text has no translation. For learning from such text, half a Transformer is enough, and each half has become a model of its own:
#
# - **BERT** (Devlin et al. 2019) keeps the encoder. Every word sees all the others, and the model learns to guess words that we hide.
# - **GPT** (Radford et al. 2018) keeps the decoder, without the attention to a source. Every word sees only itself and earlier ones, and the model learns to predict the next word.
#
# In this lesson, the two differ only in the mask of their attention and in what they learn to guess.
#
# Here is lesson 10's multi-head attention once more, with one addition: a place to keep keys and values, the **cache**, which we need when the model writes. It is a list, empty at first, to which each call adds the keys and values of what it reads. With `None`, nothing is kept. In the comments, B is the number of texts, D the width of a word and H the number of heads. T positions are read now, and S counts those in the cache as well.


# %%
class MultiHeadAttention(nn.Module):
    def __init__(self, D, H):
        super().__init__()
        self.H = H
        self.W_Q = nn.Linear(D, D)
        self.W_K = nn.Linear(D, D)
        self.W_V = nn.Linear(D, D)
        self.W_O = nn.Linear(D, D)

    def forward(self, x, mask, cache=None):  # B T D, T S
        q = self.W_Q(x).unflatten(-1, (self.H, -1)).transpose(1, 2)  # B H T d
        k = self.W_K(x).unflatten(-1, (self.H, -1)).transpose(1, 2)  # B H T d
        v = self.W_V(x).unflatten(-1, (self.H, -1)).transpose(1, 2)  # B H T d
        if cache:  # keys and values of what has been read
            k = torch.cat([cache[0], k], dim=2)  # B H S d
            v = torch.cat([cache[1], v], dim=2)  # B H S d
        if cache is not None:
            cache[:] = k, v
        scores = q @ k.mT / q.shape[-1] ** 0.5  # B H T S
        self.weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)  # B H T S
        context = self.weights @ v  # B H T d
        return self.W_O(context.transpose(1, 2).flatten(2))  # B T D


# %% [markdown]
# A model that writes appends one word after another. Which half can keep what it has computed for the earlier words? We give the attention four words, and then the same four words and a fifth. In which model do the vectors of the first four words stay the same?

# %% tags=["nbval-check-output"]
torch.manual_seed(0)
attention = MultiHeadAttention(D=8, H=2)
x = torch.randn(1, 5, 8)  # B T D: five words
all_words = torch.ones(5, 5, dtype=torch.bool)  # T T
masks = {"BERT": all_words, "GPT": all_words.tril()}  # tril: itself and earlier ones
for name, mask in masks.items():
    alone = attention(x[:, :4], mask[:4, :4])  # B 4 D
    with_fifth = attention(x, mask)[:, :4]  # B 4 D
    change = (with_fifth - alone).abs().max().item()
    print(f"{name:4}  largest change: {change:.2f}")

# %% [markdown]
# In GPT these vectors stay the same. In BERT they change, because the four words now also look at the fifth. The next layer computes its keys and values from these vectors. A GPT can therefore keep them, while BERT would have to recompute them for each new word.
#
# ## The model
#
# We build a decoder whose words are single characters, because then a small model is enough. Only its causal self-attention carries information from one character to another.

# %%
diagrams.decoder_only()

# %% [markdown]
# A layer has two sub-layers, attention and feed-forward. `SubLayer` puts a norm in front of each and adds a residual connection. We built the classes `SubLayer` and `FeedForward` in lesson 12 and import them here.


# %%
class Layer(nn.Module):
    def __init__(self, D, H, F):  # width, number of heads, of hidden units
        super().__init__()
        self.attention = SubLayer(D, MultiHeadAttention(D, H))
        self.feed_forward = SubLayer(D, FeedForward(D, F))

    def forward(self, x, mask, cache=None):  # B T D, T S
        x = self.attention(x, mask, cache)  # B T D
        return self.feed_forward(x)  # B T D


# %% [markdown]
# Each character enters as its row of a matrix E, multiplied by √D, plus the vector of its position, as in lesson 12. At the end, the readout compares the result $h_t$ of the last layer with the rows of E. This gives one logit for each of the V characters in the vocabulary:
#
# $$x_t = \sqrt{D}\, E_{c_t} + P_t \qquad\qquad \text{logits}_t = E\, \text{norm}(h_t)$$
#
# We call the model with the 5 characters of "a Vom". How many predictions of a next character does it make?


# %%
def sinusoidal_positions(T, D):
    position = torch.arange(T)[:, None]  # T 1
    angle = position * 10_000 ** (-torch.arange(0, D, 2) / D)  # T D/2
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)  # T D


# %% tags=["nbval-check-output"]
class GPT(nn.Module):
    def __init__(self, V, D=48, H=4, F=192, N=2, longest=64):  # N layers
        super().__init__()
        self.D = D
        self.embedding = nn.Embedding(V, D)
        nn.init.normal_(self.embedding.weight, std=D**-0.5)  # as in lesson 12
        self.P = sinusoidal_positions(longest, D)  # T D, not trained
        self.layers = nn.ModuleList(Layer(D, H, F) for _ in range(N))
        self.norm = nn.LayerNorm(D)

    def forward(self, ids, cache=None):  # B T, a list for each layer
        start = 0  # how many positions have been read
        if cache and cache[0]:
            start = cache[0][0].shape[2]  # of the first layer's keys, B H S d
        end = start + ids.shape[1]
        x = self.embedding(ids) * self.D**0.5 + self.P[start:end]  # B T D
        mask = torch.ones(end - start, end, dtype=torch.bool).tril(start)  # T S
        for i, layer in enumerate(self.layers):
            x = layer(x, mask, cache[i] if cache else None)  # B T D
        return self.norm(x) @ self.embedding.weight.T  # B T V


torch.manual_seed(0)
model = GPT(V=len(CHARACTERS))
ids = encode("a Vom")[None]  # B T: one text
print("logits    ", tuple(model(ids).shape))
print("parameters", sum(weights.numel() for weights in model.parameters()))

# %% [markdown]
# The model makes 5 predictions, one after each character. If we also know the sixth character, we know the right answer to all 5. The text then gives 5 examples to learn from, and nobody has to label them.
#
# ## How well can anyone predict?
#
# To find out how good a model can be, we use tales generated by known rules, which say how probable each character is. Every tale is about an animal with a randomly drawn name.
#
# A character of probability $p$ has a **surprise** of $-\log_2 p$ **bits**. One of eight equally probable characters has a surprise of 3 bits, because $\log_2 8 = 3$. A character that is certain has 0 bits. On average, no model can need fewer bits than the mean surprise under the rules themselves, the bits that the rules leave open.
#
# In the tale below, the name appears a second time after the first full stop. Which of its three letters are still surprising there?

# %%
train = tales(6000, seed=1)  # rows of 65 characters
test = tales(400, seed=2)
text = decode(test.ids[3, 1:])  # without its first character, a line break
print(text)
print(f"bits per character that the rules leave open: {test.bits.mean():.2f}")
plots.surprise(text, {"what the rules leave open": test.bits[3]})

# %% [markdown]
# Only the first letter, "V", is surprising, because the tale could also have ended or continued with *the mouse*. After this "V", the letters "o" and "m" have 0 bits: they are known from the first mention. But only a reader who still has the name from its first mention can know them.
#
# ## Training
#
# The loss is the mean surprise of the next character, so we can compare it with the 0.37 bits that the rules leave open. The target is the text, shifted by one.


# %%
def bits_of_each(model, ids):  # B T+1
    logits = model(ids[:, :-1])  # B T V: the last character has none after it
    target = ids[:, 1:]  # B T: the character after each
    # cross_entropy wants the axis of the characters second: B V T
    nats = cross_entropy(logits.transpose(1, 2), target, reduction="none")  # B T
    return nats / math.log(2)  # B T: from natural logarithms to bits


def train_on_tales(model, steps=700):
    def batch_loss(draw):  # draw: where the random numbers come from
        rows = torch.randint(len(train.ids), (16,), generator=draw)  # B
        return bits_of_each(model, train.ids[rows]).mean()

    train_model(model, batch_loss, seed=0, steps=steps, rate=0.01, warmup=20)


# %% [markdown]
# The training loop is `train_model` from lesson 13, with a warm-up of 20 steps. We train on 700 batches of 16 rows. How many bits per character will the model need for unseen tales?

# %% tags=["nbval-check-output"]
predict("21.bits", ...)

# %% tags=["reveals"]
print("Bits per character for tales that our GPT has not seen:")
train_on_tales(model)
with torch.no_grad():
    by_model = bits_of_each(model, test.ids)  # B T
reveal("21.bits", round(by_model.mean().item(), 2))

# %% [markdown]
# Is that good? The rules leave 0.37 bits open. The second column of the next table is the mean over the letters that can be copied: the second and third letters of a repeated name. A reader who does not copy needs as many bits for them as at the first mention: 2.32 for one letter and 3.81 for the other, 3.07 on average. Does our GPT copy?

# %%
copied = letters_to_copy(test.ids)  # B T: True at letters that can be copied
found = {"the rules": test.bits, "our GPT": by_model}
rows = {}
for name, bits in found.items():
    rows[name] = [bits.mean(), bits[copied].mean()]
longer = by_seed("longer", "bits")  # stored: a number for each of five seeds
rows["five GPTs, 2,100 steps"] = [longer, by_seed("longer", "to_copy")]
columns = ["bits per character", "bits per letter to copy"]
table(rows, columns, corner="unseen tales", digits=2)

# %% [markdown]
# Our GPT copies, though not reliably: a letter that can be copied costs it far fewer than 3.07 bits. Trained for three times as many steps, five GPTs come close to the limit and copy nearly every letter. Their row gives the mean and, in brackets, the lowest and the highest value.
#
# ## Writing
#
# What does our GPT write? We draw a character from its probabilities, append it, and ask again. Often the probabilities are changed first:
#
# - The **temperature** divides the logits before the softmax (lesson 02).
# - **Top-k** (Fan et al. 2018) keeps the k most probable characters.
# - The **nucleus** (Holtzman et al. 2020) keeps the smallest set of the most probable characters whose sum reaches a threshold, such as 0.9.
#
# The probabilities that remain are divided by their sum. Take the probabilities 0.5, 0.3, 0.15 and 0.05: what does a nucleus of 0.9 make of them?


# %% tags=["nbval-check-output"]
def top_k(p, k):  # V
    kept = p.where(p >= p.topk(k).values[-1], 0.0)
    return kept / kept.sum()


def nucleus(p, threshold):  # V
    ordered, order = p.sort(descending=True, stable=True)
    before = ordered.cumsum(0) - ordered  # the sum of all that are more probable
    kept = torch.zeros_like(p)
    kept[order] = ordered.where(before < threshold, 0.0)
    return kept / kept.sum()


p = torch.tensor([0.5, 0.3, 0.15, 0.05])  # V
logits = p.log()  # their softmax is p
print("temperature 2", (logits / 2).softmax(-1))
print("top 2        ", top_k(p, 2))
print("nucleus 0.9  ", nucleus(p, 0.9))

# %% [markdown]
# The nucleus keeps the first three, because 0.5 + 0.3 is still less than 0.9. Divided by 0.95, they become 0.526, 0.316 and 0.158. A temperature of 2 makes the probabilities more equal and removes none.
#
# Our GPT continues "there was a mouse called Vom. " in three ways, with two seeds each. A line break, which ends a tale, is shown as |. With which method are the two texts the same?


# %%
@torch.no_grad()
def write(model, prompt, choose, seed=0, longest=64, cache=None):
    draw = torch.Generator().manual_seed(seed)
    ids = encode(prompt)[None]  # 1 T
    new = ids  # what is read next
    while ids.shape[1] < longest:
        logits = model(new, cache)[0, -1]  # V: for the character after the last one
        p = choose(logits)  # V
        next_id = torch.multinomial(p, 1, generator=draw)[None]  # 1 1
        ids = torch.cat([ids, next_id], dim=1)  # 1 T+1
        new = ids if cache is None else next_id
    return decode(ids[0]).strip("\n").replace("\n", " | ")


def most_probable(logits):  # V
    return top_k(logits.softmax(-1), 1)


def from_nucleus(logits):  # V
    return nucleus(logits.softmax(-1), 0.9)


def at_temperature_2(logits):  # V
    return (logits / 2).softmax(-1)


# %%
prompt = "\nthere was a mouse called Vom. "
for choose in (most_probable, from_nucleus, at_temperature_2):
    print(choose.__name__)
    for seed in (1, 2):
        print("   ", write(model, prompt, choose, seed))

# %% [markdown]
# The two texts are the same when we always choose the most probable character, because nothing is random then. At temperature 2, improbable letters appear more often and more words are misspelt.
#
# Without a cache, `write` reads the whole text again for each character. With one, it reads only the newest character, and the keys and values of all the others are in the cache. Is the text the same, and how much faster is it? Our GPT is too small to show the difference in time, so we time a larger one that has not been trained.

# %%
without = write(model, prompt, most_probable)
cached = write(model, prompt, most_probable, cache=[[] for _ in model.layers])
print("the same text:", without == cached)
torch.manual_seed(0)
larger = GPT(len(CHARACTERS), D=128, H=4, F=512, N=4, longest=300)
for name, cache in {"without": None, "with": [[] for _ in larger.layers]}.items():
    began = time.perf_counter()
    write(larger, prompt, most_probable, longest=300, cache=cache)
    print(f"{name:7} a cache: {time.perf_counter() - began:.1f} s")

# %% [markdown]
# The text is the same, and the larger model writes several times as fast. For the character at position t, a model without a cache computes t queries, keys and values in each layer. With a cache, it computes one of each and compares the new query with t keys. The price is memory: two vectors of width D for each position and layer.
#
# ## How can a model copy?
#
# Elhage et al. (2021) described one way, and Olsson et al. (2022) saw it in models of many sizes. Two heads work together:
#
# 1. In one layer, a head looks at the preceding word, so that the vector of every word also says which word it follows.
# 2. In a later layer, a head looks for an earlier occurrence of the current word and copies the word that came after it. This head is called an **induction head**.
#
# In our tale, "V" has appeared for the second time. The first head would tell the "o" of the first mention that it follows a "V", so the second "V" can find this "o" and copy it.
#
# We look at these two steps in a smaller model. It consists of nothing but positions and attention, in two layers with one head each. With `unseen`, we can later hide a word from the first layer: the diagonal of the mask that lies `unseen` places below the main one becomes False.


# %%
class AttentionAlone(nn.Module):
    def __init__(self, N, D=64):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, D)
        self.P = sinusoidal_positions(WORDS + 1, D)  # T D
        self.layers = nn.ModuleList(MultiHeadAttention(D, H=1) for _ in range(N))
        self.readout = nn.Linear(D, WORDS)

    def forward(self, words, unseen=None):  # B T
        T = words.shape[1]
        x = self.embedding(words) + self.P[:T]  # B T D
        for i, layer in enumerate(self.layers):
            mask = torch.ones(T, T, dtype=torch.bool).tril()  # T T
            if unseen and i == 0:
                mask.diagonal(-unseen).fill_(False)
            x = x + layer(x, mask)  # B T D
        return self.readout(x[:, -1])  # B V: for the word after the last one


# %% [markdown]
# It learns the task from lesson 11: a text has up to twelve different words, written as numbers. Then one of them reappears, and the model has to say which word followed it the first time. In how many of 500 texts is it right?


# %%
def train_to_recall(model, seed=0):
    def batch_loss(draw):
        T = torch.randint(2, 13, (1,), generator=draw).item()
        words, answers = recall_next(64, T, draw)  # B T+1, B
        return cross_entropy(model(words), answers)

    train_model(model, batch_loss, seed, steps=1000, rate=0.005, warmup=20)


torch.manual_seed(0)
copier = AttentionAlone(N=2)
train_to_recall(copier)
words, answers = recall_next(500, 12, torch.Generator().manual_seed(10_000))  # B T+1, B
with torch.no_grad():
    right = copier(words).argmax(-1) == answers  # B
print("text  ", words[0].tolist())
print("answer", answers[0].item())
print(f"share of answers that are right: {right.float().mean():.2f}")

# %% [markdown]
# The model is right in nearly all texts. The next figure shows its weights for the text above, in which 6 appears twice. In the first layer the frames mark the preceding word, and in the second layer the word to copy. Where does the last word, the second 6, look in the second layer?

# %%
figures.draw_layers(copier, words[0])

# %% [markdown]
# In the second layer the last word looks at 28, the word that followed 6 the first time. In the first layer most words look at the preceding word.
#
# These are the two steps. But a picture of weights does not show that the second step depends on the first. We therefore change something and see whether the copying fails:
#
# - In the first layer, no word can see the preceding word.
# - For comparison: in the first layer, no word can see the word two places back.
# - The first of the two equal words is replaced by a different word.
#
# The induction score is the weight that the last word gives to the word to copy in the last layer. The last two rows are stored results of other models, five with two layers and five with one. In which rows does the copying fail?

# %%
first = (words[:, :-1] == words[:, -1:]).int().argmax(1)  # B: where it was before
each = torch.arange(500)  # B
replaced = words.clone()
replaced[each, first] = (words[each, first] + 1) % WORDS


@torch.no_grad()
def measure(words, unseen=None):
    right = copier(words, unseen).argmax(-1) == answers  # B
    weights = copier.layers[1].weights[each, 0, -1, first + 1]  # B
    return [right.float().mean(), weights.mean()]


# %%
rows = {"nothing changed": measure(words)}
rows["preceding word hidden in the first layer"] = measure(words, unseen=1)
rows["word two places back hidden"] = measure(words, unseen=2)
rows["first of the equal words replaced"] = measure(replaced)
for layers in (2, 1):
    stored = [by_seed("induction", name, layers=layers) for name in ("right", "match")]
    rows[f"five other models, layers: {layers}"] = stored
table(rows, ["answers right", "induction score"], corner="500 texts", digits=2)

# %% [markdown]
# The copying fails when the preceding word is hidden and when the first of the two equal words is replaced. At most 7% of the answers are then right, fewer than the 9% that guessing among the eleven other words would give. The first layer therefore tells most words which word precedes them, and the second layer finds the word that comes after an earlier 6. This makes the second layer's head an induction head. A model with one layer has no earlier layer that could tell its head anything, and it also fails.
#
# Do the five GPTs trained for 2,100 steps copy names in the same way? We change the tales in three ways and look at the second mention of a name. First, we change the letter before the one to copy, at the first mention only. For the "o" of Vom this is the "V", as in *called Tom. Vom went*: there is no equal "V" left to look for. Second, we drop "there" at the beginning, so that everything after it moves forward by 5 positions. For comparison, we replace "there" with "zebra". Which change makes the copying worse?

# %% tags=["nbval-check-output"]
figures.copying_in_retold_tales()

# %% [markdown]
# With a different letter before it, the GPTs copy a letter as well as before, so unlike an induction head they need no equal letter. With "zebra" the copying becomes only a little worse. Without "there" it becomes much worse. That does not show how the GPTs find the name, though: letters that need no copying become worse as well ([our measurements](../docs/measurements.md#a-small-gpt-and-what-has-changed-since-2017)), as no row in training begins later.
#
# In real text, what is to be copied can be anywhere, and in models of real text Olsson et al. found induction heads. In lesson 22 you look for them in a real language model.
#
# ## So: how does a model write, and how can it copy?
#
# It writes by predicting one character at a time, each time from all the characters before it. A cache saves it from reading them again, which is possible because earlier vectors never change in a decoder.
#
# It can copy in two steps. A head in one layer tells each word what precedes it, and an induction head in a later layer finds the word that came after an earlier occurrence of the current word. A model may also find another way: our GPTs copy names even where there is no equal letter to look for.
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("21.q1", ...)

# %%
check("21.q2", ...)

# %%
check("21.q3", ...)

# %%
check("21.q4", ...)

# %%
check("21.q5", ...)

# %% [markdown]
# ## Recap
#
# - How does a model write, and how can it copy? It appends one character after another, drawn from its prediction, and it can copy with two heads in two layers, or in some other way, as our GPTs do.
# - If we know the rules that generated a text, we know the fewest bits per character that any model can need.
# - A high temperature makes the probabilities more equal. Top-k and the nucleus remove the improbable ones.
# - In a decoder, earlier vectors never change. Their keys and values are kept in a cache, and each step reads one character.
#
# **Further reading**: the course ships [a larger GPT](../docs/translators.md#the-models-that-come-with-the-course), which has read plays by Shakespeare. [nanoGPT](https://github.com/karpathy/nanoGPT) trains a model on the same plays in about 600 lines.
#
# **Exercises**: [open them](../exercises/21_gpt_exercises.ipynb)
#
# **Next**: [lesson 22](22_real_language_model.ipynb): what is inside the models that we use every day?

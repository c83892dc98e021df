# %%
import gzip
import re
import time
from collections import Counter
from pathlib import Path
from tempfile import mkdtemp

import sacrebleu
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader

from course_lessons.lesson_05_seq2seq import figures
from course_utils import check, predict, reveal
from course_utils.base.progress_bar import with_bar
from course_utils.data.loading import caption_files
from course_utils.data.small_world import small_world, truth
from course_utils.figures import diagrams
from course_utils.figures.tables import table

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# A translation model reads a sentence in one language and writes it in another. How does the meaning get across? The simplest way is through a single vector: one network, the **encoder**, turns the sentence into this vector, and a second, the **decoder**, writes the translation from it.
#
# In the diagram, "boy called girls" becomes "flima kovor droli". BOS and EOS mark where a sentence begins and ends. Follow the arrows from "girls" to "droli" and note what they pass through.

# %%
source_words = ["boy", "called", "girls", "EOS"]
target_words = ["flima", "kovor", "droli"]
diagrams.seq2seq(source_words, target_words)

# %% [markdown]
# Every path from the source to the translation leads through the one vector in the middle. Whatever this vector lacks, the decoder can only guess.
#
# In this lesson, we build such a model and train it to translate into a small invented language. It translates short sentences correctly, but this is what it makes of a twelve-word sentence:
#
# ```text
# source: our small boy called my old girls and friends followed big houses
# right:  glodil sliro flima kovor kremil lanu tavo droli pivut vuvi pamor sono brude
# model:  glodil sliro flima kovor kremil lanu tavo droli bresun kremil sono bruda
# ```
#
# The model gets the first eight words right and every word after them wrong: "sono" is there, but a word counts as right only in its own position. Can one vector hold a sentence, or is it too small?
#
# ## A network that reads word by word
#
# We need a network that turns a sentence of any length into one vector. A **recurrent network** reads one word after another and passes a vector, its **state** $s$, from step to step. At each step $t$, it computes the new state from the word's vector $x_t$ and the old state:
#
# $$s_t = \tanh(W_x x_t + W_s s_{t-1} + b)$$
#
# The part of the network that computes this step is called a **cell**. The tanh squashes every number into the range -1 to 1, so the state cannot grow without limit.
#
# Here is a cell to work through on paper. A word is a single number, the state has two dimensions and starts at zero, and $b$ is also 0. The matrices are
#
# $$W_x = \begin{pmatrix} 1 \\ 0 \end{pmatrix} \qquad W_s = \begin{pmatrix} 0 & 0 \\ 1 & 0 \end{pmatrix}$$
#
# $W_x$ puts the word into the first entry, and $W_s$ moves the old first entry to the second. The three words are 1, 0 and 0. How much of the first word is left after the third step?

# %% tags=["nbval-check-output"]
W_x = torch.tensor([[1.0], [0.0]])  # H D: width of a state, width of a word
W_s = torch.tensor([[0.0, 0.0], [1.0, 0.0]])  # H H
b = torch.zeros(2)  # H
x = torch.tensor([[1.0], [0.0], [0.0]])  # S D: three words
s = torch.zeros(2)  # H
for t in range(3):
    s = torch.tanh(W_x @ x[t] + W_s @ s + b)  # H
    print(f"after step {t + 1}:", s)

# %% [markdown]
# After the third step, nothing is left of the first word. The first step stores it as $\tanh 1 = 0.762$, and the second step moves this number to the second entry, as $\tanh 0.762 = 0.642$. The third step does not pass it on, so it is lost.
#
# ## A cell that can keep its state
#
# Other matrices keep a word longer, but whatever the word, the state is multiplied by the same matrix at every step. It would be better to keep the state at some words and replace it at others. The **gated recurrent unit**, or GRU, can decide which to do (Cho et al., 2014).
#
# A GRU computes a **candidate** $n_t$ for the new state, much as the plain cell computes its state. It also has a **gate** $z_t$, a number between 0 and 1 for each dimension. The new state mixes the candidate and the old state, where $\circ$ denotes elementwise multiplication:
#
# $$s_t = (1 - z_t) \circ n_t + z_t \circ s_{t-1}$$
#
# Take a one-dimensional state that starts at 1, and let all candidates be 0. How much of the state is left after twenty steps if the gate is 0.5 at each step, and if it is 0.99?

# %% tags=["nbval-check-output"]
for z in (0.5, 0.9, 0.99):
    state = 1.0
    candidate = 0.0
    for _ in range(20):
        state = (1 - z) * candidate + z * state
    print(f"gate {z}: {state:.6f} of the state is left")

# %% [markdown]
# A gate of 0.5 leaves a millionth of the state; a gate of 0.99 leaves more than four fifths. A gate near 1 therefore keeps an entry, and a gate near 0 replaces it. The gates are computed afresh at each step from the word and the old state, with learned matrices, so they can differ from word to word.
#
# <details><summary>The whole GRU</summary>
#
# You need these formulas only for the exercises. In them, $\sigma$ is the sigmoid from lesson 01. The second gate, $r_t$, says how much of the old state the candidate may use. Each product also has a bias, which we leave out here.
#
# $$r_t = \sigma(W_r x_t + U_r s_{t-1}) \qquad z_t = \sigma(W_z x_t + U_z s_{t-1}) \qquad n_t = \tanh(W x_t + r_t \circ U s_{t-1})$$
#
# The paper writes $U (r_t \circ s_{t-1})$ instead of $r_t \circ U s_{t-1}$. We follow PyTorch.
#
# </details>
#
# PyTorch's `nn.GRU` runs through all the words in a batch and returns the state after every word and, separately, the last state. We give it B = 2 sentences of S = 5 words each. The word vectors have dimension D = 3, and the states have dimension H = 4. What is the shape of the states?

# %% tags=["nbval-check-output"]
gru = nn.GRU(3, 4, batch_first=True)  # D, H; the batch is the first axis
x = torch.randn(2, 5, 3)  # B S D
states, last_state = gru(x)  # B S H, 1 B H: the first axis counts the GRUs, here 1
print("states:    ", *states.shape)
print("last state:", *last_state.shape)

# %% [markdown]
# The shape is 2×5×4, because there is a state with 4 entries for each word.
#
# ## One vector between two networks
#
# Now we connect two GRUs, as in the first diagram. The encoder reads the sentence to be translated, the **source**. Its last state is the **sentence vector**. The decoder starts with this vector as its state and writes one word at each step.
#
# It first reads the special word **BOS**. After that, it reads its own previous word, and when it writes **EOS**, the translation is complete. The encoder also reads an EOS, at the end of the source.
#
# In formulas, a source word $x_t$ has the vector $e(x_t)$, $h_t$ is an encoder state, $c$ the sentence vector and $s_t$ a decoder state. The words of the translation are $y_1, y_2, \dots$, with $y_0$ for BOS, and $y_{<t}$ are those before $y_t$:
#
# $$h_t = \mathrm{GRU}\big(e(x_t),\, h_{t-1}\big) \qquad c = h_S$$
#
# $$s_0 = c \qquad s_t = \mathrm{GRU}\big(e(y_{t-1}),\, s_{t-1}\big) \qquad P(y_t \mid y_{<t}, c) = \mathrm{softmax}(W s_t + b)$$
#
# ## A small language
#
# To train the model, we need many sentences and their translations. The source language has 40 English words, and in our invented language, the correct translation is always known. What happens to "the" and to "dog" in the translation?

# %% tags=["nbval-check-output"]
small = ["boy called girls", "the boy called the girls", "the dog called girls"]
for sentence in small:
    print(f"{sentence:25}", *truth([sentence]))

# %% [markdown]
# The words "the" and "today" vanish, and "dog" and a few other words become two words. The word order stays the same.
#
# `pairs` contains 20,000 sentences with their translations, and `pairs.words` is the vocabulary, which numbers the words of both languages. All lengths from 1 to 12 words are about equally frequent. `make_batch` turns pairs of sentences into three tensors and pads the shorter sentences with 0 at the end. In the comments, S and T are the lengths of the padded sources and translations.
#
# The next cell makes a batch of two sentences. How do the rows of `given` differ from the rows of `wanted`?


# %% tags=["nbval-check-output"]
PAD = 0
BOS = 1
EOS = 2


def make_batch(sources, targets):  # for each sentence, a list of word numbers
    source = [torch.tensor([*ids, EOS]) for ids in sources]
    given = [torch.tensor([BOS, *ids]) for ids in targets]
    wanted = [torch.tensor([*ids, EOS]) for ids in targets]
    sides = (source, given, wanted)
    return [pad_sequence(rows, batch_first=True) for rows in sides]  # B S, B T, B T


pairs = small_world(20_000, seed=8)
two = ["boy called girls", "girls called"]
two_sources = pairs.words.encode(two)  # a list of word numbers for each sentence
two_targets = pairs.words.encode(truth(two))
source, given, wanted = make_batch(two_sources, two_targets)  # B S, B T, B T
print(f"wanted, in numbers (EOS is {EOS}):", wanted.tolist())
figures.batch_in_words(pairs.words, source, given, wanted)

# %% [markdown]
# Each row of `given` is the same row of `wanted` shifted one position to the right, with BOS in front and without EOS. The encoder reads `source`. At each position, the decoder reads `given` and should write `wanted`.
#
# In training, then, the decoder reads the *right* word from the previous position; this is called **teacher forcing**. Without the shift, it would read the very word it should write. Copying would then be enough in training, and the model would not learn to translate.
#
# ## The whole model
#
# Both languages share a vocabulary of V words. The table `nn.Embedding` holds a vector of dimension D for each word, and `nn.Linear` turns a state of dimension H into V numbers.
#
# Why does `encode` not use the state at the last position, `states[:, -1]`?


# %%
class Seq2Seq(nn.Module):
    def __init__(self, V, D=32, H=64):  # vocabulary, width of a word, width of a state
        super().__init__()
        self.embedding = nn.Embedding(V, D)
        self.encoder = nn.GRU(D, H, batch_first=True)
        self.decoder = nn.GRU(D, H, batch_first=True)
        self.readout = nn.Linear(H, V)

    def encode(self, source):  # B S
        states, _ = self.encoder(self.embedding(source))  # B S H
        last = (source != PAD).sum(1) - 1  # B: where EOS stands, here at 3 and 2
        rows = torch.arange(len(source))  # B: 0, 1, 2 and so on
        return states[rows, last]  # B H: from each row, the state at its EOS

    def decode(self, given, s):  # B T, B H: the state to begin with
        states, _ = self.decoder(self.embedding(given), s[None])  # B T H
        return self.readout(states), states[:, -1]  # B T V, B H

    def forward(self, source, given):
        return self.decode(given, self.encode(source))[0]  # B T V: the scores alone


# %% [markdown]
# For the shorter sentence, the last position is padding. The GRU reads padding like any other word, so the state there would depend on the amount of padding. `encode` uses the state at EOS instead.
#
# In `decode`, `s[None]` adds the first axis that `nn.GRU` expects. Besides the scores for all words, `decode` returns the decoder's last state, which we use only when the model translates. Then it reads one word at a time, so the last position, `states[:, -1]`, is never padding.
#
# ## The loss
#
# At each position, the model gives every word in the vocabulary a score, called its **logit**, and a softmax turns the logits into probabilities $p$. Training should make the probability of the right word large, so our loss is $-\ln p$ for the right word, averaged over all the words in the batch. EOS counts as a word; padding does not.
#
# Such a loss is measured in **nats**, the unit that goes with the natural logarithm. Our vocabulary has 86 entries: the words of both languages and a few special words. Before training, they are all about equally probable. What will the loss be, in nats per word?

# %% tags=["nbval-check-output"]
predict("05.untrained", ...)


# %% tags=["nbval-check-output", "reveals"]
def loss_by_loops(logits, wanted):  # B T V, B T
    log_p = logits.log_softmax(-1)  # B T V: the logarithms of the probabilities
    B, T = wanted.shape
    total = 0.0
    count = 0
    for sentence in range(B):
        for position in range(T):
            right_word = wanted[sentence, position]
            if right_word != PAD:
                total = total - log_p[sentence, position, right_word]
                count = count + 1
    return total / count


torch.manual_seed(0)
model = Seq2Seq(len(pairs.words))
logits = model(source, given)  # B T V
by_loops = loss_by_loops(logits, wanted)
print("The loss of the untrained model, in nats per word:")
print(f"{by_loops.item():.1f}")
reveal("05.untrained", round(by_loops.item(), 1))

# %% [markdown]
# PyTorch's `cross_entropy` computes the same loss without loops. It expects one row of logits per word, so we flatten the axes B and T into one.


# %% tags=["nbval-check-output"]
def loss_of(logits, wanted):  # B T V, B T
    logits_of_words = logits.flatten(0, 1)  # B·T V
    right_words = wanted.flatten()  # B·T
    return F.cross_entropy(logits_of_words, right_words, ignore_index=PAD)


print("the same loss:", torch.allclose(loss_of(logits, wanted), by_loops))

# %% [markdown]
# ## Training
#
# A training step samples a batch, computes the loss and its gradient, and updates the weights. To compute the gradient, we go back through the sentence word by word, and each word multiplies it by a matrix. Over many words, it can become very large, so `clip_grad_norm_` shortens it to length 1 if it is longer. The scheduler `LinearLR` reduces the learning rate to a twentieth of its initial value.


# %%
def train_model(model, batch_loss, seed, steps, rate):
    draw = torch.Generator().manual_seed(seed)  # for `batch_loss` to draw with
    adam = torch.optim.Adam(model.parameters(), lr=rate)
    falling_rate = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 0.05, steps)
    losses = []
    for _ in with_bar(range(steps)):  # shows a progress bar if it takes long
        loss = batch_loss(draw)
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        falling_rate.step()
        losses.append(loss.item())
    return losses


# %% [markdown]
# `train_model` calls `batch_loss`, which samples a batch and returns the loss, so later lessons can use the same loop for other models. Here, a batch consists of 64 random pairs. How far does the loss fall from 4.5 in 600 steps?


# %%
def fit(model, sources, targets, seed=0, steps=600, batch=64, rate=0.01):
    def batch_loss(draw):
        chosen = torch.randint(len(sources), (batch,), generator=draw).tolist()
        drawn_sources = [sources[i] for i in chosen]
        drawn_targets = [targets[i] for i in chosen]
        source, given, wanted = make_batch(drawn_sources, drawn_targets)
        return loss_of(model(source, given), wanted)

    return train_model(model, batch_loss, seed, steps, rate)


sources, targets = pairs.ids()  # word numbers of all 20,000 pairs
losses = fit(model, sources, targets)
print(f"first step:                {losses[0]:.2f}")
print(f"mean of the last 50 steps: {sum(losses[-50:]) / 50:.2f}")

# %% [markdown]
# The loss falls to about 0.62. Since $e^{-0.62} = 0.54$, this is the loss of a model that gives every right word a probability of about a half.
#
# ## The model translates
#
# Now the decoder writes the most probable word at each step and reads it at the next. Does it translate "boy called girls" correctly?


# %%
@torch.no_grad()
def translate(model, sentences):
    no_words = [[] for _ in sentences]  # the translations are still empty
    source, given, _ = make_batch(pairs.words.encode(sentences), no_words)  # B S, B 1
    # given now holds only BOS, with which each translation begins
    s = model.encode(source)  # B H
    written = []
    for _ in range(40):  # at most 40 words
        logits, s = model.decode(given, s)  # B 1 V, B H
        given = logits.argmax(-1)  # B 1: the most probable word of each sentence
        written.append(given)
    ids = torch.cat(written, dim=1)  # B 40
    return pairs.words.decode(ids.tolist())  # each up to its EOS


for sentence in ("boy called girls", "the dog called girls"):
    print(sentence)
    print("    right:", *truth([sentence]))
    print("    model:", *translate(model, [sentence]))

# %% [markdown]
# The model translates both sentences correctly.
#
# ## How long can a sentence be?
#
# Now we let a sentence grow from one word to twelve, the greatest length in training, where it is the sentence from the beginning of this lesson. Each row of the plot shows one translation, with wrong words in red frames. The grey row is the correct translation of the last sentence. Look for the length at which the first wrong word appears.

# %%
growing = [
    "boy",
    "boy called",
    "boy called girls",
    "small boy called girls",
    "our small boy called girls",
    "our small boy called old girls",
    "our small boy called my old girls",
    "today our small boy called my old girls",
    "our small boy called my old girls near houses",
    "our small boy called my old girls near big houses",
    "our small boy called my old girls and friends followed houses",
    "our small boy called my old girls and friends followed big houses",
]
figures.draw_translations(growing, truth(growing), translate(model, growing))

# %% [markdown]
# In our run, the first wrong words appear at nine words.
#
# **Your turn**: add sentences of the same words to `growing`. What is the shortest sentence your model gets wrong?
#
# To measure the effect of length, we translate 200 sentences of each of twelve lengths from 1 to 16 words. Those of 14 and 16 words are longer than any in training. A word counts as right if it is in the right position. This rule is strict: if the model leaves out one word, nearly all later words count as wrong, as does every surplus word. What share of the words will it get right in 12-word sentences?

# %% tags=["nbval-check-output"]
predict("05.twelve", ...)


# %% tags=["reveals"]
def exact_shares(translations, references):
    right = 0
    words = 0
    for output, reference in zip(translations, references, strict=True):
        written = output.split()
        wanted = reference.split()
        right += sum(a == b for a, b in zip(written, wanted, strict=False))
        words += max(len(written), len(wanted))
    equal = [a == b for a, b in zip(translations, references, strict=True)]
    return sum(equal) / len(equal), right / words  # of sentences, of words


words_right = {}
sentences_right = {}
for length in figures.LENGTHS:  # 1 to 8, 10, 12, 14 and 16 words
    test = small_world(200, seed=7, shortest=length, longest=length)
    translations = translate(model, test.sources)
    shares = exact_shares(translations, test.targets)
    sentences_right[length], words_right[length] = shares
print("The share of words right in test sentences of twelve words:")
reveal("05.twelve", round(words_right[12], 2))

# %% [markdown]
# The model gets fewer than half of the words right.
#
# ## How much comes from the vector?
#
# In these translations, the decoder read its own words, so one wrong word may have led to another. But how many of the right words come from the vector? The decoder may have guessed some from the previous word and the grammar. We therefore give it the right words, as in training, once with each sentence's own vector and once with a different sentence's. How much do the two results differ?

# %%
test = small_world(200, seed=7, shortest=12, longest=12)
source, given, wanted = make_batch(*test.ids())  # B S, B T, B T
is_word = wanted > 2  # B T: neither padding, 0, nor EOS, 2
parts = [(0, 99), (0, 4), (4, 8), (8, 99)]  # from which word to which
rows = {}
with torch.no_grad():
    own = model.encode(source)  # B H
    another = own.roll(1, dims=0)  # B H: to each sentence the vector before its own
    starts = {"its own vector": own, "the vector of another": another}
    for name, s in starts.items():
        logits, _ = model.decode(given, s)  # B T V
        right = (logits.argmax(-1) == wanted) & is_word  # B T
        rows[name] = [right[:, i:j].sum() / is_word[:, i:j].sum() for i, j in parts]
columns = ["all words", "first four", "next four", "the rest"]
table(rows, columns, corner="share right, given the right words", digits=2)

# %% [markdown]
# With the vector of a different sentence, the decoder gets about 18% of the words right: that many can be guessed. With the sentence's own vector, it gets about 60% right, so this vector holds a good part of the sentence. The 60% is more than the 37% above, because here no wrong word leads to the next one, and no omitted word shifts the others.
#
# But not all parts of the sentence come through equally well: the model gets nearly 90% of the first four words right, but fewer than half of the last ones.
#
# ## How many whole sentences are right?
#
# For what share of the sentences are *all* the words right? The right-hand plot shows this share for your model and for five models trained beforehand with different seeds, the left-hand plot their share of words right. The band runs from the lowest to the highest of the five. The dotted line marks the longest sentences in training. Since short sentences may have appeared in training, we also test *new* four-word sentences.

# %%
figures.draw_shares_by_length(words_right, sentences_right)
known = set(pairs.sources)
test = small_world(200, seed=7, shortest=4, longest=4)
new = [sentence for sentence in test.sources if sentence not in known]
share, _ = exact_shares(translate(model, new), truth(new))  # of sentences
print(f"new sentences of four words: {len(new)}, share right: {share:.2f}")

# %% [markdown]
# Up to three words, the models get nearly all the sentences right. Your model also gets more than four fifths of the new four-word sentences right, so it has done more than memorise sentences. At six words, the models get somewhat fewer than half right on average, and at twelve, the curve for whole sentences has fallen to 0.
#
# ## Is the vector too small?
#
# Why does the model fail on long sentences? Perhaps there is too little room in the vector. But the network also has to *learn* how to write a sentence into the vector and read it out again. Do longer sentences come through if we train it longer? We have trained five models for each of seven versions; the table shows their means, with the lowest and the highest in brackets. The first is ours; the others differ in the dimension of the vector, the number of steps, or the cell and its learning rate. Which of them get more than half of the eight-word sentences right?

# %%
figures.whole_sentences_right(lengths=(3, 6, 8, 12))

# %% [markdown]
# The models get more than half of the eight-word sentences right if we train them four times as long or if the vector has 128 dimensions. With longer training, the same 64 dimensions hold such sentences, so room was not the limit: the network had not learned to use it. A larger vector also makes the network larger, and the table does not say which of the two helps.
#
# Plain cells fail even at three words. At twelve words, even the best version fails on most sentences.
#
# ## Real sentences
#
# Does one vector also carry a real sentence? Multi30k (Elliott et al., 2016) contains captions of photos in English and German, in two files whose lines correspond. We split each caption into **tokens** (words and punctuation marks) and keep the pairs with at most ten English tokens.
#
# In a project of your own, also copy `PAD`, `BOS`, `EOS`, `make_batch` and `loss_of`. Up to the BLEU score, only `caption_files`, which downloads the files, comes from the course.


# %%
def tokenize(caption):  # "A dog runs." becomes ["a", "dog", "runs", "."]
    return re.findall(r"\w+|[^\w\s]", caption.lower())


def read_captions(path):  # a list of tokens for each line
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [tokenize(line) for line in lines]


def read_pairs(split, longest=10):  # lists of tokens, English and German
    # Without the course: `load_dataset("bentrevett/multi30k")["train"]`, from the
    # library `datasets`, has the captions of each pair as "en" and "de".
    english_file, german_file = caption_files(split)
    english = read_captions(english_file)
    german = read_captions(german_file)
    both = zip(english, german, strict=True)
    return [pair for pair in both if len(pair[0]) <= longest]


training_pairs = read_pairs("train")
validation_pairs = read_pairs("val")  # captions of other photos
test_pairs = read_pairs("test")
sizes = map(len, (training_pairs, validation_pairs, test_pairs))
print("pairs for training, validation and testing:", *sizes)
english, german = training_pairs[0]
print(english)
print(german)

# %% [markdown]
# As in lesson 01, a vocabulary numbers the tokens, here of both languages; a token that occurs fewer than three times becomes UNK, for unknown. The function `collate` numbers the tokens in a batch of pairs and calls `make_batch`. Here is a batch of two.


# %%
def build_vocabulary(pairs):
    counts = Counter()
    for english, german in pairs:
        counts.update(english + german)
    frequent = [token for token, count in counts.items() if count >= 3]
    return ["PAD", "BOS", "EOS", "UNK", *frequent]


def to_numbers(tokens):
    return [number_of.get(token, UNK) for token in tokens]


def collate(pairs):  # B pairs of lists of tokens
    sources = [to_numbers(english) for english, _ in pairs]
    targets = [to_numbers(german) for _, german in pairs]
    return make_batch(sources, targets)  # B S, B T, B T


UNK = 3
vocabulary = build_vocabulary(training_pairs)
number_of = {token: number for number, token in enumerate(vocabulary)}
print("tokens in the vocabulary:", len(vocabulary))
source, given, wanted = collate(training_pairs[1:3])  # B S, B T, B T
for name, rows in {"source": source, "given": given, "wanted": wanted}.items():
    for row in rows.tolist():
        print(f"{name:6}", *[vocabulary[number] for number in row])


# %% [markdown]
# Sutskever et al. (2014) stack four layers of LSTMs, which have more gates than GRUs. In `DeepSeq2Seq`, `cell` can be `nn.LSTM`, and each of the `layers` reads the states of the one below. In training, `dropout` sets random entries to 0, to reduce overfitting. The defaults give the model above, with more dimensions. An LSTM's state is a pair of tensors. Which line has to know this?


# %%
class DeepSeq2Seq(nn.Module):
    def __init__(self, V, D=64, H=128, cell=nn.GRU, layers=1, dropout=0.0):
        super().__init__()
        options = {"num_layers": layers, "dropout": dropout, "batch_first": True}
        self.embedding = nn.Embedding(V, D)
        self.dropout = nn.Dropout(dropout)
        self.encoder = cell(D, H, **options)
        self.decoder = cell(D, H, **options)
        self.readout = nn.Linear(H, V)

    def embed(self, ids):  # B T
        return self.dropout(self.embedding(ids))  # B T D

    def encode(self, source):  # B S
        x = self.embed(source)  # B S D
        lengths = (source != PAD).sum(1).cpu()  # B: up to EOS
        packed = pack_padded_sequence(x, lengths, True, enforce_sorted=False)
        _, s = self.encoder(packed)
        return s  # L B H, with L layers; for an LSTM, a pair (h, c) of such tensors

    def decode(self, given, s):  # B T, and such an s
        states, s = self.decoder(self.embed(given), s)  # B T H: the last layer's
        return self.readout(states), s  # B T V, and the new s

    def forward(self, source, given):
        return self.decode(given, self.encode(source))[0]  # B T V


# %% [markdown]
# None, because the code hands `s` on without looking inside. With `pack_padded_sequence`, the encoder stops at each caption's EOS, so `s` is each layer's state there.
#
# The training steps are those of `train_model` above. We save the weights in a file at the start and after each epoch whose validation loss is the lowest so far.


# %%
@torch.no_grad()
def evaluate(model, batches, shift=0):  # shift=1: each gets another caption's vector
    model.eval()  # switches dropout off
    sums = []  # of the losses of a batch's words
    for source, given, wanted in batches:
        source = source.roll(shift, dims=0)  # B S
        logits = model(source.to(device), given.to(device))  # B T V
        sums.append((wanted != PAD).sum() * loss_of(logits, wanted.to(device)).cpu())
    words = sum((wanted != PAD).sum() for _, _, wanted in batches)
    return (sum(sums) / words).item()


# %%
def train_epochs(model, training, validation, path, epochs=5, rate=0.01):
    adam = torch.optim.Adam(model.parameters(), lr=rate)
    steps = epochs * len(training)
    falling_rate = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 0.05, steps)
    lowest = evaluate(model, validation)
    torch.save(model.state_dict(), path)  # replaces a file from an earlier run
    print(f"validation loss before training: {lowest:.2f}")
    for epoch in range(1, epochs + 1):
        model.train()
        for source, given, wanted in training:
            logits = model(source.to(device), given.to(device))  # B T V
            loss = loss_of(logits, wanted.to(device))
            adam.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adam.step()
            falling_rate.step()
        new_loss = evaluate(model, validation)
        print(f"after epoch {epoch}: {new_loss:.2f}")
        if new_loss < lowest:
            lowest = new_loss
            torch.save(model.state_dict(), path)
    model.load_state_dict(torch.load(path, weights_only=True))


# %%
def batches_by_length(pairs, size=64):  # similar lengths need little padding
    pairs = sorted(pairs, key=lambda pair: len(pair[1]))
    return [pairs[i : i + size] for i in range(0, len(pairs), size)]


device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
batches = batches_by_length(training_pairs)
# With `batch_size=None`, each item of the list is a batch.
training = DataLoader(batches, batch_size=None, shuffle=True, collate_fn=collate)
validation = DataLoader(validation_pairs, batch_size=64, collate_fn=collate)
german_model = DeepSeq2Seq(len(vocabulary)).to(device)  # add cell=nn.LSTM, layers=2
path = Path(mkdtemp()) / "captions.pt"  # in a project: a folder that stays
began = time.process_time()
train_epochs(german_model, training, validation, path)
minutes = (time.process_time() - began) / 60  # of CPU time
other_loss = evaluate(german_model, validation, shift=1)
print(f"with the vector of a different caption: {other_loss:.2f}")


# %%
@torch.no_grad()
def to_german(model, caption, most=20):  # a string, at most so many tokens
    source, given, _ = collate([(tokenize(caption), [])])  # 1 S, 1 1
    s = model.encode(source.to(device))
    given = given.to(device)
    written = []
    while len(written) < most:
        logits, s = model.decode(given, s)  # 1 1 V
        logits[:, :, UNK] = -torch.inf  # never write UNK
        given = logits.argmax(-1)  # 1 1
        if given.item() == EOS:
            break
        written.append(vocabulary[given.item()])
    return " ".join(written)


captions = [
    "A man is playing guitar.",
    "Two dogs are running in the snow.",
    "A woman is reading a book on a bench.",
]
in_german = [to_german(german_model, caption) for caption in captions]
for caption, translation in zip(captions, in_german, strict=True):
    print(caption, "→", translation)

# %% [markdown]
# The vectors carry something of the captions, because the loss is clearly higher with those of different captions. In our run, all three translations are correct German. They say *a man in a blue top is playing tennis*, *two dogs are playing in the snow* and *a woman in a dress is crossing the street*. The first words fit, and so does the snow, but guitar, book and bench are lost.
#
# How good is the model on all the short test captions? BLEU, which lesson 07 explains, counts how many runs of one to four words a translation shares with a person's; a perfect match scores 100.

# %%
references = [" ".join(german) for _, german in test_pairs]
test_captions = [" ".join(english) for english, _ in test_pairs]
translations = [to_german(german_model, caption) for caption in test_captions]
swapped = translations[1:] + translations[:1]  # to each caption the next one's
scores = []
for name, texts in {"its own": translations, "the next one's": swapped}.items():
    # The texts are already split into tokens.
    bleu = sacrebleu.corpus_bleu(texts, [references], tokenize="none", force=True)
    scores.append(bleu.score)
    print(f"BLEU if each caption gets {name} translation: {bleu.score:.1f}")

# %% [markdown]
# Our model's score of about 7 is low, but translations of other captions score only about 1, so most of it comes from the vectors.
#
# The same functions train a larger model on captions of any length. Change these arguments and run the section again: `read_pairs(…, longest=1_000)`, `DeepSeq2Seq(…, D=128, H=256)`, `train_epochs(…, epochs=3, rate=0.003)` and `to_german(…, most=40)`. For LSTMs, add `cell=nn.LSTM, layers=2, dropout=0.2`. Do snow, bench and book come through in our [stored runs](../docs/measurements.md#what-gets-through-one-vector) of both models?

# %%
size = sum(weights.numel() for weights in german_model.parameters())
your_run = [len(training_pairs), size, minutes, *scores]
figures.with_all_captions(captions, in_german, your_run)

# %% [markdown]
# With GRUs, the first two translations are now correct, guitar included. The third says *a woman is walking on a sidewalk* with seed 0 and *a woman is sitting on a chair and reading a book* with seed 1. With more captions and parameters, BLEU rises from 7 to about 10 for short captions and is 11 for all. Two layers of LSTMs are at 8.6 after the same three epochs (8.4 minutes instead of 6.5), their loss still falling; we tried no other settings.
#
# ## Can one vector hold a sentence?
#
# One vector can hold a short sentence, even one not seen in training. With our training, nearly all three-word sentences come through whole, as do about half of the six-word sentences but none of the twelve-word ones. In twelve-word sentences and two of our captions, mostly the first words come through. At eight words, room was not the limit. At twelve, we do not know whether longer training would find out how to use the 64 dimensions.
#
# Cho et al. (2014, "On the Properties of Neural Machine Translation") found the same for English and French: the longer the sentence, the worse its translation. Sutskever et al. (2014) translated long sentences well, with 1,000 cells in each of four layers, 12 million pairs of sentences, and the source read backwards.
#
# Our model is wasteful: the encoder has a state after *every* word, and we throw away all but the last.
#
# ## Where you will meet this
#
# | here | in papers | in PyTorch | in Hugging Face's `transformers` |
# | --- | --- | --- | --- |
# | state $s_t$ | hidden state $h_t$ | `nn.GRU` returns `output`, `h_n` | `last_hidden_state` |
# | sentence vector $c$ | context vector, thought vector | `h_n`, with axes 1 B H even with `batch_first`; the first axis counts the GRUs | none |
# | `given`, `wanted` | $y_{t-1}$, $y_t$ | none | `decoder_input_ids`, `labels` |
# | `read_pairs` | | | `load_dataset`, in `datasets` |
# | `collate` | | `DataLoader(…, collate_fn=collate)` | `DataCollatorForSeq2Seq` |
# | padding in the loss | | `cross_entropy(…, ignore_index=PAD)`, by default -100 | `labels` of -100 |
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a number or a letter in quotes.

# %%
check("05.q1", ...)

# %%
check("05.q2", ...)

# %%
check("05.q3", ...)

# %%
check("05.q4", ...)

# %%
check("05.q5", ...)

# %% [markdown]
# ## Recap
#
# - A recurrent network passes its state from word to word. The gates of a GRU decide what it keeps.
# - The encoder's last state is all that the decoder knows about the source. In training, the decoder reads the right words, shifted by one position. Without this shift, it could copy them.
# - With the vector of a different sentence, the decoder can only guess. With the right vector, it gets the first words of a long sentence right more often than the last.
# - The size of the vector is not the only limit. The network has to learn to use its entries, so longer sentences come through after longer training.
#
# **Exercises**: [open them](../exercises/05_seq2seq_exercises.ipynb)
#
# **Next**: the encoder has a state for every word. [Where would a decoder look that can look back at all of them?](06_seq2seq_attention.ipynb)

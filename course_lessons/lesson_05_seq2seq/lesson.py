# %% [markdown]
# A translator reads a sentence, closes the book and hands on a single note with 64 numbers. A second translator, who never saw the sentence, has to write the translation from this note alone.
#
# In this lesson, both translators are networks, and we train them to translate into a small invented language. Short sentences come through intact, but this is what became of one with twelve words:
#
# ```text
# source: our small boy called my old girls and friends followed big houses
# right:  glodil sliro flima kovor kremil lanu tavo droli pivut vuvi pamor sono brude
# model:  glodil sliro flima kovor kremil lanu tavo droli bresun kremil sono bruda
# ```
#
# The first eight words are right, and after that, nothing is in place. Were 64 numbers too few? Or can one vector hold a sentence, and something else went wrong?

# %%
import copy
import gzip
import math
import re
from collections import Counter
from statistics import fmean

import sacrebleu
import torch
from sklearn.manifold import TSNE
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from course_lessons.lesson_05_seq2seq import figures
from course_utils import check, predict, reveal
from course_utils.base.progress_bar import with_bar
from course_utils.data.loading import caption_files
from course_utils.data.small_world import small_world, truth
from course_utils.figures import plots

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# Here are the two networks, the **encoder** in green and the **decoder** in purple. In our invented language, "boy called girls" is "flima kovor droli"; BOS and EOS mark where a sentence begins and ends. Follow the arrows from "girls" to "droli". What do they pass through?

# %%
figures.two_networks(["boy", "called", "girls"], ["flima", "kovor", "droli"])

# %% [markdown]
# Every path from the source to the translation leads through the one vector in the gap. Whatever this note lacks, the decoder can only guess.
#
# ## A network that reads word by word
#
# To write the note, we need a network that turns a sentence of any length into one vector. A **recurrent network** reads one word after another and passes on a vector, its **state** $s$, drawn as a column of boxes. At each step $t$, it computes the new state from the word's vector $x_t$ and the old state:
#
# $$s_t = \tanh(W_x x_t + W_s s_{t-1} + b)$$
#
# The part that computes this is a **cell**. The tanh squashes every number into the range -1 to 1, so the state cannot grow without limit.
#
# We can work through a tiny cell on paper. In it, a word is a single number, the state has two entries, both 0 at first, and $b$ is 0. The matrix $W_x$ puts the word into the first entry, and $W_s$ moves the old first entry to the second:
#
# $$W_x = \begin{pmatrix} 1 \\ 0 \end{pmatrix} \qquad W_s = \begin{pmatrix} 0 & 0 \\ 1 & 0 \end{pmatrix}$$
#
# We feed it a 1 and then two 0s. How much of the 1 is left after the third step?

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
# Nothing is left of it. The first step stores the 1 as $\tanh 1 = 0.762$, the second moves it on as $\tanh 0.762 = 0.642$, and the third does not pass it on.
#
# ## A cell that can keep its state
#
# Other matrices keep a word for longer, but whatever the word, the state is multiplied by the same matrix at every step. A good note-taker keeps some things and replaces others. The **gated recurrent unit**, or GRU, can decide which to do (Cho et al., 2014).
#
# A GRU computes a **candidate** $n_t$ for the new state, much as the plain cell computes its state. It also has a **gate** $z_t$, a number between 0 and 1 for each dimension. The new state mixes the candidate and the old state, where $\circ$ denotes elementwise multiplication:
#
# $$s_t = (1 - z_t) \circ n_t + z_t \circ s_{t-1}$$
#
# Take a one-dimensional state that starts at 1, and let all candidates be 0. How much of the state is left after twenty steps if the gate is always 0.5? And if it is 0.99?

# %% tags=["nbval-check-output"]
for z in (0.5, 0.9, 0.99):
    state = 1.0
    candidate = 0.0
    for _ in range(20):
        state = (1 - z) * candidate + z * state
    print(f"gate {z}: {state:.6f} of the state is left")

# %% [markdown]
# A gate of 0.5 leaves a millionth of the state; 0.99 leaves more than four fifths. Near 1, then, a gate keeps an entry; near 0, it replaces it. Learned matrices compute the gates from the word and the old state, so they can differ from word to word.
#
# A GRU's second gate, which we don't need here, is in the exercises, with all the formulas.
#
# PyTorch's `nn.GRU` runs through all the words in a batch and returns the state after every word and, separately, the last state. We give it B = 2 sentences of S = 5 words, with word vectors of dimension D = 3 and states of dimension H = 4. What is the shape of the states?

# %% tags=["nbval-check-output"]
gru = nn.GRU(3, 4, batch_first=True)  # D, H; the batch is the first axis
x = torch.randn(2, 5, 3)  # B S D
states, last_state = gru(x)  # B S H, 1 B H: the first axis counts the GRUs, here 1
print("states:    ", *states.shape)
print("last state:", *last_state.shape)

# %% [markdown]
# The shape is 2×5×4, because there is a state with 4 entries for each of the ten words. Of these ten states, a decoder will get to see two: the last state of each sentence.
#
# ## One vector between two networks
#
# Now we connect two GRUs, as in the picture. The encoder reads the sentence to be translated, the **source**, with an EOS at its end. With $e(x_t)$ as the vector of word $x_t$, the encoder's states $h_t$ lead to the **sentence vector** $c$:
#
# $$h_t = \mathrm{GRU}\big(e(x_t),\, h_{t-1}\big) \qquad c = h_S$$
#
# The decoder starts with this vector as its state and writes one word at each step. It first reads the special word **BOS**, then its own previous word; when it writes **EOS**, the translation is complete. Call the words of the translation $y_1, y_2, \dots$, with $y_0$ for BOS, and let $y_{<t}$ be those before $y_t$:
#
# $$s_0 = c \qquad s_t = \mathrm{GRU}\big(e(y_{t-1}),\, s_{t-1}\big) \qquad P(y_t \mid y_{<t}, c) = \mathrm{softmax}(W s_t + b)$$
#
# ## A small language
#
# To train the two networks, we need many sentences whose correct translations are known. A program translates 40 English words into our invented language. What happens to "the" and to "dog"?

# %% tags=["nbval-check-output"]
small = ["boy called girls", "the boy called the girls", "the dog called girls"]
for sentence in small:
    print(f"{sentence:25}", *truth([sentence]))

# %% [markdown]
# "The" and "today" vanish; "dog" and a few others become two words. The word order stays the same.
#
# `pairs` contains 20,000 sentences with their translations, and `pairs.words` is the vocabulary, which numbers the words of both languages. All lengths from 1 to 12 words are about equally frequent.
#
# `make_batch` turns pairs of sentences into three tensors and pads the shorter sentences with 0 at the end. In the comments, S and T are the lengths of the padded sources and translations. For a batch of two sentences, how do the rows of `given` differ from the rows of `wanted`?


# %% tags=["nbval-check-output"]
PAD = 0
BOS = 1
EOS = 2
UNK = 3  # a word outside the vocabulary


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
# Each row of `given` is the matching row of `wanted` shifted one position to the right, with BOS in front and without EOS. At each position, the decoder reads `given` and should write `wanted`.
#
# In training, then, the decoder reads the *right* word from the previous position; this is called **teacher forcing**. Isn't that cheating? No, it only helps: the decoder never reads the word that it should write. Without the shift, it would read that word and could copy it.
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
# For the shorter sentence, the last position is padding. The GRU reads padding like any other word, so the state there would depend on the amount of padding. In `decode`, `s[None]` adds the first axis that `nn.GRU` expects; the state that `decode` also returns is for translating word by word.
#
# ## The loss
#
# At each position, the model gives every word in the vocabulary a score, called its **logit**, and a softmax turns the logits into probabilities $p$. Training should make the probability of the right word large, so our loss is $-\ln p$ for the right word, averaged over all the words in the batch. EOS counts as a word; padding does not.
#
# Such a loss is measured in **nats**, the unit that goes with the natural logarithm. Our vocabulary has 86 entries, which are all about equally probable before training. What will the loss be, in nats per word?

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
# The loss is about $\ln 86$. Its exponential, $e^{\text{loss}}$, is the **perplexity**: the model is as unsure as if it drew each word from that many equally probable ones, here from all 86.
#
# PyTorch's `cross_entropy` computes the same loss without loops. It expects one row of logits per word, so we flatten the axes B and T into one.
#
# ## Training
#
# A training step computes a batch's loss and its gradient, then moves every weight a little so that the loss falls. What does this do to the probabilities? We let a copy of the model take twenty steps on our two sentences and watch its first word, for which "flima" is wanted. Which other words will gain at first?


# %%
def loss_of(logits, wanted):  # B T V, B T
    logits_of_words = logits.flatten(0, 1)  # B·T V
    right_words = wanted.flatten()  # B·T
    return F.cross_entropy(logits_of_words, right_words, ignore_index=PAD)


print("the same loss:", torch.allclose(loss_of(logits, wanted), by_loops))
trial = copy.deepcopy(model)
adam = torch.optim.Adam(trial.parameters(), lr=0.01)
after = {}  # from the number of steps to the probabilities of the first word
for step in range(21):
    logits = trial(source, given)  # B T V
    if step in (0, 5, 20):
        after[step] = logits[0, 0].detach().softmax(-1)  # V
    loss = loss_of(logits, wanted)
    adam.zero_grad()
    loss.backward()
    adam.step()
figures.one_word_learned(pairs.words, after, wanted[0, 0])

# %% [markdown]
# After five steps, all words that are wanted anywhere in the batch have grown at the expense of the rest: the model has learned which words occur, but hardly where. After twenty, "flima" has nearly all the probability, and its $-\ln p$ is close to 0.
#
# The real loop adds two things. On its way back through the sentence, the gradient is multiplied by a matrix at every word and can become very large. `clip_grad_norm_` therefore shortens it to length 1 if it is longer. The scheduler `LinearLR` reduces the learning rate to a twentieth of its initial value.


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
# `train_model` calls `batch_loss`, which samples a batch and returns the loss, so later lessons can use the same loop for other models. Here, a batch consists of 64 random pairs. How far does the perplexity fall from 86 in 600 steps?


# %%
def fit(model, sources, targets, seed=0, steps=600, batch=64, rate=0.01):
    def batch_loss(draw):
        chosen = torch.randint(len(sources), (batch,), generator=draw).tolist()
        drawn_sources = [sources[i] for i in chosen]
        drawn_targets = [targets[i] for i in chosen]
        source, given, wanted = make_batch(drawn_sources, drawn_targets)
        return loss_of(model(source, given), wanted)

    return train_model(model, batch_loss, seed, steps, rate)


def print_log(losses, every):
    for end in range(every, len(losses) + 1, every):
        loss = fmean(losses[end - every : end])
        perplexity = math.exp(loss)
        print(f"to step {end}: loss {loss:.2f}, perplexity {perplexity:.1f}")


sources, targets = pairs.ids()  # word numbers of all 20,000 pairs
losses = fit(model, sources, targets)
print_log(losses, every=100)

# %% [markdown]
# The perplexity falls to about 1.9. The model, at first torn between 86 words, now wavers, on average, between two.
#
# ## The model translates
#
# Now nobody gives the decoder the right words: it writes the most probable word at each step and reads it at the next. Does it translate "boy called girls" correctly?


# %%
@torch.no_grad()
def translate(model, words, sentences):  # words: the vocabulary
    no_words = [[] for _ in sentences]  # the translations are still empty
    source, given, _ = make_batch(words.encode(sentences), no_words)  # B S, B 1
    # given now holds only BOS, with which each translation begins
    s = model.encode(source)  # B H
    written = []
    for _ in range(40):  # at most 40 words
        logits, s = model.decode(given, s)  # B 1 V, B H
        logits[:, :, UNK] = -torch.inf  # never write UNK
        given = logits.argmax(-1)  # B 1: the most probable word of each sentence
        written.append(given)
    ids = torch.cat(written, dim=1)  # B 40
    return words.decode(ids.tolist())  # each up to its EOS


for sentence in ("boy called girls", "the dog called girls"):
    print(sentence)
    print("    right:", *truth([sentence]))
    print("    model:", *translate(model, pairs.words, [sentence]))

# %% [markdown]
# Both translations are correct. To watch the first one emerge, we compute all its states and probabilities. The film adds them to our first picture: the first 4 of each state's 64 entries and, above each decoder state, the three most probable next words. At which step is the model least sure?

# %%
written = translate(model, pairs.words, ["boy called girls"])
read = pairs.words.encode(["boy called girls"])
source, given, _ = make_batch(read, pairs.words.encode(written))  # 1 S, 1 T
with torch.no_grad():
    h, c = model.encoder(model.embedding(source))  # 1 S H, 1 1 H
    s, _ = model.decoder(model.embedding(given), c)  # 1 T H
    p = model.readout(s).softmax(-1)  # 1 T V
figures.one_vector(pairs.words, source[0], given[0], h[0], s[0], p[0])

# %% [markdown]
# In our run, it is least sure of "kovor", for "called": another verb, "melor", still has a probability of about 0.3. Even in a note of three words, the second is not quite legible.
#
# ## How long can a sentence be?
#
# Now a sentence grows from one word to twelve, the greatest length in training, until it is the sentence we began with. Each row of the picture shows all 64 numbers of its vector as narrow boxes, then the translation, with dashed frames around wrong words. At which length does the first one appear?

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
with torch.no_grad():
    vectors = model.encode(make_batch(pairs.words.encode(growing), [[]] * 12)[0])
translations = translate(model, pairs.words, growing)
figures.growing(growing, truth(growing), translations, vectors)

# %% [markdown]
# In our run, the first wrong words appear at nine words, and they come in from the right.
#
# **Your turn**: replace sentences in `growing`. What is the shortest sentence your model gets wrong?
#
# To measure the effect of length, we translate 200 sentences at each of twelve lengths between 1 and 16 words. A word counts as right only in its own position; this is strict, because if the model leaves out one word, nearly all later ones count as wrong. What proportion of the words will it get right in 12-word sentences?

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
    translations = translate(model, pairs.words, test.sources)
    shares = exact_shares(translations, test.targets)
    sentences_right[length], words_right[length] = shares
print("The share of words right in test sentences of twelve words:")
reveal("05.twelve", round(words_right[12], 2))

# %% [markdown]
# The model gets fewer than half of the words right. To see whether that is bad luck, the plot compares our model with five models trained beforehand with different seeds. And has it merely memorised short sentences? We also test *new* sentences of four words.

# %%
figures.words_right_by_length(words_right)
known = set(pairs.sources)
test = small_world(200, seed=7, shortest=4, longest=4)
new = [sentence for sentence in test.sources if sentence not in known]
share, _ = exact_shares(translate(model, pairs.words, new), truth(new))
print(f"new sentences of four words: {len(new)}, share right: {share:.2f}")

# %% [markdown]
# It was not bad luck: all five models lose words long before the dotted line, the greatest length in training. But most of the new four-word sentences come through whole, so the model has done more than memorise.
#
# ## How much comes from the vector?
#
# Some of the right words may be guesses, since a verb often follows a noun. On the other hand, one wrong word may have led to the next. We therefore give the decoder the right words, as in training, once with each sentence's own vector and once with another sentence's. At which position will the two results differ most?

# %%
test = small_world(200, seed=7, shortest=12, longest=12)
source, given, wanted = make_batch(*test.ids())  # B S, B T, B T
is_word = wanted > EOS  # B T: neither padding nor EOS
with torch.no_grad():
    own = model.encode(source)  # B H
    another = own.roll(1, dims=0)  # B H: to each sentence the vector before its own
    lines = {}
    for name, s in {"its own vector": own, "another's vector": another}.items():
        logits, _ = model.decode(given, s)  # B T V
        right = (logits.argmax(-1) == wanted) & is_word  # B T
        print(f"{name}: {right.sum() / is_word.sum():.2f} of all words right")
        lines[name] = right[:, :12].sum(0) / is_word[:, :12].sum(0)  # 12
curves = {name: shares[None] for name, shares in lines.items()}  # one model
ax = plots.axes(width=6.4, height=3.4)
axis_names = ("position in the translation", "share of words right")
ax.set_ylim(0, 1.05)
plots.curves(range(1, 13), curves, *axis_names, ax=ax)

# %% [markdown]
# With another sentence's vector, the decoder gets about 18% of the words right: at least that many can be guessed. With the sentence's own vector, it gets about 60% right, so this vector holds a good part of the sentence. But it holds the first words far better than the later ones: in our run, from the seventh word on, fewer than half are right.
#
# That is surprising. The encoder read the first words longest ago, so shouldn't they be the ones to fade?
#
# ## A map of sentences
#
# To find out, we look into the vectors of 360 sentences of three words, such as "boy called girls". Nobody can draw 64 axes, so we use two kinds of map: **PCA** shows the two directions in which the vectors differ most, and **t-SNE** gives up directions to keep neighbours together (van der Maaten and Hinton, 2008). Each map is drawn three times, coloured by the first, the second and the third word. In which column will dots of one colour gather?

# %%
nouns = "boy boys dog dogs friend friends girl girls house houses".split()
verbs = "called carried followed helped painted saw visited watched".split()
sentences = [f"{a} {verb} {b}" for a in nouns for verb in verbs for b in nouns]
sentences = [text for text in sentences if text.split()[0] != text.split()[2]]
sentences = sentences[::2]  # every other one: 360
with torch.no_grad():
    c = model.encode(make_batch(pairs.words.encode(sentences), [[]] * 360)[0])
centred = c - c.mean(0)  # 360 H
_, _, directions = torch.linalg.svd(centred, full_matrices=False)
pca = centred @ directions[:2].T  # 360 2
t_sne = TSNE(random_state=0, init="pca").fit_transform(c.numpy())  # 360 2
figures.maps({"PCA": pca.numpy(), "t-SNE": t_sne}, sentences)


# %% [markdown]
# The dots gather by their first word. To put a number on it, we group the sentences by each word in turn and compute how much of the vectors' variance is between the groups.


# %%
def share_of_variance(position):  # of the word that makes the groups
    groups = {}
    for text, vector in zip(sentences, centred, strict=True):
        groups.setdefault(text.split()[position], []).append(vector)
    between = 0.0
    for vectors in groups.values():
        between += len(vectors) * torch.stack(vectors).mean(0).square().sum()
    return between / centred.square().sum()


for position in range(3):
    print(f"word {position + 1}: {share_of_variance(position):.2f} of the variance")
swapped = pairs.words.encode(["boy called girls", "girls called boy"])
with torch.no_grad():
    there, back = model.encode(make_batch(swapped, [[], []])[0])  # H, H
print(f"distance of two sentences: {torch.pdist(c).mean():.1f} on average,")
print(f"{(there - back).norm():.1f} if they have the same words in another order")

# %% [markdown]
# The first word accounts for about half of the variance, the second and the third for about a quarter or less, which fits the plot above. Perhaps the decoder is the reason: it needs the first word at once, so training rewards a note in which this word is easy to read. The t-SNE map agrees: "dog" and "dogs" lie together, and the translations of both begin with "smadu".
#
# The vector also knows the order: "girls called boy" is far from "boy called girls", although lesson 01's sum of word vectors is the same for both.
#
# ## Is the vector too small?
#
# Does the model fail on long sentences for lack of room? It also has to *learn* how to write a sentence into the vector and how to read it out again. To separate the two causes, we trained five models for each of six versions and counted the sentences that came through *whole*. On the left, the versions were trained for 600 steps, like yours; on the right, for four times as many. If 64 numbers were too few for eight words, what would the right-hand plot look like?

# %%
figures.whole_sentences_right(sentences_right)

# %% [markdown]
# The blue line on the right would not rise above the grey one. But it does: after longer training, the same 64 dimensions hold most of the eight-word sentences. For eight words, then, room was not the limit; the network had not learned to use it. With 128 dimensions, more sentences come through even after 600 steps, but the whole network is larger, too, and the plot does not say which helps.
#
# Plain cells, without gates, fail even at two words, and a lower learning rate does not save them. At twelve words, even the best version fails on most sentences.
#
# ## Real sentences
#
# That was a toy language. Can one vector carry a real sentence? We keep the model, the loss, the loop and `translate`; only the data are new. Multi30k (Elliott et al., 2016) contains captions of photos in English and German. We split each caption into **tokens** (words and punctuation marks) and keep the pairs with at most ten English tokens.
#
# As in lesson 01, a vocabulary numbers the tokens, here of both languages; a token that occurs fewer than three times becomes UNK, for unknown. To save padding, each batch consists of pairs of similar length, and `DataLoader` shuffles the batches in each epoch.


# %%
def tokenize(caption):  # "A dog runs." becomes "a dog runs ."
    return " ".join(re.findall(r"\w+|[^\w\s]", caption.lower()))


def read_captions(path):  # a caption for each line, its tokens with spaces between
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [tokenize(line) for line in lines]


def read_pairs(split, longest=10):
    # Without the course: `load_dataset("bentrevett/multi30k")["train"]`, from the
    # library `datasets`, has the captions of each pair as "en" and "de".
    english_file, german_file = caption_files(split)
    english = read_captions(english_file)
    german = read_captions(german_file)
    both = zip(english, german, strict=True)
    return [pair for pair in both if len(pair[0].split()) <= longest]


training_pairs = read_pairs("train")
validation_pairs = read_pairs("val")  # captions of other photos
test_pairs = read_pairs("test")
print(len(training_pairs), "pairs for training, the first of them:")
print(*training_pairs[0], sep="\n")


# %%
class Vocabulary:
    def __init__(self, captions):
        counts = Counter(" ".join(captions).split())
        frequent = [token for token, count in counts.items() if count >= 3]
        self.tokens = ["PAD", "BOS", "EOS", "UNK", *frequent]
        self.number_of = {token: i for i, token in enumerate(self.tokens)}

    def encode(self, captions):  # a list of numbers for each caption
        return [self.encode_one(caption) for caption in captions]

    def encode_one(self, caption):
        return [self.number_of.get(token, UNK) for token in caption.split()]

    def decode(self, rows):  # each row up to its EOS
        texts = []
        for row in rows:
            end = row.index(EOS) if EOS in row else len(row)
            texts.append(" ".join(self.tokens[i] for i in row[:end]))
        return texts


# %%
def batches_by_length(pairs, size=64):
    pairs = sorted(pairs, key=lambda pair: len(pair[1]))
    return [pairs[i : i + size] for i in range(0, len(pairs), size)]


def collate(pairs):
    english, german = zip(*pairs, strict=True)
    return make_batch(captions.encode(english), captions.encode(german))


def again_and_again(loader):  # epoch after epoch
    while True:
        yield from loader


captions = Vocabulary(text for pair in training_pairs for text in pair)
print("tokens in the vocabulary:", len(captions.tokens))
# With `batch_size=None`, each item of the list is a batch.
options = {"batch_size": None, "shuffle": True, "collate_fn": collate}
loader = DataLoader(batches_by_length(training_pairs), **options)

# %% [markdown]
# After training, which logs a line per epoch, we compute the perplexity on captions of other photos, with each caption's own vector and, as above, with another's. Finally, the model translates all short test captions. BLEU, which lesson 07 explains, counts how many runs of one to four words a translation shares with a human's; a perfect match scores 100.


# %%
torch.manual_seed(0)
german_model = Seq2Seq(len(captions.tokens), D=64, H=128)
stream = again_and_again(loader)


def caption_loss(draw):  # the loader draws by itself
    source, given, wanted = next(stream)
    return loss_of(german_model(source, given), wanted)


epoch = len(loader)  # steps
losses = train_model(german_model, caption_loss, seed=0, steps=5 * epoch, rate=0.01)
print_log(losses, every=epoch)

# %%
source, given, wanted = collate(validation_pairs)  # B S, B T, B T
with torch.no_grad():
    own = german_model.encode(source)  # B H
    for name, s in {"its own": own, "another's": own.roll(1, dims=0)}.items():
        logits, _ = german_model.decode(given, s)  # B T V
        perplexity = loss_of(logits, wanted).exp()
        print(f"new captions, {name} vector: perplexity {perplexity:.1f}")

# %%
examples = [
    "A man is playing guitar.",
    "Two dogs are running in the snow.",
    "A woman is reading a book on a bench.",
]
in_german = translate(german_model, captions, [tokenize(text) for text in examples])
for caption, translation in zip(examples, in_german, strict=True):
    print(caption, "→", translation)

# %%
english, german = zip(*test_pairs, strict=True)
translations = translate(german_model, captions, english)
swapped = translations[1:] + translations[:1]  # to each caption the next one's
for name, texts in {"its own": translations, "the next one's": swapped}.items():
    # The texts are already split into tokens.
    bleu = sacrebleu.corpus_bleu(texts, [german], tokenize="none", force=True)
    print(f"BLEU if each caption gets {name} translation: {bleu.score:.1f}")

# %% [markdown]
# With a caption's own vector, the model wavers between about 12 words at each step, with another's between more than 30, so something of a real sentence gets through, too. In our run, guitar, snow and bench arrive, but nobody reads a book. A BLEU of about 7 is nothing to be proud of, although translations exchanged between captions score only about 1.
#
# With twice the dimensions and all 29,000 captions, of any length, the same model [reaches 10 to 11](../docs/measurements.md#what-gets-through-one-vector) on these captions in six and a half minutes. It translates our first two examples correctly, guitar included.
#
# ## Can one vector hold a sentence?
#
# One vector can hold a short sentence, even one not seen in training. With our training, nearly all three-word sentences come through whole, as do about half of the six-word sentences but none of the twelve-word ones, whose first words mostly arrive.
#
# Were 64 numbers too few? Not for eight words: after longer training, the same note holds most of them. For twelve words, we don't know. More numbers helped, and so did more training, but even our best version got most of these sentences wrong.
#
# Cho et al. (2014, "On the Properties of Neural Machine Translation") found the same for English and French: the longer the sentence, the worse its translation. Sutskever et al. (2014) translated long sentences well, with 1,000 cells in each of four layers of LSTMs, 12 million pairs of sentences, and the source read backwards.
#
# There is a cheaper way out. The encoder has a state after *every* word, and we throw away all but the last.
#
# ## Where you will meet this
#
# | here | in papers | in PyTorch | in Hugging Face's `transformers` |
# | --- | --- | --- | --- |
# | state $s_t$ | hidden state $h_t$ | `nn.GRU` returns `output`, `h_n`; `nn.LSTM` returns `output`, `(h_n, c_n)` | `last_hidden_state` |
# | sentence vector $c$ | context vector, thought vector | `h_n`, with axes 1 B H even with `batch_first`; the first axis counts layers | none |
# | `given`, `wanted` | $y_{t-1}$, $y_t$ | none | `decoder_input_ids`, `labels` |
# | the state at EOS | | `pack_padded_sequence` | |
# | `read_pairs`, `collate` | | `DataLoader(…, collate_fn=collate)` | `load_dataset`, in `datasets`; `DataCollatorForSeq2Seq` |
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
# - The encoder's last state is all that the decoder knows about the source. In training, the decoder reads the right words, shifted by one position.
# - With the vector of a different sentence, the decoder can only guess. With the right vector, it gets the first words of a long sentence right more often than the last.
# - The size of the vector is not the only limit. The network has to learn to use its entries, so longer sentences come through after longer training.
#
# **Exercises**: [open them](../exercises/05_seq2seq_exercises.ipynb)
#
# **Next**: the encoder has a state for every word. [Where would a decoder look if it had them all?](06_seq2seq_attention.ipynb)

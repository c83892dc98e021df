# %% [markdown]
# Read this sentence once, cover it and say it again:
#
# > our small boy called my old girls and friends followed big houses
#
# The beginning comes easily, but the end may not. Lesson 05's decoder also had to translate from memory, which was one vector, and after eight correct words it lost its way. A human translator doesn't have to remember so much, because before each word, she can look back at the page. From now on, so can the decoder. Where will it look?

# %%
import re
from collections import Counter
from statistics import fmean

import ipywidgets
import sacrebleu
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from course_lessons.lesson_06_seq2seq_attention import figures
from course_utils import check, predict, reveal
from course_utils.data.loading import load_captions
from course_utils.data.measured import measured, measured_at
from course_utils.data.small_world import SMALL, small_world
from course_utils.data.subwords import PAD, UNK, Subwords
from course_utils.data.world import World
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.seq2seq import fit, make_batch  # lesson 05
from course_utils.models.serialization import load_pretrained
from course_utils.translation.scores import share_in_order
from course_utils.translation.translate import align

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## A trained model at work
#
# Before each word, the decoder looks at all the source words, and most closely at those it needs now: that is the whole idea.
#
# Here is a model that has learned to do so from 29,000 captions. Each row belongs to a word of its translation, and the numbers say how much the model looked at each English word before writing it. Numbers below 0.05 are left out. Which row surprises you?

# %%
french, subwords = load_pretrained("attention-en-fr")
seen = align(french, subwords, "An old man is sitting next to a swimming pool.")
plots.weights(seen.weights, seen.source, seen.target, xlabel="English", ylabel="French")

# %% [markdown]
# Nobody told the model that "homme" means "man", and yet before it writes "homme", "man" gets nearly all the weight. Even before "Un", it looks most at "man", and with good reason: the noun decides between "un" and "une". But "vieil" means "old". Why does the model look even more at "man" than at "old" before it writes "vieil"? We come back to this row when we have built such a model ourselves.
#
# ## Three words, three looks
#
# To see how such weights arise, we make lesson 05's toy language harder: the verb now goes to the end of its clause. In "flima droli pamor", the translation of "boy followed girls", "pamor" means "followed". The film shows what the model that we train below computes, with 3 of the 64 entries of each vector. Watch the blue bars: where does the model look before it writes "droli"?

# %%
figures.three_looks()

# %% [markdown]
# It looks at "girls", passing over "followed", and only then goes back to the verb. Each look needs three things:
#
# - The **query** is the decoder's state before the step. Only this state knows what has already been translated.
# - The encoder's states are no longer thrown away. Bahdanau et al. (2014) call them **annotations**, because each describes one source word and the words around it. As a **key**, an annotation is compared with the query and gets a weight; as a **value**, it is added up with the others in proportion to this weight.
# - The sum is the **context**. The decoder reads it together with the last word, and its state changes. From its new state and the context, it then chooses the next word.
#
# Couldn't the decoder run a finger along the sentence, one word at a time? For many sentences it could, but not for this one, in which the second word comes third. And why does it also look a little at the other words? That is on purpose: because weights can change gradually, training can improve them step by step.
#
# ## One look by hand
#
# To check every number by hand, we shrink the vectors to two entries, the first for adjectives and the second for nouns. In the state, -1 means missing and 1 present; in an annotation, 2 means that the word is one. The state is $s = (-1, 1)$, so an adjective is missing. The annotations of "our", "small" and "boy" are $h_1 = (0, 0)$, $h_2 = (2, 0)$ and $h_3 = (0, 2)$.
#
# Each annotation gets a **score**. Bahdanau et al. use the perceptron from lesson 04, where $W$, $U$ and $v$ are parameters ($v$ is not a value):
#
# $$z_j = v^\top \tanh(W s + U h_j)$$
#
# With identity matrices for $W$ and $U$ and with $v = (1, 1)$, we only have to add the query to the key, take tanh of each entry and add up the two results. As in lesson 03, the softmax then turns the scores into weights $a_j$, and the weighted sum of the annotations is the context $c$:
#
# $$a_j = \frac{e^{z_j}}{\sum_{i=1}^{S} e^{z_i}} \qquad c = \sum_{j=1}^{S} a_j\, h_j$$
#
# Work out the three scores on paper, with $\tanh 1 \approx 0.762 = -\tanh(-1)$ and $\tanh 3 \approx 0.995$. Will the missing adjective get the most weight?

# %% tags=["nbval-check-output"]
words = ["our", "small", "boy"]
s = torch.tensor([-1.0, 1.0])  # H
h = torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])  # S H
z = torch.zeros(3)  # S: the scores
for j in range(3):
    z[j] = torch.tanh(s + h[j]).sum()
a = z.softmax(0)  # S: the weights

c = torch.zeros(2)  # H: the context
for j in range(3):
    c = c + a[j] * h[j]
print("scores: ", z)
print("weights:", a)
print("context:", c)
figures.one_look(words, s, h, z, a)

# %% [markdown]
# It does: "small" gets two thirds of the weight, so the context comes mostly from its annotation. The reason is that tanh is steep in the middle and flat further out. Where an entry of the state is -1, adding 2 raises tanh by 1.523; where it is 1, by only 0.233. What is missing therefore counts more.
#
# **Your turn**: now the noun is missing and the adjective is not. In which state does the decoder look mostly at "boy"? Guess, then move the sliders.


# %%
def look_in_state(s1, s2):
    state = torch.tensor([float(s1), float(s2)])  # H
    scores = torch.tanh(state + h).sum(1)  # S
    return figures.one_look(words, state, h, scores, scores.softmax(0))


first = ipywidgets.IntSlider(0, min=-2, max=2, description="adjective")
second = ipywidgets.IntSlider(0, min=-2, max=2, description="noun")
state_explorer = explore(look_in_state, s1=first, s2=second)
state_explorer

# %% [markdown]
# <details><summary>Answer</summary>
#
# In the state (1, -1), "boy" gets 0.670 of the weight, as "small" did before.
#
# </details>
#
# The model repeats this before each word: step $t$ uses the state $s_{t-1}$ from before the step, and its results are $z_{tj}$, $a_{tj}$ and $c_t$.
#
# ## The same look as a module
#
# For training, we need the same calculation for B sentences of S source words at once, with vectors of dimension H. $W$, $U$ and $v$ are learned, each as an `nn.Linear` without a bias.
#
# The mask is True for words and False for padding; as in lesson 03, a row of the mask with no True entry gives weights of 0 only.


# %%
class Attention(nn.Module):
    def __init__(self, H):  # width of a state and of an annotation
        super().__init__()
        self.W = nn.Linear(H, H, bias=False)
        self.U = nn.Linear(H, H, bias=False)
        self.v = nn.Linear(H, 1, bias=False)

    def forward(self, s, h, mask):  # B H, B S H, B S
        of_state = self.W(s)[:, None]  # B 1 H: the same for every source word
        hidden = torch.tanh(of_state + self.U(h))  # B S H
        z = self.v(hidden)[:, :, 0]  # B S: the scores
        z = z.masked_fill(~mask, -torch.inf)
        a = z.softmax(-1)  # B S: the weights, NaN without any True
        a = a.nan_to_num(0.0)  # B S: 0 in place of NaN
        weighted = a[:, :, None] * h  # B S H: B S 1 times B S H
        c = weighted.sum(1)  # B H: the context
        return c, a


# %% [markdown]
# We check the module against our example, twice in a batch. In the second copy, "boy" is masked out. How much weight does "small" get there?

# %% tags=["nbval-check-output"]
attention = Attention(H=2)
identity = torch.eye(2)
parameters = {"W.weight": identity, "U.weight": identity, "v.weight": torch.ones(1, 2)}
attention.load_state_dict(parameters)

two_states = torch.stack([s, s])  # B H
two_sentences = torch.stack([h, h])  # B S H
mask = torch.tensor([
    [True, True, True],
    [True, True, False],  # "boy" is padding
])  # fmt: skip  # B S
c, a = attention(two_states, two_sentences, mask)  # B H, B S
print("weights: ", a.detach())
print("contexts:", c.detach())

# %% [markdown]
# In the first copy, "small" gets a weight of 0.670, as before. In the second, where only two words share the weight, it gets 0.821.
#
# ## The whole model
#
# The diagram shows the step in which the whole model writes "droli". Follow the context: which two parts of the decoder read it?

# %%
source = ["boy", "followed", "girls"]
diagrams.looking_back(source, given="flima", output="droli")

# %% [markdown]
# The context goes to the cell, along with the last word written, and to the **readout**, the last layer, which produces the next word. Four things change in the model from lesson 05:
#
# | | lesson 05 | now |
# | --- | --- | --- |
# | the encoder reads | from left to right | in both directions, each with half the hidden size |
# | the encoder returns | its last state | all the annotations, a mask and the last states of both directions |
# | the decoder's cell reads | the previous word | the previous word and the context |
# | the readout reads | the state | the state and the context |
#
# A GRU that reads from left to right does not yet know what comes after a word, so a second one reads from right to left. Their states at the same word, side by side, form one annotation. `nn.GRU` runs both with `bidirectional=True`, but the second would begin with the padding. To leave it out, we **pack** the sentences before the GRUs read them and unpack the states afterwards.


# %%
def read_both_ways(gru, vectors, mask):  # …, B S D, B S
    lengths = mask.sum(1)  # B
    # True: the batch comes first
    packed = pack_padded_sequence(vectors, lengths, True, enforce_sorted=False)
    states, last = gru(packed)  # packed, 2 B H/2: the last states of both directions
    S = mask.shape[1]
    h, _ = pad_packed_sequence(states, True, total_length=S)  # B S H, 0 at padding
    return h, torch.cat([last[0], last[1]], -1)  # B S H, B H


# %% [markdown]
# Since the decoder needs a new context before each step, it can no longer take all steps in a single call to `nn.GRU`: `nn.GRUCell` computes a single step, and `decode` contains the loop. The decoder starts from the last states of the encoder's two GRUs, side by side. In which lines is the context used?


# %%
class LookingBack(nn.Module):
    def __init__(self, V, D=32, H=64):  # vocabulary, width of a word, width of a state
        super().__init__()
        self.embedding = nn.Embedding(V, D)
        self.encoder = nn.GRU(D, H // 2, batch_first=True, bidirectional=True)
        self.attention = Attention(H)
        self.decoder = nn.GRUCell(D + H, H)
        self.readout = nn.Linear(H + H, V)

    def encode(self, source):  # B S
        mask = source != PAD  # B S
        h, s = read_both_ways(self.encoder, self.embedding(source), mask)  # B S H, B H
        return s, h, mask

    def decode(self, given, s, h, mask):  # B T, B H, B S H, B S
        vectors = self.embedding(given)  # B T D
        logits = []
        weights = []
        for t in range(given.shape[1]):  # T steps
            c, a = self.attention(s, h, mask)  # B H, B S
            read = torch.cat([vectors[:, t], c], -1)  # B D+H: the word and the context
            s = self.decoder(read, s)  # B H: the next state
            logits.append(self.readout(torch.cat([s, c], -1)))  # B V
            weights.append(a)
        return torch.stack(logits, 1), s, torch.stack(weights, 1)  # B T V, B H, B T S

    def forward(self, source, given):
        return self.decode(given, *self.encode(source))[0]  # B T V: the logits


# %% [markdown]
# Translating S words into T takes S · T scores: each target word is scored against each source word.
#
# ## Look before the step, or after it?
#
# `LookingBack` looks before its step, as Bahdanau's decoder does. Luong et al. (2015) look after it. What are the two differences from the diagram above?

# %%
diagrams.looking_back(source, given="flima", output="droli", after=True)

# %% [markdown]
# | | query | what reads the context |
# | --- | --- | --- |
# | Bahdanau | $s_{t-1}$, the state before the step | the cell and the readout |
# | Luong | $s_t$, the state after the step | the readout |
#
# In the loop, the line with `read` goes, two lines change places, and the cell becomes `nn.GRUCell(D, H)`:
#
# ```python
# s = self.decoder(vectors[:, t], s)  # B H: first the step
# c, a = self.attention(s, h, mask)  # B H, B S: then attention
# ```
#
# Luong's cell learns about the context only through the word that was written, unless **input feeding** also gives it the vector from which this word was written.
#
# <details><summary>Which of the two is better?</summary>
#
# Three models of each kind, with the same settings, get nearly every word right on sentences as long as in training ([measured](../docs/measurements.md#what-looking-back-adds-in-the-small-world)). On longer ones, for every seed, looking before the step gets more words right, although looking after it puts more of the largest weights in the right place. The loops differ in two things, so we cannot say which matters.
#
# </details>
#
# ## Does it translate?
#
# We train the model for 600 steps with lesson 05's loop. How far does the loss fall?

# %%
pairs = small_world(20_000, seed=8, order="verb-last")  # sentences of 1 to 12 words
torch.manual_seed(0)
model = LookingBack(len(pairs.words))
sources, targets = pairs.ids()  # word numbers of all pairs
losses = fit(model, sources, targets, seed=0, steps=600, rate=0.005)
for step in (0, 50, 200, 599):
    print(f"step {step:3}: loss per word {losses[step]:.2f}")

# %% [markdown]
# The loss falls from 4.45, or $\ln 86$, the loss of guessing uniformly among 86 words, to about 0.01. For a new sentence, nobody supplies the correct previous words, so as in lesson 05, the model writes the most probable word at each step and reads it at the next.


# %%
@torch.no_grad()
def translate(model, vocabulary, sentences, longest=40):
    no_words = [[] for _ in sentences]  # the translations are still empty
    source, y, _ = make_batch(vocabulary.encode(sentences), no_words)  # B S, B 1
    # y now holds only BOS, the sign that begins each translation
    s, h, mask = model.encode(source)
    written = []
    for _ in range(longest):
        logits, s, _ = model.decode(y, s, h, mask)  # B 1 V, B H
        logits[:, :, UNK] = -torch.inf  # the sign for unknown words is never written
        y = logits.argmax(-1)  # B 1: the most probable word
        written.append(y)
    ids = torch.cat(written, 1)  # B longest
    return vocabulary.decode(ids.tolist())  # each up to its EOS


# %% [markdown]
# Lesson 05's model failed on sentences of 12 words, the longest in training, so we begin there. The class `World` supplies the correct translation and the links, which connect each target word to the source word that it comes from. Was this sentence in the training data, and is its translation correct?

# %%
sentence = "big boy near my house called old girls and dogs followed friends"
right, links = World("verb-last", **SMALL).translate(sentence.split())
print("read in training:", sentence in pairs.sources)
print("source:", sentence)
print("right: ", *right)
print("model: ", *translate(model, pairs.words, [sentence]))

# %% [markdown]
# The model never saw this sentence in training, yet it gets every word right. Even the verb of the first clause has moved: "called" is in the middle of its clause, but its translation, "kovor", is at the end.
#
# ## Does it look where it should?
#
# A correct translation does not prove that the decoder looked at the right words, or at any. PyTorch's own tutorial, from 2017 to 2023, computed the attention weights without the annotations, and its model could be trained all the same. We plot our weights. As in training, `look` feeds the model the correct translations word by word and returns the weights for each. Dashed frames mark the known links; a source word that is translated as two words, such as "old", has two frames. Is the largest weight in each row inside a frame?


# %%
@torch.no_grad()
def look(sentences, translations):
    sources = pairs.words.encode(sentences)
    targets = pairs.words.encode(translations)
    source, given, _ = make_batch(sources, targets)  # B S, B T
    s, h, mask = model.encode(source)
    _, _, weights = model.decode(given, s, h, mask)  # B T S
    found = []
    for a, read, written in zip(weights, sources, targets, strict=True):
        found.append(a[: len(written), : len(read)])  # T S: no EOS, no padding
    return found


[weights] = look([sentence], [" ".join(right)])
frames = [(row, column) for column, row in links]  # links: source word, target word
plots.weights(
    weights,
    sentence.split(),
    right,
    xlabel="source words",
    ylabel="translation",
    marked=frames,
)

# %% [markdown]
# Here, every row has its largest weight inside a frame. Most frames lie along a diagonal, because most words keep their order, but the verbs break the pattern: the decoder goes back to "called" after "girls".
#
# One sentence may be a fluke, so we want a measure that covers many. We link each target word to the source word with the largest weight and call the set of these links $A$; the known links are $K$. The **alignment error rate**, AER (Och & Ney, 2003), is the share of all these links that are in only one of the two sets:
#
# $$\text{AER} = 1 - \frac{2\, |A \cap K|}{|A| + |K|}$$
#
# If the largest weight is in the right place for three of four words, the AER is $1 - 2 \cdot 3 / (4 + 4) = 0.25$. In our toy language, where every target word has one known link, it is the share of wrong links. We measure it on 200 sentences of each length, for your model and for three others with the same settings, trained on other pairs and with other seeds. Does the AER grow with sentence length?


# %%
def alignment_error_rate(weights, links):  # of each sentence T S, and known pairs
    shared = 0
    total = 0
    for a, known in zip(weights, links, strict=True):
        largest = a.argmax(1).tolist()  # T: the source word with the most weight
        found = {(source, target) for target, source in enumerate(largest)}
        shared += len(found & set(known))
        total += len(found) + len(known)
    return 1 - 2 * shared / total


# %%
def error_rate(length):
    test = small_world(200, 7, order="verb-last", shortest=length, longest=length)
    return alignment_error_rate(look(test.sources, test.targets), test.links)


def stored(setup, value, lengths):
    return measured_at("attention", value, "length", lengths, setup=setup)


few = (4, 8, 12)
rows = {
    "three models": stored("looking back", "aer", few),
    "your model": [error_rate(length) for length in few],
}
columns = [f"{length} words" for length in few]
table(rows, columns, corner="AER: mean [lowest to highest]", digits=2)

# %% [markdown]
# The AER grows with sentence length but stays small: at 12 words, the three models get 5% of the links wrong on average. Yours gets more wrong only because of its seed: [another seed](../docs/measurements.md#what-looking-back-adds-in-the-small-world) does as well as the three. The decoder mostly looks where it should, although it was never told which words belong together.
#
# ## Real sentences
#
# Does looking back also help with real sentences? We train `LookingBack` on lesson 05's short captions, with the same dimensions, for 256 steps instead of 640. Lesson 05's model reached a BLEU of about 7. What does ours reach?


# %%
def tokenize(caption):  # as in lesson 05, with spaces between the tokens
    return " ".join(re.findall(r"\w+|[^\w\s]", caption.lower()))


def short_pairs(split):
    captions = load_captions(split)
    english = [tokenize(text) for text in captions.sources]
    german = [tokenize(text) for text in captions.targets]
    both = zip(english, german, strict=True)
    short = [pair for pair in both if len(pair[0].split()) <= 10]
    return zip(*short, strict=True)  # the English captions, the German ones


english, german = short_pairs("train")
counts = Counter(" ".join(english + german).split())
frequent = [token for token, count in counts.items() if count >= 3]
vocabulary = Subwords.words(frequent)  # all other tokens become UNK
print("pairs for training:", len(english))
print("tokens in the vocabulary:", len(vocabulary))

# %%
torch.manual_seed(0)
german_model = LookingBack(len(vocabulary), D=64, H=128)
sources = vocabulary.encode(english)
targets = vocabulary.encode(german)
fit(german_model, sources, targets, seed=0, steps=256, rate=0.01)
captions = ["A man is playing guitar.", "Two dogs are running in the snow."]
captions.append("A woman is reading a book on a bench.")
tokens = [tokenize(caption) for caption in captions]
translations = translate(german_model, vocabulary, tokens)
for caption, translation in zip(captions, translations, strict=True):
    print(caption, "→", translation)

# %%
english, german = short_pairs("test")
translations = translate(german_model, vocabulary, english)
# The texts are already split into tokens.
bleu = sacrebleu.corpus_bleu(translations, [german], tokenize="none", force=True)
print(f"BLEU on {len(english)} test captions: {bleu.score:.1f}")

# %% [markdown]
# In our run, all three translations are correct, and BLEU is about 22. Of two learning rates, we chose the better on the validation captions. [Four other seeds](../docs/measurements.md#what-other-ways-to-look-and-other-layers-can-do) gave 19 to 22 but each lost part of the third caption. The model has 1.6 times as many parameters as lesson 05's.
#
# The French model from the first section is larger and learned from captions of any length. On the test captions of 2016, [it reaches a BLEU of 52](../docs/measurements.md) with lesson 07's beam search; the same GRUs without attention, trained once, reach 30.
#
# Now for its puzzling row. "Old" is "vieux", but "vieil" before a masculine singular noun that begins with a vowel or a silent h: an old man is *un vieil homme*. To choose between them, the model has to know the noun, so it makes sense to look at "man". An artist, *un artiste*, also needs "vieil". Does the model write it, and how much does it look at the noun?

# %%
texts = ("An old, bald man is sitting.", "An old artist is painting.")
for text, noun in zip(texts, ("man", "artist"), strict=True):
    seen = align(french, subwords, text)
    before_old = seen.weights[1]  # S: before the second word
    weight = before_old[seen.source.index(noun)]
    print(f"{' '.join(seen.target[:3])}: {weight:.2f} on {noun}")

# %% [markdown]
# The two nouns get nearly the same weight, but only one of the adjectives is right. Looking at the noun is not enough: the model also has to read in its annotation that "vieil" is needed. Weights show where a model looks, not how it uses what it reads there.
#
# **Your turn**: before which other nouns does the model write "vieil"?

# %%
figures.translation_window(french, subwords, "An old tree stands in the snow.")

# %% [markdown]
# ## How long can a sentence be now?
#
# Long sentences were the reason for looking back. Lesson 05 counted a word as right only in its own position, so a missing word spoiled nearly all the words after it. A fairer count is the longest list of words that the model's and the correct translation contain in the same order, divided by the number of words in the longer translation. If the model leaves out one of five words, it gets 4/5.
#
# The plot will show your model, the three models that look back and three with **one vector**. These have the same layers, but their only annotation is the encoder's last states: `encode` returns `s, s[:, None], mask[:, :1]`. At every step, the decoder finds the same vector (Cho et al., 2014). We trained them at a learning rate of 0.01, because they get [fewer words right](../docs/measurements.md#what-looking-back-adds-in-the-small-world) at 0.005. The grey line is chance: the correct translations of other sentences.
#
# What share of the words do the models that look back get right at 12 words, the longest training length?

# %% tags=["nbval-check-output"]
predict("06.twelve", ...)


# %% tags=["reveals"]
def scored(length):  # your model, and translations of other sentences
    test = small_world(200, 7, order="verb-last", shortest=length, longest=length)
    translations = translate(model, pairs.words, test.sources)
    others = test.targets[1:] + test.targets[:1]  # each moved by one
    return [share_in_order(found, test.targets) for found in (translations, others)]


def three_models(setup):
    lengths, shares = measured("attention", "words_in_order", "length", setup=setup)
    return lengths, torch.tensor(shares)  # seeds lengths


lengths, one_vector = three_models("one vector")
lengths, looking_back = three_models("looking back")
yours, chance = torch.tensor([scored(int(length)) for length in lengths]).T
curves = {"one vector": one_vector, "looking back": looking_back}
print("A band goes from the worst to the best of three models:")
ax = plots.axes(width=7.2, height=4.6)
names = ("words of the source", "share of words right, in order")
theory = {"chance": chance}
plots.curves(lengths, curves, *names, ax=ax, theory=theory, legend="lower left")
ax.plot(lengths, yours, "k^", label="looking back, your model")
ax.axvline(12, color="0.6", linestyle=":", label="longest in training")
ax.set(xticks=[*range(1, 9), *range(10, 21, 2)], ylim=(0, 1.05))
ax.legend(loc="lower left")
at_12 = looking_back[:, lengths.index(12)]  # seeds
reveal("06.twelve", at_12.mean().item())

# %% [markdown]
# At 12 words, the models that look back get nearly every word right, whereas those with one vector get about two thirds.
#
# ## Where does looking back help less?
#
# Beyond the dotted line, the models that look back also get worse. That is a disappointment, since nothing has to fit into one vector any more. To see why, we plot the weights as the model translates a 20-word sentence. The frames show where it should have looked for the words it got right.

# %%
longer = "your young boys called after big small dogs after friends"
longer += " while friend painted old big young dogs below old house"
longer_right, links = World("verb-last", **SMALL).translate(longer.split())
written = translate(model, pairs.words, [longer])[0]
print(f"right, {len(longer_right)} words:", *longer_right)
print(f"model, {len(written.split())} words:", written)
plots.weights(
    look([longer], [written])[0],
    longer.split(),
    written.split(),
    xlabel="20 source words",
    ylabel="translation of the model",
    marked=figures.frames_of_common_words(written.split(), longer_right, links),
)

# %% [markdown]
# The decoder leaves words out, such as "sliro" and "vuvo". In the middle of the plot, it has lost its place: "kovor" means "called", but the largest weight in its row is on "while", seven words further on.
#
# Does it lose its place only because it reads its own mistakes? To find out, we give it the correct words and measure the AER. We also count how often the next word is right after a look in the right place, and after one in the wrong place.


# %%
@torch.no_grad()
def right_after_looks(length):
    test = small_world(200, 7, order="verb-last", shortest=length, longest=length)
    sources, targets = test.ids()
    source, given, wanted = make_batch(sources, targets)  # B S, B T, B T
    s, h, mask = model.encode(source)
    logits, _, weights = model.decode(given, s, h, mask)  # B T V, B H, B T S
    word_right = (logits.argmax(-1) == wanted).float()  # B T
    looks = weights.argmax(-1)  # B T
    after_right = []
    after_wrong = []
    for b, links in enumerate(test.links):
        for word, step in links:
            if looks[b, step] == word:
                after_right.append(word_right[b, step].item())
            else:
                after_wrong.append(word_right[b, step].item())
    return [fmean(after_right), fmean(after_wrong)]


# %%
shown = (12, 14, 16, 20)
columns = [f"{length} words" for length in shown]
after = torch.tensor([right_after_looks(length) for length in shown])  # lengths 2
rows = {
    "AER, three models": stored("looking back", "aer", shown),
    "AER, your model": [error_rate(length) for length in shown],
    "next word right after a right look": after[:, 0].tolist(),
    "next word right after a wrong look": after[:, 1].tolist(),
}
table(rows, columns, corner="given the right words", digits=2)

# %% [markdown]
# The decoder's own mistakes are not the only reason: at 20 words, more than two in three links are wrong, even when the decoder is given the correct words. When your model has looked in the right place, its next word is nearly always right, whatever the length. After a look in the wrong place, the next word is still right most of the time at 12 words, but only about one time in four at 20. Perhaps that is because at 12 words, [about half of the wrong looks](../docs/measurements.md#what-looking-back-adds-in-the-small-world) are at a neighbour, whose annotation also describes the right word.
#
# Or does it lose its place because such lengths are new to it? We trained three more models on sentences of up to 20 words, with the same number of pairs and steps. Is their AER lower?

# %%
rows = {
    "trained on up to 12 words": stored("looking back", "aer", shown),
    "trained on up to 20 words": stored("looking back, longer pairs", "aer", shown),
}
decides = [(name, "20 words") for name in rows]
table(rows, columns, corner="AER of three models", digits=2, bold=decides)

# %% [markdown]
# At 20 words, their AER is much lower, 0.06 instead of 0.71, so the new lengths were the reason. Looking back frees the decoder from the one vector, but it still has to learn where to look.
#
# ## Where does the decoder look?
#
# Before each word, it looks at all the source words, and mostly at those it needs for this word. Its state is the query, scored against each annotation; weighted accordingly, the annotations are summed into a new context. No single vector has to hold the sentence any more: in our toy language, the model gets nearly every word of a 12-word sentence right. On short captions, it scored about 22 BLEU instead of 7, with 1.6 times as many parameters and its own learning rate. In sentences much longer than in training, it looks in the wrong places, unless it has learned from such lengths. Lesson 15's decoder looks at a picture.

# %% [markdown]
# ## Where you will meet this
#
# | here | in papers | in PyTorch | in Hugging Face's `transformers` |
# | --- | --- | --- | --- |
# | score $z$, weight $a$ | Bahdanau: $e_{ij}$, $\alpha_{ij}$; *additive*; Luong's is *multiplicative* | none | `cross_attentions`: $a$ for each layer and head, B heads T S |
# | annotations | encoder states | `output` of `nn.GRU(…, bidirectional=True)` | `encoder_outputs.last_hidden_state` |
# | mask, True for words | | `nn.MultiheadAttention`: `key_padding_mask`, True at padding | `attention_mask`: 1 at words |
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a number or a letter in quotes.

# %%
check("06.q1", ...)

# %%
check("06.q2", ...)

# %%
check("06.q3", ...)

# %%
check("06.q4", ...)

# %%
check("06.q5", ...)

# %% [markdown]
# ## Recap
#
# - The encoder passes on all its states, the annotations. Before each word, the decoder scores them against its state, the query, normalises the scores and sums.
# - Bahdanau's query is the state before the step, and both the cell and the readout read the context. Luong's is the state after it, and without input feeding, only the readout reads the context.
# - The alignment error rate compares the largest weights with known links. Up to 12 words, few links are wrong.
# - Weights show where a model looks, not how it uses what it reads there.
# - In sentences much longer than those in training, the decoder looks in the wrong places and leaves words out. It still gets more words in the right order than a decoder with one vector.
#
# **Exercises**: [open them](../exercises/06_seq2seq_attention_exercises.ipynb)
#
# **Next**: at each step, we wrote the most probable word. [Is the result the best translation?](07_decoding.ipynb)

# %%
import math

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from course_utils import check, predict, reveal
from course_utils.data.measured import by_seed
from course_utils.data.recall import recall_next
from course_utils.data.tales import CHARACTERS, decode, encode, letters_to_copy, tales
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.lessons.lesson_21._comparisons import (
    bits_by_counting,
    compare_interventions,
    copying_in_retold_tales,
    draw_layers,
    in_one_pass,
)
from course_utils.models import gpt, induction
from course_utils.models.attention import causal_mask
from course_utils.models.gpt import FeedForward, MultiHeadAttention, SubLayer
from course_utils.models.induction import AttentionAlone
from course_utils.models.plain import sinusoidal_positions
from course_utils.models.train_model import train_model

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# The models that answer our questions every day write a text piece by piece. For Llama 3 8B, its authors say what is inside (Grattafiori et al. 2024). The table lists the main parts, beside the model that we build in this lesson:
#
# | part | our GPT | Llama 3 8B | lesson |
# | --- | --- | --- | --- |
# | it reads and predicts | 43 characters | 128,000 pieces of words | 06 |
# | longest text | 64 characters | 8,192 pieces | 21 |
# | embedding and readout | one matrix for both | a matrix for each | 12 |
# | positions | sinusoids, added | rotary | 11 |
# | layers | 2 of width 48 | 32 of width 4,096 | 12 |
# | norms | LayerNorm in front | RMSNorm in front | 12, 21 |
# | causal attention | 4 heads | 32 heads in 8 groups | 10, 21 |
# | feed-forward network | ReLU, 192 units | SwiGLU, 14,336 units | 12, 21 |
# | biases | in attention, feed-forward and norms | none | 21 |
# | parameters | 58,704 | 8 billion | 21 |
# | read in training | 0.7 million characters | about 15 trillion pieces | 21 |
#
# You know most of these parts. We build our small model from them, train it, and let it write. Then we find out how such a model can copy. In the end we look at the parts that have changed since 2017, and at what turns such a model into an assistant.
#
# ## Half a Transformer
#
# The Transformer of lesson 12 translates: an encoder reads the source, and a decoder writes the target. But most text has no translation. To learn from such text, half a Transformer is enough, and each half has become a model of its own:
#
# - **BERT** (Devlin et al. 2019) keeps the encoder. Every word sees all others, and the model learns to guess words that we hide.
# - **GPT** (Radford et al. 2018) keeps the decoder, without the attention to a source. Every word sees only itself and earlier ones, and the model learns to predict the next word.
#
# Built as here, the two differ only in the mask of their attention and in what they learn to guess. In the comments, B is the number of texts and T their length. D is the width of a word, and H the number of heads.
#
# A model that writes appends one word after the other. Which half can keep what it has computed for the words before? We give the attention four words, and then the same four and a fifth. In which model do the vectors of the first four words stay as they are?

# %% tags=["nbval-check-output"]
torch.manual_seed(0)
attention = MultiHeadAttention(D=8, H=2)
x = torch.randn(1, 5, 8)  # B T D: five words
masks = {"BERT": torch.ones(5, 5, dtype=torch.bool), "GPT": causal_mask(5)}  # T T
for name, mask in masks.items():
    alone = attention(x[:, :4], mask[:4, :4])  # B 4 D
    with_fifth = attention(x, mask)[:, :4]  # B 4 D
    change = (with_fifth - alone).abs().max().item()
    print(f"{name:4}  largest change: {change:.2f}")

# %% [markdown]
# In GPT they stay as they are. In BERT they change, because the four words now also look at the fifth. So a GPT can keep the keys and values of earlier words in a **cache**. BERT would have to compute them anew for each new word. This is one reason why models that write, such as Llama, are decoders.
#
# ## The model
#
# We build a decoder whose words are single characters, because then a small model is enough. Only its causal self-attention carries something from one character to another.

# %%
diagrams.decoder_only()

# %% [markdown]
# A layer has two sub-layers, attention and feed-forward. `SubLayer` puts a norm in front of each, and adds a residual connection. The classes `SubLayer`, `MultiHeadAttention` and `FeedForward` are those of lesson 12, so we take them from the package.


# %%
class Layer(nn.Module):
    def __init__(self, D, H, F):  # width, number of heads, of hidden units
        super().__init__()
        self.attention = SubLayer(D, MultiHeadAttention(D, H))
        self.feed_forward = SubLayer(D, FeedForward(D, F))

    def forward(self, x, mask):  # B T D, T T
        x = self.attention(x, mask)  # B T D
        return self.feed_forward(x)  # B T D


# %% [markdown]
# Each character enters as its row of a matrix E, multiplied by √D, plus the vector of its position, as in lesson 12. At the end, the readout compares the result $h_t$ of the last layer with the rows of E. This gives one logit for each of the V characters that there are:
#
# $$x_t = \sqrt{D}\, E_{c_t} + P_t \qquad\qquad \text{logits}_t = E\, \text{norm}(h_t)$$
#
# We call the model with the 5 characters of "a Vom". How many predictions of a next character does it make?


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

    def forward(self, ids):  # B T
        T = ids.shape[1]
        x = self.embedding(ids) * self.D**0.5 + self.P[:T]  # B T D
        for layer in self.layers:
            x = layer(x, causal_mask(T))  # B T D
        return self.norm(x) @ self.embedding.weight.T  # B T V


torch.manual_seed(0)
model = GPT(V=len(CHARACTERS))
ids = encode("a Vom")[None]  # B T: one text
print("logits    ", tuple(model(ids).shape))
print("parameters", sum(weights.numel() for weights in model.parameters()))

# %% [markdown]
# The model makes 5 predictions, one after each character. In a text of 6 characters, the right answer to each of the 5 is known. So the text gives 5 examples to learn from, and nobody has to label them.
#
# ## How well can anyone predict?
#
# To know what can be reached, we use tales that are made by rules. The rules say how probable each character is. Every tale is about an animal, and its name is drawn anew.
#
# A character of probability $p$ has a **surprise** of $-\log_2 p$ **bits**. One of eight equally probable characters has 3 bits, because $\log_2 8 = 3$. A character that is certain has 0 bits. On average, no reader can do with fewer bits than the rules leave open.
#
# In the tale below, the name comes for the second time after the first full stop. Which of its three letters are still surprising there?

# %%
train = tales(6000, seed=1)  # rows of 65 characters
test = tales(400, seed=2)
text = decode(test.ids[3, 1:])  # without its first character, a line break
print(text)
print(f"bits per character that the rules leave open: {test.bits.mean():.2f}")
plots.surprise(text, {"what the rules leave open": test.bits[3]})

# %% [markdown]
# Only the first letter, "V", is surprising, because the tale could also have ended, or gone on with "the mouse". After this "V", the letters "o" and "m" have 0 bits: they are known from the first mention. But only a reader who looks back and copies can know them.
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


def batch_loss(draw):  # draw: where the random numbers come from
    rows = torch.randint(len(train.ids), (16,), generator=draw)  # B
    return bits_of_each(model, train.ids[rows]).mean()


# %% [markdown]
# We train with 700 batches of 16 rows, with Adam and a warm-up as in lesson 13. How many bits per character will the model need for tales that it has not seen?

# %% tags=["nbval-check-output"]
predict("21.bits", ...)

# %% tags=["reveals"]
print("Bits per character for tales that our GPT has not seen:")
losses = train_model(model, batch_loss, seed=0, steps=700, rate=0.01, warmup=20)
with torch.no_grad():
    by_model = bits_of_each(model, test.ids)  # B T
reveal("21.bits", round(by_model.mean().item(), 2))

# %% [markdown]
# Is that good? We compare our GPT with an **n-gram** model, which only counts which character followed the last seven in the same tales. Where these seven came seldom, it looks at fewer.
#
# The second column of the table is the mean over the letters that can be copied: the second and third letter of a name that comes again. Does our GPT copy better than the counts?

# %%
by_counting = bits_by_counting(train.ids, test.ids, 7)  # B T
copied = letters_to_copy(test.ids)  # B T: True at letters that can be copied
found = {"the rules": test.bits, "counting": by_counting, "our GPT": by_model}
rows = {}
for name, bits in found.items():
    rows[name] = [bits.mean(), bits[copied].mean()]
longer = by_seed("longer", "bits")  # stored: a number for each of five seeds
rows["five GPTs, 2,100 steps"] = [longer, by_seed("longer", "to_copy")]
columns = ["bits per character", "bits per letter to copy"]
table(rows, columns, corner="unseen tales", digits=2)

# %% [markdown]
# A reader who does not copy needs as many bits as at the first mention, (2.32 + 3.81) / 2 = 3.07 on average. So both copy a little: counting can do this where the first mention is among the last seven characters. Our GPT copies better, and it also needs fewer bits for all characters together. With three times as many steps, five GPTs come close to the limit, and copy nearly every letter. Each number before a bracket is their mean, and the bracket holds the lowest and the highest.
#
# ## Writing
#
# What does our GPT write? We draw a character from its probabilities, append it, and ask again. Often the probabilities are changed first:
#
# - A **temperature** divides the logits before the softmax (lesson 02).
# - **Top-k** (Fan et al. 2018) keeps the k most probable characters.
# - The **nucleus** (Holtzman et al. 2020) keeps the smallest set of the most probable characters whose sum reaches a threshold, such as 0.9.
#
# What is kept is divided by its sum. Take the probabilities 0.5, 0.3, 0.15 and 0.05: what does a nucleus of 0.9 make of them?


# %% tags=["nbval-check-output"]
p = torch.tensor([0.5, 0.3, 0.15, 0.05])  # V
logits = p.log()  # their softmax is p
print("temperature 2", (logits / 2).softmax(-1))
print("top 2        ", gpt.top_k(p, 2))
print("nucleus 0.9  ", gpt.nucleus(p, 0.9))

# %% [markdown]
# The nucleus keeps the first three, because 0.5 + 0.3 is not yet 0.9. Divided by 0.95, they become 0.526, 0.316 and 0.158. A temperature of 2 makes the probabilities more equal, and removes nothing.
#
# Our GPT goes on from "there was a mouse called Vom. ", in three ways and with two seeds each. A line break, which ends a tale, is shown as |. For which way are the two texts the same?


# %%
@torch.no_grad()
def write(model, prompt, choose, seed=0, longest=64):
    draw = torch.Generator().manual_seed(seed)
    ids = encode(prompt)[None]  # 1 T
    while ids.shape[1] < longest:
        # without a cache: the whole text is read anew each time
        logits = model(ids)[0, -1]  # V: for the character after the last one
        p = choose(logits)  # V
        next_id = torch.multinomial(p, 1, generator=draw)  # 1
        ids = torch.cat([ids, next_id[None]], dim=1)  # 1 T+1
    return decode(ids[0]).strip("\n").replace("\n", " | ")


def most_probable(logits):  # V
    return gpt.top_k(logits.softmax(-1), 1)


def from_nucleus(logits):  # V
    return gpt.nucleus(logits.softmax(-1), 0.9)


def at_temperature_2(logits):  # V
    return (logits / 2).softmax(-1)


# %%
prompt = "\nthere was a mouse called Vom. "
for choose in (most_probable, from_nucleus, at_temperature_2):
    print(choose.__name__)
    for seed in (1, 2):
        print("   ", write(model, prompt, choose, seed))

# %% [markdown]
# The two texts are the same if we take the most probable character each time, because chance plays no part then. At temperature 2, improbable letters come more often, and more words are misspelt. Where letters are drawn, the names often go wrong, because this GPT does not copy well yet.
#
# ## How can a model copy?
#
# Elhage et al. 2021 found a way, and Olsson et al. 2022 saw it in models of many sizes. Two heads work together:
#
# 1. In one layer, a head looks at the word before. Then the vector of every word also says which word it follows.
# 2. In a later layer, a head looks for the word that followed an earlier word *equal* to the present one, and copies it. This head is called an **induction head**.
#
# In our tale, "V" comes for the second time. The first head would tell the "o" of the first mention that it follows a "V". So the second "V" can find this "o", and copy it.
#
# We look at these two steps in a smaller model first. It has positions and attention alone, in two layers of one head each. It learns in the small world of lesson 11: a text has twelve different words, written as numbers. Then one of them comes again, and the model has to say which word followed it the first time. In how many of 500 texts is it right?

# %%
torch.manual_seed(0)
copier = AttentionAlone(MultiHeadAttention, N=2)  # N layers: x + attention(x)
losses = induction.fit(copier, seed=0)  # 1,000 steps, texts of 2 to 12 words
words, answers = recall_next(500, 12, torch.Generator().manual_seed(10_000))  # B T+1, B
with torch.no_grad():
    predicted = copier(words).argmax(-1)  # B
right = (predicted == answers).float().mean()
print("text  ", words[0].tolist())
print("answer", answers[0].item())
print(f"share of answers that are right: {right:.2f}")

# %% [markdown]
# The model is right in nearly all texts. The next picture shows its weights for the text above, in which 6 comes again. In layer 1 the frames mark the word before, in layer 2 the word to copy. Where does the last word, the second 6, look in layer 2?

# %%
draw_layers(copier, words[0])

# %% [markdown]
# In layer 2 the last word looks at 28, the word that followed 6 the first time. In layer 1 most words look at the word before them.
#
# These are the two steps. But a picture of weights does not show that the second one needs the first. So we change something, and see whether the copying fails:
#
# - In layer 1, no word can see the word before it.
# - To compare: in layer 1, no word can see the word two places before.
# - The first of the two equal words is replaced by another word.
#
# The last two rows of the table are stored results of other models, five with two layers and five with one. In which rows does the copying fail?

# %%
rows = compare_interventions(copier, words, answers)
columns = ["answers right", "weight on the word to copy"]
table(rows, columns, corner="500 texts", digits=2)

# %% [markdown]
# The copying fails without the word before, and with another word in place of the first 6. Then no more answers are right than by guessing among the eleven other words, 1/11 = 0.09. So layer 1 tells each word which word stands before it, and layer 2 finds the word that stands after an earlier 6. This makes the head of layer 2 an induction head. A model with one layer has no earlier layer that could tell its head anything, and it fails, too.
#
# Do the five GPTs with 2,100 steps copy the names of our tales in this way, too? We change the tales, and look at the second mention of a name. At the first mention, another letter stands before the one to copy, so there is no equal letter to look for. Or "there" is missing at the beginning, so that all positions after it become smaller by 5. To compare, "zebra" takes its place. Which change makes the copying worse?

# %% tags=["nbval-check-output"]
copying_in_retold_tales()

# %% [markdown]
# With another letter before it, the GPTs copy as well as before. So they do not need an equal letter, as an induction head does: each tale has only one name.
#
# Without "there", copying becomes much worse, and with "zebra" in its place it stays nearly as good. So the GPTs find the name partly by its position: each row begins with a new tale, in which the name always comes at nearly the same place.
#
# In real text, what is to be copied can stand anywhere. In models of such text, Olsson et al. found induction heads. So Llama 3 probably has them, too, but we have not looked.
#
# ## What has changed since 2017?
#
# Our GPT is a decoder of 2017, with the norms in front. In Llama 3, four parts work in another way: the norms, the feed-forward network, the positions, and the groups of heads. Three smaller changes need no section of their own: the layers have no biases, the readout has a matrix of its own, and the embedding is not multiplied by √D.
#
# ### 1. RMSNorm
#
# **RMSNorm** (Zhang and Sennrich 2019) takes the place of the layer norm. It has less to compute: it subtracts no mean, and has a gain g but no bias.
#
# $$\text{RMSNorm}(x) = g \cdot \frac{x}{\sqrt{\frac{1}{D}\sum_i x_i^2 + \varepsilon}}$$
#
# With g = 1, what does RMSNorm make of [1, 2, 2]?


# %% tags=["nbval-check-output"]
class RMSNorm(nn.Module):
    def __init__(self, D):
        super().__init__()
        self.g = nn.Parameter(torch.ones(D))

    def forward(self, x):  # … D
        mean_square = x.square().mean(-1, keepdim=True)  # … 1
        return self.g * x / (mean_square + 1e-5).sqrt()  # … D


x = torch.tensor([1.0, 2.0, 2.0])  # D
print("RMSNorm  ", RMSNorm(3)(x).detach())
print("LayerNorm", nn.LayerNorm(3)(x).detach())

# %% [markdown]
# The mean square is (1 + 4 + 4) / 3 = 3, so each number is divided by √3 = 1.732. The signs stay, because no mean is subtracted.
#
# ### 2. SwiGLU
#
# **SwiGLU** (Shazeer 2020) takes the place of the feed-forward network. Two matrices read x side by side. The result of the first one passes through $\text{SiLU}(z) = z\, \sigma(z)$, where σ is the sigmoid, and becomes a gate. It multiplies the result of the second one, number by number. A third matrix brings the product back to the width D.
#
# $$\text{SwiGLU}(x) = \big(\text{SiLU}(x W_\text{gate}) \odot x W_\text{up}\big)\, W_\text{down}$$
#
# Say that $x W_\text{up}$ is 3 for a hidden unit. If its $x W_\text{gate}$ is 2, the gate is 2 · 0.88 = 1.76, and the unit becomes 5.28. If it is -4, the gate is only -0.07, and the unit becomes -0.22.
#
# With 2F/3 hidden units in place of F, the three matrices of SwiGLU have as many weights as the two of a feed-forward network. Llama 3 8B has more: 14,336 in place of 2/3 · 4 · 4,096 = 10,923. Shazeer found that models with SwiGLU predict better.
#
# ### 3. Rotary positions
#
# Lesson 11 has shown **rotary positions**: the queries and keys are turned by their position, so a score depends on positions only through their distance. Nothing is added to the embeddings.
#
# ### 4. Grouped queries
#
# A model that writes keeps the keys and values of all positions in its cache. To keep less, the heads share them, in **grouped queries** (Ainslie et al. 2023). There are G groups, and each group has one key and one value for all its heads. Head h belongs to the group $h / (H/G)$, rounded down. If a head has the width d and each number takes b bytes, the cache of N layers and T positions takes
#
# $$2 \cdot N \cdot G \cdot d \cdot T \cdot b \quad\text{bytes.}$$
#
# The 2 stands for key and value. Llama 3 with 8 billion parameters has 8 groups for its 32 heads. How many GiB does its cache take for 8,192 positions, compared with 32 groups, one for each head?

# %% tags=["nbval-check-output"]
N = 32  # layers of Llama 3 8B
H = 32  # heads
d = 128  # width of a head
T = 8192  # positions
b = 2  # bytes
for G in (32, 8):
    cache = 2 * N * G * d * T * b
    groups = [h // (H // G) for h in range(8)]
    print(f"{G:2} groups: {cache / 2**30:.0f} GiB, groups of heads 0 to 7:", groups)

# %% [markdown]
# With 8 groups, the cache takes 1 GiB in place of 4. Four heads in a row share a group.
#
# Does our small GPT predict better with these changes? We cannot say: with each change, some seeds become better and others worse ([our measurements](../docs/measurements.md#a-small-gpt-and-what-has-changed-since-2017)). The changes were made for large models, in which they save work and memory, or have been found to help.
#
# ## The same attention with less memory
#
# The way in which attention is computed has changed, too, and its result stays the same. The T × T scores of a long text do not fit into the fast memory of a GPU. So **FlashAttention** (Dao et al. 2022) takes keys and values block by block, and never writes all scores down.
#
# But a softmax needs the sum over all scores. To compute it block by block, we keep three things for each query:
#
# - the largest score so far, $m$
# - the sum $\ell$ of all $e^{s - m}$
# - the sum $c$ of the values, each multiplied by its $e^{s - m}$
#
# At the end, the context is $c / \ell$. There $m$ cancels: it only keeps $e^s$ from becoming too large for the computer. When a block brings a larger score, $m$ becomes $m'$. Then both sums have to shrink by the factor $e^{m - m'}$, because $e^{s - m'} = e^{m - m'} e^{s - m}$ (Milakov and Gimelshein 2018):
#
# $$\ell' = e^{m - m'}\, \ell + \sum_j e^{s_j - m'} \qquad\qquad c' = e^{m - m'}\, c + \sum_j e^{s_j - m'}\, v_j$$
#
# Here j runs over the new block. One query has the scores 1, 2, 0 in a first block and 3, 1, 0 in a second. Calculate $m$ and $\ell$ after each block. You need $e^{-1} = 0.368$, $e^{-2} = 0.135$ and $e^{-3} = 0.050$. The function `in_one_pass` prints both.


# %% tags=["nbval-check-output"]
scores = torch.tensor([1.0, 2.0, 0.0, 3.0, 1.0, 0.0])  # S
values = torch.tensor([[4.0], [0.0], [2.0], [1.0], [0.0], [6.0]])  # S d
blocks = [(scores[:3], values[:3]), (scores[3:], values[3:])]
print("in blocks:", in_one_pass(blocks))
print("as usual: ", scores.softmax(-1) @ values)

# %% [markdown]
# After the first block, $m = 2$ and $\ell = 0.368 + 1 + 0.135 = 1.503$. After the second, $m = 3$ and $\ell = 0.368 \cdot 1.503 + 1 + 0.135 + 0.050 = 1.738$. The context is the same as with the usual softmax, so no model has to be trained anew.
#
# ## From a GPT to an assistant
#
# What does our GPT make of a question? It has met no question mark, so we ask without one.

# %%
print(write(model, "\nwhere is Vom. ", most_probable))

# %% [markdown]
# It does not answer, because it has read nothing but tales. How does such a model learn to answer? It is trained further, first on **instructions**, such as questions, to which people have written the right answers. Often the loss counts only the answers:
#
# ```text
# question: Vom is a mouse. Vom went to the bridge. Where is Vom?
# answer:   Vom is at the bridge.
# ```
#
# Then people compare several answers of the model, and it is trained to prefer those that they like better (Ouyang et al. 2022). This is called **feedback**. Instructions and feedback change the weights, but not how the model is built.
#
# ## So: what is inside the models that we use every day?
#
# We draw the model again, now with the parts of Llama 3. Marked boxes have changed.

# %%
changed = ["readout", "embedding", "causal", "feed-forward", "norm"]
diagrams.decoder_only(new=changed, llama=True)

# %% [markdown]
# Inside Llama 3 is the decoder of 2017 without its attention to a source. The norms stand in front, and four parts have been exchanged. The embedding is marked because it is not multiplied by √D and no positions are added to it, and the readout because it has its own matrix. What the weights of a model have learned is harder to see: two heads can copy a word, but our GPTs copied names in another way.
#
# Have we named all that is inside? Then the weights of all parts must add up to the 8 billion of Llama 3 8B.

# %% tags=["nbval-check-output"]
V = 128_256  # pieces, exactly
D = 4096
F = 14_336
attention = 2 * D * D + 2 * D * 8 * 128  # W_Q and W_O, then W_K and W_V of 8 groups
layer = attention + 3 * D * F + 2 * D  # with SwiGLU and two norms
total = 2 * V * D + 32 * layer + D  # with embedding, readout and the last norm
print(f"{total:,} parameters, {total // 58_704:,} times as many as in our GPT")

# %% [markdown]
# They do. So no part with many weights is missing from our table.
#
# Other models differ more. DeepSeek-V3 has experts in place of most feed-forward networks (lesson 18). Qwen3-Next and Kimi Linear have a delta rule in place of three of four attentions (lesson 20). Many companies do not say what is inside their models. But you can now read each row of the table at the beginning.
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
# - What is inside the models that we use every day? In Llama 3 it is the decoder of 2017 without a source. It has RMSNorm in front of each sub-layer, rotary positions, SwiGLU, grouped queries, and no biases.
# - Where the rules of a text are known, a model's bits per character can be compared with a limit.
# - An induction head copies what came after the same word last time. A head in an earlier layer has to tell each word what it follows. Our GPTs copied names in another way.
# - A high temperature makes the probabilities more equal. Top-k and the nucleus remove the improbable ones.
# - A cache takes 2·N·G·d·T·b bytes. A softmax can be computed block by block, if the sums shrink when the largest score grows.
#
# **To read on**: the course ships [a larger GPT](../docs/translators.md#the-models-that-come-with-the-course), which has read plays by Shakespeare. [nanoGPT](https://github.com/karpathy/nanoGPT) trains a model on the same plays with some 600 lines. Raschka's *Build a Large Language Model (From Scratch)* also trains on instructions.
#
# **Exercises**: [open them](../exercises/21_gpt_exercises.ipynb)
#
# **Next**: this was the last lesson. What will you build with attention?

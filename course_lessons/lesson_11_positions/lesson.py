# %%
import torch
from IPython.display import display
from torch import nn
from torch.nn import functional as F

from course_lessons.lesson_11_positions import figures
from course_utils import check, predict, reveal
from course_utils.data.measured import measured
from course_utils.data.recall import WORDS, recall_next
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.models.positions import share_right
from course_utils.models.serialization import load_pretrained
from course_utils.models.train_model import train_model
from course_utils.translation.translate import translate

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)

# %% [markdown]
# The sentences *a dog is chasing a boy* and *a boy is chasing a dog* contain the same words but differ in meaning. Lesson 09 showed that self-attention ignores word order: however the words are shuffled, each one gets the same vector as before. Where, then, can the order come from? We look at what is lost without it and try four ways to supply it. Finally, we turn to texts longer than any in training.
#
# ## The same words in a different order
#
# The course comes with a translation model built from self-attention, a Transformer, which lesson 12 explains. To each word vector, the model adds a vector that depends on the word's **position**, its place in the sentence. We let it translate two sentences with the same words, first unchanged and then with all position vectors set to zero. What will the translations look like without positions?

# %% tags=["nbval-check-output"]
model, subwords = load_pretrained("transformer-en-de")
texts = ["a dog is chasing a boy .", "a boy is chasing a dog ."]
print("with positions:   ", translate(model, subwords, texts))
model.embedding.positions.zero_()
print("without positions:", translate(model, subwords, texts))

# %% [markdown]
# Without positions, both sentences get the same translation, because to the encoder they are the same bag of words.
#
# This model was trained with positions. Would a model trained without them recover the order in another way?
#
# ## A task in which order is everything
#
# We train small models on a task in which word order is the only clue. Each text is a list of distinct words, written as numbers, followed by a repeat of one of them. **Which word comes next?** The answer is the word that followed the repeated word the first time. A model that finds this word performs **induction**.

# %% tags=["nbval-check-output"]
words, answers = recall_next(3, 6, torch.Generator().manual_seed(0))  # 3 texts of 6
for text, answer in zip(words.tolist(), answers.tolist(), strict=True):
    print("text:", text[:-1], "  again:", text[-1], "  next:", answer)

# %% [markdown]
# In the first text, 27 is repeated; the first time, it was followed by 2, so 2 is the answer. We do not count the repeated word, so this text has 6 words but 7 positions.
#
# Two layers of self-attention can find the answer if they have access to the word order. In the first layer, each word attends to the previous word: 2 attends to 27, so its vector then also records that 2 comes after 27. In the second layer, the last word, 27, looks for a word that comes after 27 and finds 2.
#
# Our model has two such layers, each with one head, and each layer adds a word's context to its vector. Positions can be encoded in two places: the function `add` can change the word vectors, and the function `turn` can change the queries and keys. At first, both return their input unchanged.


# %%
def unchanged(x):
    return x


class Reader(nn.Module):
    def __init__(self, add=unchanged, turn=unchanged, D=64):
        super().__init__()
        self.add = add
        self.turn = turn
        self.embedding = nn.Embedding(WORDS, D)
        self.W_Q = nn.ModuleList(nn.Linear(D, D) for _ in range(2))  # for each layer
        self.W_K = nn.ModuleList(nn.Linear(D, D) for _ in range(2))
        self.W_V = nn.ModuleList(nn.Linear(D, D) for _ in range(2))
        self.readout = nn.Linear(D, WORDS)

    def weights(self, layer, x):  # B T D
        Q = self.turn(self.W_Q[layer](x))  # B T D
        K = self.turn(self.W_K[layer](x))  # B T D
        scores = Q @ K.mT / Q.shape[-1] ** 0.5  # B T T
        return scores.softmax(-1)

    def forward(self, words):  # B T
        x = self.add(self.embedding(words))  # B T D
        for layer in range(2):
            contexts = self.weights(layer, x) @ self.W_V[layer](x)  # B T D
            x = x + contexts
        return self.readout(x[:, -1])  # B V: read at the last word


diagrams.positions(new=["added", "turned"])


# %% [markdown]
# We first train the model without positions, on texts of 2 to 12 words.

# %% tags=["nbval-check-output"]
predict("11.blind", ...)

# %% tags=["reveals"]
lengths = [3, 6, 9, 12]
headings = [f"{length} words" for length in lengths]


def trained(**ways):  # add=..., turn=..., or neither
    torch.manual_seed(0)
    model = Reader(**ways)

    def batch_loss(draw):
        length = int(torch.randint(2, 13, (1,), generator=draw))
        words, answers = recall_next(64, length, draw)  # B T, B
        return F.cross_entropy(model(words), answers)

    train_model(model, batch_loss, seed=0, steps=1000, rate=0.005)
    return model


def shares_right(model):  # for each length, of 500 new texts
    return [share_right(model, length) for length in lengths]


shares = {"a guess among the others": [1 / (length - 1) for length in lengths]}
shares["without positions"] = shares_right(trained())
print("Share of new texts right:")
reveal("11.blind", round(shares["without positions"][-1], 2))
figures.last_two(shares, headings)

# %% [markdown]
# Without positions, the model can do no better than pick one of the other words at random. It has no way to recover the order: as in lesson 09, the last word gets the same vector however the others are arranged. A causal mask can reveal the order, though: the first word then sees one word, the second sees two, and so on (Haviv et al., 2022).
#
# ## One number for each position
#
# The simplest way to encode a position is a single number. We add a tenth of the position, p / 10, to every entry of the word's vector. Is one number enough?


# %%
def add_tenths(x):  # B T D
    p = torch.arange(x.shape[1])[:, None]  # T 1
    return x + p / 10  # B T D


shares["one number"] = shares_right(trained(add=add_tenths))
figures.last_two(shares, headings)

# %% [markdown]
# With a single number per position, the model gets at most a quarter of the 12-word texts right. Training for 5,000 steps, at learning rates of 0.002, 0.005 or 0.015, does not raise this accuracy. One reason lies in the scores. Adding p / 10 to every entry of a word's vector adds $\frac{p}{10} u$ to its key, where $u$ is the product of a vector of ones and the key matrix. A key $k$ therefore becomes $k + \frac{p}{10} u$, and its score with a query $q$ is
#
# $$q^\top k + p \cdot \frac{q^\top u}{10}$$
#
# The key's position appears only in the second term. The query also contains a position, but the query is the same for all keys. The second term is therefore linear in p and largest at one end of the text. For a word in the middle of a text, neither end is the previous word.
#
# ## A vector for each position
#
# We therefore give each position its own vector. With a suitable query, the score can then be highest at any position. Position vectors learned in the same way as word vectors are called **learned positions** or learned positional embeddings. What share of the 12-word texts will the model get right?


# %%
class LearnedPositions(nn.Module):
    def __init__(self, longest=13, D=64):  # positions 0 to 12
        super().__init__()
        self.P = nn.Embedding(longest, D)

    def forward(self, x):  # B T D
        return x + self.P.weight[: x.shape[1]]  # B T D: a row for each of T words


shares["learned positions"] = shares_right(trained(add=LearnedPositions()))
figures.last_two(shares, headings)

# %% [markdown]
# With learned positions, the model gets nearly all answers right. But there are vectors for only 13 positions. Can we instead *compute* a vector for any position?
#
# ## A clock for each pair of dimensions
#
# Vaswani et al. (2017) divide the D dimensions into pairs, each of which acts like the hand of a clock. From one position to the next, pair i turns by an angle of $1 / 10000^{2i/D}$, so each hand has its own speed. The two entries of pair i are the sine and the cosine of the hand's angle:
#
# $$P_{p,\,2i} = \sin\frac{p}{10000^{2i/D}} \qquad P_{p,\,2i+1} = \cos\frac{p}{10000^{2i/D}}$$
#
# These vectors are called **sinusoidal positions** or sinusoidal positional encodings. Work out the four entries for D = 4 and p = 1 on paper, using $\sin 1 = 0.841$ and $\cos 1 = 0.540$. For an angle as small as 0.01, the sine is about 0.01 and the cosine about 1.


# %% tags=["nbval-check-output"]
def sinusoidal_positions(length, D):
    p = torch.arange(length)[:, None]  # length 1
    i = torch.arange(D // 2)  # D/2
    angle = p / 10_000 ** (2 * i / D)  # length D/2
    P = torch.zeros(length, D)
    P[:, 0::2] = angle.sin()  # the even columns
    P[:, 1::2] = angle.cos()  # the odd columns
    return P


print(sinusoidal_positions(length=3, D=4))

# %% [markdown]
# In the row for position 1, pair 0 has turned by 1 / 10000⁰ = 1 and pair 1 by 1 / 10000^(2/4) = 0.01.
#
# The next cell draws four of the 32 clocks for D = 64. The angles are in radians, so a full turn is 6.28. Unlike the hands of a real clock, ours start out pointing right and turn anticlockwise. The tip of a hand shows both entries: the cosine is its distance to the right, and the sine its height. Move the slider: by which position has pair 0 completed its first full turn, and what is the angle of pair 12 there?

# %%
figures.clocks()

# %% [markdown]
# At position 7, pair 0 has completed a full turn, while pair 12 has turned by only 0.22. A fast hand tells neighbouring positions apart, but because it comes round again, some distant positions look alike. A slow hand tells near from far but can hardly tell neighbours apart. Together they do both, like a clock's second hand and hour hand.
#
# ## How can a head find the previous word?
#
# In our plan, the first layer attends to the previous word, as a head did in lesson 10. When we go from a position to the one before it, each hand turns back by its own fixed angle $\delta$, wherever it points. These identities may be familiar from school:
#
# $$\sin(a - \delta) = \sin a \cos\delta - \cos a \sin\delta \qquad \cos(a - \delta) = \cos a \cos\delta + \sin a \sin\delta$$
#
# To turn a pair back, we therefore multiply it by a 2×2 block, which is the same for every position:
#
# $$\big(\sin(a - \delta),\; \cos(a - \delta)\big) = \big(\sin a,\; \cos a\big) \begin{pmatrix} \cos\delta & \sin\delta \\ -\sin\delta & \cos\delta \end{pmatrix}$$
#
# The matrix $M$, with the blocks of all pairs on its diagonal, moves *every* position back by one: $P_{p-1} = P_p M$. We build it for D = 4.


# %% tags=["nbval-check-output"]
def one_back(D):
    M = torch.zeros(D, D)
    for i in range(D // 2):
        delta = torch.tensor(1 / 10_000 ** (2 * i / D))  # the angle of pair i
        block = torch.tensor([
            [delta.cos(), delta.sin()],
            [-delta.sin(), delta.cos()],
        ])  # fmt: skip
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = block  # rows and columns of pair i
    return M


M = one_back(D=4)
P = sinusoidal_positions(length=100, D=4)
print(M)
print("one back:", torch.allclose(P[1:] @ M, P[:-1], atol=1e-4))

# %% [markdown]
# With $M$, we can build a head by hand that finds the previous word. The keys are the position vectors, and each word's query is its position vector moved back by one, which equals the previous word's key. Because all keys have the same length, that key gets the highest score. Which weights will be large?

# %%
P = sinusoidal_positions(length=7, D=64)  # T D
M = one_back(D=64)
sharper = 3  # instead of 1 / 64 ** 0.5, so that one position gets most of the weight
scores = sharper * P @ M @ P.T  # T T: the queries P @ M times the keys P
weights = scores.softmax(-1)
plots.weights(weights, xlabel="keys: positions", ylabel="queries: positions")

# %% [markdown]
# Each position gives most of its weight to the previous position, except position 0, which attends to itself.
#
# **Your turn**: change the weights so that each position attends to the *next* one. Which queries does the head need?
#
# <details><summary>Answer</summary>
#
# The queries have to be `P @ M.T`, because the transposed matrix turns each pair in the opposite direction, moving every position forward by one.
#
# </details>
#
# A head *can* find the previous word, but will a model with sinusoidal positions learn to do so? The next cell shows a table of results and, below it, the model's attention weights for the first text above (last word 27, answer 2). Which layer attends to the previous word, and where does the last word look in the other layer?


# %%
def add_sinusoidal(x):  # B T D
    return x + sinusoidal_positions(length=x.shape[1], D=x.shape[2])  # B T D


sinusoidal_model = trained(add=add_sinusoidal)
shares["sinusoidal positions"] = shares_right(sinusoidal_model)
display(figures.last_two(shares, headings))
figures.two_layers(sinusoidal_model, words[0])

# %% [markdown]
# With sinusoidal positions, the model gets nearly all answers right. In the first layer, layer 0, each word except the first attends mostly to the previous word. In layer 1, the last word, 27, attends to 2, so for this text, the model takes the two steps we expected. Olsson et al. (2022) found such pairs of heads in language models and called the second head an **induction head**.
#
# ## Rotary positions
#
# The scores of our hand-built head depend only on the distance between positions, because we chose M that way. A learned matrix need not have this property: it can give two pairs of positions that are equally far apart different scores. With **rotary positions** or rotary position embeddings (RoPE; Su et al., 2021), scores depend on positions only through distances, whatever the model learns. These positions are not added to the word vectors; they rotate the queries and keys. We can think of each pair of entries as an arrow in the plane: the first entry is its horizontal component, the second its vertical one.
#
# As above, each pair has its own speed $\theta$. The query at position $m$ turns by $m\theta$, and the key at position $n$ by $n\theta$. Take q = k = [1, 0], an arrow pointing right, and $\theta = 1$, with the query at position 3 and the key at position 1. What is the angle between the two arrows after the rotation, and what is it when both are ten positions further on?

# %%
figures.arrows([(3, 1), (13, 11)])

# %% [markdown]
# At positions 3 and 1, the angle between the arrows is 2 radians. At 13 and 11, both arrows have turned ten radians further, so the angle is still 2.
#
# The dot product of two arrows depends only on their lengths and the angle between them. Suppose that before the rotation, the query has length $r_q$ and angle $\alpha$, and the key length $r_k$ and angle $\beta$. After the rotation, their product is
#
# $$r_q\, r_k \cos\big(\alpha - \beta + (m - n)\,\theta\big)$$
#
# The product depends on the positions only through $m - n$, the **signed distance**. A score is the sum of the products of all pairs, each with its own θ, so it also depends on the positions only through $m - n$. The sign matters: a key one step before the query gets a different product from a key one step after it, unless q and k point in the same or opposite directions.
#
# Rotating an arrow $(a, b)$ by an angle $\varphi$ gives
#
# $$(a \cos\varphi - b \sin\varphi,\;\; a \sin\varphi + b \cos\varphi)$$
#
# The function `turn` rotates all pairs in this way. Work out both products of our arrows, using $\cos 2 = -0.416$.


# %%
def turn(x, first=0):  # T D, or B T D; `first` is the position of the first row
    T = x.shape[-2]
    D = x.shape[-1]
    i = torch.arange(D // 2)  # D/2
    m = torch.arange(first, first + T)[:, None]  # T 1
    angle = m / 10_000 ** (2 * i / D)  # T D/2
    # in an index, three dots stand for all axes but the last
    a = x[..., 0::2]  # the first entry of each pair
    b = x[..., 1::2]  # the second one
    turned = torch.zeros_like(x)
    turned[..., 0::2] = a * angle.cos() - b * angle.sin()
    turned[..., 1::2] = a * angle.sin() + b * angle.cos()
    return turned


arrow = torch.tensor([[1.0, 0.0]])  # T D = 1 2: query and key
for m, n in ((3, 1), (13, 11)):
    product = turn(arrow, first=m) @ turn(arrow, first=n).T  # 1 1
    print(f"query at {m}, key at {n}: product {product.item():.3f}")

# %% [markdown]
# Both products are cos 2 = -0.416. To look at the previous word, a model can learn keys that, in some pairs, are ahead of the query by the angle of one step. At every position, the product is then largest for the previous word. In our model, `turn` now rotates all queries and keys. Will this also solve our task?

# %%
shares["rotary positions"] = shares_right(trained(turn=turn))
table(shares, headings, digits=2)

# %% [markdown]
# With rotary positions, the model also gets nearly all answers right. Many language models use such positions, including Llama 3 (Grattafiori et al., 2024).
#
# ## What happens beyond the trained lengths?
#
# Three of our four ways solve the task, but longer texts contain positions that never occurred in training. For this test, the learned positions are extended by rows that keep their random initial values. Sinusoidal and rotary positions can be computed for any position, and Vaswani et al. (2017) hoped that the sinusoidal ones would work for longer texts.
#
# We trained five models of each kind on texts of up to 12 words, for 2,000 steps at a rate of 0.003. In the plot, the dotted line marks the length of the longest training texts.

# %% tags=["nbval-check-output"]
predict("11.beyond", ...)

# %% tags=["reveals"]
print("Lines show the mean of five seeds, bands the range from lowest to highest:")
right = {}
for kind in ("rotary", "sinusoidal", "learned", "none"):
    found = measured("positions", "answers_right", "length", positions=kind)
    numbers, right[kind] = found  # the lengths, and for each seed its shares
at_24 = numbers.index(24)
sinusoidal_at_24 = [run[at_24] for run in right["sinusoidal"]]
reveal("11.beyond", round(sum(sinusoidal_at_24) / 5, 2))
ax = plots.axes(width=6, height=3.6)
early = [min(1, 11 / (n - 1)) for n in numbers]  # 11 of the n - 1 places
known = {"right up to position 11 only": early}
label = "words of the text"
plots.curves(numbers, right, label, "share right", "", ax, known, legend="above")
_ = ax.axvline(12, color="0.6", linestyle=":")

# %% [markdown]
# With sinusoidal positions, the models get fewer than half of the 24-word texts right: 0.46, and 0.49 in a run of 5,000 steps. On our task, sinusoidal positions do not fulfil the hope of Vaswani et al.: they do about as badly as learned positions. With rotary positions, far fewer answers are lost.
#
# In training, no answer was beyond position 11. If only the later answers are lost, those at 11 of the 23 possible positions in a 24-word text are still correct; the grey line shows this share for each length. The curves of learned and sinusoidal positions stay close to it. Is it really the late answers that are lost? We test `sinusoidal_model`, a sixth model.
#
# Are the sinusoidal positions themselves at fault? Since $M$ moves every position back by one, our hand-built head should also work in longer texts. We replace the attention weights of layer 0 with those of the hand-built head and change nothing else. How many of the late answers will the model then get right?


# %%
# M moves positions of dimension 64 back by one, and `sharper` is 3, as above
class HeadByHand(Reader):
    def weights(self, layer, x):  # B T D
        if layer == 1:
            return super().weights(layer, x)  # B T T: as trained
        P = sinusoidal_positions(length=x.shape[1], D=64)  # T D
        scores = sharper * P @ M @ P.T  # T T
        return scores.softmax(-1)  # most for the previous word


by_hand = HeadByHand(add=add_sinusoidal)
by_hand.load_state_dict(sinusoidal_model.state_dict())  # all learned parameters
draw = torch.Generator().manual_seed(1)
longer, answers = recall_next(500, 24, draw)  # B T, B
is_answer = longer == answers[:, None]  # B T: compared with B 1
answer_at = is_answer.int().argmax(1)  # B: the position of the first True
parts = {"all": (1, 23), "at 1 to 8": (1, 8), "9 to 11": (9, 11), "12 to 23": (12, 23)}


def by_position(model):
    is_right = (model(longer).argmax(-1) == answers).float()  # B
    shares = []
    for first, last in parts.values():
        in_part = (answer_at >= first) & (answer_at <= last)  # B
        shares.append(is_right[in_part].mean())
    return shares


rows = {"as trained": by_position(sinusoidal_model)}
rows["layer 0 by hand"] = by_position(by_hand)
table(rows, list(parts), "share right, by the answer's position", digits=2)

# %% [markdown]
# As trained, the model loses nearly all of the late answers and many of the answers at positions 9 to 11. With the hand-built head, it gets nearly all of them right. In this model, neither the positions nor layer 1 is at fault: layer 0 attends to the wrong words. The likely cause is what it never saw in training: an answer after position 11, and words after position 12, which it must ignore.
#
# With rotary positions, the previous word is at a signed distance of 1, whether the query is at position 3 or 20. Layer 0 saw this distance in every training text, which may be why far fewer answers are lost; we have not tested this.
#
# In our task, layer 0 needs only this distance. A language model needs many distances, and even with rotary positions, it does worse on texts longer than any in training (Press et al., 2022).
#
# ## How can attention know the order of the words?
#
# We have to supply the order, unless a causal mask reveals it. Without positions, the translation model gave both sentences the same translation, and our small model could only guess. One number for each position was not enough, but a learned or sinusoidal vector for each position was. Rotary positions also solved our task, and beyond the trained lengths, they lost the fewest answers.
#
# ## Where you will meet this
#
# | here | in papers | in Hugging Face's `transformers` |
# | --- | --- | --- |
# | `LearnedPositions` | learned positional embedding | `wpe` in `GPT2Model` |
# | `sinusoidal_positions` | positional encoding | `MarianSinusoidalPositionalEmbedding`: all sines, then all cosines |
# | `turn`, pairs of neighbours | RoPE | `apply_rotary_pos_emb`, in Llama pairs i and i + D/2 |
# | base 10,000 | base | `rope_theta`, in `rope_parameters` |
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a number or a letter in quotes.

# %%
check("11.q1", ...)

# %%
check("11.q2", ...)

# %%
check("11.q3", ...)

# %%
check("11.q4", ...)

# %%
check("11.q5", ...)

# %% [markdown]
# ## Recap
#
# - Without positions and without a mask, self-attention cannot distinguish different orders of the same words.
# - Sinusoidal positions act like clocks: fast pairs tell neighbours apart, and slow pairs tell near from far. One matrix moves every position back by one.
# - Rotary positions rotate queries and keys, so a score depends on positions only through the signed distance m - n.
# - On texts twice as long as in training, learned and sinusoidal positions lost more than half of the answers, rotary positions far fewer.
#
# **Exercises**: [open them](../exercises/11_positions_exercises.ipynb)
#
# **Next**: we have words that look at each other, in several heads and with positions. [What turns attention into a translator?](12_transformer.ipynb)

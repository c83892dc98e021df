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
# The sentences *a dog is chasing a boy* and *a boy is chasing a dog* contain the same words but differ in meaning. Lesson 09 showed that self-attention ignores the order of the words: however they are shuffled, each word gets the same vector as before. Where, then, can a model get the order from? We look at what is lost without it and then try four ways to provide it, including in texts longer than those in training.
#
# ## The same words in a different order
#
# The course comes with a translation model that is built from self-attention: a Transformer, which lesson 12 explains. To each word it adds a vector that depends on the word's **position**, its place in the sentence. The model translates two sentences with the same words, first as it is and then with all position vectors set to zero. What will the translations be without positions?

# %% tags=["nbval-check-output"]
model, subwords = load_pretrained("transformer-en-de")
texts = ["a dog is chasing a boy .", "a boy is chasing a dog ."]
print("with positions:   ", translate(model, subwords, texts))
model.embedding.positions.zero_()
print("without positions:", translate(model, subwords, texts))

# %% [markdown]
# Without positions, both sentences get the same translation: to the encoder they are the same words, each the same number of times.
#
# This model was trained with positions. Would a model trained without them recover the order in some other way?
#
# ## A task in which order is everything
#
# We train small models on a task in which only the order helps. A text consists of different words, written as numbers, and then one of them is repeated. **Which word comes next?** It should be the word that followed the first time. A model that finds this word performs **induction**.

# %% tags=["nbval-check-output"]
words, answers = recall_next(3, 6, torch.Generator().manual_seed(0))  # 3 texts of 6
for text, answer in zip(words.tolist(), answers.tolist(), strict=True):
    print("text:", text[:-1], "  again:", text[-1], "  next:", answer)

# %% [markdown]
# In the first text, 27 is repeated; the first time, it was followed by 2, so 2 is the answer. We count a text without its repeated word: this one has 6 words and 7 positions.
#
# Two layers of self-attention can find the answer if they know the order. In the first layer, each word looks at the word before it: 2 looks at 27, and its vector then also says that 2 comes after 27. In the second layer, the last word, 27, looks for a word that comes after 27 and finds 2.
#
# Our model has two such layers, each with one head, and every word keeps its vector and adds its context to it. Positions can enter in two places: the function `add` may change the word vectors, and the function `turn` may change the queries and keys. At first, both return their input unchanged.


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
# We begin without positions, on training texts of 2 to 12 words.

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
# Without positions, the model can only guess among the other words. This model has no other way to recover the order: as in lesson 09, the last word gets the same vector, however the others are arranged. A causal mask can also reveal the order: the first word then sees one word, the second sees two, and so on (Haviv et al., 2022).
#
# ## One number for each position
#
# The simplest way to say where a word is uses a single number. We add a tenth of the position, p / 10, to every entry of the word's vector; the tenth keeps the numbers small. Is one number enough?


# %%
def add_tenths(x):  # B T D
    p = torch.arange(x.shape[1])[:, None]  # T 1
    return x + p / 10  # B T D


shares["one number"] = shares_right(trained(add=add_tenths))
figures.last_two(shares, headings)

# %% [markdown]
# One number is not enough. In texts of 12 words, at most a quarter of the answers are right, and no more after 5,000 steps at learning rates of 0.002, 0.005 and 0.015. One reason lies in the scores. Adding p / 10 to every entry of a word's vector adds $\frac{p}{10} u$ to its key, where $u$ is the product of a vector of ones and the key matrix. A key $k$ therefore becomes $k + \frac{p}{10} u$, and its score with a query $q$ is
#
# $$q^\top k + p \cdot \frac{q^\top u}{10}$$
#
# The position of the key appears only in the second term. The query also contains a position, but it is the same for all keys. The second term is therefore a straight line in p, which is largest at one of its ends. For a word in the middle of a text, that end is not the word before.
#
# ## A vector for each position
#
# We therefore give each position a vector of its own. The score can then be highest at any position, if the query points in the direction of that position's vector. The vectors can be learned in the same way as word vectors: these are **learned positions**. For how many texts of 12 words will the answer be right?


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
# With learned positions, nearly all answers are right. But there are vectors for only 13 positions. Can we also *compute* a vector for any position?
#
# ## A clock for each pair of dimensions
#
# Vaswani et al. (2017) divide the D dimensions into pairs, and each pair is like the hand of a clock. From each position to the next, pair i turns by the angle $1 / 10000^{2i/D}$, so each hand has its own speed. The two entries of pair i are the sine and the cosine of the hand's angle:
#
# $$P_{p,\,2i} = \sin\frac{p}{10000^{2i/D}} \qquad P_{p,\,2i+1} = \cos\frac{p}{10000^{2i/D}}$$
#
# These vectors are called **sinusoidal positions**. Work out the four entries for D = 4 and p = 1 on paper, with $\sin 1 = 0.841$ and $\cos 1 = 0.540$. For the small angle 0.01, the sine is about 0.01 and the cosine about 1.


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
# The next cell draws four of the 32 clocks for D = 64. The angles are in radians, so a full turn is 6.28. Unlike the hands of a real clock, ours start at the right and turn anticlockwise. The tip of a hand shows both entries: the cosine is its distance to the right, and the sine its height. Move the slider: at which position has pair 0 first passed a full turn, and what is the angle of pair 12?

# %%
figures.clocks()

# %% [markdown]
# At position 7, pair 0 has passed a full turn, while pair 12 has turned by only 0.22. A fast hand tells neighbours apart, but it comes round again, so some distant positions look alike. A slow hand tells near from far but hardly tells neighbours apart. We therefore need both, as a clock needs hands for seconds and for hours.
#
# ## How can a head find the word before?
#
# In our task, the first layer has to look at the word before, as a head did in lesson 10. From one sinusoidal position to the one before, a hand turns back by the same angle $\delta$, whatever its angle is. From school, you may know:
#
# $$\sin(a - \delta) = \sin a \cos\delta - \cos a \sin\delta \qquad \cos(a - \delta) = \cos a \cos\delta + \sin a \sin\delta$$
#
# Each pair is therefore multiplied by a block of four numbers, the same for every position:
#
# $$\big(\sin(a - \delta),\; \cos(a - \delta)\big) = \big(\sin a,\; \cos a\big) \begin{pmatrix} \cos\delta & \sin\delta \\ -\sin\delta & \cos\delta \end{pmatrix}$$
#
# The matrix $M$, which has the blocks of all pairs on its diagonal, moves *every* position back by one: $P_{p-1} = P_p M$. We build it for D = 4.


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
# We can build such a head by hand. The keys are the positions, and the query of a word is its position moved back by one, which is equal to the key of the word before. All keys have the same length, so this key gets the highest score. Where will the weights be?

# %%
P = sinusoidal_positions(length=7, D=64)  # T D
M = one_back(D=64)
sharper = 3  # instead of 1 / 64 ** 0.5, so that one position gets most of the weight
scores = sharper * P @ M @ P.T  # T T: the queries P @ M times the keys P
weights = scores.softmax(-1)
plots.weights(weights, xlabel="keys: positions", ylabel="queries: positions")

# %% [markdown]
# Each position gives most of its weight to the position before it, except position 0, which has none before it and looks at itself.
#
# **Your turn**: change the weights so that each position looks at the one *after* it. Which queries does the head need?
#
# <details><summary>Answer</summary>
#
# It needs the queries `P @ M.T`. The transposed matrix turns each pair in the opposite direction, so it moves every position forward by one.
#
# </details>
#
# A head *can* find the word before. Will a model with sinusoidal positions learn to do so? Below the table are its weights for the first text above, whose last word is 27 and whose answer is 2. Which layer looks at the word before, and where does the last word look in the other layer?


# %%
def add_sinusoidal(x):  # B T D
    return x + sinusoidal_positions(length=x.shape[1], D=x.shape[2])  # B T D


sinusoidal_model = trained(add=add_sinusoidal)
shares["sinusoidal positions"] = shares_right(sinusoidal_model)
display(figures.last_two(shares, headings))
figures.two_layers(sinusoidal_model, words[0])

# %% [markdown]
# With sinusoidal positions, nearly all answers are right. In layer 0, each word except the first looks mostly at the word before it. In layer 1, the last word, 27, looks at 2, so in this text the model takes the two steps that we expected. Olsson et al. (2022) found such pairs of heads in language models and call the second one an **induction head**.
#
# ## Rotary positions
#
# The scores of our head depend only on distances, because we chose M. A learned matrix need not do so: it can treat position 3 in one way and position 20 in another. With **rotary positions** (Su et al., 2021), only distances count, whatever is learned. They are not added to the words but rotate the queries and the keys. Each pair of entries is an arrow in the plane: the first says how far right it goes, the second how far up.
#
# Each pair has its own speed $\theta$, as above. The query at position $m$ turns by $m\theta$, and the key at position $n$ by $n\theta$. Take q = k = [1, 0], an arrow to the right, and $\theta = 1$, with the query at position 3 and the key at position 1. What is the angle between the two after the rotation, and what is it if both are ten positions further on?

# %%
figures.arrows([(3, 1), (13, 11)])

# %% [markdown]
# At 3 and 1, the angle between the arrows is 2 radians. At 13 and 11, both have turned by ten radians more, and the angle is still 2.
#
# The dot product of two arrows depends only on their lengths and on the angle between them. Before the rotation, let the query have the length $r_q$ and the angle $\alpha$, and the key the length $r_k$ and the angle $\beta$. After the rotation, their product is
#
# $$r_q\, r_k \cos\big(\alpha - \beta + (m - n)\,\theta\big)$$
#
# The product depends on the positions only through $m - n$, the **signed distance**. A score adds up the products of all pairs, each with its own θ, so the same is true of the score. The sign counts: a key one step before the query gets a different product from a key one step after it, unless q and k point in the same or opposite directions.
#
# Rotating an arrow $(a, b)$ by an angle $\varphi$ gives
#
# $$(a \cos\varphi - b \sin\varphi,\;\; a \sin\varphi + b \cos\varphi)$$
#
# The function `turn` rotates all pairs this way. Work out the two products of our arrows; you may need $\cos 2 = -0.416$.


# %%
def turn(x, first=0):  # T D, or B T D; `first` is the position of the first row
    T = x.shape[-2]
    D = x.shape[-1]
    i = torch.arange(D // 2)  # D/2
    m = torch.arange(first, first + T)[:, None]  # T 1
    angle = m / 10_000 ** (2 * i / D)  # T D/2
    # in an index, three dots stand for all axes but the last
    a = x[..., 0::2]  # the first number of each pair
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
# Both products are cos 2 = -0.416. To look at the word before, a model can learn, in some pairs, a key that is one step's angle ahead of the query. Their product is then largest at the word before, at every position. In our model, `turn` now rotates all queries and keys. Does this also solve our task?

# %%
shares["rotary positions"] = shares_right(trained(turn=turn))
table(shares, headings, digits=2)

# %% [markdown]
# With rotary positions, nearly all answers are right as well. Many language models use them, such as Llama 3 (Grattafiori et al., 2024).
#
# ## What happens beyond the trained lengths?
#
# Three of our ways solve the task, but longer texts have positions that never occurred in training. For this test, learned positions get more rows, which keep their random initial values. The others can be computed for any position, and Vaswani et al. (2017) hoped that sinusoidal positions would work in longer texts.
#
# We have trained five models of each kind on texts of up to 12 words. In the plot, the dotted line marks the longest texts in training.

# %% tags=["nbval-check-output"]
predict("11.beyond", ...)

# %% tags=["reveals"]
print("Lines are means of five seeds, bands go from the lowest to the highest:")
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
# With sinusoidal positions, fewer than half of the answers are right in texts of 24 words: 0.46, and 0.49 in a run of 5,000 steps. In our task, this hope did not come true: they are about as bad as learned positions. With rotary positions, far fewer answers are lost.
#
# In training, no answer was beyond position 11. If only the later answers are lost, 11 of the 23 possible places remain right in texts of 24 words; the grey line shows this share for each length. Learned and sinusoidal positions stay close to it. Are the late answers really the ones that are lost? We test `sinusoidal_model` from above, a sixth model.
#
# Are the sinusoidal positions themselves at fault? $M$ moves every position back by one, so our handmade head should also work in longer texts. We replace the attention weights of layer 0 with the weights of that head and change nothing else. How many of the late answers will then be right?


# %%
# M moves positions of width 64 back by one, and `sharper` is 3, as above
class HeadByHand(Reader):
    def weights(self, layer, x):  # B T D
        if layer == 1:
            return super().weights(layer, x)  # B T T: as trained
        P = sinusoidal_positions(length=x.shape[1], D=64)  # T D
        scores = sharper * P @ M @ P.T  # T T
        return scores.softmax(-1)  # most for the word before


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
# As trained, the model loses nearly all of the late answers and many of the answers at positions 9 to 11. With the handmade head, nearly all are right. In this model, neither the positions nor layer 1 is at fault: what fails is where layer 0 looks. The likely cause is what it never met in training: an answer after position 11, and words after position 12, at which it must not look.
#
# With rotary positions, the word before is at the signed distance 1, at position 3 as well as at position 20. Layer 0 met this distance in every training text, which may be why far fewer answers are lost, but we have not tested it.
#
# In our task, layer 0 needs only this distance. A language model needs many, and even with rotary positions it gets worse in texts longer than its training texts (Press et al., 2022).
#
# ## Where does the order come from?
#
# We have to provide it, unless a causal mask reveals it. Without positions, the translation model gave both sentences the same translation, and our model could only guess. One number for each position was not enough, but a vector for each, learned or sinusoidal, was. Rotary positions were also enough, and beyond the trained lengths, they lost the fewest answers in our task.
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
# - Without positions and without a mask, self-attention cannot tell two orders of the same words apart.
# - Sinusoidal positions are clocks, whose fast pairs tell neighbours apart and whose slow pairs tell near from far. One matrix moves every position back by one.
# - Rotary positions rotate queries and keys, so that a score depends on positions only through the signed distance m - n.
# - In texts twice as long as in training, learned and sinusoidal positions lost more than half of the answers, and rotary positions far fewer.
#
# **Exercises**: [open them](../exercises/11_positions_exercises.ipynb)
#
# **Next**: words that look at each other, in several heads, with positions. [What else do we need to turn attention into a translation model?](12_transformer.ipynb)

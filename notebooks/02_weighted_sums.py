# %%
import ipywidgets
import torch

from course_utils import check, predict, reveal
from course_utils.data.generated_reviews import four_cases, generate_reviews
from course_utils.data.loading import load_reviews
from course_utils.figures import plots
from course_utils.figures.widgets import explore
from course_utils.models.attention import masked_softmax
from course_utils.models.sentiment import FixedAttention, SumOfWords, build_vocabulary, correct, encode, train

torch.manual_seed(0)
torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## A sum in which words count differently
#
# The sum of lesson 01 gives every word the same say. A **weighted sum** gives word $s$ the weight $a_s$:
#
# $$f(x_1, \dots, x_S) = \sum_{s=1}^{S} a_s \, x_s$$
#
# We take three words of two features, small enough for paper.

# %%
words = ["not", "really", "great"]
x = torch.tensor([[0.0, 2.0], [1.0, 1.0], [3.0, 0.0]])  # S D
a = torch.tensor([0.5, 0.25, 0.25])  # S

context = torch.zeros(2)
for weight, vector in zip(a, x, strict=True):
    context = context + weight * vector
context

# %% [markdown]
# On paper: $0.5 \cdot (0, 2) + 0.25 \cdot (1, 1) + 0.25 \cdot (3, 0) = (1, 1.25)$. The result is called the **context**. The loop is a matrix
# product, and from here on we write it so.

# %% tags=["nbval-check-output"]
by_matrix = a @ x
by_einsum = torch.einsum("s,sd->d", a, x)
print(by_matrix, torch.equal(context, by_matrix), torch.equal(context, by_einsum))

# %% [markdown]
# ## Weights that are positive and sum to 1
#
# With such weights the sum is a weighted mean: it stays among the vectors, however many there are. **Softmax** makes weights from any **scores** $z$:
#
# $$a_s = \frac{e^{z_s}}{\sum_r e^{z_r}}$$

# %% tags=["nbval-check-output"]
z = torch.tensor([1.0, 2.0, 4.0])
e = torch.exp(z)
a = e / e.sum()
print("e^z", e, " weights", a, " sum", round(a.sum().item(), 6))

# %% [markdown]
# A score that is higher by 1 is worth $e \approx 2.7$ times the weight. Adding 100 to every score changes nothing, since numerator and denominator grow alike.
# A computer must use that: $e^{100}$ is too large for float32. Dividing all scores by a **temperature** does change the weights.

# %% tags=["nbval-check-output"]
far = z + 100
naive = torch.exp(far) / torch.exp(far).sum()
shifted = torch.exp(far - far.max()) / torch.exp(far - far.max()).sum()
print("naive", naive, " shifted", shifted, " library", far.softmax(-1))

# %% [markdown]
# ## How sharp should it choose?
#
# At temperature 1 the word "great" has 84 % of the weight, "really" 11 % and "not" 4 %. A temperature above 1 evens the weights out, and one below 1
# sharpens them. How far does 0.4 go? Put your guess in place of the dots.

# %% tags=["nbval-check-output"]
predict("02.cold", ...)

# %% tags=["nbval-check-output", "reveals"]
print("temperature, then the weights of", *words)
for temperature in (0.4, 1.0, 100.0):
    print(f"{temperature:6.2f}", (z / temperature).softmax(-1))
reveal("02.cold", (z / 0.4).softmax(-1)[2])

# %% [markdown]
# Now move the slider. Which temperature gives "great" more than half of the weight and "really" more than a quarter?


# %%
def weights_at(temperature):
    a = (z / temperature).softmax(-1)
    plots.weights(a[None], words, [""], title=f"temperature {temperature:.2f}", xlabel="words", ylabel="")
    return (
        f"At temperature {temperature:.2f} the largest weight is {a.max():.3f}, the smallest {a.min():.3f}."
    )


slider = ipywidgets.FloatLogSlider(value=1.0, base=10, min=-1, max=2, step=0.05)
temperature_explorer = explore(weights_at, temperature=slider)
temperature_explorer

# %% [markdown]
# A temperature of about 2.5 does that. As the temperature falls towards 0, the largest score gets all the weight; as it grows, the weights become equal and the weighted
# sum becomes the mean.
#
# ## Padding gets no weight
#
# Sentences of different length share one tensor, filled up with padding. A score of 0 would still earn the weight of $e^0 = 1$. So a masked score becomes
# $-\infty$, and $e^{-\infty} = 0$. In this course **True in a mask means "may attend"**.

# %% tags=["nbval-check-output"]
scores = torch.tensor([[1.0, 2.0, 4.0], [1.0, 2.0, 0.0]])  # the second sentence has two words
mask = torch.tensor([[True, True, True], [True, True, False]])
print("zeros   ", (scores * mask).softmax(-1)[1])
print("minus ∞ ", scores.masked_fill(~mask, -torch.inf).softmax(-1)[1])
print("nothing ", masked_softmax(scores[1:], torch.zeros(1, 3, dtype=torch.bool)))

# %% [markdown]
# The last line is a row with nothing to attend. A softmax of only $-\infty$ is $0/0$; `masked_softmax` gives zeros there.
#
# ## Where do scores come from?
#
# **Fixed attention** learns one vector $\theta$ and asks it of every word, by a dot product:
#
# $$g(x; \theta) = x^\top \theta$$

# %%
theta = torch.tensor([0.0, 2.0])
scores = x @ theta  # S
a = scores.softmax(-1)
print("scores", scores, " weights", a, " context", a @ x)

# %% [markdown]
# θ points where "not" points, so "not" takes nearly all the weight. How does the weight fall as a word turns away from θ? We turn one word through a full circle
# beside two words at 90°, for three lengths of θ. Where does it lose its weight, and for which length most abruptly?

# %%
angles = torch.linspace(-180, 180, 25)
turned = torch.stack([angles.deg2rad().cos(), angles.deg2rad().sin()], -1)  # 25 2
beside = torch.tensor([[0.0, 1.0], [0.0, -1.0]]).expand(25, 2, 2)
three = torch.cat([turned[:, None], beside], 1)  # 25 3 2: the word that turns, and the two beside it
curves = {}
for length in (1, 4, 16):
    weights = (three @ torch.tensor([float(length), 0.0])).softmax(-1)  # 25 3
    curves[f"|θ| = {length}"] = weights[None, :, 0]

picture, profile = plots.axes(2, width=4.4, height=3.6)
plots.directions(three[15], ["45°", "90°", "-90°"], torch.tensor([1.0, 0.0]), ax=picture)
plots.curves(angles, curves, "angle to θ in degrees", "weight", ax=profile)

# %% [markdown]
# A word keeps its weight until it is turned as far from θ as the two rivals are, 90°, and the longer θ is, the harder that edge. So one fixed attention listens along one direction, and the length of θ acts as
# the inverse of a temperature.
#
# **MLP attention** puts a hidden layer with the logistic sigmoid σ in front: $g(x; W, b, \theta) = \theta^\top \sigma(Wx + b)$.

# %%
W = torch.tensor([[4.0, 0.0], [-4.0, 0.0]])  # H D: one unit looks right, one looks left
b = torch.tensor([-2.0, -2.0])
theta = torch.tensor([6.0, 6.0])
both_ways = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
print("dot ", (both_ways @ torch.tensor([6.0, 0.0])).softmax(-1))
print("MLP ", (torch.sigmoid(both_ways @ W.T + b) @ theta).softmax(-1))

# %% [markdown]
# The dot product chooses one of two opposite words; the hidden layer can listen in both directions at once. What follows holds for both.
#
# ## Can one attention undo "great" after "not"?
#
# The generated reviews of lesson 01 again, half of them negated. The test reviews come in fours that differ only in the opinion word and in "not".

# %%
learn, test = generate_reviews(2000, seed=0), four_cases(250, seed=1)
vocabulary = build_vocabulary(learn.sentences)
learn_words, test_words = (encode(reviews.sentences, vocabulary) for reviews in (learn, test))
for sentence, label in zip(test.sentences[:4], test.labels, strict=False):
    print(label.item(), " ".join(sentence))

# %% [markdown]
# One attention classifies by the sign of $\sum_s a_s\,(w^\top x_s) + b$. Softmax divides by a positive total, so the sign is that of
#
# $$\sum_s e^{g(x_s)} (w^\top x_s + b),$$
#
# again a sum with one fixed number for each word, whatever $g$. Lesson 01's limit holds: of each four, three at most come out right.
# Two attentions are divided by two different totals, so this proof does not forbid them all four. Do they find it?


# %%
def accuracies(make):
    runs = []
    for seed in range(5):
        torch.manual_seed(seed)
        model = make()
        train(model, *learn_words, learn.labels, seed, epochs=15, batch=64, rate=5e-2, weight_decay=0.01)
        runs.append(correct(model, *test_words, test.labels).float().mean().item())
    return runs, model


size = len(vocabulary)
results = {"sum": accuracies(lambda: SumOfWords(size))}
results["1 attention"] = accuracies(lambda: FixedAttention(size, 1))
results["2 attentions"] = accuracies(lambda: FixedAttention(size, 2))
results["3 attentions"] = accuracies(lambda: FixedAttention(size, 3))
runs = {name: torch.tensor(values) for name, (values, _) in results.items()}
plots.bars(runs, "test accuracy", lines={"3 of 4": 0.75, "chance": 0.5}, ylim=(0, 1.1))

# %% [markdown]
# The sum stays at chance, one attention gets three of four in all five runs, two get all four in most runs and three in all. Two can, but training does not always find it.
# The sum could have three of four as well; but with half the reviews negated no single word tells anything about the label.

# %% tags=["nbval-check-output"]
print("one attention never above three of four:", bool((runs["1 attention"] <= 0.75).all()))
print("two attentions above it in their best run:", bool(runs["2 attentions"].max() > 0.75))

# %% [markdown]
# ## How do two do it?
#
# One model of these, and four sentences that differ in the opinion word and in "not". Which words does each attention choose, and what does "not" change?

# %%
model = results["2 attentions"][1]
four = {f"{n}{word}": f"the cast was {n}{word}".split() for word in ("great", "awful") for n in ("", "not ")}
with torch.no_grad():
    ids, mask = encode(four.values(), vocabulary)
    a = model.weights(ids, mask)  # B N S
    parts = (a @ model.embedding(ids)) * model.output.weight.reshape(2, -1)  # B N D
for n, ax in enumerate(plots.axes(2, width=4.4, height=2.6)):
    plain = torch.cat([a[:, n, :3], torch.zeros(4, 1), a[:, n, 3:4]], 1)  # a gap where "not" would stand
    grid = torch.where(torch.tensor([[False], [True]] * 2), a[:, n], plain)
    plots.weights(grid, ["the", "cast", "was", "not", "opinion"], four, f"attention {n + 1}", ax, "words", "")
print("added to the score", dict(zip(four, parts.sum(-1).round().tolist(), strict=True)))

# %% [markdown]
# Where "not" stands, an attention may let go of the opinion for it, and the balance changes. The sums of what the two add have the right
# sign in all four. Other runs divide the work otherwise.
#
# ## What does attention do to the error on its way back?
#
# With the weights held fixed, a word receives the error multiplied by its own weight: $\delta x_s = a_s\,\delta$. One of two
# words gets nearly all the weight. What reaches the other?


# %%
def graph_at(gap):
    vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0]], requires_grad=True)
    a = torch.tensor([gap, 0.0]).softmax(-1)
    error = torch.tensor([0.6, 0.8])
    (a @ vectors).backward(error)
    reached = vectors.grad.norm(dim=-1) / error.norm()
    plots.attention_graph(a, reached, title=f"scores ({gap:.1f}, 0)")
    return f"x₁ has the weight {a[0]:.3f}, so {reached[1]:.1%} of the error reaches x₂."


gap_explorer = explore(
    graph_at, gap=ipywidgets.FloatSlider(value=4.0, min=-8, max=8, step=0.5, description="score of x₁")
)
gap_explorer

# %% [markdown]
# At a score of 4 the first word has 98 % of the weight, and 2 % of the error reaches the second: attention masks the error it sends back. The way through the score carries the
# factor $a_s$ as well, so what one example does not attend to, it hardly changes. Mixtures of experts (lesson 18) live on that.
#
# The weights learn too. How does the error that reaches a *score* depend on how sure the choice is?

# %%
gaps = torch.linspace(-8, 8, 17)
through_sum, through_score = [], []
for gap in gaps:
    x12, scores = torch.eye(2, requires_grad=True), torch.tensor([gap.item(), 0.0], requires_grad=True)
    context = scores.softmax(-1) @ x12
    context[0].backward()  # the error is (1, 0), along x₁
    through_sum.append(x12.grad[1].norm().item())
    through_score.append(scores.grad[0].item())
curves = {"to x₂, through the sum": [through_sum], "to the score of x₁": [through_score]}
ax = plots.axes(width=6.4)
plots.curves(gaps, curves, "score of x₁ minus score of x₂", "share of the error", ax=ax, legend="center left")

# %% [markdown]
# The error for x₂ falls with its weight $a_2$, and the error for the score, $a_1(1 - a_1)$, is largest at even weights and fades on both sides. A softmax that is sure has almost stopped learning; lesson 04 returns to that.
#
# ## And on real reviews?
#
# Lesson 01's sum and three attentions on the same reviews, each with a weight decay that suits it. Does choosing words pay?

# %%
real, held_out = load_reviews("train"), load_reviews("dev")
vocabulary = build_vocabulary(real.sentences)
real_ids, dev_ids = encode(real.sentences, vocabulary), encode(held_out.sentences, vocabulary)
suited = {"sum": {"epochs": 6, "weight_decay": 3.0}, "3 attentions": {"epochs": 3, "weight_decay": 0.1}}
on_dev = {name: [] for name in suited}
for seed in range(3):
    for name, settings in suited.items():
        torch.manual_seed(seed)
        size = len(vocabulary)
        model = SumOfWords(size) if name == "sum" else FixedAttention(size, 3, width=16)
        train(model, *real_ids, real.labels, seed, **settings)
        on_dev[name].append(correct(model, *dev_ids, held_out.labels).float().mean().item())
plots.bars(on_dev, "accuracy", title=held_out.name, ylim=(0.5, 1))

# %% [markdown]
# The sum and the three attentions classify about equally many dev reviews rightly: here attention is no gain by itself. Few real reviews turn on one "not".
#
# Which words of a real review do three attentions choose? Will they choose the same?

# %%
short = [words for words in held_out.sentences if 5 < len(words) < 11 and "not" in words]
a = model.weights(*encode(short[:1], vocabulary))[0]
plots.weights(a, short[0], [f"attention {n}" for n in (1, 2, 3)], ylabel="", xlabel="words of one review")

# %% [markdown]
# All three attentions give most weight to "not" and "depression" and next to none to "it" and "the"; the second is the surest. Where they choose alike, one would do: nothing in training asks them to differ.
#
# ## Questions
#
# Five questions on the goals at the top. Run a cell to see its question, then put a letter in quotes, or a number, in place of the dots.

# %%
check("02.q1", ...)

# %%
check("02.q2", ...)

# %%
check("02.q3", ...)

# %%
check("02.q4", ...)

# %%
check("02.q5", ...)

# %% [markdown]
# ## Recap
#
# - A context is a weighted sum; softmax makes weights that are positive and sum to 1, and a temperature says how sharply.
# - A mask sets scores to $-\infty$ before the softmax; True means "may attend".
# - Fixed attention listens along one direction θ; an MLP can listen along several.
# - One attention has a sum's limit, two do not; the error that comes back is multiplied by the weight.
#
# **Exercises**: [open them](../exercises/02_weighted_sums.ipynb)
#
# **Next**: θ is the same for every sentence. What if the question itself came from the sentence?

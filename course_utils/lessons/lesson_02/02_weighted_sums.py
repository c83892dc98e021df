# %%
import ipywidgets
import torch

from course_utils import check, predict, reveal
from course_utils.data.generated_reviews import four_cases, generate_reviews
from course_utils.data.loading import load_reviews
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.attention import masked_softmax
from course_utils.models.sentiment import FixedAttention, SumOfWords, build_vocabulary, correct, encode, train

torch.manual_seed(0)
torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## A sum in which words count differently
#
# In the sum of lesson 01 every word counts the same. A **weighted sum** gives word $s$ of the S words a **weight** $a_s$:
#
# $$f(x_1, \dots, x_S) = \sum_{s=1}^{S} a_s \, x_s$$
#
# We take three words with two features each, D = 2, which is small enough to compute on paper. What if each word had one weight of its own, the same in every sentence?

# %%
words = ["not", "really", "great"]
x = torch.tensor([[0.0, 2.0], [1.0, 1.0], [3.0, 0.0]])  # S D
a = torch.tensor([0.5, 0.25, 0.25])  # S

context = torch.zeros(2)
for weight, vector in zip(a, x, strict=True):
    context = context + weight * vector
print(context, torch.equal(a @ x, context))

of_each_word = torch.tensor([2.0, 0.1, 1.5])  # one weight per word, the same in every sentence
other_vectors = of_each_word[:, None] * x  # S D: the weights are now part of the vectors
print(of_each_word @ x, torch.allclose(of_each_word @ x, other_vectors.sum(0)))

# %% [markdown]
# On paper this is $0.5 \cdot (0, 2) + 0.25 \cdot (1, 1) + 0.25 \cdot (3, 0) = (1, 1.25)$. The result is called the **context**. From here on we write the loop as `a @ x`.
#
# One *fixed* weight per word gives nothing new: a weight times a vector is another vector, which the plain sum could have learned. To make a difference, a weight has to depend on something other than its own word, such as the other words.
#
# ## Weights that are positive and sum to 1
#
# We let the words compete for a total of 1. **Softmax** turns any **scores** $z$ into such weights:
#
# $$a_s = \frac{e^{z_s}}{\sum_r e^{z_r}}$$

# %% tags=["nbval-check-output"]
z = torch.tensor([1.0, 2.0, 4.0])  # the scores of "not", "really" and "great"
e = torch.exp(z)
a = e / e.sum()
print("e^z", e, " weights", a, " sum", round(a.sum().item(), 6))

far = z + 100
print("naive", torch.exp(far) / torch.exp(far).sum(), " library", far.softmax(-1))

# %% [markdown]
# A score that is higher by 1 earns $e \approx 2.7$ times the weight. Adding 100 to every score changes nothing, since numerator and denominator grow by the same factor. But $e^{100}$ is too large for a float32, so a program first subtracts the largest score.
#
# ## How sharply should softmax choose?
#
# Dividing all scores by a **temperature** does change the weights. At temperature 1 the word "great" has 84 % of the weight. A temperature above 1 makes the weights more equal, and one below 1
# makes them more unequal. How much weight will "great" get at 0.4? Put your guess in place of the dots.

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
    return f"At temperature {temperature:.2f} the largest weight is {a.max():.3f}, the smallest {a.min():.3f}."


slider = ipywidgets.FloatLogSlider(value=1.0, base=10, min=-1, max=2, step=0.05)
temperature_explorer = explore(weights_at, temperature=slider)
temperature_explorer

# %% [markdown]
# A temperature of about 2.5 does that. As the temperature falls towards 0, the largest score gets all the weight. As it grows, the weights become equal, and the weighted sum becomes the mean.
#
# ## Padding gets no weight
#
# Sentences of different lengths share one tensor, filled up with padding. A score of 0 would still earn some weight, since $e^0 = 1$. So we set the score of padding to
# $-\infty$, and $e^{-\infty} = 0$. To **attend** to a word is to give it weight, and in this course True in a mask means "may attend".

# %% tags=["nbval-check-output"]
scores = torch.tensor([[1.0, 2.0, 4.0], [1.0, 2.0, 0.0]])  # B S: the second sentence has two words
mask = torch.tensor([[True, True, True], [True, True, False]])  # B S
print("zeros   ", (scores * mask).softmax(-1)[1])
print("minus ∞ ", scores.masked_fill(~mask, -torch.inf).softmax(-1)[1])
print("nothing ", masked_softmax(scores[1:], torch.zeros(1, 3, dtype=torch.bool)))

# %% [markdown]
# The last line shows a row in which no word may be attended to. A softmax of nothing but $-\infty$ is $0/0$; our `masked_softmax` gives zeros there.
#
# ## Where do scores come from?
#
# **Fixed attention** learns one vector $\theta$ and takes its dot product with every word as the score $g$ of that word:
#
# $$g(x; \theta) = x^\top \theta$$

# %%
theta = torch.tensor([0.0, 2.0])
scores = x @ theta  # S
a = scores.softmax(-1)
print("scores", scores, " weights", a, " context", a @ x)
diagrams.fixed_attention()

# %% [markdown]
# The drawing shows the way from word vectors to the output. Here θ points in the direction of "not", so "not" takes most of the weight. How does a word's weight fall as the word turns away from θ? We turn one word through a full circle
# beside two words at 90° to θ, for three lengths of θ. For which length will the weight fall most abruptly?

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
_ = profile.set(xticks=[-180, -90, 0, 90, 180])

# %% [markdown]
# The weight falls most abruptly for the longest θ: at |θ| = 16 the word keeps nearly all its weight until it is almost 90° from θ, as its two rivals are. At |θ| = 1 it loses weight gradually all the way.
# The length of θ acts as the inverse of a temperature, and one fixed attention listens along one direction.
#
# ## Can a word's weight depend on the other words?
#
# Here are two sentences that differ in one word. Each word has two features, praise and negation, and θ listens mostly to "not" and a little to praise.

# %% tags=["nbval-check-output"]
theta = torch.tensor([2.0, 6.0])  # praise, negation
vector_of = {"great": [1.0, 0.0], "not": [0.0, 1.0]}  # all other words are (0, 0)


def scores_and_weights(sentence):
    vectors = torch.tensor([vector_of.get(word, [0.0, 0.0]) for word in sentence.split()])
    return vectors @ theta, (vectors @ theta).softmax(-1)


scores, weights = scores_and_weights("the movie was really great")
print(f'"great" has the score {scores[-1]:.0f} and the weight {weights[-1]:.3f}')

# %% [markdown]
# Now we add "not": "the movie was not really great". Will "great" keep its score, and how much weight will it have left?

# %% tags=["nbval-check-output"]
predict("02.great_after_not", ...)

# %% tags=["nbval-check-output", "reveals"]
print("word, score and weight:")
scores, weights = scores_and_weights("the movie was not really great")
for word, score, weight in zip("the movie was not really great".split(), scores, weights, strict=True):
    print(f"{word:8}{score:4.0f}{weight:8.3f}")
reveal("02.great_after_not", weights[-1])

# %% [markdown]
# So the **score** of a word cannot depend on the other words: it is computed from the word and θ alone. The **weight** can, through the sum in the denominator that all words share: "great" still has the score 2, but "not" now takes most of the total. This is the answer to our question. Change θ where it is set to (2, 6), and run the cells from there on: can "not" ever *raise* the weight of "great"? It cannot: every further word only makes the denominator larger.
#
# ## Two directions at once
#
# **MLP attention** (multilayer perceptron) computes scores with a hidden layer and the logistic sigmoid σ: $g(x; W, b, \theta) = \theta^\top \sigma(Wx + b)$.

# %%
W = torch.tensor([[4.0, 0.0], [-4.0, 0.0]])  # H D: one unit looks right, one looks left
b = torch.tensor([-2.0, -2.0])
theta = torch.tensor([6.0, 6.0])
both_ways = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
print("dot ", (both_ways @ torch.tensor([6.0, 0.0])).softmax(-1))
print("MLP ", (torch.sigmoid(both_ways @ W.T + b) @ theta).softmax(-1))

# %% [markdown]
# With a dot product, opposite words get opposite scores. The hidden layer listens in both directions at once. Are such scores enough for the four cases of lesson 01?
#
# ## Can one attention undo "great" after "not"?
#
# We return to the generated reviews of lesson 01, now with half of them negated. The test reviews come in groups of four that differ only in the opinion word and in whether they contain "not".

# %%
learn, test = generate_reviews(2000, seed=0), four_cases(250, seed=1)
vocabulary = build_vocabulary(learn.sentences)
learn_words, test_words = (encode(reviews.sentences, vocabulary) for reviews in (learn, test))
for sentence, label in zip(test.sentences[:4], test.labels, strict=False):
    print(label.item(), " ".join(sentence))

# %% [markdown]
# One attention, with a score $g(x_s)$ for each word, classifies by the sign of its output. The weights sum to 1, and softmax divides by a positive total:
#
# $$\sum_s a_s\, w^\top x_s + b \;=\; \sum_s a_s (w^\top x_s + b) \;=\; \frac{1}{\text{total}} \sum_s e^{g(x_s)} (w^\top x_s + b)$$
#
# Each term of the last sum depends on its own word alone. So the sign is that of a sum with one fixed number per word, whatever $g$ is. So the limit of lesson 01 holds: of each group of four, at most three can be right. Two attentions are divided by two different totals, so this proof no longer applies. Can two attentions do it?
#
# Let an opinion word add $+1$ or $-1$, and every other word 0. We choose the scores by hand. What will each of the two attentions find?

# %% tags=["nbval-check-output"]
first = {"not": 20.0, "great": 10.0, "awful": 10.0}  # listens to "not" most, then to opinions
second = {"great": 20.0, "awful": 20.0}  # listens to opinions only
adds = {"great": 1.0, "awful": -1.0}
for opinion in ("great", "not great", "awful", "not awful"):
    sentence = f"the film was {opinion}".split()
    o1, o2 = (
        torch.tensor([listens.get(word, 0.0) for word in sentence]).softmax(-1)
        @ torch.tensor([adds.get(word, 0.0) for word in sentence])
        for listens in (first, second)
    )
    print(f"{opinion:10} first {o1:+.2f}   second {o2:+.2f}   2 · first - second {2 * o1 - o2:+.2f}")
diagrams.several_attentions()

# %% [markdown]
# All four signs in the last column are right. Without "not" both attentions find the opinion; with "not" the first one turns to "not", which adds nothing. The drawing shows how contexts are combined: they are **concatenated**, and a linear layer weighs all their features. Change the factors 2 and -1. Nearly all pairs with a positive sum and a negative second factor work: do you see why?
#
# Can training find such weights? What share of the four cases will *one* trained attention get right?

# %% tags=["nbval-check-output"]
predict("02.one_attention", ...)


# %% tags=["reveals"]
def accuracies(make):
    runs = []
    for seed in range(5):
        torch.manual_seed(seed)
        model = make()
        train(model, *learn_words, learn.labels, seed, epochs=8, batch=128, rate=0.1, weight_decay=0.01)
        runs.append(correct(model, *test_words, test.labels).float().mean().item())
    return torch.tensor(runs), model


size = len(vocabulary)
results = {"sum": accuracies(lambda: SumOfWords(size))}
results["1 attention"] = accuracies(lambda: FixedAttention(size, 1))
results["1 MLP\nattention"] = accuracies(lambda: FixedAttention(size, 1, hidden=8))
results["2 attentions"] = accuracies(lambda: FixedAttention(size, 2))
results["3 attentions"] = accuracies(lambda: FixedAttention(size, 3))
print("Five runs of each model, and their mean:")
reveal("02.one_attention", results["1 attention"][0].mean())
runs = {name: values for name, (values, _) in results.items()}
plots.bars(runs, "test accuracy", lines={"3 of 4": 0.75, "chance": 0.5}, ylim=(0, 1.1))

# %% [markdown]
# In all five runs one attention gets three of the four, as many as the proof allows, with or without an MLP. Two attentions get all four in four of the five runs, and three attentions in every run. Two can do it, but training may not find the way.
#
# How does one attention get three? It can let "not" switch the opinion off: plain reviews are then right, and negated ones all get one verdict, right for half of them. The sum stays at chance, since no single word reveals the label here.
#
# Which words does each attention of a trained model choose, and what does "not" change? A cell is empty where a sentence has no "not".

# %%
model = results["2 attentions"][1]
four = {f"{n}{word}": f"the cast was {n}{word}".split() for word in ("great", "awful") for n in ("", "not ")}
with torch.no_grad():
    ids, mask = encode(four.values(), vocabulary)
    a = model.weights(ids, mask)  # B N S
    parts = (a @ model.embedding(ids)) * model.output.weight.reshape(2, -1)  # B N D
for n, ax in enumerate(plots.axes(2, width=4.4, height=2.6)):
    plain = torch.cat([a[:, n, :3], torch.full((4, 1), torch.nan), a[:, n, 3:4]], 1)  # a gap where "not" would stand
    grid = torch.where(torch.tensor([[False], [True]] * 2), a[:, n], plain)
    plots.weights(grid, ["the", "cast", "was", "not", "opinion"], four, f"attention {n + 1}", ax, "words", "")
print("added to the score:", dict(zip(four, parts.sum(-1).round().tolist(), strict=True)))

# %% [markdown]
# Training finds another way than we did. The first attention reads the opinion, and "not" where there is one, as ours does. The second one adds 4, except in "not great": there it moves to "not", which by itself adds -12 and makes the verdict negative. Some runs divide the work differently.
#
# ## What does attention do to the error on its way back?
#
# In training, the gradient of the loss with respect to the context arrives there; we call this vector the error δ. With the weights held fixed, the vector of word $s$ receives $a_s\,\delta$. Give $x_1$ a higher score with the slider: from which score upwards does less than 1 % of the error reach $x_2$?


# %%
def graph_at(gap):
    a = torch.tensor([gap, 0.0]).softmax(-1)
    plots.attention_graph(a, a, title=f"scores ({gap:.1f}, 0)")
    return f"x₁ has the weight {a[0]:.3f}, so {a[1]:.1%} of the error reaches x₂."


gap_slider = ipywidgets.FloatSlider(value=2.0, min=-8, max=8, step=0.5, description="score of x₁")
gap_explorer = explore(graph_at, gap=gap_slider)
gap_explorer

# %% [markdown]
# From a score of 5 upwards, less than 1 % reaches the second word: attention masks the error on its way back.
#
# There is a second way back. The error also changes the *scores*: the gradient at the score of word $s$ is $a_s\,\delta^\top (x_s - c)$, its weight times how far its vector differs from the context $c$ along δ. We let PyTorch compute both ways for fixed vectors. What happens to each as the weights become more concentrated?

# %% tags=["nbval-check-output"]
delta = torch.tensor([0.6, -0.8])  # D: the error at the context
errors = {}
for gap in (0.0, 2.0, 4.0, 8.0):
    vectors = torch.eye(2).requires_grad_()  # S D
    scores = torch.tensor([gap, 0.0]).requires_grad_()  # S
    (scores.softmax(-1) @ vectors @ delta).backward()
    errors[f"scores ({gap:.0f}, 0)"] = [*vectors.grad.norm(dim=-1), *scores.grad.abs()]
table(errors, ["at x₁", "at x₂", "at the score of x₁", "at the score of x₂"], caption="size of the error")

# %% [markdown]
# At the vectors, the error is shared out by weight. At the scores it fades altogether: for two words it is $a_1 a_2\,\delta^\top (x_1 - x_2)$, and here $\delta^\top (x_1 - x_2) = 0.6 + 0.8 = 1.4$. (In an exercise you derive the rule for any number of words.) How do both depend on the gap between the scores?

# %%
gaps = torch.linspace(-8, 8, 17)
a1 = torch.sigmoid(gaps)  # the weight of x₁ beside a rival with a score of 0
curves = {"share of the error at x₂": (1 - a1)[None]}
curves["growth of the weight of x₁"] = (a1 * (1 - a1))[None]
ax = plots.axes(width=6.4)
plots.curves(gaps, curves, "score of x₁ minus score of x₂", "share, or rate of change", ax=ax, legend="upper right")

# %% [markdown]
# Beside a single rival, a score learns most at equal weights, where the derivative $a_1(1 - a_1)$ is 0.25, and it fades on both sides: an attention with weights near 0 and 1, rightly or wrongly, has almost stopped learning. A *classifier* that is confident and wrong learns fastest, because the error of the cross-entropy is $p - y$. Lesson 04 measures what that costs in training.
#
# ## What about real reviews?
#
# We train lesson 01's sum and three attentions on real reviews. Their settings were chosen on the dev split, and we report results on the test split. Does attention help, and does it help where there is a negation?

# %%
real, held_out = load_reviews("train"), load_reviews("test")
vocabulary = build_vocabulary(real.sentences)
real_ids, test_ids = encode(real.sentences, vocabulary), encode(held_out.sentences, vocabulary)
suited = {"sum": {"epochs": 6, "weight_decay": 3.0}, "3 attentions": {"epochs": 3, "weight_decay": 0.1}}
rows = {"all": held_out.labels >= 0, "no negation": ~held_out.negated, "negation": held_out.negated}
on_test = {f"{name},\n{part}": [] for part in rows for name in suited}
for seed in range(3):
    for name, settings in suited.items():
        torch.manual_seed(seed)
        model = SumOfWords(len(vocabulary)) if name == "sum" else FixedAttention(len(vocabulary), 3, width=16)
        train(model, *real_ids, real.labels, seed, **settings)
        hits = correct(model, *test_ids, held_out.labels).float()
        for part, chosen in rows.items():
            on_test[f"{name},\n{part}"].append(hits[chosen].mean().item())
print(f"{held_out.negated.float().mean():.0%} of the {len(held_out)} reviews contain a negation.")
plots.bars(on_test, "accuracy", title=held_out.name, ylim=(0, 1.1))

# %% [markdown]
# On SST-2 the sum and the three attentions get about the same number of test reviews right, with and without a negation, and both do worse on reviews with one. So on SST-2 attention by itself brings no gain, not even where it could help. A fixed attention cannot know which of several opinions "not" belongs to, which may be why. If SST-2 could not be downloaded, you see generated reviews here, and a gain: each has a single opinion. In lesson 03 "not" will look for its opinion.
#
# ## Questions
#
# These five questions test the goals at the top. Run a cell to see its question, then replace the dots with a letter in quotes or a number.

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
# - A context is a weighted sum. Softmax makes weights that are positive and sum to 1, a temperature sets how unequal they are, and a mask sets scores to $-\infty$ before the softmax.
# - Can a word's weight depend on the other words? In fixed attention its score cannot, but its weight can, through the total that all words share.
# - One attention has the same limit as a sum. Two attentions, concatenated and weighed by a linear layer, do not.
# - The error that reaches a word is multiplied by its weight, and the scores of an attention whose weights are nearly 0 and 1 hardly learn.
#
# **Exercises**: [open them](../exercises/02_weighted_sums_exercises.ipynb)
#
# **Next**: θ asks every sentence the same question. [What if the sentence asks the question itself?](03_queries_keys_values.ipynb)

# %%
import torch

from course_lessons.lesson_04_alignment_scores import figures
from course_lessons.lesson_04_alignment_scores.figures import in_all_worlds
from course_utils import check, predict, reveal
from course_utils.figures import plots
from course_utils.figures.tables import table

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# In lesson 03, attention compared a query with a key by their dot product. Papers use other functions, too. This lesson shows eight, the dot product among them, and asks: does it matter which one we take?
#
# We compute all eight by hand, and see what each does not notice. Then we let them learn, in four small worlds and in a translator. At the end, we compare their costs, and choose.
#
# ## Where the score stands
#
# Attention between words first appeared in translation. One network reads the source sentence, and makes a vector for each word, called a **hidden state** $h$. Another network writes the translation. What it has written so far is kept in one vector, its **state** $s$. Lesson 05 builds both. Here you only need to know that the state is the query, and that the hidden states are the keys and the values.
#
# A function that says how well $s$ and $h$ match is called an **alignment score**. The drawing shows all eight. B is the number of sentences in a batch, T is the number of states, and S that of hidden states. D is the width of a state, and E that of a hidden state. Which box of attention can be any of the eight?

# %%
figures.where_the_score_stands()

# %% [markdown]
# They all go into the same box, "score". All the rest stays as in lesson 03.
#
# ## Three scores by hand
#
# Three of the eight scores have no learned numbers. In them, states and hidden states have the same width D.
#
# | score | equation | from |
# | --- | --- | --- |
# | dot | $s^\top h$ | Luong et al. 2015 |
# | scaled dot | $s^\top h / \sqrt{D}$ | Vaswani et al. 2017 |
# | content-based | $s^\top h / (\lVert s \rVert \, \lVert h \rVert)$ | Graves et al. 2014 |
#
# $\lVert s \rVert$ is the length of $s$. So the content-based score is the cosine of the angle between $s$ and $h$.
#
# Our example has one state, $s = (0, 2)$, and three hidden states, $h_1 = (2, 0)$, $h_2 = (0, 1)$ and $h_3 = (3, 4)$. Their lengths are 2, 1 and 5. Work out the scores on paper. Which hidden state has the highest dot product, and which one the highest cosine?

# %% tags=["nbval-check-output"]
s = torch.tensor([0.0, 2.0])  # D
h = torch.tensor([[2.0, 0.0], [0.0, 1.0], [3.0, 4.0]])  # S D: h₁, h₂ and h₃
for h_i in h:
    product = s @ h_i
    cosine = product / (s.norm() * h_i.norm())  # norm() is the length
    scaled = product / 2**0.5  # D is 2
    print(h_i, f"dot {product:.2f}  scaled dot {scaled:.2f}  cosine {cosine:.2f}")

# %% [markdown]
# The highest dot product is that of $h_3$: $0 \cdot 3 + 2 \cdot 4 = 8$. It is high because $h_3$ is long. The highest cosine is that of $h_2$, which has the direction of $s$. For $h_3$, the cosine is only $8 / (2 \cdot 5) = 0.8$.
#
# The scaled dot product divides all scores by the same number, here √2. So its order is that of the dot product.
#
# ## Five scores with learned numbers
#
# The other five scores have numbers that are learned. $[s; h]$ is one vector, with the numbers of $s$ first and those of $h$ behind them. The perceptron is a small network. It first computes A numbers, the **hidden units**, and A is ours to choose.
#
# | score | equation | learned | from |
# | --- | --- | --- | --- |
# | general | $s^\top W h$ | $W$: D×E | Luong et al. 2015 |
# | perceptron | $v^\top \tanh(W s + U h)$ | $W$: A×D, $U$: A×E, $v$: A | Bahdanau et al. 2014 |
# | additive | $v^\top \tanh(C\,[s; h])$ | $C$: A×(D+E), $v$: A | Luong et al. 2015 |
# | concatenating | $w^\top [s; h]$ | $w$: D+E | another version of the same paper |
# | location-based | $P s$ | $P$: S×D | Luong et al. 2015 |
#
# Each score has learned numbers of its own, so the $W$ of the general score is not the $W$ of the perceptron. The location-based score does not use $h$: it gives a score to each position. P has a row for each of them, so the score works only up to the longest sentence in training.
#
# To compute them by hand, we choose simple numbers:
#
# - General: $W$ swaps the two numbers of $h$. So $W h_1 = (0, 2)$, and the score of $h_1$ is $0 \cdot 0 + 2 \cdot 2 = 4$.
# - Perceptron: we take A = 1. The hidden unit is the second number of $s$ minus that of $h$. With $v = 2$, the score of $h_1$ is $2 \tanh(2 - 0) = 1.928$.
# - Additive: $C$ holds the perceptron's $W$ and $U$ side by side.
# - Concatenating: $w$ adds up all numbers of $s$ and $h$, but subtracts the last one.
# - Location-based: the three positions get the second number of $s$, times 0, 1 and 0.5.
#
# The next cell computes all eight scores of one state, for all hidden states at once. Two rows of the table will be equal. Which ones?

# %% tags=["nbval-check-output"]
swap = torch.tensor([[0.0, 1.0], [1.0, 0.0]])  # D E: the W of "general"
W = torch.tensor([[0.0, 1.0]])  # A D
U = torch.tensor([[0.0, -1.0]])  # A E
v = torch.tensor([2.0])  # A
C = torch.cat([W, U], dim=1)  # A D+E
w = torch.tensor([1.0, 1.0, 1.0, -1.0])  # D+E
P = torch.tensor([[0.0, 0.0], [0.0, 1.0], [0.0, 0.5]])  # S D


def all_scores(s, h):  # D, S E
    both = torch.stack([torch.cat([s, h_i]) for h_i in h])  # S D+E: a row [s; h_i]
    from_h = h @ U.T  # S A
    from_s = W @ s  # A: added to each row of from_h
    swapped_h = h @ swap.T  # S E: a row swap @ h_i
    return {  # each score: S
        "dot": h @ s,
        "scaled_dot": h @ s / len(s) ** 0.5,
        "content_based": h @ s / (h.norm(dim=1) * s.norm()),
        "general": swapped_h @ s,
        "perceptron": torch.tanh(from_s + from_h) @ v,
        "additive": torch.tanh(both @ C.T) @ v,
        "concatenating": both @ w,
        "location_based": P @ s,
    }


table(all_scores(s, h), ["h₁", "h₂", "h₃"], corner="score")

# %% [markdown]
# The rows of the perceptron and of the additive score are equal. They are one function, because a matrix times $[s; h]$ is the sum of two products:
#
# $$C\,[s; h] = W s + U h$$
#
# You know the general score from lesson 03, where the score was the dot product of two projections. With $s$ and $h$ written as rows, it is $s\, W h^\top$. The two projections give the same form, and $W$ is the product $W_q W_k^\top$:
#
# $$(s\, W_q)\,(h\, W_k)^\top = s\; W_q W_k^\top\; h^\top$$
#
# ## What does a score not notice?
#
# The weights can only depend on what the score notices. We change one thing at a time, and compare the weights with those before:
#
# - We take another state, $(2, 1)$.
# - We make $h_3$ three times as long.
# - We reverse the order of the hidden states. A score that does not notice the position gives each of them the same weight as before, wherever it stands now.
#
# For one score, every state gets the same weights. Which one?

# %% tags=["nbval-check-output"]
predict("04.blind", ...)


# %% tags=["nbval-check-output", "reveals"]
def all_weights(s, h):  # D, S E
    return {name: scores.softmax(0) for name, scores in all_scores(s, h).items()}


longer = h * torch.tensor([[1.0], [1.0], [3.0]])  # S E
before = all_weights(s, h)
with_other_state = all_weights(torch.tensor([2.0, 1.0]), h)
with_longer = all_weights(s, longer)
with_reversed = all_weights(s, h.flip(0))  # flip(0): h₃ first, h₁ last
notices = {}
for name, weights in before.items():
    same_for_state = torch.allclose(with_other_state[name], weights, atol=1e-5)
    same_for_length = torch.allclose(with_longer[name], weights, atol=1e-5)
    in_old_order = with_reversed[name].flip(0)  # the weight of h₁ first again
    same_for_position = torch.allclose(in_old_order, weights, atol=1e-5)
    notices[name] = [not same_for_state, not same_for_length, not same_for_position]
    if same_for_state:
        reveal("04.blind", name)
table(notices, ["the state", "the length", "the position"], corner="notices")

# %% [markdown]
# The concatenating score gives every state the same weights. Its score is a sum of two parts, one for $s$ and one for $h$:
#
# $$w^\top [s; h_i] = w_s^\top s + w_h^\top h_i$$
#
# The part for $s$ is the same for all hidden states, and a softmax does not change if all scores grow by the same number. So the state has no influence on the weights. What is left is the fixed attention of lesson 02.
#
# <details><summary>A famous case of this fault</summary>
#
# Graph attention networks, which let the points of a graph, such as people, look at their neighbours, were widely used with nearly this score (Veličković et al. 2018). There, a LeakyReLU follows, which keeps the order of the keys. Brody et al. 2022 showed that every query then puts the same key first, and call it **static attention**. Their remedy is the additive score, with a LeakyReLU instead of the tanh.
#
# </details>
#
# The other scores miss something, too. The content-based score does not notice the length, because a cosine depends only on the angle. The location-based score is the only one that notices the position, but it does not look at the hidden states at all.
#
# ## Four small worlds
#
# Does training make up for what a score does not notice? We let scores learn in four worlds. In each world, a state has to find the right one of eight hidden states:
#
# | world | the state is | so the right hidden state is |
# | --- | --- | --- |
# | same | a hidden state plus noise | the one that the state resembles |
# | turned | a hidden state times a fixed orthogonal matrix, plus noise | the one from which the state was made |
# | position | random | the one at the position whose fixed vector has the highest dot product with the state |
# | salience | random, and says nothing | the one that lies furthest in a fixed direction |
#
# The vectors are random. An orthogonal matrix rotates a vector, and may also reflect it, but does not change its length. Each vector has four numbers, and a fifth that is always 1. Through this 1, a learned matrix can also prefer a fixed direction, whatever the state is.
#
# A score is trained for 70 steps. The perceptron has 32 hidden units. Then we count for how many of 1,000 new states the largest weight lies on the right hidden state. A guess is right for 1/8 = 0.125 of them. We leave out two scores: the additive one is the perceptron, and the scaled dot has the order of the dot product.
#
# Which score finds more than half of the right hidden states in each of the four worlds?

# %% tags=["nbval-check-output"]
predict("04.all_worlds", ...)

# %% tags=["reveals"]
worlds = ["same", "turned", "position", "salience"]
print("The share of states that find the right hidden state; a mean of five seeds:")
shares = figures.six_in_all_worlds()  # for each score: seeds, worlds
means = {name: runs.mean(0) for name, runs in shares.items()}  # for each: worlds
winners = [name for name in means if means[name].min() > 0.5] + ["none"]
reveal("04.all_worlds", winners[0])
distances = [(shares[name] - means[name]).abs().max() for name in shares]
print(f"No seed is farther than {max(distances):.2f} from its mean.")
grid = torch.stack(list(means.values()))  # scores, worlds
plots.weights(grid, worlds, list(means), xlabel="world", ylabel="score")

# %% [markdown]
# No score does so in all four worlds, so training does not make up for it. What a score does not notice, it does not learn:
#
# - The dot product and the content-based score have nothing to learn. They work only in "same", where a state resembles its hidden state. There, they differ only in the length, and the cosine finds 0.96 where the dot product finds 0.69: long hidden states draw the weight to themselves. In "turned", the five orthogonal matrices turn a vector by 90° to 124° on average. With four of the five, these two scores therefore prefer the wrong hidden states and do worse than chance.
# - The concatenating score does not notice the state, so it works only in "salience".
# - The location-based score does not look at the hidden states, so it works only in "position".
# - The general score and the perceptron notice both sides, but not the position. In "same" and "turned", the general score finds two thirds of the right hidden states, and the perceptron nearly all. The general score has the fault of the dot product: if the four numbers of a hidden state are doubled, so is their part of the score. The perceptron with its tanh is not bound to this.
#
# **Your turn**: change the general score below, so that it finds more than half in all four worlds. It may use several learned tensors: give `own_score` an argument for each, and `in_all_worlds` a shape for each.
#
# <details><summary>Answer</summary>
#
# Add the location-based score to the general one:
#
# ```python
# def own_score(s, h, W, P):  # B 1 D, B S D, D D, S D
#     general = (s @ W) @ h.transpose(1, 2)  # B 1 S
#     return general + s @ P.T  # B 1 S
#
#
# own = in_all_worlds(own_score, (5, 5), (8, 5))
# ```
#
# With it we get about 0.67 in "same" and "turned", and more than 0.9 in the other two.
#
# </details>


# %%
def own_score(s, h, W):  # B 1 D, B S D, D D
    return (s @ W) @ h.transpose(1, 2)  # B 1 S: B 1 D times B D S


own = in_all_worlds(own_score, (5, 5))  # (5, 5): the shape of W
table({"your own": own.mean(0)}, worlds, corner="mean of five seeds", digits=2)

# %% [markdown]
# ## The scores in a translator
#
# Our worlds are made so that the scores differ. Does the choice matter in a whole translator, too?
#
# We take the translator that you will build in lesson 06. It translates English into an invented language, in which verbs stand at the end. The course has trained it with each of the eight scores, each time with five seeds and 600 steps. We also take "projected", the scaled dot product of two projections, and 8 times the content-based score.
#
# We count the right words in new sentences of 12 words, the greatest length in training. A word counts only at its exact position, so one word that is left out makes all later words wrong. Which of the eight scores does worst, on average?

# %% tags=["nbval-check-output"]
predict("04.worst", ...)

# %% tags=["reveals"]
right = figures.words_right_in_translators()  # for each score: five shares
mean_right = {name: sum(shares) / 5 for name, shares in right.items()}
reveal("04.worst", min(mean_right, key=mean_right.get))
notices["projected"] = notices["general"]  # the same, but for √D
notices["8 · content_based"] = notices["content_based"]
columns = ["the state", "the length", "the position", "words right, five seeds"]
rows = {name: notices[name] + [right[name]] for name in notices}
table(rows, columns, corner="notices", digits=2)

# %% [markdown]
# The concatenating score does worst. Most scores notice no positions, and need not: the hidden states can hold them. The content-based score is not much better, although it notices the state. Its scores are too small: cosines lie between -1 and 1, so no weight can be more than $e^1 / e^{-1} = 7.4$ times another one. With 8 times the cosine, nearly all words are right. Graves et al. let the network choose this factor.
#
# All others get at least 0.85 of the words right, with every seed. The perceptron and the additive score are among the best. So is the location-based score, as long as no sentence is longer than in training. Its weights depend on the state alone, so the state must tell how far the translation has come.
#
# ## Why divide by √D?
#
# If scores can be too small, can they be too large, too? The scaled dot product divides by √D, which is 8 in the translator. There, after 600 steps, the dot product got 0.95 without the division and 0.91 with it. But a dot product adds up D products, so in wide vectors it can become large. What does that do to the weights?
#
# We draw 500 random queries, with 16 random keys for each. For each query, we sort its 16 weights. The picture shows the mean of the largest weight, of the second largest, and so on. Move the slider: how do the two panels change if D grows?

# %%
figures.weights_by_width()

# %% [markdown]
# If we do not divide, the largest weight grows with D. At width 64, one of 16 keys gets more than 0.8 of the weight on average, although all keys are random. If we divide by √D, the weights are nearly the same at every width.
#
# Why √D, and not another number? Vaswani et al. 2017 (footnote 4) assume that all entries of $s$ and $h$ are independent, with mean 0 and variance 1. How large is the variance of dot products of width 64?

# %% tags=["nbval-check-output"]
predict("04.variance", ...)

# %% tags=["reveals"]
torch.manual_seed(0)
rows = {}
for width in (4, 16, 64, 256):
    queries = torch.randn(500, 1, width)  # B T D
    keys = torch.randn(500, 16, width)  # B S D
    scores = queries @ keys.transpose(1, 2)  # B T S: B T D times B D S
    scaled = scores / width**0.5  # B T S
    rows[f"D = {width}"] = [scores.var(), scaled.var()]
print("The variance of the scores, by width:")
reveal("04.variance", rows["D = 64"][0].item())
table(rows, ["variance", "variance if divided by √D"], digits=2)

# %% [markdown]
# The variance at width 64 is about 64. Each of the D products has mean 0 and variance 1, and the variances of such terms add up. To divide by a number divides the variance by its square:
#
# $$\mathrm{Var}(s^\top h) = D \qquad \mathrm{Var}(s^\top h / \sqrt{D}) = \frac{D}{\sqrt{D}^{\,2}} = 1$$
#
# The root of the variance, the **standard deviation**, says how far from 0 the scores typically are. It is √D without the division, and 1 with it.
#
# ## Does the division help in learning?
#
# The vectors of the last two cells were random. What happens when attention learns? Where the weights are nearly 0 and 1, they hardly change when a score changes a little, so the scores hardly learn. Does attention learn more slowly if we do not divide?
#
# We return to the world "turned", at two widths. Two learned matrices project the states and the hidden states. Only the division differs. The dotted line shows the loss of a model that knows the true orthogonal matrix. At which width does the division matter more?
#
# <details><summary>The settings</summary>
#
# Each hidden state also gets a random vector as its value, and the loss compares the context with the value of the right hidden state. At width 4, eight random vectors are hard to tell apart, so the dotted line is not at 0. The matrices start with entries in proportion to $1 / \sqrt{D}$. The learning rate is $0.048 / \sqrt{D}$. We have not tuned it for either score.
#
# </details>

# %%
for width, ax in zip((4, 256), plots.axes(2, width=4.8, height=3.6), strict=True):
    runs = figures.learning_curves(width)  # three seeds; a mean for every ten steps
    plots.curves(range(5, 100, 10), runs, "step", "loss", f"D = {width}", ax)
    ax.axhline(figures.lowest_loss(width), color="black", linestyle=":")
    ax.set_ylim(-0.05, 1.7)

# %% [markdown]
# The division matters more at width 256. With it, the loss is close to the line after about 25 steps. Without it, the loss begins higher, and after 95 steps it is still above the line. At width 4, the two curves are nearly the same.
#
# So the division helps attention to begin well if the vectors are wide.
#
# ## What does a score cost?
#
# The perceptron was among the best in the translator, and in three of our worlds. Why not take it everywhere? For T states and S hidden states, there are T·S pairs to score.
#
# The additive score multiplies every pair by a matrix. The perceptron, the same function, multiplies each state and each hidden state only once, and adds the products in pairs. Are the results the same?


# %% tags=["nbval-check-output"]
def additive(s, h, C, v):  # T D, S E
    scores = torch.zeros(len(s), len(h))  # T S
    for t in range(len(s)):
        for i in range(len(h)):
            both = torch.cat([s[t], h[i]])  # D+E
            scores[t, i] = v @ torch.tanh(C @ both)
    return scores


def perceptron(s, h, W, U, v):  # T D, S E
    from_s = (s @ W.T).unsqueeze(1)  # T 1 A
    from_h = h @ U.T  # S A
    hidden_units = torch.tanh(from_s + from_h)  # T S A: each state with each h
    return hidden_units @ v  # T S


two_states = torch.tensor([[0.0, 2.0], [2.0, 1.0]])  # T D
by_pairs = additive(two_states, h, C, v)
at_once = perceptron(two_states, h, W, U, v)
print(at_once)
print("the same:", torch.allclose(by_pairs, at_once))

# %% [markdown]
# They are the same, and the first row stands in the table of all eight. Now we take 50 states and 50 hidden states, with D = E = A = 64. The table says how many times as many multiplications each score needs as the dot product, and how many times as long it takes. The row below the perceptron leaves out its tanh. Which two scores need the same number of multiplications, and do they take the same time?

# %%
# all of them are computed without loops
rows = figures.costs(50, 50, 64)
table(rows, ["multiplications", "time"], corner="times dot", digits=1)

# %% [markdown]
# The perceptron and "projected" both need 3.6 times as many multiplications as the dot product. But the perceptron takes far longer than "projected", mostly because of the tanh of each hidden unit of each pair, which this count leaves out. The additive score, its other form, needs 129 times as many.
#
# ## So does it matter which?
#
# It matters if a score cannot notice what the task needs: the concatenating score never uses the state, and the location-based score never uses the hidden states. Of these two, only the concatenating score did harm in our translator. There, the state alone can tell where to look. It also matters if the scores are too large, as dot products at width 256, or too small, as the cosines in the translator.
#
# Of the dot product, the general score and the perceptron, the perceptron did best in our translator, in "same" and in "turned", and nowhere was it clearly behind. Whether it leads, and by how much, depends on the task. On real sentences, Britz et al. 2017 found it slightly ahead of the dot product of two projections, without √D. But it costs the most time of the three.
#
# Our advice is to project both sides, and to take the scaled dot product. It was not the best in our translator, but learning begins well in wide vectors, too, and no tanh has to be computed for each pair. If there are only few pairs, try the perceptron, too.
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("04.q1", ...)

# %%
check("04.q2", ...)

# %%
check("04.q3", ...)

# %%
check("04.q4", ...)

# %%
check("04.q5", ...)

# %% [markdown]
# ## Recap
#
# - It matters which score we take if it does not notice what the task needs, notices what it should ignore, or has scores that are too large or too small.
# - The weights of the concatenating score ignore the query, and those of the location-based score ignore the keys. Additive and perceptron are one function, at different costs.
# - The variance of a dot product grows with the width. Divided by √D, it stays the same, so attention begins to learn well in wide vectors, too.
# - Our advice is the scaled dot product of two projections.
#
# <details><summary>Other names in other texts</summary>
#
# Most papers say "additive" for what we, like its inventors, call the perceptron. Luong et al. 2015 call the additive score "concat". In some versions of their paper, the equation of "concat" is our concatenating score. They write the location-based score together with its softmax, and so do the course's functions.
#
# </details>
#
# **Exercises**: [open them](../exercises/04_alignment_scores_exercises.ipynb)
#
# **Next**: a translator has a state and hidden states. Where do they come from, and [can one vector hold a sentence?](05_seq2seq.ipynb)

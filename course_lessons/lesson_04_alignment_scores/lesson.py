# %%
import torch
from torch.nn import functional as F

from course_lessons.lesson_04_alignment_scores import figures
from course_lessons.lesson_04_alignment_scores.figures import in_all_worlds
from course_utils import check, predict, reveal
from course_utils.figures import plots
from course_utils.figures.tables import table

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# In lesson 03, attention compared a query with a key by taking their dot product, but other functions have been proposed. This lesson compares eight functions, including the dot product, and asks whether it matters which we use.
#
# We compute all eight by hand and see what each ignores. Then we train them on four toy tasks and in a translation model, compare their costs and choose one.
#
# ## Where the score fits in
#
# Attention between words first appeared in machine translation. One network reads the source sentence and produces a vector for each word, called an **encoder state** $h$ or, in many papers, a *hidden state*. A second network writes the translation and keeps what it has written so far in one vector, the **decoder state** $s$. We will build both in lesson 05; here, you only need to know that the decoder state is the query and the encoder states are the keys and values.
#
# A function that measures how well a query $s$ and a key $h$ match is called an **alignment score**. The next cell shows all eight. B is the number of sentences in a batch, T the number of queries and S the number of keys; a query has D entries and a key has E. Guess which box in the attention diagram all eight fit into.

# %%
figures.where_the_score_stands()

# %% [markdown]
# All eight scores fit into the "score" box; everything else is as in lesson 03.
#
# ## Three scores by hand
#
# Three of the eight scores have no learned parameters and need queries and keys of the same dimension D.
#
# | score | equation | from |
# | --- | --- | --- |
# | dot | $s^\top h$ | Luong et al. (2015) |
# | scaled dot | $s^\top h / \sqrt{D}$ | Vaswani et al. (2017) |
# | content-based | $s^\top h / (\lVert s \rVert \, \lVert h \rVert)$ | Graves et al. (2014) |
#
# Since $\lVert s \rVert$ is the length of $s$, the content-based score is the cosine of the angle between $s$ and $h$.
#
# Our example has one query, $s = (0, 2)$, and three keys, $h_1 = (2, 0)$, $h_2 = (0, 1)$ and $h_3 = (3, 4)$, whose lengths are 2, 1 and 5. Work out the scores on paper and note which key has the highest dot product and which the highest cosine.

# %% tags=["nbval-check-output"]
s = torch.tensor([0.0, 2.0])  # D
h = torch.tensor([[2.0, 0.0], [0.0, 1.0], [3.0, 4.0]])  # S D: h₁, h₂ and h₃
for h_i in h:
    product = s @ h_i
    cosine = product / (s.norm() * h_i.norm())  # norm() is the length
    scaled = product / 2**0.5  # D is 2
    print(h_i, f"dot {product:.2f}  scaled dot {scaled:.2f}  cosine {cosine:.2f}")

# %% [markdown]
# The key $h_3$ has the highest dot product, $0 \cdot 3 + 2 \cdot 4 = 8$, because it is long. The key $h_2$ has the highest cosine, 1, because it points in the same direction as $s$; for $h_3$, the cosine is only $8 / (2 \cdot 5) = 0.8$.
#
# The scaled dot product divides every dot product by the same number, here √2, so it ranks the keys exactly as the dot product does.
#
# ## Five scores with learned parameters
#
# In the equations for the other five, $[s; h]$ denotes the concatenation of $s$ and $h$. The perceptron is a small network with A **hidden units**, where A can be chosen freely.
#
# | score | equation | learned | from |
# | --- | --- | --- | --- |
# | general | $s^\top W h$ | $W$: D×E | Luong et al. (2015) |
# | perceptron | $v^\top \tanh(W s + U h)$ | $W$: A×D, $U$: A×E, $v$: A | Bahdanau et al. (2014) |
# | additive | $v^\top \tanh(C\,[s; h])$ | $C$: A×(D+E), $v$: A | Luong et al. (2015) |
# | concatenating | $w^\top [s; h]$ | $w$: D+E | another version of Luong et al. (2015) |
# | location-based | $P s$ | $P$: S×D | Luong et al. (2015) |
#
# Each score has its own parameters, so the $W$ of the general score is not the $W$ of the perceptron. The location-based score ignores $h$ and scores the positions themselves. Since $P$ has one row for each position, this score learns nothing about positions beyond the end of the longest training sentence.
#
# To keep the arithmetic easy, we choose simple parameter values:
#
# - General: $W$ swaps the two entries of $h$. This gives $W h_1 = (0, 2)$, so $h_1$ scores $0 \cdot 0 + 2 \cdot 2 = 4$.
# - Perceptron: with A = 1, the hidden unit is the tanh of the difference between the second entries of $s$ and $h$. With $v = 2$, $h_1$ scores $2 \tanh(2 - 0) = 1.928$.
# - Additive: $C$ is the perceptron's $W$ and $U$ side by side.
# - Concatenating: $w$ adds up all the entries except the last entry of $h$, which it subtracts.
# - Location-based: the three positions score 0, 1 and 0.5 times the second entry of $s$.
#
# The next cell uses all eight functions to score one query against every key at once. Two rows of the table will be identical; work out which.

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
# The rows for the perceptron and the additive score are identical because the two scores are the same function. Multiplying $[s; h]$ by $C$ is the same as multiplying $s$ by $W$ and $h$ by $U$ and adding the results:
#
# $$C\,[s; h] = W s + U h$$
#
# You met the general score in lesson 03 as the dot product of two projections. With $s$ and $h$ as row vectors, this score is $s\, W h^\top$. Projecting both vectors gives an expression of the same form, with $W = W_q W_k^\top$:
#
# $$(s\, W_q)\,(h\, W_k)^\top = s\; W_q W_k^\top\; h^\top$$
#
# ## What does each score ignore?
#
# The weights can depend only on what the score takes into account, so we make three changes, one at a time, and compare the weights before and after:
#
# - Use a different query, $(2, 1)$.
# - Make $h_3$ three times as long.
# - Reverse the order of the keys. A score that ignores position gives each key the same weight as before, wherever it has moved.
#
# One score produces the same weights whatever the query is. Which one?

# %% tags=["nbval-check-output"]
predict("04.blind", ...)


# %% tags=["nbval-check-output", "reveals"]
def all_weights(s, h):  # D, S E
    return {name: scores.softmax(0) for name, scores in all_scores(s, h).items()}


longer = h * torch.tensor([[1.0], [1.0], [3.0]])  # S E
before = all_weights(s, h)
with_other_query = all_weights(torch.tensor([2.0, 1.0]), h)
with_longer = all_weights(s, longer)
with_reversed = all_weights(s, h.flip(0))  # flip(0): h₃ first, h₁ last
depends_on = {}
for name, weights in before.items():
    same_for_query = torch.allclose(with_other_query[name], weights, atol=1e-5)
    same_for_length = torch.allclose(with_longer[name], weights, atol=1e-5)
    in_old_order = with_reversed[name].flip(0)  # the weight of h₁ first again
    same_for_position = torch.allclose(in_old_order, weights, atol=1e-5)
    depends_on[name] = [not same_for_query, not same_for_length, not same_for_position]
    if same_for_query:
        reveal("04.blind", name)
table(depends_on, ["query", "length", "position"], corner="depends on")

# %% [markdown]
# It is the concatenating score, because it is a sum of two parts, one for $s$ and one for $h$:
#
# $$w^\top [s; h_i] = w_s^\top s + w_h^\top h_i$$
#
# The part for $s$ is the same for all keys, and adding the same number to every score does not change the softmax. The query therefore has no influence on the weights, and we are back to the fixed attention of lesson 02.
#
# <details><summary>A well-known example of this flaw</summary>
#
# Graph attention networks, in which each node of a graph (a person, say) attends to its neighbours, originally used almost the same score (Veličković et al., 2018). They added a LeakyReLU, an increasing function, which does not change the ranking of the keys. Brody et al. (2022) showed that every query then ranks the same key first and called this flaw **static attention**. Their remedy is the additive score with a LeakyReLU instead of the tanh.
#
# </details>
#
# The content-based score ignores length, because a cosine depends only on the angle. Only the location-based score depends on position, but it ignores the keys.
#
# ## Four toy tasks
#
# Can training make up for what a score ignores? We train the scores on four toy tasks, called worlds in the code. In each, the query has to pick out the right one of eight keys:
#
# | task | query | right key |
# | --- | --- | --- |
# | same | a key plus noise | the one that the query resembles |
# | turned | a key times a fixed orthogonal matrix, plus noise | the one from which the query was derived |
# | position | random | the one at the position whose fixed vector has the highest dot product with the query |
# | salience | random and uninformative | the one that lies furthest along a fixed direction |
#
# An orthogonal matrix rotates a vector and may also reflect it but does not change its length. Each vector has four random entries and a fifth that is always 1. Thanks to this constant, a learned matrix can also favour a fixed direction, whatever the query is.
#
# We train each score for 70 steps; the perceptron has 32 hidden units. Then we test it on 1,000 new queries and count how often the largest weight falls on the right key; guessing is right one time in eight (0.125). We leave out two scores, since the additive score is the same function as the perceptron and the scaled dot product ranks keys as the dot product does.
#
# Which score, if any, picks the right key more than half the time on all four tasks?

# %% tags=["nbval-check-output"]
predict("04.all_worlds", ...)

# %% tags=["reveals"]
worlds = ["same", "turned", "position", "salience"]
print("How often the right key is picked; a mean of five seeds:")
shares = figures.six_in_all_worlds()  # for each score: seeds, worlds
means = {name: runs.mean(0) for name, runs in shares.items()}  # for each: worlds
winners = [name for name in means if means[name].min() > 0.5] + ["none"]
reveal("04.all_worlds", winners[0])
distances = [(shares[name] - means[name]).abs().max() for name in shares]
print(f"No seed is farther than {max(distances):.2f} from its mean.")
grid = torch.stack(list(means.values()))  # scores, worlds
plots.weights(grid, worlds, list(means), xlabel="task", ylabel="score")

# %% [markdown]
# No score reaches an accuracy above 0.5 on all four tasks. Training does not make up for what a score ignores:
#
# - The dot product and the content-based score have no parameters to learn and work only on "same", where the query resembles the right key. There, they differ only in how they treat length: the cosine picks the right key 96% of the time and the dot product 69%, because long keys attract more weight. On "turned", each of the five seeds has its own orthogonal matrix, and these matrices change a vector's direction by 90° to 124° on average. With four of the five matrices, both scores therefore prefer the wrong keys and do worse than chance.
# - The concatenating score ignores the query, so it works only on "salience"; the location-based score ignores the keys and succeeds only on "position".
# - The general score and the perceptron depend on both the query and the key, but not on position. On "same" and "turned", the general score picks the right key two thirds of the time and the perceptron nearly always. The general score has the same weakness as the dot product: doubling a key's four random entries doubles their contribution to the score. The tanh allows the perceptron to avoid this weakness.
#
# **Your turn**: change the general score below so that its accuracy exceeds 0.5 on all four tasks. For each new parameter tensor, add an argument to `own_score` and a shape to the call to `in_all_worlds`.
#
# <details><summary>Answer</summary>
#
# Add the location-based score to the general score:
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
# This sum reaches about 0.67 on "same" and "turned" and more than 0.9 on the other two tasks.
#
# </details>


# %%
def own_score(s, h, W):  # B 1 D, B S D, D D
    return (s @ W) @ h.transpose(1, 2)  # B 1 S: B 1 D times B D S


own = in_all_worlds(own_score, (5, 5))  # (5, 5): the shape of W
table({"your own": own.mean(0)}, worlds, corner="mean of five seeds", digits=2)

# %% [markdown]
# ## The scores in a translation model
#
# We designed these tasks to make the scores differ. Does the choice also matter in a complete translation model?
#
# We use a variant of the model you will build in lesson 06, which translates English into an invented language whose verbs come at the end of the clause. We have trained it for 600 steps with each of the eight scores and each of five seeds. We also include "projected", the scaled dot product of two projections, and the content-based score multiplied by 8.
#
# We count the words the model gets right in new sentences of 12 words, the longest seen in training, and of 16 words. A word counts only if it is in exactly the right position, so one missing word makes nearly all later words wrong. Guess which of the eight scores does worst on average at 12 words.

# %% tags=["nbval-check-output"]
predict("04.worst", ...)

# %% tags=["reveals"]
right = figures.words_right_in_translators(12)  # for each score: five shares
longer = figures.words_right_in_translators(16)
mean_right = {name: sum(shares) / 5 for name, shares in right.items()}
reveal("04.worst", min(mean_right, key=mean_right.get))
depends_on["projected"] = depends_on["general"]  # the same, but for √D
depends_on["8 · content_based"] = depends_on["content_based"]
columns = ["query", "length", "position", "right at 12 words", "at 16 words"]
rows = {}  # the brackets show the lowest and the highest of five seeds
for name in depends_on:
    rows[name] = depends_on[name] + [right[name], longer[name]]
table(rows, columns, corner="depends on", digits=2)

# %% [markdown]
# The concatenating score does worst. The content-based score depends on the query but does little better, because its values are too small. Cosines lie between -1 and 1, so no weight can be more than $e^1 / e^{-1} = 7.4$ times another. With the cosine multiplied by 8, the model gets nearly all the words right at 12 words; Graves et al. (2014) let the network choose this factor.
#
# With all the other scores, the model gets at least 85% of the words right at 12 words, whatever the seed. Most scores ignore position and do well without it; the encoder states can contain it. The perceptron, the additive score and the location-based score are the best at 12 words. The location-based weights depend only on the decoder state, so this state must encode how much has been translated.
#
# At 16 words, longer than in training, the order changes. All three fall below 45%, and so does the scaled dot product, whereas the dot product and the general score stay above 50% for every seed.
#
# ## Why divide by √D?
#
# If scores can be too small, they may also be too large. The scaled dot product divides by √D, which is 8 in the translation model. There, after 600 steps, the dot product got 95% of the words right unscaled and 91% scaled. But a dot product is a sum of D products, so it can become large when D is large.
#
# To see what large scores do to the weights, we sample 500 random queries with 16 random keys each and sort each query's weights. The plot shows the mean largest weight, the mean second largest and so on. Move the slider and watch the two panels change as D grows.

# %%
figures.weights_by_width()

# %% [markdown]
# Without scaling, the largest weight grows with D. At D = 64, a single key out of 16 gets more than 80% of the weight on average, although all keys are random. When the scores are divided by √D, the weights hardly change with D.
#
# Why √D and not some other number? Vaswani et al. (2017, footnote 4) assume that all entries of $s$ and $h$ are independent, with mean 0 and variance 1. What, then, is the variance of the dot product of two vectors of dimension 64?

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
# The variance at D = 64 is about 64, because each of the D products has mean 0 and variance 1, and the variances of independent terms add up. Dividing the scores by a number divides their variance by that number squared:
#
# $$\mathrm{Var}(s^\top h) = D \qquad \mathrm{Var}(s^\top h / \sqrt{D}) = \frac{D}{\sqrt{D}^{\,2}} = 1$$
#
# The square root of the variance, the **standard deviation**, measures how far the scores typically are from 0: √D without scaling and 1 with scaling.
#
# Large scores matter because they push the weights towards 0 and 1. There, a small change in a score hardly changes a weight, so little gradient reaches the scores, and attention might learn more slowly.
#
# ## Does scaling help learning?
#
# We return to the "turned" task with two values of D and two learned matrices that project queries and keys. The two curves in each panel differ only in whether the scores are scaled, and the dotted line shows the loss of a model that knows the true orthogonal matrix. Guess for which D scaling matters more.
#
# <details><summary>The settings</summary>
#
# Each key also gets a random vector as its value, and the loss compares the context with the right key's value. At D = 4, eight random vectors are hard to tell apart, so the dotted line is not at 0. The matrices are initialised with entries of a size proportional to $1 / \sqrt{D}$. The learning rate is $0.048 / \sqrt{D}$; we have not tuned it for either score.
#
# </details>

# %%
for width, ax in zip((4, 256), plots.axes(2, width=4.8, height=3.6), strict=True):
    runs = figures.learning_curves(width)  # three seeds; a mean for every ten steps
    plots.curves(range(5, 100, 10), runs, "step", "loss", f"D = {width}", ax)
    ax.axhline(figures.lowest_loss(width), color="black", linestyle=":")
    ax.set_ylim(-0.05, 1.7)

# %% [markdown]
# Scaling matters more at D = 256. With scaling, the loss is close to the dotted line after about 25 steps; without scaling, it starts higher and is still above the line after 95 steps. At D = 4, the two curves soon nearly coincide. When the dimension is large, scaling gets training off to a better start.
#
# ## What does a score cost?
#
# The perceptron was among the best scores in the translation model at 12 words and on three toy tasks, so why not use it everywhere? The catch is that T queries and S keys form T·S pairs.
#
# The additive score multiplies every pair by a matrix. The perceptron computes the same function but multiplies each query and key only once, then adds the products pairwise. Check that the results agree.


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
    hidden_units = torch.tanh(from_s + from_h)  # T S A: each s with each h
    return hidden_units @ v  # T S


two_queries = torch.tensor([[0.0, 2.0], [2.0, 1.0]])  # T D
by_pairs = additive(two_queries, h, C, v)
at_once = perceptron(two_queries, h, W, U, v)
print(at_once)
print("the same:", torch.allclose(by_pairs, at_once))

# %% [markdown]
# The results agree, and their first row appeared in the table of all eight scores. For 50 queries, 50 keys and D = E = A = 64, the next table shows each score's multiplications and running time, relative to the dot product. The row below the perceptron leaves out the tanh. Guess which two scores need the same number of multiplications, and whether they take equally long.

# %%
# all of them are computed without loops
rows = figures.costs(50, 50, 64)
table(rows, ["multiplications", "time"], corner="times dot", digits=1)

# %% [markdown]
# The perceptron and "projected" both need 3.6 times as many multiplications as the dot product. But the perceptron takes far longer than "projected", mostly because of the tanh, which is computed for every hidden unit and every pair but not counted here. Written as the additive score, the same function needs 129 times as many multiplications as the dot product.
#
# ## Does it matter which?
#
# The choice matters when a score ignores what the task depends on: the weights of the concatenating score ignore the query, and those of the location-based score ignore the keys. At 12 words, only the concatenating score of these two hurt our translation model: weights from the decoder state alone were enough. The choice also matters when the scores are too large, as dot products are at D = 256, or too small, as cosines are in our translation model.
#
# Among the dot product, the general score and the perceptron, the perceptron did best on "same", on "turned" and in our translation model at 12 words. At 16 words, it was far behind. Whether it leads depends on the task and the length. On real sentences, Britz et al. (2017) found it slightly ahead of the unscaled dot product of two projections. It is, however, the slowest of the three.
#
# Our advice is to project both queries and keys and to use the scaled dot product. In our translation model, this score was not the best at 12 words, but it got more words right at 16 than the perceptron. It trains well from the start, even in high dimensions, and needs no tanh for every pair. If there are only a few pairs to score, try the perceptron as well.
#
# ## Where you will meet this
#
# | here | in papers | in PyTorch | in Hugging Face's `transformers` |
# | --- | --- | --- | --- |
# | scaled dot, projected | scaled dot-product attention | `F.scaled_dot_product_attention` | `LlamaAttention`: `q_proj`, `k_proj`, `scaling` |
# | dot | "dot" | the same, with `scale=1.0` | `T5Attention`, projected |
# | general | "general", bilinear | `nn.Bilinear(D, E, 1, bias=False)` | none |
# | perceptron | mostly "additive" | none | none |
# | additive | "concat" in Luong et al. | none | none |
# | content-based, times a factor | cosine attention | `F.cosine_similarity`, no factor | `Swinv2SelfAttention`, `logit_scale` |
#
# In some versions of Luong et al. (2015), "concat" is our concatenating score.

# %% tags=["nbval-check-output"]
# by default, PyTorch divides by √D; with these values, the context is the weights
identity = torch.eye(3)  # S S
by_library = F.scaled_dot_product_attention(s[None], h, identity)[0]  # S
torch.allclose(by_library, all_weights(s, h)["scaled_dot"])

# %% [markdown]
# ## Questions
#
# Run a cell to see its question, then replace the dots with a number or with a letter in quotes.

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
# - The choice matters if a score ignores what the task needs, depends on what it should ignore, or has values that are too large or too small.
# - The concatenating score's weights ignore the query, and the location-based score's weights ignore the keys. The additive score and the perceptron are the same function at different costs.
# - The variance of a dot product grows with D. Dividing by √D keeps it constant, so attention trains well from the start, even in high dimensions.
# - Our advice is the scaled dot product of two projections.
#
# **Exercises**: [open them](../exercises/04_alignment_scores_exercises.ipynb)
#
# **Next**: a translation model has a decoder state and encoder states. Where do they come from, and [can one vector hold a sentence?](05_seq2seq.ipynb)

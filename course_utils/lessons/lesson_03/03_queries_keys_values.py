# %%
import ipywidgets
import torch

from course_utils import check, predict, reveal
from course_utils.data.generated_reviews import four_cases, generate_reviews
from course_utils.data.loading import load_reviews
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.attention import attention, causal_mask, dot, padding_mask
from course_utils.models.sentiment import SelfAttention, SumOfWords, build_vocabulary, correct, encode, train

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## Many θ, one function
#
# Lesson 02 gave each attention its own learned vector θ. Several of them, $g_1(x) = x^\top\theta_1, \dots, g_N(x) = x^\top\theta_N$, differ in θ alone.
# So we take one function and hand θ to it as a second argument:
#
# $$g(q, k) = q^\top k$$
#
# The vector that asks is the **query** $q$. The vector that is compared with it is the **key** $k$. Below, T is the number of queries, S the number of keys, D the width of both, and E the width of the values.

# %% tags=["nbval-check-output"]
words = ["not", "really", "great"]
k = torch.tensor([[0.0, 2.0], [1.0, 1.0], [3.0, 0.0]])  # S D: the words of lesson 02
q = torch.tensor([[0.0, 1.0], [1.0, 0.0]])  # T D: θ₁ and θ₂

for theta in q:
    print("one θ at a time", k @ theta)
print("all at once    ", (q @ k.T).tolist())  # T S

# %% [markdown]
# Each row of scores belongs to a query, each column to a key. Now that the query is an argument, it need not be a learned θ that is the same for every sentence. It can be a word.
#
# ## Score, normalise, sum
#
# Each key has a **value** $v$, the vector that goes into the sum. Three steps give the context of query $t$:
#
# $$z_{ts} = q_t^\top k_s \qquad a_{ts} = \frac{e^{z_{ts}}}{\sum_r e^{z_{tr}}} \qquad c_t = \sum_s a_{ts}\, v_s$$

# %%
v = k  # for now each word is its own value
c = torch.zeros(2, 2)  # T E
for t in range(2):
    z = [sum(q[t, d] * k[s, d] for d in range(2)) for s in range(3)]  # 1. score
    total = sum(torch.exp(score) for score in z)
    a = [torch.exp(score) / total for score in z]  # 2. normalise
    c[t] = sum(a[s] * v[s] for s in range(3))  # 3. sum
    print("scores", torch.stack(z), " weights", torch.stack(a), " context", c[t])
diagrams.attention(new=["queries", "keys", "values"])

# %% [markdown]
# The drawing shows the three steps. What is new since lesson 02 is that queries, keys and values come in separately. You can check $\theta_1$ on paper. Its scores are $(2, 1, 0)$. Their exponentials $7.39$, $2.72$ and $1$ add up to $11.11$, so the
# weights are $0.665, 0.245, 0.090$, and the context is $0.665 \cdot (0, 2) + 0.245 \cdot (1, 1) + 0.090 \cdot (3, 0) = (0.515, 1.575)$.
#
# The loops are two matrix products with a softmax between them. The library does all this in one call; `scale=1.0` turns off a division that lesson 04 explains. Does each column of the weights have to sum to 1, too?

# %% tags=["nbval-check-output"]
a = (q @ k.T).softmax(-1)  # T S
by_library = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], scale=1.0)[0]
by_course, _ = attention(q[None], k[None], v[None])  # B T E
for context in (a @ v, by_library, by_course[0]):  # T E
    print(torch.allclose(c, context, atol=1e-6), context.shape)

# %%
plots.weights(a, words, ["θ₁", "θ₂"], title="two queries, three keys")

# %% [markdown]
# θ₁ puts 0.67 of its weight on "not", and θ₂ puts 0.84 on "great". Each row sums to 1, but a column need not: queries do not compete with each other.
#
# ## A soft look-up in a dictionary
#
# A Python dictionary compares a word with its keys and returns the value of the key that matches. Attention, $f(Q, K, V)$, compares a query with all keys and returns a weighted mean of all values. Here we ask for "really", whose value is 20.

# %% tags=["nbval-check-output"]
k = torch.eye(3)[None]  # B S D: three keys that have nothing in common
v = torch.tensor([[[10.0], [20.0], [40.0]]])  # B S E
print("dictionary", dict(zip(words, v.flatten().tolist(), strict=True))["really"])
for length in (0, 1, 2, 4, 8):
    context, a = attention(length * k[:, 1:2], k, v)  # a query along the key of "really"
    print(f"query × {length}  weights", a.flatten(), f" answer {context.item():.2f}")

# %% [markdown]
# A query of length 0 gets the mean of the values. The longer the query, the closer the answer comes to 20, the value that the dictionary returns.
# Unlike the dictionary, this answer has a gradient with respect to the query, so a network can learn what to ask.
#
# Now three keys lie in a plane, and each has a value in another plane. Turn the query with the slider: at which angle does the context lie halfway between v₁ and v₂? Can it ever leave the triangle of the values?

# %%
keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-0.7, -0.7]])
values = torch.tensor([[0.0, 0.0], [4.0, 0.0], [1.0, 3.0]])


def look_up(angle, length):
    turn = torch.tensor(float(angle)).deg2rad()
    query = length * torch.stack([turn.cos(), turn.sin()])
    context, a = (part[0, 0] for part in attention(query[None, None], keys[None], values[None]))
    plots.look_up(keys, values, query, a, context)
    return f"At {angle}° the weights are {a[0]:.2f}, {a[1]:.2f}, {a[2]:.2f}."


angle = ipywidgets.IntSlider(value=20, min=-180, max=180, step=5, description="angle of the query")
length = ipywidgets.FloatSlider(value=4.0, min=0, max=12, step=0.5, description="length of the query")
lookup_explorer = explore(look_up, angle=angle, length=length)
lookup_explorer

# %% [markdown]
# At 20° the query lies nearest to the key k₁, so the context lies close to the value v₁. At 45° two keys are equally near, and the context is halfway. It never leaves the triangle, because a weighted mean lies between the points it averages.
#
# ## Who asks?
#
# Kinds of attention differ in where their queries come from. **Fixed attention** asks with learned θ, **cross-attention** with the words of another sentence, and
# **self-attention** with the words of the sentence itself. Here five words have features that we chose by hand. Which two English words will share their weight in self-attention?

# %%
english = ["the", "film", "was", "not", "great"]
features = 2 * torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])  # S D
german = ["kein", "toller", "Film"]  # no, great, film: their features are those of the English words
theta = 2 * torch.tensor([[0.0, 0, 1, 0], [0, 1, 0, 1]])  # N D: negation; film and praise

kinds = {"fixed": theta, "cross": features[[3, 4, 1]], "self": features}
matrices = {kind: attention(q[None], features[None], features[None])[1][0] for kind, q in kinds.items()}
rows = {"fixed": ["θ₁", "θ₂"], "cross": german, "self": english}
for (kind, a), ax in zip(matrices.items(), plots.axes(3, width=4.2, height=3.4), strict=True):
    plots.weights(a, english, rows[kind], title=kind, ax=ax, xlabel="keys")

# %% [markdown]
# In cross-attention each German word finds its English partner. In self-attention the sentence asks the questions, but each word only finds its own vector: "film" asks for a film and finds "film". "the" and "was" have the same vector, so they share their weight.
#
# How useful are such questions? We return to lesson 02's four cases, good or bad, plain or with "not". Each word attends to all words, its context is added to its own vector, and the sum of all words decides. A guess of the label is right half of the time. What accuracy will this model reach?

# %% tags=["nbval-check-output"]
predict("03.own_question", ...)

# %% tags=["reveals"]
learn, test = generate_reviews(2000, seed=0), four_cases(250, seed=1)
vocabulary = build_vocabulary(learn.sentences)
learn_words, test_words = (encode(reviews.sentences, vocabulary) for reviews in (learn, test))


def accuracies(make, epochs=15, seeds=5):
    runs, models = [], []
    for seed in range(seeds):
        torch.manual_seed(seed)
        models.append(make())
        train(models[-1], *learn_words, learn.labels, seed, epochs, batch=64, rate=5e-2, weight_decay=0.01)
        runs.append(correct(models[-1], *test_words, test.labels).float().mean().item())
    return torch.tensor(runs), models


size = len(vocabulary)
as_it_is, _ = accuracies(lambda: SelfAttention(size, projections=""))
print("The accuracy of five runs, each with its own seed:")
print(" ".join(f"{run:.3f}" for run in as_it_is))
reveal("03.own_question", as_it_is.mean())

# %% [markdown]
# Here a word uses one vector to ask, to be found and to hand over, and this vector is always added to what the word finds: our training finds nothing. One fixed attention did better (0.75). "not" could ask for the opinion that it negates, and bring back the opposite of that opinion.
#
# ## What a word asks for, what it is found by, and what it hands over
#
# So each word gets three vectors instead of one, made by three learned matrices, the **projections**. What is each of them for?
#
# $$q_s = x_s W_q \qquad k_s = x_s W_k \qquad v_s = x_s W_v$$

# %%
diagrams.self_attention(new=["projections", "residual"])

# %% [markdown]
# The query says what a word looks for, the key what it can be found by, and the value what it hands over. The word's own vector is added to its context, which is called a **residual connection**: without it, a word's vector would reach the sum only if some word attended to it.
#
# Before we train the matrices, we choose them by hand. A word has four features: its polarity, +1, -1 or 0, and three that mark it as an opinion, as "not", or as any other word.

# %%
x_of = {"great": [1.0, 1, 0, 0], "awful": [-1.0, 1, 0, 0], "not": [0.0, 0, 1, 0], "other": [0.0, 0, 0, 1]}
# rows: the four features; columns: an opinion, another word
W_q = 10 * torch.tensor([[0.0, 0], [0, 1], [1, 0], [0, 1]])  # "not" looks for opinions, the rest look for other words
W_k = torch.tensor([[0.0, 0], [1, 0], [0, 0], [0, 1]])  # opinions and others can be found
W_v = torch.diag(torch.tensor([-2.0, 0, 0, 0]))  # a word hands over -2 times its polarity


def by_hand(sentence):
    x = torch.tensor([x_of.get(word, x_of["other"]) for word in sentence.split()])  # S D
    contexts, a = attention((x @ W_q)[None], (x @ W_k)[None], (x @ W_v)[None])
    return a[0], (x + contexts[0])[:, 0].sum().item()  # only the polarity counts for the sum


# %% [markdown]
# You can follow "the film was not great" on paper. "not" has the query $(10, 0)$ and gets the scores $0, 0, 0, 0, 10$ from the keys of the five words, so it puts nearly all its weight on "great", which hands over $-2$. The sum is $1 - 2 = -1$. Run the next cell, then change its sentences: what happens to "not really great", and to "great , not awful"?

# %% tags=["nbval-check-output"]
for sentence in (
    "the film was great",
    "the film was not great",
    "the film was awful",
    "the film was not awful",
):
    a, total = by_hand(sentence)
    print(f"{total:+.2f}  {sentence}")

# %% [markdown]
# All four cases come out right with one attention, and "not really great" gives -1, too. "not" asks for the opinion of *its own* sentence, so the same word subtracts $2$ from $+1$, which leaves $-1$, or adds $2$ to $-1$, which leaves $+1$. No sum can do that.
# "great , not awful" still defeats the model: "not" finds two opinions that match equally well, since the model does not know where in the sentence a word is.
#
# ## Can training find such questions?
#
# Now everything is learned from labels alone. We also take matrices away: with $W_q$ alone a word hands over its own vector, with $W_v$ alone it asks with the vector by which it is found. Which one will be enough?

# %%
runs = {"sum of words": accuracies(lambda: SumOfWords(size))[0], "no matrix": as_it_is}
for kept, name in (("v", "only W_v"), ("q", "only W_q")):
    runs[name], _ = accuracies(lambda kept=kept: SelfAttention(size, projections=kept))
runs["all three"], models = accuracies(lambda: SelfAttention(size))
for kept, name in (("", "no matrix,\n45 epochs"), ("v", "only W_v,\n45 epochs")):  # three runs each
    runs[name], _ = accuracies(lambda kept=kept: SelfAttention(size, projections=kept), epochs=45, seeds=3)
plots.bars(runs, "test accuracy", lines={"3 of 4": 0.75, "chance": 0.5}, ylim=(0, 1.1))

# %% [markdown]
# Both are: $W_q$ soon, and $W_v$ only when it is trained three times as long. Without any matrix, training stays at chance then, too. In these runs it was enough that a word asks with another vector than the one by which it is found, or that it hands over something other than itself. With all three matrices, every run reaches 1.000.
#
# Does "not" really ask for the opinion? In each run we read off four weights: what "not" attends to in two sentences, and what "the" attends to without and with a "not".


# %%
def attends(model, sentence, asker, word):
    sentence = sentence.split()
    with torch.no_grad():
        _, a = model.attend(*encode([sentence], vocabulary))  # 1 S S
    return a[0, sentence.index(asker), sentence.index(word)].item()


looked_at = {
    "not → great": ("the film was not great", "not", "great"),
    "not → awful": ("the film was not awful", "not", "awful"),
    "the → great": ("the film was great", "the", "great"),
    "the → not": ("the film was not great", "the", "not"),
}
read = {f"run {seed}": [attends(model, *of) for of in looked_at.values()] for seed, model in enumerate(models)}
table(read, looked_at, digits=2)

# %% [markdown]
# In every run "not" puts nearly all its weight on one of these two opinions and nearly none on the other; with our matrices it finds both. In four of the five runs we see the trick of lesson 02, too: "the" looks at "great", but at "not" where there is one. None of the five runs has found the solution that we wrote down.
#
# ## What about real reviews?
#
# Lesson 02's fixed attentions did not beat the sum of words on real reviews. Now "not" can ask for its opinion. Width, epochs and weight decay were chosen on the dev split, from twelve settings. How much will self-attention gain on the test split?

# %%
real, held_out = load_reviews("train"), load_reviews("test")
real_vocabulary = build_vocabulary(real.sentences)
real_words, held_out_words = (encode(reviews.sentences, real_vocabulary) for reviews in (real, held_out))
rows = {"all": held_out.labels >= 0, "no negation": ~held_out.negated, "negation": held_out.negated}
made = {"sum of words": lambda: SumOfWords(len(real_vocabulary))}
made["self-attention"] = lambda: SelfAttention(len(real_vocabulary), width=16)
on_test = {name: torch.empty(3, 3) for name in made}  # seeds, parts of the test split
for seed in range(3):
    for name, make in made.items():
        torch.manual_seed(seed)
        model = make()
        train(model, *real_words, real.labels, seed, epochs=6 if name == "sum of words" else 2)
        hits = correct(model, *held_out_words, held_out.labels).float()
        on_test[name][seed] = torch.stack([hits[chosen].mean() for chosen in rows.values()])
on_test["gain, same seed"] = on_test["self-attention"] - on_test["sum of words"]
table(on_test, list(rows), corner=f"{held_out.name}, three seeds")

# %% [markdown]
# With real reviews (SST-2), self-attention gains nothing over the sum of words; where there is a negation it is a little worse with each seed. Here it does not learn the trick. Attention pays off in translation (lesson 06).
#
# ## Who may attend to whom?
#
# A translator works on batches and writes word by word, so it needs two limits. A **padding mask**, B×S, says which keys are words. A **causal mask**, T×T, hides what comes later: a network that learns to predict the next word must not see it. For both at once we broadcast B×1×S against T×T. How many pairs stay open in sentence 1, the second one, which has three words?

# %%
padding, causal = padding_mask(torch.tensor([5, 3, 0]), size=5), causal_mask(5)  # B S, T T
both = padding[:, None] & causal  # B T T

one, two, three = plots.axes(3, width=3.6, height=3.2)
plots.mask(padding, ax=one, title="padding", xlabel="positions", ylabel="sentences")
plots.mask(causal, ax=two, title="causal", xlabel="keys", ylabel="queries")
plots.mask(both[1], ax=three, title="both, sentence 1", xlabel="keys", ylabel="queries")

x = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0))  # B T D
context, a = attention(x, x, x, both)
naive = dot(x, x).masked_fill(~both, -torch.inf).softmax(-1)
print("open pairs in each sentence       ", both.sum((1, 2)).tolist())
print("sums of weights in sentence 2     ", a[2].sum(-1), " context all zero:", bool((context[2] == 0).all()))
print("the same with a plain softmax     ", naive[2].sum(-1))

# %% [markdown]
# The padding mask is open for 5, 3 and 0 positions, the causal mask on its diagonal and below it. Together they leave 12 pairs open in sentence 1: its rows have 1, 2, 3, 3 and 3, because padding still asks, although nobody reads what it gets. Sentence 2 is empty: `attention` gives it zero weights and a zero context, whereas a softmax of nothing but $-\infty$ gives NaN.
#
# ## Does the future leak?
#
# A mask that is slightly wrong still gives plausible numbers. A **leak test** exposes it: we change one word and see which outputs move. One of the masks A and B is wrong by one position. Will the pictures tell us which?


# %%
def influence(mask, size=5):
    x = torch.randn(1, size, 4, generator=torch.Generator().manual_seed(0))
    before, _ = attention(x, x, x, mask)
    moved = torch.zeros(size, size, dtype=torch.bool)
    for s in range(size):
        changed = x.clone()
        changed[0, s] += torch.tensor([1.0, -2.0, 3.0, 0.5])  # in a direction that is unlikely to be ignored
        after, _ = attention(changed, changed, changed, mask)
        moved[:, s] = (after - before).abs().amax(-1)[0] > 1e-6
    return moved


one_too_far = torch.ones(5, 5, dtype=torch.bool).tril(1)
masks = {"no mask": None, "mask A": one_too_far, "mask B": causal}
for (title, mask), ax in zip(masks.items(), plots.axes(3, width=3.6, height=3.2), strict=True):
    plots.mask(influence(mask), ax=ax, title=title, xlabel="word that is changed", ylabel="output that moves")

# %% [markdown]
# Without a mask every change moves every output. Under mask B a change moves only its own output and later ones. Under mask A it also moves the output one position earlier: that is the leak. Each picture equals its mask, and we did not have to read any code.
#
# ## Which inputs expose a wrong attention?
#
# A test is a choice of inputs and of what to look at. Here are three wrong candidates, each with a mistake that people often make.


# %%
def softmax_over_queries(query, key, value, mask):
    weights = dot(query, key).masked_fill(~mask, -torch.inf).softmax(1).nan_to_num()
    return weights @ value, weights


def mask_forgotten(query, key, value, mask):
    return attention(query, key, value)


def masked_too_late(query, key, value, mask):
    weights = dot(query, key).softmax(-1) * mask
    return weights @ value, weights


# %% [markdown]
# We test the shape, the sums of the rows, the values under an open mask, and the values under a mask that hides something. Which candidate passes the most of them?

# %% tags=["nbval-check-output"]
predict("03.slips_through", ...)

# %% tags=["nbval-check-output", "reveals"]
draw = torch.Generator().manual_seed(0)
inputs = [torch.randn(*shape, generator=draw) for shape in ((2, 3, 7), (2, 5, 7), (2, 5, 11))]
every = torch.ones(2, 3, 5, dtype=torch.bool)  # B T S
some = padding_mask(torch.tensor([5, 3]), 5)[:, None].expand(2, 3, 5)

print("Each candidate, and the tests that catch it:")
for candidate in (attention, softmax_over_queries, mask_forgotten, masked_too_late):
    (free, _), (masked, weights) = candidate(*inputs, every), candidate(*inputs, some)
    verdicts = {
        "shape": masked.shape == (2, 3, 11),
        "row sums": torch.allclose(weights.sum(-1), torch.ones(2, 3)),
        "values when open": torch.allclose(free, attention(*inputs, every)[0], atol=1e-5),
        "values when masked": torch.allclose(masked, attention(*inputs, some)[0], atol=1e-5),
    }
    caught = [test for test, passed in verdicts.items() if not passed]
    print(f"{candidate.__name__:21}", ", ".join(caught) or "none")
reveal("03.slips_through", "mask_forgotten")

# %% [markdown]
# The shape test catches none of them. Each mistake has an input that exposes it; for the forgotten mask it is a mask that hides something. In the exercises you write a test that uses all of these inputs.
#
# ## Does the order of the words matter?
#
# "great , not awful" showed that self-attention does not know where a word is. Is this true in general? We shuffle the keys together with their values, then the keys alone, then all words of a self-attention.

# %% tags=["nbval-check-output"]
draw = torch.Generator().manual_seed(0)
same = {"keys with values": [], "keys alone": [], "all words": [], "all words, causal": []}
for _ in range(20):
    q, k, v = (torch.randn(1, n, 7, generator=draw) for n in (3, 5, 5))  # 1 T D, 1 S D, 1 S E
    p = torch.randperm(5, generator=draw)
    context, _ = attention(q, k, v)
    same["keys with values"].append(torch.allclose(attention(q, k[:, p], v[:, p])[0], context, atol=1e-5))
    same["keys alone"].append(torch.allclose(attention(q, k[:, p], v)[0], context, atol=1e-5))
    for what, mask in (("all words", None), ("all words, causal", causal_mask(5).expand(1, 5, 5))):
        shuffled = attention(k[:, p], k[:, p], k[:, p], mask)[0]
        same[what].append(torch.allclose(shuffled, attention(k, k, k, mask)[0][:, p], atol=1e-5))
for what, results in same.items():
    print(f"{what:18} the same context in {sum(results):2} of {len(results)}")

# %% [markdown]
# Without a mask, keys with their values are a set: if the words are shuffled, each context moves along with its word. With a causal mask their order matters, and lesson 11 will give words positions.
#
# ## When others say "query" for our "key"
#
# Two texts that this course is based on use the names differently. You can skip the table until you read them.
#
# | there | here |
# | --- | --- |
# | slides of Ylipää 2020: *query set*, one element for each value | keys |
# | the same slides: *key set*, one weighted vector for each element | queries |
# | the same slides: in fixed attention, each θ is a *key* | θ is a query |
# | slides of MAIL-ECNU 2019: MultiHead($V, K, Q$), called with ($X_e, X_e, X_d$) | $f(Q, K, V) = f(X_d, X_e, X_e)$ |
# | the same slides: softmax($Q^\top K / \sqrt{d}$) $V$, words are columns | softmax($QK^\top$) $V$, words are rows; lesson 04 adds the scale |
#
# $X_e$ are the words that the encoder reads, $X_d$ those the decoder writes. We follow Vaswani et al. 2017: a query asks, keys are compared with it.
#
# ## Questions
#
# These five questions test the goals at the top. Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("03.q1", ...)

# %%
check("03.q2", ...)

# %%
check("03.q3", ...)

# %%
check("03.q4", ...)

# %%
check("03.q5", ...)

# %% [markdown]
# ## Recap
#
# - Attention is $f(Q, K, V)$: score each query against each key, normalise, sum the values. It is a soft look-up, which returns a weighted mean of all values and has a gradient.
# - In self-attention the words of the sentence ask. With three learned projections "not" can ask for the opinion in its own sentence, and all four cases come out right, which no sum can do.
# - Masks are True where a query may attend. They combine by broadcasting, and an empty row gives zeros.
# - Without positions and without a causal mask, keys with their values are a set: their order does not matter.
# - To expose a wrong attention, a test needs the right input: a changed word, a mask that hides something, sizes that differ.
#
# **Exercises**: [open them](../exercises/03_queries_keys_values_exercises.ipynb)
#
# **Next**: we compared queries with keys by a dot product. [Are there other ways, and does it matter which we take?](04_alignment_scores.ipynb)

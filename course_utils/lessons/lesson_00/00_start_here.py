# %% [markdown]
# A notebook consists of text and of **cells** of code. To run a cell, click on it and press Shift + Enter; that also takes you to the next one. Run them in order, from the top: most cells need what those above have computed. The first cell, whose code is folded, finds the course.

# %%
import ipywidgets
import torch

from course_utils import check, doctor, hint, predict, progress, reveal, solution
from course_utils.figures import plots
from course_utils.figures.widgets import explore

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# Is everything in place? `doctor` shows a table of what the course needs from your machine. If a line is not ok, it says what to do.

# %% tags=["own-machine"]
doctor()

# %% [markdown]
# ## A sum in which some count more
#
# A program translates a sentence word by word. It does better if it can decide, before each word, which words of the sentence to look at. So it gives each word a weight: more to those that matter now. Each word is a vector, and the program adds up the vectors by these weights. This is **attention**, and at its heart is a **weighted sum**. In this lesson the vectors are colours, because you can see a sum of colours.
#
# A colour is a vector of three numbers, its **features**: the strengths of red, green and blue. Our green has 0.8, where red and blue have 1. PyTorch calls its arrays **tensors**. In the next cell, the comments name the axes of each tensor by letters: S is the number of vectors, and D is their width.

# %%
names = ["red", "green", "blue"]
colours = torch.tensor([
    [1.0, 0.0, 0.0],
    [0.0, 0.8, 0.0],
    [0.0, 0.0, 1.0],
])  # S D: three vectors of width 3  # fmt: skip
weights = torch.tensor([0.5, 0.5, 0.0])  # S: half red, half green, no blue
colours

# %% [markdown]
# The weighted sum multiplies each vector by its weight and adds up the results:
#
# $$\text{mix} = \sum_{s=1}^{S} w_s \, v_s$$
#
# We will compute it with a loop. But first guess: what will the second number of the result be? Put your guess in place of the dots in the next cell, and run it.

# %% tags=["nbval-check-output"]
predict("00.second_number", ...)

# %% tags=["nbval-check-output", "reveals"]
mix = torch.zeros(3)
for w, v in zip(weights, colours, strict=True):
    mix = mix + w * v
print("The mix of the three colours:")
print(mix)
reveal("00.second_number", mix[1])

# %% [markdown]
# Each lesson asks for such guesses before it shows a result. They are not graded, but they help you to look closely. What colour is the mix? Run the next cell to see it.

# %%
plots.colours([*colours, mix], [*names, "mix"])

# %% [markdown]
# The mix is a brown. Red and green have the same weight, but our green has only 0.8, so the mix has 0.5 of red and 0.4 of green. Blue has a weight of 0, so it does not show.
#
# Some pictures have sliders. Move this one: for which weight of red is the mix (0.5, 0, 0.5), a purple?


# %%
def mix_at(red):  # draws the colours, and returns the line below them
    mixed = red * colours[0] + (1 - red) * colours[2]
    plots.colours([colours[0], colours[2], mixed], ["red", "blue", "mix"])
    r, g, b = mixed.tolist()
    return f"red {red:.2f}, blue {1 - red:.2f}: the mix is ({r:.2f}, {g:.2f}, {b:.2f})."


red_slider = ipywidgets.FloatSlider(0.8, min=0, max=1, step=0.05, description="red")
colour_explorer = explore(mix_at, red=red_slider)
colour_explorer

# %% [markdown]
# <details><summary>Answer</summary>
#
# Equal weights of 0.5 give this purple.
#
# </details>
#
# With all the weight on one colour, the sum is that colour. This course is about where such weights come from. First we choose them by hand. Then networks compute them, and at the end you build a GPT.
#
# ## The PyTorch that you need, in fifteen minutes
#
# **Shapes.** A tensor has axes, and its shape says how long each of them is. A sum over an axis removes that axis. Axis 0 is the first one, and axis -1 is the last one.

# %% tags=["nbval-check-output"]
pair = torch.tensor([[1.0, 0.5, 0.0], [0.0, 0.4, 0.2]])  # S D: orange, dark green
print(pair.shape)
print(pair.sum(0), pair.sum(0).shape)  # D: over the vectors
print(pair.sum(-1), pair.sum(-1).shape)  # S: over the features

# %% [markdown]
# **Broadcasting.** If the shapes of two tensors differ, PyTorch lines them up from the right. An axis that is missing on the left counts as one of length 1, and what has length 1 is repeated as often as needed. We want to multiply each vector of `pair` by a weight of its own. The weights are `shares`, a tensor of shape (2,). `shares[:, None]` inserts an axis of length 1, so its shape is (2, 1). Times (2, 3), this gives (2, 3): each weight is repeated for the three numbers of its vector.

# %% tags=["nbval-check-output"]
shares = torch.tensor([0.75, 0.25])  # S: three parts of orange, one of green
print(shares[:, None].shape, "times", pair.shape)
scaled = shares[:, None] * pair  # S D
print(scaled)
print(scaled.sum(0))  # D: the weighted sum

# %% [markdown]
# **Your turn**: take `[:, None]` out of the line that computes `scaled`, and run the cell again. What does PyTorch say?
#
# <details><summary>Answer</summary>
#
# It says that the sizes 2 and 3 do not match: without `[:, None]`, the two weights are lined up with the three features. If S and D were equal, no error would warn you.
#
# </details>
#
# **Matrix products.** `shares @ pair` multiplies and adds in one step. Several rows of weights make several mixes at once: with T rows, T×S times S×D is T×D. A third axis in front is a **batch**: B×T×S times B×S×D is computed separately for each of the B examples.

# %% tags=["nbval-check-output"]
print(shares @ pair)  # D
recipes = torch.tensor([[0.75, 0.25], [0.5, 0.5], [0.0, 1.0], [1.0, 0.0]])  # T S
print(recipes @ pair)  # T D: four mixes
print(recipes.shape, "@", pair.shape, "=", (recipes @ pair).shape)
print((torch.ones(5, 4, 2) @ torch.ones(5, 2, 3)).shape)  # B T D: a batch of five

# %% [markdown]
# The first product is the weighted sum again, and the second has all four mixes at once. In the last one, each of the five examples has four mixes of its own.
#
# **Masks.** A mask is a tensor of True and False values. Here it says which numbers of a row are used. Add up the row [5, 4, 9] with the mask [True, True, False]. What do you get?

# %% tags=["nbval-check-output"]
predict("00.masked_sum", ...)

# %% tags=["nbval-check-output", "reveals"]
numbers = torch.tensor([[3.0, 1.0, 2.0], [5.0, 4.0, 9.0]])  # B S
mask = torch.tensor([[True, True, True], [True, True, False]])  # B S
print("The mask at work:")
print((numbers * mask).sum(-1))  # B: True counts as 1, False as 0
print(numbers.masked_fill(~mask, 0.0))  # B S: ~ swaps True and False
reveal("00.masked_sum", (numbers * mask).sum(-1)[1])

# %% [markdown]
# Only 5 and 4 are used, so the sum is 9. There is another way to use a mask: `masked_fill` writes a number wherever its mask is True. So we give it `~mask`, and it writes 0 over the numbers that are not used.
#
# ## What a gradient is
#
# A **gradient** says how fast a result changes with each of the numbers that it is computed from. As an example, we take the brightness of a mix, the sum of its three numbers. On paper, it is $1 \cdot w_1 + 0.8 \cdot w_2 + 1 \cdot w_3$. What is its gradient?
#
# `requires_grad=True` asks PyTorch to keep track of `w`, and `brightness.backward()` stores the gradient of the brightness in `w.grad`.

# %% tags=["nbval-check-output"]
w = torch.tensor([0.5, 0.5, 0.0], requires_grad=True)  # S
brightness = (w @ colours).sum()  # one number
brightness.backward()
print(w.grad)  # S: how fast the brightness grows with each weight

# %% [markdown]
# The gradient is (1, 0.8, 1): more green adds less brightness than more red or blue, because our green has only 0.8.
#
# A **loss** says how wrong a result is. We want the purple (0.5, 0, 0.5) again, now from all three colours. As the loss, we take the squared distance of the mix from the purple. Its gradient says for each weight how fast the loss grows with it. So each weight takes a small step *against* its gradient, again and again. The new weights are $w - 0.2 \cdot \text{gradient}$, and the 0.2 is called the **learning rate**. You moved a slider to the right weights. Does the gradient find them, too?
#
# PyTorch has also kept track of how each new `w` was computed from the old one. `detach()` makes it forget this, and `requires_grad_()` asks it to keep track of the new `w`.

# %%
purple = torch.tensor([0.5, 0.0, 0.5])  # D
w = torch.full((3,), 1 / 3, requires_grad=True)  # S: equal weights
mixes = []
for step in range(16):
    mix = w @ colours  # D
    loss = ((mix - purple) ** 2).sum()
    loss.backward()
    if step % 5 == 0:
        print(f"step {step:2}: weights {w.detach()}, loss {loss.item():.4f}")
        mixes.append(mix.detach())
    w = (w - 0.2 * w.grad).detach().requires_grad_()
titles = ["step 0", "step 5", "step 10", "step 15", "wanted"]
plots.colours([*mixes, purple], titles)

# %% [markdown]
# Yes: after 15 steps, red and blue have the weight 0.5, and green has almost none. The loss has fallen to nearly 0.
#
# A **network** is a function with many numbers in it that can be changed. To **train** it means to lower its loss in this way. Careful: the numbers that a network learns are called weights as well.
#
# ## A check tells you what is wrong, and why
#
# Every lesson has an exercise notebook. There you write a function, and the cell below it checks what the function computes. How you write it is up to you. A function that is still empty is not counted as wrong:


# %%
def weighted_sum(weights, values):
    raise NotImplementedError


check("00.weighted_sum", weighted_sum, keep=False)

# %% [markdown]
# We write `keep=False` here so that our tries are not recorded as your work. The next answer has a mistake. Can you find it before you run the cell?


# %%
def weighted_sum(weights, values):
    return (weights[:, None] * values).mean(0)


check("00.weighted_sum", weighted_sum, keep=False)

# %% [markdown]
# The report names the mistake. Below it you see an input, what was expected, and what came. Of the ordinary inputs that were tried, it is the smallest on which the function goes wrong. A special case, such as a single vector, is shown only if all ordinary ones are right. `play()` opens this input, so that you can change it and see what comes out.
#
# If your function raises an error, the report points to your own line. In the next answer, two lengths do not fit together:


# %%
def weighted_sum(weights, values):
    total = torch.zeros(4)
    for w, v in zip(weights, values, strict=True):
        total += w * v
    return total


check("00.weighted_sum", weighted_sum, keep=False)

# %% [markdown]
# The result has as many numbers as a vector, and not always 4. We mend this line. Is the answer right now?


# %%
def weighted_sum(weights, values):
    total = torch.zeros(values.shape[1])
    for w, v in zip(weights, values, strict=True):
        total += w * v
    return total


check("00.weighted_sum", weighted_sum, keep=False)

# %% [markdown]
# Yes, it passes. In the exercise, you write it in a way of your own.
#
# ## Hints come one at a time
#
# The first hint gives the idea, the second a worked example, and the third the steps. `solution` shows a solution once you have tried. The second cell below asks for the solution of an exercise that we have not tried yet.

# %%
hint("00.weighted_sum", keep=False)

# %%
solution("01.sum_vectors")

# %% [markdown]
# `progress` shows what you have begun and what comes next, and `progress(all=True)` shows every lesson. Your progress is kept in a small file in the course folder, so it survives a restart. The commands for a terminal are in [setting up](../docs/setup.md).

# %% tags=["own-machine"]
progress()

# %% [markdown]
# ## Questions
#
# Every lesson ends with five questions on the goals at its top. Run a cell to see its question, then put a letter in quotes, or a number, in place of the dots.

# %%
check("00.q1", ...)

# %%
check("00.q2", ...)

# %%
check("00.q3", ...)

# %%
check("00.q4", ...)

# %%
check("00.q5", ...)

# %% [markdown]
# ## Recap
#
# - A weighted sum multiplies each vector by its weight and adds up the results: `weights @ values`.
# - Shapes, broadcasting with `None`, `@`, masks and gradients are the PyTorch that you need to begin.
# - Small steps against the gradient of a loss can find weights.
# - The course answers you in three ways: `predict` compares your guess with the result, `check` says what is wrong with your code, and `hint` helps when you are stuck.
#
# **Exercises**: [open them](../exercises/00_start_here_exercises.ipynb)
#
# **Next**: [if a sentence is a sum of its words, what is left of its meaning?](01_bag_of_words.ipynb)

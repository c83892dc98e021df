# %% [markdown]
# A notebook consists of text and code **cells**. To run a cell, click on it and press Shift + Enter, which also takes you to the next one. Run the cells in order from the top: most need what the cells above have computed. The first cell, whose code is folded, finds the course.

# %%
import ipywidgets
import torch

from course_utils import check, doctor, hint, predict, reveal
from course_utils.figures import plots
from course_utils.figures.widgets import explore

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# Is everything in place? Run the next cell: `doctor` lists what the course needs on your machine. If a line is not ok, it says what to do.

# %% tags=["own-machine"]
doctor()

# %% [markdown]
# ## A sum in which some vectors count more
#
# Suppose a program translates a sentence word by word. It translates better if it can decide, before it writes each word, which words in the sentence to look at. It therefore assigns each of them a weight, which is larger for words that matter more at that point. The program represents each word by a vector, a list of numbers; it multiplies each vector by its weight and adds up the results. This is **attention**, and at its heart is a **weighted sum**. In this lesson, the vectors are colours, because you can see a sum of colours.
#
# A colour is a vector of three numbers, its **features**: the strengths of red, green and blue. Our red and blue have full strength, 1, and our green is a little darker, with a strength of 0.8. We store such vectors in PyTorch's arrays, called **tensors**. In the code comments, letters name a tensor's axes: S is the number of vectors and D their dimension.

# %%
names = ["red", "green", "blue"]
colours = torch.tensor([
    [1.0, 0.0, 0.0],
    [0.0, 0.8, 0.0],
    [0.0, 0.0, 1.0],
])  # S D: three vectors of dimension 3  # fmt: skip
weights = torch.tensor([0.5, 0.5, 0.0])  # S: half red, half green, no blue
colours

# %% [markdown]
# As a formula, the weighted sum of the colours is
#
# $$\text{mix} = \sum_{s=1}^{S} w_s \, v_s$$
#
# A loop will compute this sum, but first guess: what will the second entry of the result be? Replace the dots in the next cell with your guess and run the cell.

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
# Each lesson asks you to guess like this. Your guesses are not graded, but they help you look closely. What colour is the mix?

# %%
plots.colours([*colours, mix], [*names, "mix"])

# %% [markdown]
# The mix is a brown, with more red than green because our green is darker. Blue has a weight of 0, so it does not show.
#
# Now move the slider: which weight of red makes the mix (0.5, 0, 0.5), a purple?


# %%
def mix_at(red):  # plots the colours and returns the line below them
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
# A weight of 0.5 for each colour gives this purple.
#
# </details>
#
# Here the weights are shares: none is negative, and they add up to 1. With such weights, the sum is also called a **weighted mean**. In general, weights may be any numbers.
#
# This course is about where the weights come from. At first we choose them by hand; later, networks that learn from examples compute them; and finally you build a GPT.
#
# ## The same sum without a loop
#
# PyTorch can compute a weighted sum in one line. To read such lines, you need to know four things.
#
# **Shapes.** A tensor has axes, and its shape gives the length of each axis. Axis 0 is the first axis, and axis -1 is the last. Summing over an axis removes it.

# %% tags=["nbval-check-output"]
pair = torch.tensor([[1.0, 0.5, 0.0], [0.0, 0.4, 0.2]])  # S D: orange, dark green
print(pair.shape)
print(pair.sum(0), pair.sum(0).shape)  # D: over the vectors
print(pair.sum(-1), pair.sum(-1).shape)  # S: over the features

# %% [markdown]
# **Broadcasting.** If the shapes of two tensors differ, PyTorch aligns them from the right. A missing axis on the left counts as an axis of length 1, and an axis of length 1 is repeated as often as needed. We want to multiply each vector in `pair` by its weight. The next cell stores the two weights as `shares`, which has shape (2,). `shares[:, None]` inserts an axis of length 1, so its shape is (2, 1). Multiplying it by `pair`, of shape (2, 3), gives a tensor of shape (2, 3): each weight is repeated for the three entries of its vector.

# %% tags=["nbval-check-output"]
shares = torch.tensor([0.75, 0.25])  # S: three parts of orange, one of green
print(shares[:, None].shape, "times", pair.shape)
scaled = shares[:, None] * pair  # S D
print(scaled)
print(scaled.sum(0))  # D: the weighted sum

# %% [markdown]
# **Your turn**: delete `[:, None]` in the line that computes `scaled` and run the cell again. What does PyTorch say?
#
# <details><summary>Answer</summary>
#
# It says that the sizes 2 and 3 do not match, because without `[:, None]`, the two weights are aligned with the three features. If S and D were equal, there would be no error: each *feature* would be multiplied by a weight, and the result would be wrong.
#
# </details>
#
# **Matrix products.** `shares @ pair` multiplies and adds in one step. Several rows of weights produce several mixes at once: a (T, S) tensor of weights times an (S, D) tensor of vectors gives T mixes, in a tensor of shape (T, D). With an additional axis at the front, each tensor holds a **batch** of B examples: (B, T, S) times (B, S, D) is computed separately for each example.

# %% tags=["nbval-check-output"]
print(weights @ colours)  # D: the brown again
print(shares @ pair)  # D
recipes = torch.tensor([[0.75, 0.25], [0.5, 0.5], [0.0, 1.0], [1.0, 0.0]])  # T S
print(recipes @ pair)  # T D: four mixes
print(recipes.shape, "@", pair.shape, "=", (recipes @ pair).shape)
print((torch.ones(5, 4, 2) @ torch.ones(5, 2, 3)).shape)  # B T D: a batch of five

# %% [markdown]
# The first line shows our brown again, computed without a loop. The second line is also the first of the four mixes below it. The second of those mixes is 0.5 · (1, 0.5, 0) + 0.5 · (0, 0.4, 0.2) = (0.5, 0.45, 0.1).
#
# **Masks.** Sentences differ in length, but all the rows of a tensor have the same length, so shorter rows are padded at the end. A **mask** marks the real numbers: it is True for them and False for the padding. In a product, True counts as 1 and False as 0, so a mask is also a set of weights.
#
# Where the mask is False, the product is 0, unless the entry is infinite or NaN (not a number), since either of these times 0 is NaN. To replace such entries as well, or to write a value other than 0, we use `masked_fill`. It fills the positions where its mask is True, so we pass it `~mask`, in which True and False are swapped.
#
# Each row of `numbers` has its own mask. What is the sum of the second row if we count only the numbers for which the mask is True?

# %%
numbers = torch.tensor([[3.0, 1.0, 2.0], [5.0, 4.0, 9.0]])  # B S
mask = torch.tensor([[True, True, True], [True, True, False]])  # B S

# %% tags=["nbval-check-output"]
predict("00.masked_sum", ...)

# %% tags=["nbval-check-output", "reveals"]
print("The mask at work:")
print((numbers * mask).sum(-1))  # B
print(numbers.masked_fill(~mask, 0.0))  # B S
reveal("00.masked_sum", (numbers * mask).sum(-1)[1])

# %% [markdown]
# ## A gradient finds the weights
#
# So far, we have chosen all the weights by hand. To find them itself, a program has to know how a result changes with each weight. A **gradient** contains this information, one number for each weight. For example, take the total of a mix, the sum of its three entries. The entries of red add up to 1, those of green to 0.8 and those of blue to 1, so the total is $1 \cdot w_1 + 0.8 \cdot w_2 + 1 \cdot w_3$. What is the gradient of the total?
#
# `requires_grad=True` tells PyTorch to keep track of `w`, and `total.backward()` stores the gradient of the total in `w.grad`.

# %% tags=["nbval-check-output"]
w = torch.tensor([0.5, 0.5, 0.0], requires_grad=True)  # S
total = (w @ colours).sum()  # one number
total.backward()
print(w.grad)  # S: how fast the total grows with each weight
more_green = torch.tensor([0.5, 0.6, 0.0])  # S
print("the total grows by", (more_green @ colours).sum() - total.detach())  # untracked

# %% [markdown]
# The gradient is (1, 0.8, 1). With 0.1 more green, the total grows by 0.08, which is $0.1 \cdot 0.8$.
#
# A **loss** measures how wrong a result is. Our target is again the purple (0.5, 0, 0.5), this time as a mix of all three colours, and the loss is the squared distance between the mix and the purple. The gradient tells us how fast the loss grows with each weight, so we repeatedly move each weight a small step *against* its gradient. The new weights are $w - 0.2 \cdot \text{gradient}$; 0.2 is called the **learning rate**. You found the weights with a slider. Can these steps find them as well?

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
    w = (w - 0.2 * w.grad).detach()  # a step; forget how w came about
    w.requires_grad_()  # keep track of the new w
titles = ["step 0", "step 5", "step 10", "step 15", "wanted"]
plots.colours([*mixes, purple], titles)

# %% [markdown]
# The steps find the weights: after 15 steps, the weights of red and blue are 0.5, and the weight of green is almost 0. Nothing forced the weights to add up to 1. The loss led them there, because the purple is half red and half blue. These weights are the same for every input, but a translation model needs different weights for every word that it writes, so in later lessons a network will compute them.
#
# A **network** is a function with many adjustable numbers, and to **train** a network is to lower its loss in this way. These numbers are the network's **parameters**; confusingly, they are also called weights.
#
# ## A check tells you what is wrong, and why
#
# You have computed a weighted sum with a loop and with `@`. In the exercise notebook, you will write it as a function, and the cell below your code will check it. Here is a first attempt that contains a mistake; look for it before you run the cell.


# %%
def weighted_sum(weights, values):
    return (weights[:, None] * values).mean(0)


print("our brown:", weights @ colours, "first try:", weighted_sum(weights, colours))
check("00.weighted_sum", weighted_sum, keep=False)

# %% [markdown]
# Our brown is only a third as strong as it should be, and the report explains why. Below the explanation, it shows a small input for which the function fails, the expected result and the result that the function returned. The weights in this input are not shares, since a weighted sum has to work with any weights. (With `keep=False`, our attempts are not recorded as yours.)
#
# The next function returns the right result for our colours. Does it work for all vectors?


# %%
def weighted_sum(weights, values):
    total = torch.zeros(3)
    for w, v in zip(weights, values, strict=True):
        total += w * v
    return total


print(weighted_sum(weights, colours))
check("00.weighted_sum", weighted_sum, keep=False)

# %% [markdown]
# For some vectors, the function raises an error, and the report points to the line where this happens. The result must have as many entries as each vector, and this number is not always 3.
#
# **Your turn**: fix the function and run the cell again until it passes.
#
# <details><summary>Answer</summary>
#
# It passes with `torch.zeros(values.shape[1])`.
#
# </details>
#
# ## Hints come one at a time
#
# If you are stuck, ask for hints: the first gives you the idea, the second a worked example and the third the steps. In the exercise notebook, `solution` shows a solution once you have tried.

# %%
hint("00.weighted_sum", keep=False)

# %% [markdown]
# On your own machine, your progress is saved in a small file in the course folder, so it survives a restart; `progress()`, at the end of the exercise notebook, shows it. For the terminal commands, see [setting up](../docs/setup.md).
#
# ## Questions
#
# Every lesson ends with five questions on the goals listed at the top. Run a cell to see its question, then replace the dots with a number or with a letter in quotes.

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
# - A weighted sum multiplies each vector by its weight and adds up the results: `weights @ values`. Its weights may be any numbers; if they are shares, it is a weighted mean.
# - Small steps against the gradient of a loss can find the weights.
# - The course gives you feedback: `predict` compares your guess with the result, `check` says what is wrong with your code, and `hint` helps when you are stuck.
#
# **Exercises**: [open them](../exercises/00_start_here_exercises.ipynb)
#
# **Next**: [if a sentence is a sum of its words, how much of its meaning is left?](01_bag_of_words.ipynb)

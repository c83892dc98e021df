# %%
import ipywidgets
import matplotlib.pyplot as plt
import torch

from course_utils import check, hint, progress, solution
from course_utils.figures import plots
from course_utils.figures.widgets import explore

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## Predict, run, see
#
# Each lesson asks before it shows. Make a guess, run the cell (Shift + Enter), compare.
#
# Attention is, at its heart, a **weighted sum**. The easiest one to see mixes colours: a colour is a vector of three numbers, the strengths of red, green and blue. Our green is a darker one, so that the numbers differ.

# %%
names = ["red", "green", "blue"]
colours = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.8, 0.0], [0.0, 0.0, 1.0]])  # S D: three vectors of width 3
weights = torch.tensor([0.5, 0.5, 0.0])  # S: half red, half green, no blue
colours

# %% [markdown]
# The weighted sum multiplies each vector by its weight and adds them up:
#
# $$\text{mix} = \sum_{s=1}^{S} w_s \, v_s$$
#
# Here is the sum as a loop. What is the second number of the result?

# %% tags=["nbval-check-output"]
mix = torch.zeros(3)
for w, v in zip(weights, colours, strict=True):
    mix = mix + w * v
print(mix)

# %% [markdown]
# On paper: $0.5 \cdot 0 + 0.5 \cdot 0.8 + 0 \cdot 0 = 0.4$. The same sum is a matrix product, `weights @ colours`, and lessons write it like that from now on.

# %% tags=["nbval-check-output"]
print(weights @ colours, torch.equal(mix, weights @ colours))

# %% [markdown]
# What colour is it?

# %%
panels = plots.axes(4, width=1.5, height=1.7)
for ax, name, colour in zip(panels, [*names, "mix"], [*colours, mix], strict=True):
    ax.imshow(colour.reshape(1, 1, 3).numpy())
    ax.set(title=name, xticks=[], yticks=[])

# %% [markdown]
# Half red and half green give a dark olive; blue has the weight 0 and does not show.
#
# ## Pictures that answer
#
# Some pictures have sliders. Which weight of red turns the mix of red and blue into purple?


# %%
def mix_at(red):
    mixed = red * colours[0] + (1 - red) * colours[2]
    plt.figure(figsize=(1.8, 1.5))
    plt.imshow(mixed.reshape(1, 1, 3).numpy())
    plt.axis("off")
    return f"Weights {red:.2f} for red and {1 - red:.2f} for blue give ({mixed[0]:.2f}, {mixed[1]:.2f}, {mixed[2]:.2f})."


colour_explorer = explore(mix_at, red=ipywidgets.FloatSlider(value=0.5, min=0, max=1, step=0.05))
colour_explorer

# %% [markdown]
# Equal weights of red and blue give a purple. Move the slider to one end: with all the weight on one colour, the sum is that colour. Attention is about where such weights come from.

# %% tags=["nbval-check-output"]
for red in (0.0, 0.5, 1.0):
    print(f"{red:.1f}", red * colours[0] + (1 - red) * colours[2])

# %% [markdown]
# ## A check tells you what is wrong, and why
#
# Every lesson has an exercise notebook. You fill in a function, and the cell below it checks what the function computes. You may write it in any style. An empty one is not counted as wrong:


# %%
def weighted_sum(weights, values):
    raise NotImplementedError


check("00.weighted_sum", weighted_sum, keep=False)

# %% [markdown]
# Now an answer with a mistake. Can you find it before you run the cell?


# %%
def weighted_sum(weights, values):
    return (weights[:, None] * values).mean(0)


report = check("00.weighted_sum", weighted_sum, keep=False)

# %% [markdown]
# The report names the mistake, shows the smallest input on which it can be seen, with what was expected and what came, and says how to go on. It is also an object:

# %%
report.state, report.mistake, report.kind

# %% [markdown]
# An error inside your function is shown at your own line. Here the two lengths do not fit together:


# %%
def weighted_sum(weights, values):
    total = torch.zeros(4)
    for w, v in zip(weights, values, strict=True):
        total += w * v
    return total


report = check("00.weighted_sum", weighted_sum, keep=False)

# %% [markdown]
# ## Hints come one at a time
#
# First the idea, then the formula, then the steps. `solution` shows an answer, but only after a real attempt of yours.

# %%
hint("00.weighted_sum", keep=False)

# %%
solution("01.sum_vectors")

# %% [markdown]
# `progress` shows how far you are. What you reach is kept in a small file in the course folder, and survives a restart.

# %% tags=["own-machine"]
progress()

# %% [markdown]
# ## Is everything in place?
#
# One table tells, about your machine. A line that is not ok says what to do.

# %% tags=["own-machine"]
from course_utils import doctor

doctor()

# %% [markdown]
# ## Recap
#
# - A weighted sum multiplies each vector by its weight and adds them up.
# - A lesson asks, then shows: predict, run, see.
# - `check` judges what your function computes, `hint` helps a step at a time, `progress` keeps count.
#
# **Exercises**: [open them](../exercises/00_start_here.ipynb)
#
# **Next**: if a sentence is a sum of its words, what is left of its meaning?

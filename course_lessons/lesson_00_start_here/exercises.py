# %% [markdown]
# This exercise shows you how a check works.

# %%
import torch

from course_utils import check, hint, progress, solution

# %% [markdown]
# ## 00.weighted_sum
#
# Multiply each vector by its weight and add up the results: $\text{sum}_d = \sum_s \text{weights}_s \cdot \text{values}_{s,d}$. Everything in this course is built on this line.
# Write it in any way you like: as a loop, as a product and a sum, or as a matrix product.
#
# Stuck? Run `hint("00.weighted_sum")` in a new cell.


# %%
def weighted_sum(weights, values):
    """Return the sum of the rows of `values`, each multiplied by its weight.

    Args:
        weights: S.
        values: S×D.

    Returns:
        The sum, D.

    Example:
        >>> weighted_sum(torch.tensor([2.0, 1.0]), torch.tensor([[1.0, 0.0, 3.0], [0.0, 5.0, 1.0]]))
        tensor([2., 5., 7.])
    """
    ### BEGIN SOLUTION
    return weights @ values
    ### END SOLUTION


# %%
check("00.weighted_sum", weighted_sum)

# %% [markdown]
# `progress` shows what you have solved. Next: [lesson 01](../notebooks/01_bag_of_words.ipynb).

# %% tags=["own-machine"]
progress()

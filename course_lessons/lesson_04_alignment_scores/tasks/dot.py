"""Task 04.dot: the dot-product score."""

from operator import matmul

from torch.nn.functional import cosine_similarity

from course_lessons.lesson_04_alignment_scores.tasks._scores import score_task, shared_mistakes

task = score_task(
    "dot",
    "the dot-product score",
    ("state B×T×D", "hidden B×S×D"),
    "scores B×T×S",
    (
        "Every state is compared with every hidden state: matching features are multiplied, and the products are added up.",
        (
            "Take one state, [1, 2], and two hidden states, [3, 0] and [-1, 4]. The scores are 1·3 + 2·0 = 3 and 1·(-1) + 2·4 = 7. One state and "
            "two hidden states give one row of two scores."
        ),
        "Swap the last two axes of hidden (B×D×S), and take the matrix product of state (B×T×D) with the result.",
    ),
    difficulty=1,
    importance=5,
    minutes=5,
)


@task.steps
def _(state, hidden):
    scores = yield "the product of state and hidden", matmul, state, hidden.mT
    return scores


task.changed_each(
    ("scaled", "You divide by √D, which gives the scaled dot product. Return the plain dot product.", {"the product of state and hidden": lambda state, turned: state @ turned / state.shape[-1] ** 0.5}),
    ("cosine", "You divide by the lengths, which gives the cosine, that is, the content-based score.", {"the product of state and hidden": lambda state, turned: cosine_similarity(state[:, :, None], turned.mT[:, None], dim=-1)}),
    ("reshaped", "A reshape changes the shape but leaves the numbers in their order, so it does not swap axes. `hidden.mT` or `hidden.transpose(1, 2)` does.", {"the product of state and hidden": lambda state, turned: state @ turned.mT.reshape(turned.shape)}),
)  # fmt: skip
shared_mistakes(task, "the product of state and hidden")

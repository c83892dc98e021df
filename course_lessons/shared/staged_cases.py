"""Cases that show a way part by part, each with a part more than the one before, and what is said of the first that is wrong. No task is declared here."""

import torch


def told_by_stages(task, sentences):
    """Register a property: the sentence on the first of such cases that is wrong, by what its name begins with, up to a comma.

    They have to be smaller than a task's other cases, and come in their order: so where one is told, those before it are right.
    """

    @task.property
    def the_first_part_that_is_wrong(case, value):
        sentence = sentences.get(case.name.partition(", ")[0])
        if not sentence or not value.isfinite().all():
            return None
        right = task.oracle_function(*case.args)
        return None if torch.allclose(value.double(), right.double(), atol=1e-4) else sentence

"""What tasks share that take the log probabilities of a vocabulary from logits: how small a number is that an answer adds, and a case for it.

Their mistakes are in `log_softmax.md`.
"""

import torch

LOG_P = "the log-softmax"


def find_small_number(task):
    """Let a task with the step LOG_P and the mistake `small_number_added` say which number an answer adds to the probabilities."""

    @task.property
    def no_small_number_is_added(case, value):
        """It would show in the logarithms of small probabilities."""
        sentence = next(mistake.sentence for mistake in task.mistakes if mistake.name == "small_number_added")
        for digits in (5, 6, 7, 8, 9, 10, 12):
            added = {LOG_P: lambda logits, small=10**-digits: (logits.softmax(-1) + small).log()}
            right, came = (task.variant(changes)(*case.args) for changes in ({}, added))
            if torch.isclose(value.double(), came.double(), rtol=1e-5) and not torch.isclose(right, came, rtol=1e-4):
                return sentence.replace("1e-8", f"1e-{digits}")
        return None


def with_an_improbable_word(logits, target):
    """Return logits …×V in which the word of the last place, of targets …, has a probability of about 1e-13."""
    logits = logits.clone()
    logits.view(-1, logits.shape[-1])[-1, target.view(-1)[-1]] = logits.view(-1, logits.shape[-1])[-1].max() - 30
    return logits

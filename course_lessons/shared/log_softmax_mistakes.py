"""The mistakes that the log probabilities of a vocabulary invite wherever they are taken from logits, as changes of that step."""

import torch

LOG_P = "the log softmax"
ADDED = "You add a small number, such as 1e-{}, to the probabilities before you take the logarithm, so an improbable word seems more probable than it is. Compute the logarithm of the softmax in one step, with log_softmax, cross_entropy or logsumexp: then no probability becomes 0."


def log_of_shares(logits):
    """Take the place of the log softmax: by hand, in two steps, without subtracting anything."""
    e = logits.exp()
    return (e / e.sum(-1, keepdim=True)).log()


def log_softmax_mistakes(task):
    """Declare the mistakes of a task that has the step LOG_P, over the last axis of logits."""
    task.changed_each(
        ("softmax_twice", "The softmax is applied twice: cross_entropy and log_softmax take the logits as they are, and apply it themselves. However confident the model is, no word is then more than 2.7 times as probable as another.", {LOG_P: lambda logits: logits.softmax(-1).log_softmax(-1)}),
        ("one_softmax_for_all", "Your softmax runs over all positions together, so all their probabilities together sum to 1. They should sum to 1 at each position: sum over the vocabulary, the last axis.", {LOG_P: lambda logits: logits.flatten().log_softmax(0).view(logits.shape)}),
        ("logarithm_of_softmax", "For large logits exp becomes infinite in float32, or a probability becomes 0, and the logarithm of either is infinite. Compute the logarithm of the softmax in one step, with log_softmax, cross_entropy or logsumexp: no probability is then needed.", {LOG_P: lambda logits: logits.softmax(-1).log()}),
        ("small_number_added", ADDED.format(8), {LOG_P: lambda logits: (logits.softmax(-1) + 1e-8).log()}),
        ("largest_of_the_batch", "Before you take exponentials, you subtract the largest of all logits. If a row's logits are far below it, all its exponentials become 0. Subtract each row's own largest logit.", {LOG_P: lambda logits: log_of_shares(logits - logits.max())}),
        ("overflow", "exp overflows: for a logit above about 88 it is infinite in float32, and infinity divided by infinity is NaN. Take the logarithm of the softmax in one step, with log_softmax, cross_entropy or logsumexp.", {LOG_P: log_of_shares}),
    )  # fmt: skip

    @task.property
    def no_small_number_is_added(case, value):
        """It would show in the logarithms of small probabilities."""
        for digits in (5, 6, 7, 8, 9, 10, 12):
            added = {LOG_P: lambda logits, small=10**-digits: (logits.softmax(-1) + small).log()}
            right, came = (task.variant(changes)(*case.args) for changes in ({}, added))
            if torch.isclose(value.double(), came.double(), rtol=1e-5) and not torch.isclose(right, came, rtol=1e-4):
                return ADDED.format(digits)
        return None


def with_an_improbable_word(logits, target):
    """Return logits …×V in which the word of the last place, of targets …, has a probability of about 1e-13."""
    logits = logits.clone()
    logits.view(-1, logits.shape[-1])[-1, target.view(-1)[-1]] = logits.view(-1, logits.shape[-1])[-1].max() - 30
    return logits

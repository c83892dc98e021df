"""The mistakes that the log probabilities of a vocabulary invite wherever they are taken from logits, as changes of that step."""

LOG_P = "the log softmax"


def log_of_shares(logits):
    """Take the place of the log softmax: by hand, in two steps, without subtracting anything."""
    e = logits.exp()
    return (e / e.sum(-1, keepdim=True)).log()


def log_softmax_mistakes(task):
    """Declare the mistakes of a task that has the step LOG_P, over the last axis of logits."""
    for name, sentence, change in (
        (
            "softmax_twice",
            "The softmax is applied twice: cross_entropy and log_softmax take the logits as they are, and apply it themselves. The softmax of probabilities is nearly the same for every word, so a loss can hardly fall.",
            lambda logits: logits.softmax(-1).log_softmax(-1),
        ),
        (
            "one_softmax_for_all",
            "Your softmax runs over all places together, so that the probabilities of the whole batch sum to 1. Those of each place should: take the sum over the vocabulary, the last axis.",
            lambda logits: logits.flatten().log_softmax(0).view(logits.shape),
        ),
        (
            "logarithm_of_softmax",
            "For large logits exp becomes infinite in float32, or a probability becomes 0, and the logarithm of either is infinite. Take both steps at once, with log_softmax, cross_entropy or logsumexp: then no probability has to be computed.",
            lambda logits: logits.softmax(-1).log(),
        ),
        (
            "overflow",
            "exp overflows: for a logit above about 88 it is infinite in float32, and infinity divided by infinity is NaN. Take the logarithm of the softmax in one step, with log_softmax, cross_entropy or logsumexp.",
            log_of_shares,
        ),
    ):
        task.changed(name, sentence, {LOG_P: change})

"""Correct answers to 06.copy_unknown in other styles than the solution's."""


def by_topk(words, weights, source):
    best = weights.max(dim=1).indices.tolist()
    return [source[best[t]] if words[t] == "<unk>" else words[t] for t in range(len(words))]


NONE_OF_ITS_OWN = "The answer is a list of words, and PyTorch computes with numbers."
CORRECT = [by_topk, lambda *given: tuple(by_topk(*given))]
INPUTS = {
    "words": lambda draw: [draw.choice(["<unk>", "vuvi", "kovor", "smadu"]) for _ in range(draw.size("T"))],
    "weights": lambda draw: draw.probabilities("T×S"),
    "source": lambda draw: draw.sample(["Ada", "friends", "called", "our", "dogs", "Otto"], draw.size("S")),
}

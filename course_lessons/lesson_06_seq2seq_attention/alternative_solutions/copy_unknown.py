"""Correct answers to 06.copy_unknown in other styles than the solution's."""


def by_topk(words, weights, source):
    best = weights.max(dim=1).indices.tolist()
    return [source[best[t]] if words[t] == "<unk>" else words[t] for t in range(len(words))]


def by_loops(words, weights, source):
    translation = []
    for t in range(len(words)):
        if words[t] != "<unk>":
            translation.append(words[t])
        else:
            best = 0
            for s in range(len(source)):
                if weights[t, s] > weights[t, best]:
                    best = s
            translation.append(source[best])
    return translation


NONE_OF_ITS_OWN = "The answer is a list of words, and PyTorch computes with numbers."
CORRECT = [
    by_topk,
    # As beginners write them
    by_loops,
]
INPUTS = {
    "words": lambda draw: [draw.choice(["<unk>", "vuvi", "kovor", "smadu"]) for _ in range(draw.size("T"))],
    "weights": lambda draw: draw.probabilities("T×S"),
    "source": lambda draw: draw.sample(["Ada", "friends", "called", "our", "dogs", "Otto"], draw.size("S")),
}

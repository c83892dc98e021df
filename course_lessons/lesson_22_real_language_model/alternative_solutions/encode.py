"""Correct answers to 22.encode in other styles than the solution's."""


def best_rank_first(word, merges):
    """As GPT-2's code does it: of all pairs that are there, merge the one learned first."""
    rank, tokens = {tuple(pair): i for i, pair in enumerate(merges)}, tuple(word)
    while True:
        pairs = [pair for pair in zip(tokens, tokens[1:], strict=False) if pair in rank]
        if not pairs:
            return list(tokens)
        first, second = min(pairs, key=rank.get)
        made, i = [], 0
        while i < len(tokens):
            if i + 1 < len(tokens) and (tokens[i], tokens[i + 1]) == (first, second):
                made.append(first + second)
                i += 2
            else:
                made.append(tokens[i])
                i += 1
        tokens = tuple(made)


def in_place(word, merges):
    tokens = [*word]
    for a, b in merges:
        i = 0
        while i < len(tokens) - 1:
            if tokens[i] == a and tokens[i + 1] == b:
                tokens[i : i + 2] = [a + b]
            i += 1
    return tokens


NONE_OF_ITS_OWN = "PyTorch has no tokenizer; the library `tokenizers` wants its merges in another form."
CORRECT = [best_rank_first, in_place]


def inputs(draw):
    letters = "abc"
    tokens, merges = [*letters], []
    for _ in range(draw.randint(0, 5)):
        pair = draw.choice(tokens), draw.choice(tokens)
        if "".join(pair) not in tokens:
            merges.append(pair)
            tokens.append("".join(pair))
    return "".join(draw.choice(letters) for _ in range(draw.randint(0, 9))), merges

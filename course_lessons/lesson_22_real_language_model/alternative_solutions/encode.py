"""Correct answers to 22.encode in other styles than the solution's."""


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
CORRECT = [in_place, lambda word, merges: tuple(in_place(word, merges))]


def inputs(draw):
    letters = "abc"
    tokens, merges = [*letters], []
    for _ in range(draw.randint(0, 5)):
        pair = draw.choice(tokens), draw.choice(tokens)
        if "".join(pair) not in tokens:
            merges.append(pair)
            tokens.append("".join(pair))
    return "".join(draw.choice(letters) for _ in range(draw.randint(0, 9))), merges

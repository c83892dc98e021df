"""Right answers to 05.last_state in other styles than the solution's: loops, gather, the last True, a copy of the words."""

import torch


def by_gather(states, mask):
    last = mask.sum(dim=1) - 1
    index = last.view(-1, 1, 1).expand(-1, 1, states.shape[2])
    return states.gather(1, index).squeeze(1)


def by_packing(states, mask):
    result = []
    for sentence, words in zip(states, mask, strict=True):
        result.append(sentence[words][-1])
    return torch.stack(result)


def in_a_zero_buffer(states, mask):
    B, S, D = states.shape
    result = torch.zeros(B, D)
    for b in range(B):
        for s in range(S):
            if mask[b, s]:
                result[b] = states[b, s]
    return result


def where_true_turns_false(states, mask):
    behind = torch.cat([mask[:, 1:], torch.zeros_like(mask[:, :1])], dim=1)
    return states[mask & ~behind]


def first_place_that_is_false(states, mask):
    last = mask.int().argmin(1) - 1  # a full row has none: argmin says 0, and -1 is the last place
    return states[range(len(states)), last]


def from_behind(states, mask):
    behind = mask.flip(1).int().argmax(1)
    return torch.stack([states[b, states.shape[1] - 1 - int(n)] for b, n in enumerate(behind)])


def cleaned_first(states, mask):
    clean = states.masked_fill(~mask.unsqueeze(-1), 0.0)
    one_hot = torch.nn.functional.one_hot(mask.sum(1) - 1, mask.shape[1]).to(states.dtype)
    return torch.einsum("bs,bsd->bd", one_hot, clean)


def by_places_of_true(states, mask):
    rows, places = mask.nonzero(as_tuple=True)
    last = torch.zeros(len(mask), dtype=torch.long)
    last = last.scatter_reduce(0, rows, places, "amax")
    return torch.stack([states[b, s] for b, s in enumerate(last.tolist())])


def by_unpad_sequence(states, mask):
    sentences = torch.nn.utils.rnn.unpad_sequence(states, mask.sum(1), batch_first=True)
    return torch.stack([sentence[-1] for sentence in sentences])


# PyTorch's own
OWN = [
    by_unpad_sequence,
    by_gather,
]
RIGHT = [
    *OWN,
    by_packing,
    where_true_turns_false,
    first_place_that_is_false,
    from_behind,
    cleaned_first,
    by_places_of_true,
    # As beginners write them
    in_a_zero_buffer,
]
WORKED = [(([[[1], [2], [3]], [[4], [5], [6]]], [[True, True, True], [True, False, False]]), "3 4")]
INPUTS = {"mask": lambda draw: draw.words_first(1)}

"""Right answers to 16.encode_sentences in other styles than the solution's: einsum, matrix products, index_add, a masked copy, loops."""

import torch


def by_einsum(embedded, mask, encoding):
    words = torch.where(mask.unsqueeze(-1), embedded, torch.zeros_like(embedded))
    return torch.einsum("bmjd,jd->bmd", words, encoding)


def masked_after_a_clean_product(embedded, mask, encoding):
    """NaN is taken out first, then the mask is a factor of the encoding."""
    clean = embedded.masked_fill(mask.logical_not()[:, :, :, None], 0)
    weights = mask[..., None].to(embedded.dtype) * encoding  # B M J D
    return (clean * weights).sum(-2)


def feature_by_feature(embedded, mask, encoding):
    """For each feature, words times one column of the encoding."""
    words = embedded.masked_fill(~mask[..., None], 0.0)
    return torch.stack([words[..., d] @ encoding[:, d] for d in range(words.shape[-1])], -1)


def in_place_on_a_copy(embedded, mask, encoding):
    words = embedded.clone()
    words[~mask] = 0
    words *= encoding
    return words.sum(2)


def by_index_add(embedded, mask, encoding):
    """The real words only are added to the sentence that they belong to."""
    B, M, _, D = embedded.shape
    b, m, j = mask.nonzero(as_tuple=True)
    total = embedded.new_zeros(B * M, D).index_add(0, b * M + m, embedded[mask] * encoding[j])
    return total.view(B, M, D)


def by_matmul(embedded, mask, encoding):
    """The diagonal of all products of features."""
    words = torch.where(mask[..., None], embedded, 0.0)
    return (encoding.mT @ words).diagonal(dim1=-2, dim2=-1)


def without_nan(embedded, mask, encoding):
    """nan_to_num passes no gradient where it has put a number in, and the rest is multiplied by 0."""
    words = embedded.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0) * mask[..., None]
    return torch.sum(words * encoding[None, None], dim=2)


def place_by_place(embedded, mask, encoding):
    total = torch.zeros_like(embedded[:, :, 0])
    for j in range(embedded.shape[2]):
        total = total + torch.where(mask[:, :, j, None], embedded[:, :, j], 0.0) * encoding[j]
    return total


def word_by_word(embedded, mask, encoding):
    B, M, J, D = embedded.shape
    stories = []
    for b in range(B):
        sentences = []
        for m in range(M):
            total = torch.zeros(D, dtype=embedded.dtype)
            for j in range(J):
                if mask[b, m, j]:
                    total = total + encoding[j] * embedded[b, m, j]
            sentences.append(total)
        stories.append(torch.stack(sentences))
    return torch.stack(stories)


def product_of_three(embedded, mask, encoding):
    return (embedded * encoding * mask[..., None]).sum(2)


def by_masked_sum(embedded, mask, encoding):
    return torch.masked.sum(embedded * encoding, 2, mask=mask[..., None])


# PyTorch's own
OWN = [
    by_masked_sum,
    by_einsum,
]
RIGHT = [
    # As the lesson writes it: what stands where the mask is False is never NaN
    product_of_three,
    *OWN,
    masked_after_a_clean_product,
    feature_by_feature,
    in_place_on_a_copy,
    by_index_add,
    by_matmul,
    without_nan,
    place_by_place,
    # As beginners write them
    word_by_word,
]
WORKED = [
    (([[[[2, 4], [6, 8]]]], [[[True, True]]], [[0.5, 0.5], [0.5, 1]]), "4 10"),
    (([[[[6, 8], [2, 4]]]], [[[True, True]]], [[0.5, 0.5], [0.5, 1]]), "4 8"),
    (([[[[2, 4], [6, 8]]]], [[[True, False]]], [[0.5, 0.5], [0.5, 1]]), "1 2"),
]

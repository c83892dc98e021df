"""Right answers to 16.memories in other styles than the solution's: one-hot, flipped, einsum, embedding_bag, loops."""

import torch
import torch.nn.functional as F


def _weights(J, D):
    j, k = (torch.arange(1, n + 1) / n - 0.5 for n in (J, D))
    return 0.5 + 2 * torch.outer(j, k)


def by_einsum(facts, embedding, ages):
    real = facts.ne(0)
    mask = real.any(-1)
    words = F.embedding(facts, embedding).masked_fill(~real[..., None], 0.0)
    encoded = torch.einsum("bmjd,jd->bmd", words, _weights(facts.shape[-1], embedding.shape[-1]).to(embedding))
    age = (mask.flip(1).cumsum(1).flip(1) - 1).clamp(min=0)
    return torch.where(mask[..., None], encoded + ages[age], torch.zeros_like(encoded))


def by_one_hot(facts, embedding, ages):
    J, D = facts.shape[-1], embedding.shape[-1]
    counted = F.one_hot(facts, len(embedding))[..., 1:].to(embedding.dtype)  # B M J V-1
    encoded = torch.einsum("bmjv,vd,jd->bmd", counted, embedding[1:], _weights(J, D).to(embedding))
    mask = (facts > 0).any(-1)
    after = torch.stack([mask[:, m + 1 :].sum(1) for m in range(mask.shape[1])], 1)
    return (encoded + F.one_hot(after, len(ages)).to(ages.dtype) @ ages) * mask[..., None]


def real_facts_only(facts, embedding, ages):
    mask = (facts > 0).any(-1)
    later = mask.long() @ torch.ones(mask.shape[1], mask.shape[1], dtype=torch.long).tril(-1)
    told = facts[mask]  # N J
    words = embedding.clone()
    words[0] = 0.0
    encoded = (words[told] * _weights(facts.shape[-1], embedding.shape[-1]).to(embedding)).sum(1)
    memories = embedding.new_zeros(*mask.shape, embedding.shape[-1])
    return memories.masked_scatter(mask[..., None], encoded + ages[later[mask]])


def by_embedding_bag(facts, embedding, ages):
    """Each feature is a bag of its own, whose words are weighted by their positions."""
    weights = _weights(facts.shape[-1], embedding.shape[-1]).to(embedding)
    bags = facts.flatten(0, 1)
    columns = [
        F.embedding_bag(bags, embedding[:, d : d + 1], mode="sum", per_sample_weights=(bags > 0) * weights[:, d])
        for d in range(embedding.shape[-1])
    ]
    mask = (facts > 0).any(-1)
    after = mask.sum(1, keepdim=True) - mask.cumsum(1)
    return (torch.cat(columns, 1).view(*mask.shape, -1) + ages[after]) * mask[..., None]


def word_by_word(facts, embedding, ages):
    B, M, J = facts.shape
    D = embedding.shape[1]
    stories = []
    for b in range(B):
        story = [torch.zeros(D, dtype=embedding.dtype)] * M
        age = 0
        for m in reversed(range(M)):
            if facts[b, m].sum() == 0:
                continue
            memory = ages[age]
            for j in range(J):
                if facts[b, m, j] != 0:
                    share = (j + 1) / J
                    weight = 1 - share - torch.arange(1, D + 1) / D * (1 - 2 * share)
                    memory = memory + weight * embedding[facts[b, m, j]]
            story[m] = memory
            age += 1
        stories.append(torch.stack(story))
    return torch.stack(stories)


# PyTorch's own
OWN = [
    by_embedding_bag,
]
RIGHT = [
    *OWN,
    by_einsum,
    by_one_hot,
    real_facts_only,
    # As beginners write them
    word_by_word,
]
SIZES = {"L": lambda draw: draw.size("M") + draw.randint(0, 2), "V": lambda draw: draw.randint(2, 6)}
INPUTS = {"facts": lambda draw: draw.whole("B×M×J", 0, draw.size("V"))}

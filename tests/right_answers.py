"""Right answers to every task in styles unlike the solution's: loops, einsum, built-ins, modules, other names and precisions."""

import math
from collections import Counter, OrderedDict, defaultdict

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from course_utils.models import attention as reference

RIGHT = defaultdict(list)


def answers(task_id):
    """Decorator: file a function (or what a factory returns) under a task."""

    def file(answer):
        RIGHT[task_id].append(answer)
        return answer

    return file


# 00 and 01


@answers("00.weighted_sum")
def by_loop(w, v):
    total = torch.zeros_like(v[0])
    for i in range(len(w)):
        total = total + w[i] * v[i]
    return total


@answers("00.weighted_sum")
def by_einsum(w, v):
    return torch.einsum("s,sd->d", w, v)


RIGHT["00.weighted_sum"] += [
    lambda weights, values: (weights[:, None] * values).sum(0),
    lambda a, b: torch.mv(b.T, a),
    lambda weights, values: sum(w * v for w, v in zip(weights, values)),  # noqa: B905
    lambda w, v: torch.from_numpy(w.numpy() @ v.numpy()),
    lambda w, v: (w.double() @ v.double()).to(v.dtype),
]


@answers("01.build_vocabulary")
def vocabulary_by_counter(sentences, min_count=1):
    counts = Counter()
    for s in sentences:
        counts.update(s)
    vocab = OrderedDict([("<pad>", 0), ("<unk>", 1)])
    for word in sorted(sorted(counts), key=counts.get, reverse=True):
        if counts[word] >= min_count:
            vocab[word] = len(vocab)
    return vocab


@answers("01.build_vocabulary")
def vocabulary_by_numpy(texts, least=1):
    flat = [w for t in texts for w in t]
    words, counts = np.unique(np.array(flat, dtype=object).astype(str), return_counts=True) if flat else ([], [])
    order = np.lexsort((words, [-c for c in counts])) if flat else []
    kept = [str(words[i]) for i in order if counts[i] >= least]
    return dict(zip(["<pad>", "<unk>", *kept], np.arange(len(kept) + 2)))  # noqa: B905


@answers("01.build_vocabulary")
def vocabulary_by_groups(sentences, min_count=1):
    seen = defaultdict(int)
    for sentence in sentences:
        for word in sentence:
            seen[word] += 1
    pairs = sorted([(-n, w) for w, n in seen.items() if n >= min_count])
    result = {"<pad>": 0, "<unk>": 1}
    result.update({w: i + 2 for i, (_, w) in enumerate(pairs)})
    return result


@answers("01.sum_vectors")
def sum_by_loops(words, mask):
    out = torch.zeros(words.shape[0], words.shape[2], dtype=words.dtype)
    for b in range(words.shape[0]):
        for s in range(words.shape[1]):
            if mask[b, s]:
                out[b] = out[b] + words[b, s]
    return out


RIGHT["01.sum_vectors"] += [
    lambda words, mask: torch.einsum("bsd,bs->bd", words, mask.to(words.dtype)),
    lambda w, m: (m.to(w.dtype)[:, None] @ w)[:, 0],
    lambda words, mask: words.masked_fill(~mask.unsqueeze(-1), 0).sum(dim=-2),
    lambda words, mask: torch.where(mask[:, :, None], words, 0.0).sum(1),
    lambda words, mask: torch.stack([w[m].sum(0) for w, m in zip(words, mask)]),  # noqa: B905
    lambda words, mask: torch.bmm(words.transpose(1, 2), mask.type_as(words).unsqueeze(2)).squeeze(2),
]

RIGHT["01.sentiment"] += [
    lambda sums, weight, bias: 1 / (1 + torch.exp(-(sums @ weight + bias))),
    lambda x, w, b: F.linear(x, w[None], b.reshape(1)).squeeze(-1).sigmoid(),
    lambda x, w, b: torch.stack([torch.sigmoid((row * w).sum() + b) for row in x]),
    lambda x, w, b: torch.exp(F.logsigmoid(torch.einsum("bd,d->b", x, w) + b)),
    lambda x, w, b: torch.stack([torch.zeros(len(x), dtype=x.dtype), x @ w + b]).softmax(0)[1],
]


@answers("01.sentiment_gradient")
def gradient_by_loops(sums, labels, weight, bias):
    gw, gb = torch.zeros_like(weight), 0.0
    for x, y in zip(sums, labels, strict=True):
        p = torch.sigmoid(x @ weight + bias)
        gw += (p - y) * x / len(sums)
        gb += ((p - y) / len(sums)).item()
    return gw, gb


RIGHT["01.sentiment_gradient"] += [
    lambda s, y, w, b: [s.T @ (torch.sigmoid(s @ w + b) - y) / len(y), (torch.sigmoid(s @ w + b) - y).mean()],
    lambda s, y, w, b: (
        ((torch.sigmoid(s @ w + b) - y)[:, None] * s).mean(0),
        float((torch.sigmoid(s @ w + b) - y).mean()),
    ),
]


@answers("01.sentiment_gradient")
def gradient_by_autograd(sums, labels, weight, bias):
    w, b = weight.clone().requires_grad_(), bias.clone().requires_grad_()
    F.binary_cross_entropy(torch.sigmoid(sums @ w + b), labels).backward()
    return w.grad, b.grad


@answers("01.word_polarity")
def polarity_by_loop(vectors, direction):
    out = []
    for v in vectors:
        n = v.norm() * direction.norm()
        out.append((v @ direction / n).item() if n > 0 else 0.0)
    return torch.tensor(out, dtype=vectors.dtype)


RIGHT["01.word_polarity"] += [
    lambda x, w: F.cosine_similarity(x, w[None], dim=-1),
    lambda x, w: F.normalize(x, dim=1) @ F.normalize(w, dim=0),
    lambda x, w: x @ w / (x.norm(dim=1) * w.norm() + 1e-8),
    lambda x, w: torch.nan_to_num(x @ w / (x.norm(dim=1) * w.norm())),
]

# 02


@answers("02.softmax")
def softmax_by_loops(scores, temperature=1.0):
    rows = []
    for row in scores.reshape(-1, scores.shape[-1]):
        row = row / temperature
        e = [torch.exp(s - row.max()) for s in row]
        rows.append(torch.stack([x / sum(e) for x in e]))
    return torch.stack(rows).reshape(scores.shape)


class Softmax(nn.Module):
    def forward(self, x, t=1.0):
        return F.softmax(x / t, dim=-1)


RIGHT["02.softmax"] += [
    Softmax(),
    lambda s, t=1.0: torch.exp(F.log_softmax(s / t, -1)),
    lambda s, t=1.0: (s / t - torch.logsumexp(s / t, -1, keepdim=True)).exp(),
    lambda s, t=1.0: torch.softmax(s.double() / t, -1).to(s.dtype),
    lambda s, t=1.0: torch.softmax(s.double() / t, -1),
]


@answers("02.masked_softmax")
def masked_by_loops(scores, mask):
    out = torch.zeros_like(scores)
    flat, allowed = scores.reshape(-1, scores.shape[-1]), mask.reshape(-1, scores.shape[-1])
    rows = []
    for row, keep in zip(flat, allowed, strict=True):
        new = torch.zeros_like(row)
        if keep.any():
            new = new.masked_scatter(keep, row[keep].softmax(0))
        rows.append(new)
    return torch.stack(rows).reshape(out.shape)


@answers("02.masked_softmax")
def masked_by_hand(scores, mask):
    e = torch.exp(scores - scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True).nan_to_num(neginf=0.0)) * mask
    e = torch.where(mask, e, torch.zeros_like(e)).nan_to_num(posinf=0.0)
    return e / e.sum(-1, keepdim=True).clamp(min=1e-12)


RIGHT["02.masked_softmax"] += [
    lambda s, m: F.softmax(s.masked_fill(m.logical_not(), torch.finfo(s.dtype).min), -1) * m,
    lambda s, m: torch.nan_to_num(s.masked_fill(~m, float("-inf")).softmax(-1), 0.0),
    lambda s, m: torch.where(m, torch.where(m, s, -torch.inf).softmax(-1), 0.0),
    lambda s, m: torch.softmax(torch.where(m, s, torch.tensor(-1e9, dtype=s.dtype)), dim=-1).masked_fill(~m, 0),
]
RIGHT["02.masked_softmax"].remove(masked_by_hand)  # exp of a masked score overflows to inf · 0: see test_wrong_answers

RIGHT["02.dot_scores"] += [
    lambda words, theta: (words * theta).sum(-1),
    lambda words, theta: torch.einsum("bsd,d->bs", words, theta),
    lambda w, t: F.linear(w, t[None]).squeeze(-1),
    lambda w, t: torch.stack([torch.stack([x @ t for x in s]) for s in w]),
]


class MLP(nn.Module):
    def forward(self, words, weight, bias, theta):
        return F.linear(torch.sigmoid(F.linear(words, weight, bias)), theta[None])[..., 0]


RIGHT["02.mlp_scores"] += [
    MLP(),
    lambda x, W, b, t: torch.einsum("bsh,h->bs", torch.sigmoid(torch.einsum("bsd,hd->bsh", x, W) + b), t),
    lambda x, W, b, t: torch.stack([torch.stack([t @ torch.sigmoid(W @ v + b) for v in s]) for s in x]),
    lambda x, W, b, t: (1 / (1 + torch.exp(-(x @ W.mT + b)))) @ t,
]


@answers("02.several_attentions")
def several_by_loops(words, thetas, mask):
    rows = []
    for x, m in zip(words, mask, strict=True):
        parts = []
        for theta in thetas:
            w = torch.zeros_like(x[:, 0])
            if m.any():
                w = w.masked_scatter(m, (x[m] @ theta).softmax(0))
            parts.append(w @ x)
        rows.append(torch.cat(parts))
    return torch.stack(rows)


RIGHT["02.several_attentions"] += [
    lambda x, th, m: torch.cat([(reference.masked_softmax(x @ t, m)[..., None] * x).sum(1) for t in th], -1),
    lambda x, th, m: torch.einsum(
        "bsn,bsd->bnd", torch.nan_to_num((x @ th.T).masked_fill(~m[..., None], -torch.inf).softmax(1)), x
    ).reshape(len(x), -1),
    lambda x, th, m: reference.attention(th.expand(len(x), -1, -1), x, x, m[:, None].expand(-1, len(th), -1))[
        0
    ].flatten(1),
]

RIGHT["02.error_through_attention"] += [
    lambda w, e: torch.einsum("bs,bd->bsd", w, e),
    lambda w, e: w.unsqueeze(2) @ e.unsqueeze(1),
    lambda w, e: torch.stack([torch.outer(a, d) for a, d in zip(w, e)]),  # noqa: B905
    lambda w, e: torch.bmm(w[:, :, None], e[:, None, :]),
]

# 03


@answers("03.padding_mask")
def padding_by_loop(lengths, size):
    mask = torch.zeros(len(lengths), size, dtype=torch.bool)
    for b, n in enumerate(lengths):
        mask[b, :n] = True
    return mask


RIGHT["03.padding_mask"] += [
    lambda lengths, size: torch.arange(size).expand(len(lengths), size) < lengths.unsqueeze(1),
    lambda n, size: torch.stack([torch.arange(size) < k for k in n]),
    lambda n, size: torch.tensor([[s < k for s in range(size)] for k in n.tolist()]),
    lambda n, size: ~(torch.arange(size)[None] >= n[:, None]),
]

RIGHT["03.causal_mask"] += [
    lambda size: torch.arange(size)[None] <= torch.arange(size)[:, None],
    lambda n: ~torch.triu(torch.ones(n, n), diagonal=1).bool(),
    lambda n: torch.tril(torch.ones(n, n)) == 1,
    lambda n: torch.tensor([[j <= i for j in range(n)] for i in range(n)]),
]


@answers("03.attention")
def attention_by_loops(query, key, value, mask=None):
    B, T, _ = query.shape
    S, E = key.shape[1], value.shape[2]
    weights, context = torch.zeros(B, T, S, dtype=query.dtype), torch.zeros(B, T, E, dtype=query.dtype)
    for b in range(B):
        for t in range(T):
            keep = [s for s in range(S) if mask is None or mask[b, t, s]]
            if not keep:
                continue
            w = torch.stack([query[b, t] @ key[b, s] for s in keep]).softmax(0)
            for i, s in enumerate(keep):
                weights[b, t, s] = w[i]
                context[b, t] = context[b, t] + w[i] * value[b, s]
    return context, weights


@answers("03.attention")
def attention_by_einsum(q, k, v, m=None):
    scores = torch.einsum("btd,bsd->bts", q, k)
    if m is not None:
        scores = scores + (~m).to(scores.dtype) * torch.finfo(scores.dtype).min / 2
    w = torch.softmax(scores, 2)
    w = w if m is None else w * m
    return torch.einsum("bts,bse->bte", w, v), w


@answers("03.attention")
def attention_in_float64(query, key, value, mask=None):
    c, w = reference.attention(query.double(), key.double(), value.double(), mask)
    return [c.to(query.dtype), w.to(query.dtype)]


class Attention(nn.Module):
    def forward(self, a, b, c, d=None):
        scores = torch.bmm(a, b.permute(0, 2, 1))
        weights = F.softmax(scores if d is None else scores.masked_fill(d == 0, float("-inf")), dim=-1)
        weights = torch.where(torch.isnan(weights), torch.zeros_like(weights), weights)
        return torch.bmm(weights, c), weights


RIGHT["03.attention"].append(Attention())


def _attention_inputs(seed, masked):
    g = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(s, generator=g) for s in ((3, 4, 6), (3, 5, 6), (3, 5, 2)))
    m = torch.rand(3, 4, 5, generator=g) > 0.4
    m[1, 2] = False
    return q, k, v, m if masked else None


@answers("03.catch_wrong_attention")
def catch_by_oracle(candidate):
    for seed, masked in ((0, True), (1, False)):
        args = _attention_inputs(seed, masked)
        try:
            context, weights = candidate(*args)
        except Exception:
            return False
        right_context, right_weights = reference.attention(*args)
        if context.shape != right_context.shape or weights.shape != right_weights.shape:
            return False
        if (context - right_context).abs().max() > 1e-4 or not torch.allclose(weights, right_weights, atol=1e-4):
            return False
    return True


@answers("03.catch_wrong_attention")
def catch_by_assert_close(candidate):
    try:
        for seed in range(3):
            for masked in (True, False):
                args = _attention_inputs(seed, masked)
                torch.testing.assert_close(tuple(candidate(*args)), reference.attention(*args), atol=1e-5, rtol=1e-4)
    except Exception:
        return False
    return True


@answers("03.catch_wrong_attention")
def catch_by_properties(candidate):
    q, k, v, m = _attention_inputs(4, True)
    try:
        c, w = candidate(q, k, v, m)
        free_c, free_w = candidate(q, k, v, None)
        logs = torch.log(w / w.amax(-1, keepdim=True))
        scores = q @ k.mT
        ok = [w.shape == (3, 4, 5), c.shape == (3, 4, 2), torch.allclose(w @ v, c, atol=1e-5), not w[~m].any()]
        ok += [
            torch.allclose(w.sum(-1), m.any(-1).float(), atol=1e-5),
            torch.allclose(free_w, scores.softmax(-1), atol=1e-5),
        ]
        ok += [torch.allclose(free_w @ v, free_c, atol=1e-5)]
        best = scores.masked_fill(~m, -torch.inf).amax(-1, keepdim=True)
        ok += [torch.allclose(logs[m], (scores - best)[m], atol=1e-3)]
    except Exception:
        return False
    return np.bool_(all(ok))


# 04

RIGHT["04.dot"] += [
    lambda s, h: torch.einsum("btd,bsd->bts", s, h),
    lambda s, h: torch.bmm(s, h.transpose(1, 2)),
    lambda s, h: (s.unsqueeze(2) * h.unsqueeze(1)).sum(-1),
    lambda s, h: torch.stack([torch.stack([torch.stack([a @ b for b in hs]) for a in ss]) for ss, hs in zip(s, h)]),  # noqa: B905
]
RIGHT["04.scaled_dot"] += [
    lambda s, h: (s / math.sqrt(s.size(-1))) @ h.mT,
    lambda s, h: (s * s.shape[-1] ** -0.25) @ (h * h.shape[-1] ** -0.25).mT,
    lambda s, h: torch.bmm(s, h.transpose(-1, -2)) / torch.sqrt(torch.tensor(s.shape[-1])),
    lambda s, h: torch.einsum("btd,bsd->bts", s, h) / np.sqrt(h.shape[2]),
]
RIGHT["04.additive"] += [
    lambda s, h, W, v: torch.stack(
        [
            torch.stack([torch.tanh(torch.cat([a.expand(len(hs), -1), hs], 1) @ W.T) @ v for a in ss])
            for ss, hs in zip(s, h)  # noqa: B905
        ]
    ),
    lambda s, h, W, v: reference.perceptron(s, h, W[:, : s.shape[2]], W[:, s.shape[2] :], v),
    lambda s, h, W, v: torch.einsum(
        "btsa,a->bts",
        torch.tanh(
            F.linear(
                torch.cat([s[:, :, None].repeat(1, 1, h.shape[1], 1), h[:, None].repeat(1, s.shape[1], 1, 1)], 3), W
            )
        ),
        v,
    ),
]
RIGHT["04.general"] += [
    lambda s, h, W: torch.einsum("btd,de,bse->bts", s, W, h),
    lambda s, h, W: s @ (h @ W.T).mT,
    lambda s, h, W: torch.bmm(F.linear(s, W.T), h.transpose(1, 2)),
    lambda s, h, W: torch.stack([a @ W @ b.T for a, b in zip(s, h)]),  # noqa: B905
]
RIGHT["04.concatenating"] += [
    lambda s, h, w: (s @ w[: s.shape[-1]])[:, :, None] + (h @ w[s.shape[-1] :])[:, None, :],
    lambda s, h, w: torch.stack(
        [torch.stack([torch.stack([torch.cat([a, b]) @ w for b in hs]) for a in ss]) for ss, hs in zip(s, h)]  # noqa: B905
    ),
    lambda s, h, w: (
        torch.einsum("btd,d->bt", s, w[: s.shape[2]]).unsqueeze(2)
        + torch.einsum("bse,e->bs", h, w[s.shape[2] :]).unsqueeze(1)
    ),
]
RIGHT["04.perceptron"] += [
    lambda s, h, W, U, v: torch.tanh(F.linear(s, W).unsqueeze(2) + F.linear(h, U).unsqueeze(1)) @ v,
    lambda s, h, W, U, v: torch.einsum(
        "btsa,a->bts",
        torch.tanh(torch.einsum("btd,ad->bta", s, W)[:, :, None] + torch.einsum("bse,ae->bsa", h, U)[:, None]),
        v,
    ),
    lambda s, h, W, U, v: reference.additive(s, h, torch.cat([W, U], 1), v),
    lambda s, h, W, U, v: torch.stack(
        [torch.stack([torch.tanh(W @ a + hs @ U.T) @ v for a in ss]) for ss, hs in zip(s, h)]  # noqa: B905
    ),
]
RIGHT["04.content_based"] += [
    lambda s, h: F.cosine_similarity(s.unsqueeze(2), h.unsqueeze(1), dim=-1),
    lambda s, h: s @ h.mT / (s.norm(dim=-1)[..., None] * h.norm(dim=-1)[:, None] + 1e-8),
    lambda s, h: torch.nan_to_num((s / s.norm(dim=-1, keepdim=True)) @ (h / h.norm(dim=-1, keepdim=True)).mT),
    lambda s, h: (s @ h.mT) / (s.norm(dim=-1)[:, :, None] * h.norm(dim=-1)[:, None]).clamp(min=1e-6),
]
RIGHT["04.location_based"] += [
    lambda s, W: F.softmax(F.linear(s, W), dim=2),
    lambda s, W: torch.einsum("btd,sd->bts", s, W).log_softmax(-1).exp(),
    lambda s, W: torch.stack([torch.stack([torch.softmax(W @ a, 0) for a in ss]) for ss in s]),
]

SHAPES = {
    "dot": lambda B, T, S, D, E, A: ((B, T, D), (B, S, D)),
    "scaled_dot": lambda B, T, S, D, E, A: ((B, T, D), (B, S, D)),
    "additive": lambda B, T, S, D, E, A: ((B, T, D), (B, S, E), (A, D + E), (A,)),
    "general": lambda B, T, S, D, E, A: ((B, T, D), (B, S, E), (D, E)),
    "concatenating": lambda B, T, S, D, E, A: ((B, T, D), (B, S, E), (D + E,)),
    "perceptron": lambda B, T, S, D, E, A: ((B, T, D), (B, S, E), (A, D), (A, E), (A,)),
    "content_based": lambda B, T, S, D, E, A: ((B, T, D), (B, S, D)),
    "location_based": lambda B, T, S, D, E, A: ((B, T, D), (S, D)),
}


def _score_inputs(name, sizes, seed):
    g = torch.Generator().manual_seed(seed)
    args = [torch.randn(shape, generator=g) for shape in SHAPES[name](*sizes)]
    args[0][0, 1] = 0
    return args


@answers("04.catch_wrong_scores")
def catch_score_by_value(name, candidate):
    for sizes in ((2, 3, 4, 5, 6, 7), (3, 2, 5, 4, 3, 2)):
        args = _score_inputs(name, sizes, 0)
        try:
            received = candidate(*args)
        except Exception:
            return False
        expected = reference.SCORES[name](*args)
        if received.shape != expected.shape or not torch.allclose(received, expected, atol=1e-4):
            return False
    return True


@answers("04.catch_wrong_scores")
def catch_score_by_assert_close(name, candidate):
    args = _score_inputs(name, (2, 3, 5, 7, 4, 6), 1)
    try:
        torch.testing.assert_close(candidate(*args), reference.SCORES[name](*args), rtol=1e-4, atol=1e-5)
    except (AssertionError, RuntimeError, IndexError, ValueError, TypeError):
        return False
    return True


@answers("04.catch_wrong_scores")
def catch_score_by_numpy(which, function):
    args = _score_inputs(which, (4, 3, 2, 5, 3, 8), 2)
    try:
        got, want = function(*args).numpy(), reference.SCORES[which](*args).numpy()
        return got.shape == want.shape and np.allclose(got, want, atol=1e-4)
    except Exception:
        return False

"""Decoding: from a model's next-token probabilities to translations, greedily or by beam search. No model lives here.

A model offers `start(source) → memory, state` and `step(tokens, memory, state) → logits, state, weights`. `memory`
depends only on the source, and its tensors begin with B; `state` depends on the hypothesis, and its tensors begin with B×K.
Both are trees: dicts, lists and tuples of tensors. `step` may overwrite the state that it is given.
Source rows hold tokens, EOS, and PAD up to the common length.

Shape letters: B batch (sentences), K hypotheses of a sentence, T target length, S source length, V vocabulary.
"""

from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor

from course_utils.base.errors import CourseError
from course_utils.base.trees import map_tensors
from course_utils.data.subwords import BOS, EOS, PAD

_NOT_NUMBERS = "the model's logits are not numbers (NaN): train it anew, at a lower rate"


class Translation(NamedTuple):
    """What a decoder found for one sentence."""

    tokens: list[int]  # without EOS
    log_probability: float  # natural logarithm, of the tokens and EOS
    score: float  # the log probability over the length penalty; from greedy search: the log probability
    weights: Tensor | None = None  # T×S, what each token attended to; None if not asked for or without attention
    hypotheses: tuple = ()  # from beam search: the best translations that ended, this one first


def length_penalty(length: int | Tensor, alpha: float) -> float | Tensor:
    """lp(Y) = (5 + |Y|)^α / (5 + 1)^α (Wu et al. 2016, section 7). |Y| counts EOS here: the empty translation has 1."""
    return ((5 + length) / (5 + 1)) ** alpha


def greedy(model, source, longest=None, weights=False) -> list[Translation]:
    """Translate source B×S by the most probable token at each step, until EOS.

    `longest` is the most tokens of a translation, after which EOS is forced; None allows 10 more than twice the
    source. `weights` asks for the attention's weights. Raises `CourseError` for a row without any token.
    """
    limits = _limits(model, source, longest)  # B
    if not len(source):
        return []
    with _evaluating(model):
        tokens, log_p, attention = _most_probable(model, source, limits, weights)
    log_p = log_p.sum(1).tolist()
    return [_translation(*found, row) for *found, row in zip(tokens, log_p, log_p, attention, source, strict=True)]


def _most_probable(model, source, limits, weights):
    """Search greedily: tokens B×T, the log probability of each B×T, weights B×T×S or B times None."""
    memory, state = model.start(source)
    rows = torch.arange(len(source), device=source.device)  # the sentence that each row of the batch belongs to
    chosen, ended = torch.full_like(rows, BOS), torch.zeros_like(rows, dtype=torch.bool)
    steps = []

    def of_all(values: Tensor, fill: float) -> Tensor:
        return values.new_full((len(source), *values.shape[1:]), fill).index_copy_(0, rows, values)

    for length in range(int(limits.max()) + 1):
        logits, state, attended = model.step(chosen[:, None], memory, state)
        token_log_p = _log_softmax(logits[:, 0])  # B V
        log_p, chosen = token_log_p[:, EOS:].max(-1)  # PAD and BOS, the ids below EOS, are never chosen
        cut = limits == length
        chosen = (chosen + EOS).masked_fill_(cut, EOS)
        log_p = torch.where(cut, token_log_p[:, EOS], log_p).masked_fill_(ended, 0.0)
        attended = of_all(attended[:, 0], 0.0) if weights and attended is not None else None
        steps.append((of_all(chosen, EOS), of_all(log_p, 0.0), attended))
        ended = ended | (chosen == EOS)
        if length % 4 == 3:  # not every time, because it makes a GPU wait
            open_rows = (~ended).nonzero()[:, 0]
            if not len(open_rows):
                break
            memory, state, rows, chosen, ended, limits = _without_done(
                (memory, state, rows, chosen, ended, limits), open_rows, len(rows)
            )
    tokens, log_p, attention = zip(*steps, strict=True)
    attention = [None] * len(source) if attention[0] is None else torch.stack(attention, 1)
    return torch.stack(tokens, 1), torch.stack(log_p, 1), attention


def beam_search(model, source, width=5, alpha=0.6, longest=None, weights=False, hypotheses=1) -> list[Translation]:
    """Translate source B×S, keeping the `width` most probable beginnings at each step.

    A hypothesis that ends is set aside with its score, log p(Y) / lp(Y). The search for a sentence is over when no
    open hypothesis can still win: because no log probability is above 0, the score of an open one will never exceed its
    current log probability over the penalty of the longest translation.

    Args:
        width: 1 is greedy search; the number of translations within `longest` is an exhaustive search.
        alpha: 0 ranks by probability alone, more favours longer translations (0.6: Vaswani et al. 2017, section 6.1).
        longest, weights: as in `greedy`.
        hypotheses: how many of the best `Translation.hypotheses` should hold.

    Raises:
        CourseError: for `width` or `hypotheses` below 1, negative `alpha` or `longest`, a row without any token.
    """
    for name, number, least in (("width", width, 1), ("hypotheses", hypotheses, 1), ("alpha", alpha, 0)):
        if not number >= least:
            raise CourseError(f"{name} must be at least {least}, not {number}")
    limits = _limits(model, source, longest)  # B
    if not len(source):
        return []
    with _evaluating(model):
        ended = _search(model, source, limits, width, alpha, weights, hypotheses)
    translations = []
    for candidates, row in zip(ended, source, strict=True):
        if not candidates:
            raise CourseError(_NOT_NUMBERS)
        candidates.sort(key=lambda candidate: -candidate[2])
        best = tuple(_translation(*candidate, row) for candidate in candidates[:hypotheses])
        translations.append(best[0]._replace(hypotheses=best))
    return translations


def _search(model, source, limits, width, alpha, weights, hypotheses) -> list[list[tuple]]:
    """Return each sentence's ended hypotheses by beam search, as tokens, log probability, score and weights."""
    ended = [[] for _ in source]
    memory, state = model.start(source)
    rows = torch.arange(len(source), device=source.device)  # the sentence that each row of the batch belongs to
    tokens = source.new_full((len(source), 1, 1), BOS)  # B K T
    attention = None  # B K T S
    log_p = torch.zeros(len(source), 1, device=source.device)  # B K; -inf where a hypothesis has ended
    best = log_p.new_full((len(source), hypotheses), -torch.inf)  # the best scores of those that ended
    for length in range(1, int(limits.max()) + 2):  # including the token chosen now, even EOS
        logits, state, attended = model.step(tokens[:, :, -1], memory, state)
        if weights and attended is not None:
            attention = attended[:, :, None] if attention is None else torch.cat([attention, attended[:, :, None]], 2)
        log_p, parents, chosen = _continuations(log_p, logits, limits < length, width)
        state, tokens, attention = follow((state, tokens, attention), parents)
        tokens = torch.cat([tokens, chosen[..., None]], 2)

        scores = (log_p / length_penalty(length, alpha)).masked_fill(chosen != EOS, -torch.inf)  # B K
        new = (scores > best[:, -1:]).nonzero(as_tuple=True)
        seen = attention[new] if attention is not None else [None] * len(new[0])
        for row, *hypothesis in zip(
            rows[new[0]].tolist(), tokens[new][:, 1:], log_p[new].tolist(), scores[new].tolist(), seen, strict=True
        ):
            ended[row].append(hypothesis)
        best = torch.cat([best, scores], 1).topk(hypotheses).values
        log_p = log_p.masked_fill(chosen == EOS, -torch.inf)
        can_win = log_p.amax(1) / length_penalty(limits + 1, alpha) > best[:, -1]
        open_rows = can_win.nonzero()[:, 0]
        if not len(open_rows):
            break
        memory, state, attention, rows, limits, tokens, log_p, best = _without_done(
            (memory, state, attention, rows, limits, tokens, log_p, best), open_rows, len(rows)
        )
    return ended


def _continuations(log_p: Tensor, logits: Tensor, must_end: Tensor, width: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the `width` most probable continuations in each sentence: log probabilities, parents and tokens, each B×K."""
    token_log_p = _log_softmax(logits)[..., EOS:]  # B K V; PAD and BOS, the ids below EOS, are never chosen
    if must_end.any():
        token_log_p[..., 1:].masked_fill_(must_end[:, None, None], -torch.inf)
    each = min(width, token_log_p.shape[-1])  # no hypothesis has more than this among the overall best
    token_log_p, tokens = token_log_p.topk(each)
    log_p = (log_p[..., None] + token_log_p).flatten(1)  # B K·each
    log_p, places = log_p.topk(min(width, log_p.shape[1]))
    return log_p, places // each, tokens.flatten(1).gather(1, places) + EOS


def translate_all(model, rows, width=5, alpha=0.6, longest=None, weights=False, batch=128) -> list[Translation]:
    """Translate many sentences, each a list of source ids without EOS, in batches of similar length; the order is kept.

    `width` 1 is greedy search; the other options are those of `beam_search`. An empty sentence has an empty translation.
    Raises `CourseError` for rows that are not lists of ids.
    """
    for row in rows:
        if not isinstance(row, list | tuple):
            raise CourseError(
                f"each sentence must be a list of ids, but one is {row!r}: `subwords.encode([text])` makes a list of them"
            )
    device = next(model.parameters()).device
    translations = [Translation([], 0.0, 0.0)] * len(rows)
    by_length = sorted((i for i in range(len(rows)) if rows[i]), key=lambda i: -len(rows[i]))
    for start in range(0, len(by_length), batch):
        places = by_length[start : start + batch]
        source = torch.full((len(places), len(rows[places[0]]) + 1), PAD)
        for row, i in zip(source, places, strict=True):
            row[: len(rows[i]) + 1] = torch.tensor([*rows[i], EOS])
        source = source.to(device)
        options = {"longest": longest, "weights": weights}
        found = greedy(model, source, **options) if width == 1 else beam_search(model, source, width, alpha, **options)
        for i, translation in zip(places, found, strict=True):
            translations[i] = translation
    return translations


def select(tree, rows: Tensor):
    """Return the tree with these rows of each tensor's first axis."""
    return map_tensors(lambda tensor: tensor.index_select(0, rows), tree)


def follow(tree, parents: Tensor):
    """Return the tree whose tensors B×K×... hold for each hypothesis what its parent had: parents B×K'."""
    B, K = parents.shape

    def of_parents(tensor: Tensor) -> Tensor:
        first = torch.arange(B, device=parents.device)[:, None] * tensor.shape[1]  # of each sentence, once flat
        return tensor.flatten(0, 1).index_select(0, (first + parents).flatten()).unflatten(0, (B, K))

    return map_tensors(of_parents, tree)


def _without_done(tree: tuple, open_rows: Tensor, size: int) -> tuple:
    """Return the tree's open rows, once so many of the `size` rows are done that copying costs less than keeping them."""
    return select(tree, open_rows) if len(open_rows) <= 0.75 * size else tree


def _log_softmax(logits: Tensor) -> Tensor:
    return logits.log_softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32))


def _limits(model, source: Tensor, longest: int | None) -> Tensor:
    """Return the most tokens of each translation, B, which does not depend on the rest of the batch."""
    lengths = (source != PAD).sum(1)
    if len(source) and not lengths.min():
        raise CourseError(f"row {int(lengths.argmin())} of the source holds only padding: end each sentence with EOS")
    if longest is not None and longest < 0:
        raise CourseError(f"longest must be at least 0, not {longest}")
    limits = 2 * lengths + 10 if longest is None else torch.full_like(lengths, longest)
    most = getattr(model, "longest_target", None)  # of a Transformer, which has only so many positions
    return limits if most is None else limits.clamp(max=most)


def _translation(tokens: Tensor, log_probability: float, score: float, weights: Tensor | None, source: Tensor):
    """Return a Translation of what was written up to EOS."""
    if log_probability != log_probability:
        raise CourseError(_NOT_NUMBERS)
    tokens = tokens.tolist()
    tokens = tokens[: tokens.index(EOS)]
    if weights is not None:
        weights = weights[: len(tokens), : int((source != PAD).sum())].cpu().clone()
    return Translation(tokens, log_probability, score, weights)


@contextmanager
def _evaluating(model):
    """Return a context without dropout and gradients; afterwards every module is in its former mode."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        for module in training:
            module.training = True

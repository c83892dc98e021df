"""Correct answers to 07.beam_search in other styles than the solution's."""

import torch


def by_topk(step, bos, eos, width, longest):
    prefixes, scores, ended = [[bos]], torch.zeros(1), []
    while prefixes and len(prefixes[0]) <= longest:
        log_p = torch.stack([step(prefix) for prefix in prefixes])  # K V
        total = (scores[:, None] + log_p).flatten()
        best = total.topk(min(width, len(total)))
        parents, tokens = best.indices // log_p.shape[1], best.indices % log_p.shape[1]
        kept = [
            (prefixes[k] + [v], s)
            for k, v, s in zip(parents.tolist(), tokens.tolist(), best.values.tolist(), strict=True)
        ]
        ended += [pair for pair in kept if pair[0][-1] == eos]
        prefixes = [ids for ids, _ in kept if ids[-1] != eos]
        scores = torch.tensor([s for ids, s in kept if ids[-1] != eos])
    ended += list(zip(prefixes, scores.tolist(), strict=True))
    return sorted([(ids[1:], s) for ids, s in ended], key=lambda pair: -pair[1])


def as_beginners_write_it(step, bos, eos, width, longest):
    """Scores are tensors, and the pairs are lists."""
    hypotheses = [[[bos], torch.tensor(0.0)]]
    finished = []
    for _ in range(longest):
        candidates = []
        for sequence, score in hypotheses:
            for i, log_p in enumerate(step(sequence)):
                candidates.append([sequence + [i], score + log_p])
        best = sorted(candidates, key=lambda c: c[1], reverse=True)[:width]
        finished += [c for c in best if c[0][-1] == eos]
        hypotheses = [c for c in best if c[0][-1] != eos]
    return [[ids[1:], score] for ids, score in sorted(finished + hypotheses, key=lambda c: c[1], reverse=True)]


OWN = [by_topk]
CORRECT = [*OWN, as_beginners_write_it]
SIZES = {"V": lambda draw: draw.randint(2, 6)}
INPUTS = {
    "step": lambda draw: draw.decoder(),
    "eos": lambda draw: draw.randrange(draw.size("V")),
    "width": lambda draw: draw.randint(1, 4),
    "longest": lambda draw: draw.randint(1, 5),
}

"""Correct answers to 07.beam_search in other styles than the solution's."""

import heapq

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


def by_recursion(step, bos, eos, width, longest):
    def rounds(beam, left):
        if not beam or left == 0:
            return beam
        every = [(s + more, (*ids, v)) for s, ids in beam for v, more in enumerate(step(list(ids)).double().tolist())]
        kept = heapq.nlargest(width, every)
        return [one for one in kept if one[1][-1] == eos] + rounds([one for one in kept if one[1][-1] != eos], left - 1)

    return [(list(ids[1:]), s) for s, ids in sorted(rounds([(0.0, (bos,))], longest), reverse=True)]


def with_a_heap(step, bos, eos, width, longest):
    done, beam = [], [(0.0, [])]
    for length in range(1, longest + 1):
        heap = []
        for score, ids in beam:
            for token, log_p in enumerate(step([bos, *ids])):
                heapq.heappush(heap, (score + float(log_p), [*ids, token]))
                if len(heap) > width:
                    heapq.heappop(heap)
        beam = []
        for score, ids in heap:
            if ids[-1] == eos or length == longest:
                done.append((ids, score))
            else:
                beam.append((score, ids))
    done.sort(key=lambda pair: pair[1])
    done.reverse()
    return done


def as_beginners_write_it(step, bos, eos, width, longest):
    """Scores are tensors, and the pairs are lists."""
    hypotheses = [[[bos], torch.tensor(0.0)]]
    finished = []
    for _ in range(longest):
        candidates = []
        for hypothesis in hypotheses:
            sequence = hypothesis[0]
            score = hypothesis[1]
            log_p = step(sequence)
            for i in range(log_p.shape[0]):
                candidates.append([sequence + [i], score + log_p[i]])
        candidates = sorted(candidates, key=lambda c: c[1], reverse=True)
        hypotheses = []
        for c in candidates[:width]:
            if c[0][-1] == eos:
                finished.append(c)
            else:
                hypotheses.append(c)
        if len(hypotheses) == 0:
            break
    for hypothesis in hypotheses:
        finished.append(hypothesis)
    finished = sorted(finished, key=lambda c: c[1], reverse=True)
    return [[c[0][1:], c[1]] for c in finished]


# PyTorch's own
OWN = [
    by_topk,
]
CORRECT = [
    *OWN,
    by_recursion,
    with_a_heap,
    as_beginners_write_it,
]
SIZES = {"V": lambda draw: draw.randint(2, 6)}
INPUTS = {
    "step": lambda draw: draw.decoder(),
    "eos": lambda draw: draw.randrange(draw.size("V")),
    "width": lambda draw: draw.randint(1, 4),
    "longest": lambda draw: draw.randint(1, 5),
}

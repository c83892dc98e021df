"""Task 13.train_and_translate: a translation model from an empty cell. Any model that keeps the promises is right: what it gives is held against itself."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.base.errors import CourseError
from course_utils.checks.task import Case, Task

PAD, BOS, EOS = 0, 1, 2
ROOM = 1e-3  # for rounding
FALLS = 0.8  # at most this share of the first losses is left at the end
KEPT = "one that keeps its promises"
# Rows of a new batch below the training pairs: the first pair again, and the same with one thing changed
SAME, LATER, EARLIER, OTHER_SOURCE, OTHER_ORDER = range(-5, 0)
SHORT = 10  # steps of the short training, and one more of the next: the last loss of that one belongs to the results of this one
EXACT = 1e-4  # how close a training loss has to be to a wrong one; dropout moves it further

task = Task(
    __name__,
    "a translation model from an empty cell",
    arguments=("source B×S", "target B×T", "V", "steps", "new_source [N×S]", "new_target [N×T]"),
    result="losses and results",
    difficulty=5,
    importance=4,
    minutes=120,
)


def _batch(draw, B, S, V):
    """B pairs, of which the first is as long as the batch: the translation is the sentence backwards."""
    source, target = torch.zeros(B, S, dtype=torch.long), torch.zeros(B, S + 2, dtype=torch.long)
    for b in range(B):
        n = S if b == 0 else int(draw.whole(2, S + 1, 1))
        words = draw.distinct(n, 3, V)
        source[b, :n] = words
        target[b, : n + 2] = torch.cat([torch.tensor([BOS]), words.flip(0), torch.tensor([EOS])])
    return source, target


def _altered(source, target, V):
    """The pairs, and below them the first one again, each time with at most one thing changed."""
    first, words = source[:1].repeat(5, 1), target[:1].repeat(5, 1)
    other = lambda tokens: 3 + (tokens - 2) % (V - 3)  # noqa: E731
    half = target.shape[1] // 2
    words[LATER, half:] = other(words[LATER, half:])
    words[EARLIER, 1] = other(words[EARLIER, 1])
    first[OTHER_SOURCE] = other(first[OTHER_SOURCE])
    first[OTHER_ORDER] = first[OTHER_ORDER].flip(0)
    return torch.cat([source, first]), torch.cat([target, words])


@task.cases
def _(draw):
    for B, S, V, steps in ((5, 4, 9, 60), (9, 6, 13, 80)):
        source, target = _batch(draw, B, S, V)
        new = _altered(source, target, V)
        sources = [new[0], F.pad(new[0], (0, 3)), source[:1]]
        targets = [new[1], F.pad(new[1], (0, 2)), target[:1]]
        yield Case(f"{B} sentences of at most {S} words", (source, target, V, steps, sources, targets))
    source, target = _batch(draw, 7, 5, 11)
    for steps in (SHORT, SHORT + 1):
        yield Case(f"{steps} steps of training", (source, target, 11, steps, [source], [target]), edge=True)


@task.oracle
def _(source, target, V, steps, new_source, new_target):
    return KEPT


def _differ(one, other):
    return not torch.allclose(one, other, atol=ROOM, rtol=ROOM)


def _fault_of_model(logits, wide, alone):
    """The first promise about the logits that is broken, or None. The three are those of the new batches."""
    first, half = logits[0], (logits.shape[1] + 1) // 2
    shown = {
        "chance": _differ(first, logits[SAME]),
        "later": _differ(first[:half], logits[LATER, :half]),
        "padding": _differ(logits, wide[:, : logits.shape[1]]),
        "alone": _differ(first, alone[0]),
        "source ignored": not _differ(first, logits[OTHER_SOURCE]),
        "order ignored": not _differ(first, logits[OTHER_ORDER]),
        "target ignored": not _differ(first[1:], logits[EARLIER, 1:]),
    }
    return next((fault for fault, found in shown.items() if found), None)


def _losses(logits, target):
    """What the loss of a batch may be, by what is wrong with it; the first is right: the mean over the real tokens that the logits should predict."""
    each = F.cross_entropy(logits.mT, target[:, 1:], reduction="none")  # N T
    real = target[:, 1:] != PAD
    return {
        None: each[real].mean(),
        "loss of padding": each.mean(),
        "loss summed": each[real].sum(),
        "loss by sentence": ((each * real).sum(1) / real.sum(1)).mean(),
        "loss not shifted": F.cross_entropy(logits.mT, target[:, :-1], ignore_index=PAD),
        "softmax first": F.cross_entropy(logits.softmax(-1).mT, target[:, 1:], ignore_index=PAD),
    }


def _fault_of_loss(logits, loss, target):
    """Which loss was returned, unless it is the right one of logits that are no probabilities."""
    if (logits >= 0).all() and not _differ(logits.sum(-1), torch.ones(logits.shape[:2], dtype=logits.dtype)):
        return "softmax first"
    return next((fault for fault, wrong in _losses(logits, target).items() if not _differ(loss, wrong)), "other loss")


def _fault_of_search(logits, translations, target):
    """The first row whose translation is not what greedy search makes of the logits, as far as the row's target leads along with it."""
    best = logits.topk(2, dim=-1)
    for row, found in enumerate(translations.tolist()):
        for t, word in enumerate(found):
            clear = best.values[row, t, 0] - best.values[row, t, 1] > ROOM
            if clear and word != best.indices[row, t, 0]:
                return "BOS kept" if t == 0 and word == BOS else "search"
            if word == EOS:
                if any(found[t + 1 :]):
                    return "no end"
                break
            if t + 1 < target.shape[1] and word != target[row, t + 1]:
                break
    return None


def _sees_target(logits, translations):
    """Whether a sentence is translated in different ways beside different targets, though no word is a close call."""
    best = logits[0].topk(2, dim=-1).values
    clear = (best[:, 0] - best[:, 1] > ROOM)[translations[0] != PAD].all()
    return bool(clear) and any(not torch.equal(translations[0], translations[row]) for row in (SAME, LATER, EARLIER))


@task.canonical
def _(case, value):
    """Which promise is broken first."""
    source, target, V, steps, _, new_target = case.args
    losses, results = _parts(value, steps, new_target, V)
    logits = [each[0] for each in results]
    if steps > SHORT + 1 and (fault := _fault_of_model(*logits)):
        return fault
    for (given, loss, _), new in zip(results, new_target, strict=True):
        if fault := _fault_of_loss(given, loss, new):
            return fault
    if steps <= SHORT + 1:
        return KEPT
    if losses[-5:].mean() > FALLS * losses[:5].mean():
        return "loss does not fall"
    wanted = target[:, 1:]
    if (logits[0][: len(target)].argmax(-1) != wanted)[wanted != PAD].any():
        return "not learned"
    for (given, _, translations), new in zip(results, new_target, strict=True):
        if fault := _fault_of_search(given, translations, new):
            return fault
    given, _, translations = results[0]
    return "target translated" if _sees_target(given, translations) else KEPT


def _parts(value, steps, new_target, V):
    """Return losses and results in float64, or say what is expected of them."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise CourseError("Two things are expected: the losses, and the list of results, one for each new batch.")
    losses, results = value
    losses = torch.as_tensor(losses) if _numbers(losses) else losses
    if not isinstance(losses, Tensor) or losses.shape != (steps,) or not losses.is_floating_point():
        raise CourseError(f"The losses should be {steps} numbers, one for each step, as a list or a tensor.")
    if not isinstance(results, (tuple, list)) or len(results) != len(new_target):
        raise CourseError(f"The results should be a list with one entry for each of the {len(new_target)} new batches.")
    found = []
    for place, (result, target) in enumerate(zip(results, new_target, strict=True)):
        which = f"results[{place}]"
        if not isinstance(result, (tuple, list)) or len(result) != 3:
            raise CourseError(f"{which} should have three parts: logits, loss and translations.")
        logits, loss, translations = result
        N, T = target.shape[0], target.shape[1] - 1
        if not isinstance(logits, Tensor) or logits.shape != (N, T, V) or not logits.is_floating_point():
            raise CourseError(f"The logits in {which} should be a tensor of shape {(N, T, V)}: N×(T-1)×V.")
        if not isinstance(loss, (int, float)) and not (isinstance(loss, Tensor) and loss.numel() == 1):
            raise CourseError(f"The loss in {which} should be one number.")
        if not isinstance(translations, Tensor) or translations.shape != (N, T) or translations.is_floating_point():
            raise CourseError(f"The translations in {which} should be whole numbers of shape {(N, T)}: N×(T-1).")
        loss = torch.as_tensor(loss, dtype=torch.float64).reshape(())
        if not logits.isfinite().all() or not loss.isfinite():
            raise CourseError(
                f"There is NaN or infinity in {which}. Is a whole row of scores masked, or the learning rate too high?"
            )
        found.append((logits.double(), loss, translations))
    if not losses.isfinite().all():
        raise CourseError("One of the losses is NaN or infinity. Is the learning rate too high?")
    return losses.double(), found


def _numbers(losses):
    return isinstance(losses, (tuple, list)) and all(isinstance(loss, (int, float)) for loss in losses)


@task.explain_mismatch
def _(case, right, read):
    """The first promise that is broken, with what to do."""
    return task.sentence(_mistake_of(read))


@task.cross_case_check
def _(cases, values):
    """Which loss the model is trained with: one more step of the short training begins with the loss of its results."""
    first, then = (next(n for n, case in enumerate(cases) if case.args[3] == steps) for steps in (SHORT, SHORT + 1))
    _, target, V, steps, _, new_target = cases[first].args
    _, [(logits, _, _)] = _parts(values[first], steps, new_target, V)
    losses, _ = _parts(values[then], SHORT + 1, new_target, V)
    right, *wrong = _losses(logits, target).items()
    if not _differ(losses[-1], right[1]):
        return None
    number = (target[:, 1:] != PAD).sum()  # of real tokens: no dropout raises a loss by nearly as much
    summed = losses[-1] > number / 2 * right[1]
    found = [fault for fault, loss in wrong if (losses[-1] - loss).abs() < EXACT * loss]
    fault = next(iter(found), "loss summed" if summed else None)
    return fault and (then, f"This is about the losses during training. {task.sentence(_mistake_of(fault))}")


@task.recognise
def _mistake_of(fault):
    return fault.replace(" ", "_").lower()


class _Translator(nn.Module):
    """A small Transformer, in which `fault` breaks one promise."""

    def __init__(self, V, fault, D=24):
        super().__init__()
        self.fault = fault
        dropout = 0.3 if fault == "chance" else 0.0
        self.words, self.places = nn.Embedding(V, D), nn.Embedding(32, D)
        self.encoder = nn.TransformerEncoderLayer(D, 2, 2 * D, dropout, batch_first=True)
        self.decoder = nn.TransformerDecoderLayer(D, 2, 2 * D, dropout, batch_first=True)
        self.readout = nn.Linear(D, V)

    def forward(self, source, given):
        S, T = source.shape[1], given.shape[1]
        hidden = None if self.fault == "padding" else source == PAD
        x = self.words(source)
        if self.fault != "order ignored":
            x = x + self.places(torch.arange(S))
        memory = self.encoder(x, src_key_padding_mask=hidden)
        if self.fault == "source ignored":
            memory = memory * 0
        if self.fault == "alone":
            memory = memory + memory.mean(0, keepdim=True)
        y = self.words(given * 0 + BOS if self.fault == "target ignored" else given) + self.places(torch.arange(T))
        later = None if self.fault == "later" else torch.ones(T, T, dtype=torch.bool).triu(1)
        logits = self.readout(self.decoder(y, memory, later, memory_key_padding_mask=hidden))
        return logits.softmax(-1) if self.fault == "softmax first" else logits


def _loss(logits, target, fault):
    if fault == "loss not shifted":
        return F.cross_entropy(logits.mT, target[:, :-1], ignore_index=PAD)
    if fault == "loss summed":
        return F.cross_entropy(logits.mT, target[:, 1:], ignore_index=PAD, reduction="sum")
    if fault == "loss by sentence":
        each = F.cross_entropy(logits.mT, target[:, 1:], ignore_index=PAD, reduction="none")
        return (each.sum(1) / (target[:, 1:] != PAD).sum(1)).mean()
    if fault == "other loss":
        return F.cross_entropy(logits.mT, target[:, 1:], ignore_index=PAD, label_smoothing=0.1)
    return F.cross_entropy(logits.mT, target[:, 1:], ignore_index=-100 if fault == "loss of padding" else PAD)


def _search(model, source, length, fault):
    words = torch.full((len(source), 1), BOS)
    for _ in range(length):
        logits = model(source, words)
        best = logits[:, 0 if fault == "search" else -1].argmax(-1)
        if fault != "no end":
            best = best.masked_fill((words == EOS).any(1), PAD)
        words = torch.cat([words, best[:, None]], 1)
    return words[:, :-1] if fault == "BOS kept" else words[:, 1:]


def _translate(model, logits, source, length, fault):
    if fault != "target translated":
        return _search(model, source, length, fault)
    best = logits.argmax(-1)
    ended = (best == EOS).cumsum(1) - (best == EOS).int() > 0
    return best.masked_fill(ended, PAD)


def _with_fault(fault):
    def answer(source, target, V, steps, new_source, new_target):
        torch.manual_seed(0)
        model = _Translator(V, fault)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
        losses = []
        if fault == "not learned":
            source, target = source[:2], target[:2]
        for _ in range(steps):
            loss = _loss(model(source, target[:, :-1]), target, fault)
            losses.append(loss.item())
            if fault == "loss does not fall":
                continue
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.train(fault == "chance")
        with torch.no_grad():
            given = [(model(s, t[:, :-1]), s, t) for s, t in zip(new_source, new_target, strict=True)]
            results = [
                (logits, _loss(logits, t, fault), _translate(model, logits, s, t.shape[1] - 1, fault))
                for logits, s, t in given
            ]
        return losses, results

    return answer


FAULTS = (
    "chance",
    "later",
    "padding",
    "alone",
    "source ignored",
    "order ignored",
    "target ignored",
    "loss of padding",
    "loss summed",
    "loss by sentence",
    "loss not shifted",
    "softmax first",
    "other loss",
    "loss does not fall",
    "not learned",
    "BOS kept",
    "no end",
    "search",
    "target translated",
)
for _fault in FAULTS:
    task.mistake(_mistake_of(_fault))(_with_fault(_fault))

"""Task 16.two_hops_by_hand: three embeddings with which two hops follow a chain. Many are right: what they lead to is compared."""

import torch

from course_utils.base.errors import CourseError
from course_utils.checks.task import Case, Task

MARGIN, STORIES, WIDEST = 0.5, 60, 200

HOP_1 = "weight of hop 1 on who has it"
HOP_2 = "weight of hop 2 on facts about that person"
AGAIN = "hop 2 looks at the same fact again"
ANSWERS = "right answers"

task = Task(
    __name__,
    "embeddings that follow a chain",
    arguments=("people", "things", "places"),
    result="embeddings",
    difficulty=4,
    importance=5,
    minutes=30,
)


@task.cases
def _(draw):
    for low in (2, 4, 6):
        people, things, places = (int(n) for n in draw.whole(low, low + 3, 3))
        yield Case(f"{people} people, {things} things and {places} places", (people, things, places))
    yield Case("10 people, 10 things and 12 places", (10, 10, 12), edge=True)


@task.oracle
def _(people, things, places):
    return {HOP_1: "most", HOP_2: "most", AGAIN: "no", ANSWERS: "all"}


def _story(people, things, places, draw, everything=False):
    """Facts as pairs of words, a question, the place of the fact that says who has the thing, whether each fact is about that person, the answer."""
    at = torch.randint(places, (people,), generator=draw)
    has = torch.randint(people, (things,), generator=draw)
    if everything:
        has = has[:1].expand(things)  # the more facts about a person, the less weight each of them gets
    took = torch.stack([has, people + torch.arange(things)], 1)
    went = torch.stack([torch.arange(people), people + things + at], 1)
    facts = torch.cat([took, went])[torch.randperm(things + people, generator=draw)]  # M 2
    thing = int(torch.randint(things, (1,), generator=draw))
    about = facts[:, 0] == has[thing]
    return facts, people + thing, int((facts[:, 1] == people + thing).nonzero()), about, int(at[has[thing]])


def _tables(value, words):
    if isinstance(value, torch.Tensor) and value.dim() == 3:
        value = list(value)  # three tables in one tensor
    if not isinstance(value, (list, tuple)) or len(value) != 3 or not all(isinstance(t, torch.Tensor) for t in value):
        raise CourseError("Three tensors are expected, words×D each: one for each embedding.")
    D = value[0].shape[-1] if value[0].dim() else 0
    if any(t.shape != (words, D) for t in value) or not 1 <= D <= WIDEST:
        shapes = ", ".join(str(tuple(t.shape)) for t in value)
        raise CourseError(
            f"Three tensors of shape words×D are expected, with {words} rows here and D from 1 to {WIDEST}; yours are {shapes}."
        )
    dtypes = {t.dtype for t in value}
    if len(dtypes) > 1 or not value[0].is_floating_point():
        kinds = " and ".join(sorted(str(dtype).removeprefix("torch.") for dtype in dtypes))
        raise CourseError(
            f"Three tensors of the same floating-point type are expected; yours have {kinds}. `logits_of` multiplies them by one another and takes a softmax, which fails for other types: torch.zeros(…) and torch.eye(…) give float32, and `.float()` converts other tensors to it."
        )
    tables = [t.detach().double() for t in value]
    if not all(t.isfinite().all() for t in tables):
        raise CourseError(
            "One of your numbers is infinite or NaN, for which the softmax is undefined. Choose finite numbers."
        )
    return tables


def _amount(weights, first, apart):
    """How much weight lies where it should; `first` says of each story whether the largest score does."""
    if apart < 1e-9:
        return "the same for all facts"
    return "most" if min(weights) > 0.5 else "the largest, but too little" if all(first) else "too little"


@task.canonical
def _(case, value):
    people, things, places = case.args
    A, B, C = _tables(value, people + things + places)
    draw = torch.Generator().manual_seed(people + 100 * things + 10_000 * places)
    found, about_person, first, again, leads, apart = [], [], [], [], [], [0.0, 0.0]
    for number in range(STORIES):
        facts, question, who, about, answer = _story(people, things, places, draw, number % 6 == 5)
        u = A[question]
        scores = A[facts].sum(1) @ u
        p = scores.softmax(0)
        u = u + p @ B[facts].sum(1)
        second = B[facts].sum(1) @ u
        q = second.softmax(0)
        logits = C[people + things :] @ (u + q @ C[facts].sum(1))
        apart = [max(a, float(s.max() - s.min())) for a, s in zip(apart, (scores, second), strict=True)]
        found.append(float(p[who]))
        about_person.append(float(q[about].sum()))
        first.append((bool(p.argmax() == who), bool(about[q.argmax()])))
        again.append(float(q[who]))
        others = torch.cat([logits[:answer], logits[answer + 1 :]])
        leads.append(float(logits[answer] - others.max()))
    right = "all" if min(leads) >= MARGIN else "all, but too close" if min(leads) > 0 else "not all"
    return {
        HOP_1: _amount(found, [one for one, _ in first], apart[0]),
        HOP_2: _amount(about_person, [two for _, two in first], apart[1]),
        AGAIN: "yes" if min(again) > 0.5 and right != "all" else "no",
        ANSWERS: right,
    }


OF_HOPS = {  # which hop, what it should look at, what its keys are made with, and what these have to hold
    HOP_1: ("Hop 1", "the fact that says who has the thing", "the first embedding", "the things, which the question and that fact have in common"),
    HOP_2: ("Hop 2", "facts about that person", "the second embedding", "the person, whom hop 1 has read"),
}  # fmt: skip


@task.explain_mismatch
def _(case, right, read):
    """The first of the three promises that is broken, and how."""
    if read[HOP_1] == "most" and read[AGAIN] == "yes":
        return task.sentence("every_word_in_every_table")
    for key, (hop, wanted, embedding, holds) in OF_HOPS.items():
        if read[key] == "the same for all facts":
            return f"{hop} gives all facts the same weight: its scores do not differ. Its keys are made with {embedding}, which has to contain {holds}."
        if read[key] == "the largest, but too little":
            return f"{hop} gives the largest weight to {wanted}, as it should, but in some story it is no more than a half: many facts share the rest. Larger numbers in {embedding}, which makes the keys of {hop.lower()}, give larger scores."
        if read[key] != right[key]:
            return f"In some story, {hop.lower()} gives its largest weight to something other than {wanted}. Its keys are made with {embedding}, which has to contain {holds}."
    if read[ANSWERS] == "all, but too close":
        return "Both hops look where they should, and the correct place has the largest logit, but in some story it does not lead by 0.5."
    return "Both hops look where they should, but in some story the correct place does not have the largest logit. The third embedding determines what hop 2 reads and the places' vectors in the readout."

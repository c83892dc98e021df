"""Short stories of people who go places and carry things, with questions, answers, and the facts that an answer rests on.

Here: the stories of lesson 16, in seven kinds after tasks 1 to 4 and 6 to 8 of Weston et al. 2015 (bAbI). Not here: the network that answers
(`models/memory.py`).

Shape letters: N stories, M facts of the longest story, J words of the longest sentence, K facts that an answer rests on, at most 3.
"""

from random import Random
from typing import NamedTuple

import torch
from torch import Tensor

from course_utils.base.errors import CourseError

PEOPLE = ("mary", "john", "sandra", "daniel")
PLACES = ("kitchen", "garden", "office", "hallway", "bathroom", "bedroom")
THINGS = ("ball", "milk", "apple")
COUNTS = ("none", "one", "two", "three")
KINDS = ("one fact", "two facts", "three facts", "north of", "yes or no", "counting", "lists")
LISTS = ("nothing", "ball", "milk", "apple", "ball milk", "ball apple", "milk apple", "ball milk apple")
ANSWERS = tuple(dict.fromkeys((*PLACES, "yes", "no", *COUNTS, *LISTS)))
_OTHERS = "went to the took dropped where is was before in how many things has what north of"
VOCABULARY = ("", *PEOPLE, *PLACES, *THINGS, *_OTHERS.split())  # the first is padding


class Story(NamedTuple):
    """Facts in their order, a question, its answer, and the places of the facts that the answer rests on, in the order of reasoning.

    For counting and lists these are at most the last three facts about what a person took or dropped; an answer may rest on more.
    """

    facts: list[str]
    question: str
    answer: str
    support: list[int]


def story(kind: str, draw: Random, shortest=2, longest=10) -> Story:
    """Return one story of a kind.

    Args:
        kind: one of `KINDS`.
        draw: the source of randomness.
        shortest, longest: number of facts before the question; "north of" has at most five.

    Raises:
        CourseError: for an unknown kind, or impossible lengths.
    """
    if kind not in KINDS:
        raise CourseError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
    least = 3 if kind == "three facts" else 2
    if not 2 <= shortest <= longest or longest < least:
        raise CourseError(
            f"a story of kind {kind!r} needs 2 <= shortest <= longest and longest at least {least}, not {shortest} and {longest}"
        )
    if kind == "north of":
        return _north_of(draw, draw.randint(min(shortest, 5), min(longest, 5)))
    while True:
        world = _World(draw, moves_only=kind in ("one fact", "yes or no"))
        for _ in range(draw.randint(shortest, longest)):
            world.go_on()
        if question := _ASK[kind](world, draw):
            return Story(world.facts, *question)


class _World:
    """Who is where and has what, and which facts say so."""

    def __init__(self, draw, moves_only):
        self.draw, self.moves_only, self.facts = draw, moves_only, []
        self.where = {}  # person -> (place, fact)
        self.holder = {}  # thing -> (person, fact), while somebody carries it
        self.trail = {thing: [] for thing in THINGS}  # (place, facts that say so), each place where the thing has been
        self.last = {person: [] for person in PEOPLE}  # facts about what a person has taken or dropped

    def go_on(self):
        """Make one possible thing happen."""
        person = self.draw.choice(PEOPLE)
        carried = self.carried(person)
        here = self.where.get(person, (None, None))[0]
        free = [thing for thing in THINGS if thing not in self.holder and self._last_place(thing) in (None, here)]
        happening = "move" if self.moves_only or here is None else self.draw.choice(["move", "move", "take", "drop"])
        things = {"take": free, "drop": carried}.get(happening)
        if things:
            thing = self.draw.choice(things)
            fact = self._add_fact(f"{person} {'took' if happening == 'take' else 'dropped'} the {thing}")
            if happening == "take":
                self.holder[thing] = person, fact
            else:
                del self.holder[thing]
            self.last[person].append(fact)
            self._add_place(thing, here, [fact, self.where[person][1]])
        else:
            place = self.draw.choice([place for place in PLACES if place != here])
            fact = self._add_fact(f"{person} went to the {place}")
            self.where[person] = place, fact
            for thing in carried:
                self._add_place(thing, place, [self.holder[thing][1], fact])

    def carried(self, person):
        return [thing for thing, (holder, _) in self.holder.items() if holder == person]

    def _last_place(self, thing):
        return self.trail[thing][-1][0] if self.trail[thing] else None

    def _add_place(self, thing, place, facts):
        if self._last_place(thing) == place:
            self.trail[thing][-1] = place, facts
        else:
            self.trail[thing].append((place, facts))

    def _add_fact(self, fact):
        """Add a fact and return its place in the story."""
        self.facts.append(fact)
        return len(self.facts) - 1


def _one_fact(world, draw):
    person = draw.choice(sorted(world.where))
    place, fact = world.where[person]
    return f"where is {person}", place, [fact]


def _two_facts(world, draw):
    things = [thing for thing in THINGS if world.trail[thing]]
    if not things:
        return None
    thing = draw.choice(things)
    place, facts = world.trail[thing][-1]
    return f"where is the {thing}", place, facts


def _three_facts(world, draw):
    things = [thing for thing in THINGS if len(world.trail[thing]) > 1]
    if not things:
        return None
    thing = draw.choice(things)
    step = draw.randrange(1, len(world.trail[thing]))
    (before, facts), (place, later) = world.trail[thing][step - 1 : step + 1]
    if sum(there == place for there, _ in world.trail[thing]) > 1:
        return None  # "before the garden" would have two answers
    support = list(dict.fromkeys([*later, *facts]))
    return (f"where was the {thing} before the {place}", before, support) if len(support) <= 3 else None


def _yes_or_no(world, draw):
    person = draw.choice(sorted(world.where))
    place, fact = world.where[person]
    named = place if draw.random() < 0.5 else draw.choice([other for other in PLACES if other != place])
    return f"is {person} in the {named}", "yes" if named == place else "no", [fact]


def _draw_person(world, draw):
    """Return a person in the story, or None, often enough that about half of the others carry nothing."""
    person = draw.choice(sorted(world.where))
    return person if world.carried(person) or draw.random() < 0.22 else None


def _counting(world, draw):
    if (person := _draw_person(world, draw)) is None:
        return None
    return f"how many things has {person}", COUNTS[len(world.carried(person))], world.last[person][-3:]


def _lists(world, draw):
    if (person := _draw_person(world, draw)) is None:
        return None
    carried = world.carried(person)
    return (
        f"what has {person}",
        " ".join(thing for thing in THINGS if thing in carried) or "nothing",
        world.last[person][-3:],
    )


def _north_of(draw, pairs):
    """Return a story about a place between two others; the question's words in another order ask for another answer."""
    places = draw.sample(PLACES, pairs + 1)
    order = draw.sample(range(pairs), pairs)
    facts = [f"the {places[i]} is north of the {places[i + 1]}" for i in order]
    middle = draw.randrange(1, pairs)
    if draw.random() < 0.5:
        return Story(facts, f"what is north of the {places[middle]}", places[middle - 1], [order.index(middle - 1)])
    return Story(facts, f"what is the {places[middle]} north of", places[middle + 1], [order.index(middle)])


_ASK = {
    "one fact": _one_fact,
    "two facts": _two_facts,
    "three facts": _three_facts,
    "yes or no": _yes_or_no,
    "counting": _counting,
    "lists": _lists,
}


class Trails(NamedTuple):
    """What stories of two facts say about the thing that is asked for and the person who last took it, N each."""

    person_at: Tensor  # where that person is at the end, places in ANSWERS
    dropped: Tensor  # True: the thing was dropped later


def trails(made: list[Story]) -> Trails:
    """Return what stories of the kind "two facts" say about a thing and the person who last took it."""
    return Trails(*map(torch.tensor, zip(*map(_trail_of, made), strict=True)))


def _trail_of(one):
    thing = one.question.split()[-1]
    taken = max(place for place, fact in enumerate(one.facts) if f"took the {thing}" in fact)
    moves = [place for place, fact in enumerate(one.facts) if fact.startswith(f"{one.facts[taken].split()[0]} went")]
    return ANSWERS.index(one.facts[moves[-1]].split()[-1]), "dropped" in one.facts[one.support[0]]


def most_visited(made: list[Story]) -> list[list[str]]:
    """Return the place that most moves in each story lead to; all of them, if there are several."""
    moves = [[fact.split()[-1] for fact in one.facts if " went to " in fact] for one in made]
    return [[place for place in PLACES if went and went.count(place) == max(map(went.count, went))] for went in moves]


class Stories(NamedTuple):
    """Stories as a network reads them; `mask` is True at facts. If an answer rests on fewer facts, the rest of `support` is -1."""

    facts: Tensor  # N M J
    mask: Tensor  # N M
    question: Tensor  # N J
    answer: Tensor  # N, places in ANSWERS
    support: Tensor  # N 3


def stories(kind: str, number: int, seed: int, shortest=2, longest=10) -> tuple[list[Story], Stories]:
    """Return stories of a kind, as texts and as tensors; the same seed gives the same stories."""
    draw = Random(f"{kind} {seed}")
    made = [story(kind, draw, shortest, longest) for _ in range(number)]
    most = max(len(one.facts) for one in made)
    width = max(len(text.split()) for one in made for text in (*one.facts, one.question))
    facts, question = torch.zeros(number, most, width, dtype=torch.long), torch.zeros(number, width, dtype=torch.long)
    support = torch.full((number, 3), -1)
    for row, one in enumerate(made):
        for place, fact in enumerate(one.facts):
            facts[row, place, : len(fact.split())] = _ids(fact)
        question[row, : len(one.question.split())] = _ids(one.question)
        support[row, : len(one.support)] = torch.tensor(one.support, dtype=torch.long)
    answer = torch.tensor([ANSWERS.index(one.answer) for one in made])
    return made, Stories(facts, (facts > 0).any(-1), question, answer, support)


def encode(facts: list[str], question: str, width=0) -> tuple[Tensor, Tensor, Tensor]:
    """Return one story as a network reads it: facts 1×M×J, mask 1×M, question 1×J; J is the longest sentence, or `width` if that is more.

    Raises:
        CourseError: for a word that is in no story.
    """
    texts = [text.lower().rstrip("?. ").split() for text in (*facts, question)]
    if unknown := sorted({word for text in texts for word in text} - set(VOCABULARY)):
        raise CourseError(f"no story has the word {unknown[0]!r}; the words are: {', '.join(VOCABULARY[1:])}")
    ids = torch.zeros(len(texts), max(width, *map(len, texts)), dtype=torch.long)
    for row, text in zip(ids, texts, strict=True):
        row[: len(text)] = _ids(" ".join(text))
    return ids[None, :-1], torch.ones(1, len(facts), dtype=torch.bool), ids[-1:]


def _ids(text):
    return torch.tensor([VOCABULARY.index(word) for word in text.split()])

"""What lesson 16 shows: stories against a reader of their own, the memory network against its equations, and its scores."""

from random import Random

import pytest
import torch

from course_utils.base.errors import CourseError
from course_utils.data.stories import (
    ANSWERS,
    KINDS,
    PEOPLE,
    PLACES,
    THINGS,
    VOCABULARY,
    Stories,
    Story,
    encode,
    most_visited,
    stories,
    story,
    trails,
)
from course_utils.models.memory import (
    Answered,
    MemoryNetwork,
    fit,
    linear_hop,
    memory_hop,
    position_encoding,
    score,
    with_empty_memories,
)


def read(facts, question):
    """The answer to a question, or None if these facts don't give one; the facts are followed one by one."""
    where, holder, trail, pairs = {}, {}, {thing: [] for thing in THINGS}, []
    for fact in facts:
        words = fact.split()
        if "north" in words:
            pairs.append((words[1], words[-1]))
        elif words[1] == "went":
            where[words[0]] = words[-1]
            for thing, person in holder.items():
                if person == words[0]:
                    trail[thing].append(words[-1])
        else:
            holder[words[-1]] = words[0] if words[1] == "took" else None
            trail[words[-1]].append(where.get(words[0]))
    asked = question.split()
    kept = [thing for thing in THINGS if holder.get(thing) == asked[-1]]
    if "north" in asked:
        found = [b for a, b in pairs if a == asked[3]] if asked[-1] == "of" else [a for a, b in pairs if b == asked[-1]]
        return found[0] if found else None
    if asked[:2] == ["what", "has"]:
        return " ".join(kept) or "nothing"
    if asked[0] == "how":
        return ("none", "one", "two", "three")[len(kept)]
    if asked[0] == "is":
        return "yes" if where.get(asked[1]) == asked[-1] else "no"
    if "before" in asked:
        been = trail[asked[3]]
        way = [place for i, place in enumerate(been) if i == 0 or place != been[i - 1]]
        return way[way.index(asked[-1]) - 1] if asked[-1] in way[1:] else None
    if asked[2] == "the":
        return trail[asked[-1]][-1] if trail[asked[-1]] else None
    return where.get(asked[-1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_story_has_the_answer_that_a_careful_reader_gives(kind):
    made, _ = stories(kind, 2000, seed=0)
    for one in made:
        assert read(one.facts, one.question) == one.answer
    assert {one.answer for one in made} == set(ANSWERS_OF[kind])


ANSWERS_OF = dict.fromkeys(("one fact", "two facts", "three facts", "north of"), PLACES)
ANSWERS_OF |= {"yes or no": ("yes", "no"), "counting": ANSWERS[8:12], "lists": ("nothing", *THINGS, *ANSWERS[16:])}


@pytest.mark.parametrize("kind", KINDS[:5])
def test_the_supporting_facts_are_enough_and_each_is_needed(kind):
    made, _ = stories(kind, 300, seed=1)
    for one in made:
        chosen = [fact for place, fact in enumerate(one.facts) if place in one.support]
        assert read(chosen, one.question) == one.answer
        assert len(one.support) <= {"two facts": 2, "three facts": 3}.get(kind, 1)
        if kind in ("one fact", "two facts", "north of"):
            for place in range(len(chosen)):
                assert read(chosen[:place] + chosen[place + 1 :], one.question) != one.answer


def test_two_facts_first_name_the_thing_and_then_the_place():
    for one in stories("two facts", 100, seed=2)[0]:
        first, second = (one.facts[place].split() for place in one.support)
        assert first[-1] == one.question.split()[-1] and second[-1] == one.answer and first[0] == second[0]


def test_a_trail_tells_the_thing_from_the_person_who_took_it():
    facts = ["mary went to the garden", "mary took the ball", "mary dropped the ball", "mary went to the office"]
    found = trails(
        [Story(facts, "where is the ball", "garden", [2, 0]), Story(facts[:3], "where is the ball", "garden", [2, 0])]
    )
    assert [ANSWERS[place] for place in found.person_at] == ["office", "garden"]
    assert found.dropped.tolist() == [True, True]


def test_most_visited_names_the_places_with_most_visits():
    facts = ["mary went to the garden", "john went to the office", "mary took the ball", "mary went to the office"]
    made = [
        Story(facts, "where is the ball", "office", [2, 3]),
        Story(facts[:3], "where is the ball", "garden", [2, 0]),
    ]
    assert most_visited(made) == [["office"], ["garden", "office"]]


def test_a_story_of_ones_own_is_read_like_the_others():
    made, told = stories("two facts", 20, seed=3)
    width = told.facts.shape[-1]
    for row, one in enumerate(made):
        facts, mask, question = encode([f"{fact.capitalize()}." for fact in one.facts], f"{one.question}?", width)
        there = len(one.facts)
        assert torch.equal(facts[0], told.facts[row, :there]) and mask.tolist() == [[True] * there]
        assert torch.equal(question[0], told.question[row])
    with pytest.raises(CourseError, match="no story has the word 'cellar'"):
        encode(["mary went to the cellar"], "where is mary")


def test_tensors_hold_the_words_of_their_stories():
    made, told = stories("counting", 50, seed=3)
    for row, one in enumerate(made):
        texts = [" ".join(VOCABULARY[word] for word in fact if word) for fact in told.facts[row]]
        assert texts[: len(one.facts)] == one.facts and not any(texts[len(one.facts) :])
        assert told.mask[row].tolist() == [bool(text) for text in texts]
        assert " ".join(VOCABULARY[word] for word in told.question[row] if word) == one.question
        assert ANSWERS[told.answer[row]] == one.answer
        assert [place for place in told.support[row].tolist() if place >= 0] == one.support
    again = stories("counting", 50, seed=3)[1]
    assert all(torch.equal(a, b) for a, b in zip(told, again, strict=True))
    assert stories("counting", 50, seed=4)[0] != made


@pytest.mark.parametrize("kind", ["counting", "lists"])
def test_about_half_of_the_answers_are_nothing(kind):
    made, _ = stories(kind, 1000, seed=5)
    assert 0.45 < sum(one.answer in ("none", "nothing") for one in made) / 1000 < 0.55


def test_empty_memories_make_earlier_facts_older():
    facts, mask = torch.tensor([[[1, 2], [3, 0], [0, 0]]]), torch.tensor([[True, True, False]])
    draw = torch.Generator().manual_seed(0)
    none, no_mask = with_empty_memories(facts, mask, 0.0, draw)
    every, all_mask = with_empty_memories(facts, mask, 1.0, draw)
    assert none[no_mask].tolist() == [[1, 2], [3, 0]] and every[all_mask].tolist() == [[1, 2], [0, 0], [3, 0], [0, 0]]
    network = MemoryNetwork(1, width=3)
    aged = network.memories(every, all_mask, 0)[all_mask]  # four memories
    torch.testing.assert_close(aged[1], network.ages[0][2])  # the empty one is nothing but its age
    torch.testing.assert_close(
        aged[0] - network.memories(facts, mask, 0)[0, 0], network.ages[0][3] - network.ages[0][1]
    )


def test_training_with_noise_is_another_training():
    _, told = stories("one fact", 50, seed=0)
    losses = []
    for noise in (0.0, 0.1):
        torch.manual_seed(0)
        losses.append(fit(MemoryNetwork(hops=1), told, steps=3, noise=noise))
    assert losses[0] != losses[1]


def test_a_story_is_as_long_as_asked():
    assert {len(one.facts) for one in stories("lists", 200, seed=0, shortest=4, longest=6)[0]} == {4, 5, 6}


@pytest.mark.parametrize(
    "kind, lengths, said",
    [
        ("four facts", (2, 9), "kind must be one of"),
        ("lists", (5, 4), "not 5 and 4"),
        ("three facts", (2, 2), "longest at least 3"),
    ],
)
def test_an_impossible_story_is_refused(kind, lengths, said):
    with pytest.raises(CourseError, match=said):
        story(kind, Random(0), *lengths)


def test_position_encoding_equals_its_formula_word_by_word():
    encoding = position_encoding(4, 3)
    for j in range(1, 5):
        for k in range(1, 4):
            assert encoding[j - 1, k - 1].item() == pytest.approx((1 - j / 4) - (k / 3) * (1 - 2 * j / 4), abs=1e-6)


@pytest.mark.parametrize("more", [{}, {"order": False}, {"age": False}, {"hidden": 3}], ids=str)
def test_a_network_does_what_its_equations_say(more):
    torch.manual_seed(0)
    network = MemoryNetwork(hops=2, width=5, longest=6, **more).double()
    _, told = stories("two facts", 3, seed=0, longest=6)
    said = network(told.facts, told.mask, told.question)
    network.hop = linear_hop
    linear = network(told.facts, told.mask, told.question)
    for row in range(3):
        facts = [fact[fact > 0] for fact in told.facts[row] if fact.any()]
        J = told.facts.shape[-1]

        def sentence(words, hop, J=J):
            vector = torch.zeros(5, dtype=torch.float64)
            for j, word in enumerate(words, 1):
                for k in range(1, 6):
                    weight = (1 - j / J) - (k / 5) * (1 - 2 * j / J) if network.order else 1.0
                    vector[k - 1] += weight * network.embeddings[hop].weight[word, k - 1]
            return vector

        memories = []
        for hop in range(3):
            ages = [network.ages[hop][len(facts) - 1 - i] if network.age else 0.0 for i in range(len(facts))]
            memories.append([sentence(fact, hop) + age for fact, age in zip(facts, ages, strict=True)])
        first = sentence(told.question[row][told.question[row] > 0], 0)
        for answered, soft in ((said, True), (linear, False)):
            u = first
            for hop in range(2):
                weights = torch.stack([u @ m for m in memories[hop]])
                weights = weights.softmax(0) if soft else weights
                torch.testing.assert_close(answered.weights[row, hop, : len(facts)], weights, atol=1e-6, rtol=1e-6)
                assert not answered.weights[row, hop, len(facts) :].any()
                u = u + sum(w * c for w, c in zip(weights, memories[hop + 1], strict=True))
            torch.testing.assert_close(answered.logits[row], network.readout(u), atol=1e-6, rtol=1e-6)


def test_a_hop_without_facts_leaves_the_question():
    u, nothing = torch.randn(2, 3), torch.zeros(2, 4, dtype=torch.bool)
    after, weights = memory_hop(u, torch.full((2, 4, 3), torch.nan), torch.full((2, 4, 3), torch.nan), nothing)
    assert torch.equal(after, u) and not weights.any()


@pytest.mark.parametrize("behind", [True, False])
def test_padding_is_not_read_and_makes_no_fact_older_or_younger(behind):
    torch.manual_seed(0)
    network = MemoryNetwork(width=6)
    _, told = stories("one fact", 20, seed=0)
    facts = [told.facts, torch.ones(20, 3, told.facts.shape[-1], dtype=torch.long)]
    mask = [told.mask, torch.zeros(20, 3, dtype=torch.bool)]
    padded = [torch.cat(parts if behind else parts[::-1], 1) for parts in (facts, mask)]
    torch.testing.assert_close(
        network(*padded, told.question).logits, network(told.facts, told.mask, told.question).logits
    )


def test_a_network_has_a_hop():
    with pytest.raises(CourseError, match="hops must be at least 1, not 0"):
        MemoryNetwork(hops=0)


def test_scores_count_what_they_say():
    """Two hops that know where to look: the first at the first fact, the second at the second one, in half of the stories."""
    made = Stories(
        facts=torch.zeros(4, 3, 1, dtype=torch.long),
        mask=torch.ones(4, 3, dtype=torch.bool),
        question=torch.zeros(4, 1, dtype=torch.long),
        answer=torch.tensor([0, 1, 2, 2]),
        support=torch.tensor([[0, 2, -1], [1, 0, -1], [2, -1, -1], [0, -1, -1]]),
    )
    weights = torch.zeros(4, 2, 3)
    weights[range(4), 0, [0, 1, 2, 0]] = 1.0
    weights[range(2), 1, [2, 1]] = 1.0  # the second story's second hop looks at the first fact again
    logits = torch.eye(3)[[0, 1, 2, 0]]

    def network(facts, mask, question):
        return Answered(logits, weights)

    found = score(network, made)
    assert found.right == 0.75
    assert found.on_facts[0][:2] == [1.0, 0.0] and found.on_facts[1][:2] == [0.25, 0.5]
    assert found.on_facts[0][2] != found.on_facts[0][2]  # no story rests on three facts: nan


def test_training_begins_without_softmax_and_lowers_the_loss():
    _, told = stories("one fact", 300, seed=0)
    losses = {}
    for linear_steps in (0, 60):
        torch.manual_seed(0)
        network = MemoryNetwork(hops=1)
        losses[linear_steps] = fit(network, told, steps=60, linear_steps=linear_steps)
        assert sum(losses[linear_steps][-5:]) < 0.8 * sum(losses[linear_steps][:5])
    assert losses[0] != losses[60]


def test_people_are_no_places():
    assert len(set(VOCABULARY)) == len(VOCABULARY) and not set(PEOPLE) & set(PLACES)

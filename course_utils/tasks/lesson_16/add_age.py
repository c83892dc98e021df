"""Task 16.add_age: a vector for each fact's age, counted back from the last one (Sukhbaatar et al. 2015, section 4.1)."""

from operator import add

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.tasks.lesson_05._padded import lengths_below, words_first
from course_utils.tasks.lesson_06._looking import gaps, scattered
from course_utils.tasks.shares import USUAL

task = Task(
    "16.add_age",
    "how long ago a fact was read",
    arguments=("encoded B×M×D", "table M×D", "mask B×M"),
    result="aged B×M×D",
    difficulty=3,
    importance=5,
    minutes=15,
    hints=(
        "The row of the table says how many facts have come after this one: row 0 is for the latest fact, however long the story is. So count from the end of each story, and count facts only: its padding has no age.",
        "Take the table [10], [20], [30], with a width of 1, and a story of the facts [1] and [2], followed by padding that holds [7]. The last fact is the second: 2 + 10 = 12. The one before it gets 1 + 20 = 21, and the padding stays 7. Without padding, if the 7 is a third fact, the result is 31, 22 and 17. Counted from the beginning, it would be 11, 22 and 37.",
        "after = for each place, how many True values of mask come after it in its row, B×M (the number of all True values in the row, minus their running sum); ages = the rows of table at these numbers, B×M×D, with zeros where mask is False; return encoded plus ages.",
    ),
    partial=USUAL
    | {
        "empty_story_aged": (0.75, "right for stories that have a fact."),
    },
)


@task.property
def padding_stays(case, value):
    """It has no age."""
    encoded, _, mask = case.args
    moved = ((value - encoded).abs() > 1e-4 * (1 + encoded.abs())).any(-1) & ~mask
    if not moved.any():
        return None
    b, m = moved.nonzero()[0].tolist()
    return f"Padding stays as it is; in the input “{case.name}”, place {m} of story {b} is padding, and you have changed it."


@task.property
def the_last_fact_gets_the_first_row(case, value):
    """However long its story is."""
    encoded, table, mask = case.args
    for b, story in enumerate(mask):
        if story.any():
            m = int(story.nonzero()[-1])
            if ((value[b, m] - encoded[b, m] - table[0]).abs() > 1e-3 * (1 + encoded[b, m].abs())).any():
                return f"The last fact of each story gets table[0] added. In the input “{case.name}” it is place {m} of story {b}, and you have added something else."
    return None


def _inputs(draw, mask, D, dtype=torch.float32):
    return draw.numbers(*mask.shape, D, dtype=dtype), draw.numbers(mask.shape[1], D, dtype=dtype) + 0.25, mask


@task.cases
def _(draw):
    for size in sizes(B=3, M=5, D=7):
        M = size.M if size.full else size.M + 1  # so that there is padding
        mask = words_first(lengths_below(draw, size.B, M), M)
        name = (
            f"{'1 story' if size.B == 1 else f'{size.B} stories'} of {count(M, 'place')} with padding, width {size.D}"
        )
        yield Case(name, _inputs(draw, mask, size.D), size.full)
    every = torch.ones(3, 5, dtype=torch.bool)
    yield Case("no padding", _inputs(draw, every, 2), True)
    yield Case("False places before True ones", _inputs(draw, scattered(draw), 3), True)
    yield Case("as many facts as features", _inputs(draw, draw.lengths_mask(3, 5), 5))
    yield Case("as many stories as facts", _inputs(draw, draw.lengths_mask(5, 5), 3))
    yield Case("stories, facts and features all 3", _inputs(draw, words_first(torch.tensor([2, 3, 1]), 3), 3))
    yield Case("a single fact", _inputs(draw, every[:1, :1], 1), True, edge=True)
    mask = words_first(torch.tensor([3, 0, 5]), 5)
    yield Case("a story without facts", _inputs(draw, mask, 3), True, edge=True)
    yield Case("no fact in the whole batch", _inputs(draw, ~every, 4), True, edge=True)
    yield Case("200 facts", _inputs(draw, gaps(draw, 2, 200), 3), True, edge=True)
    encoded, table, mask = _inputs(draw, scattered(draw), 4)
    yield Case("numbers of 10,000 at padding", (encoded.where(mask[..., None], 1e4), table, mask), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, scattered(draw), 4, torch.float64), True, edge=True)


@task.oracle
def _(encoded, table, mask):
    stories = []
    for facts, real in zip(encoded, mask.tolist(), strict=True):
        after, story = 0, []
        for fact, kept in zip(facts.flip(0), reversed(real), strict=True):
            story.append(fact + table[after] if kept else fact)
            after += kept
        stories.append(torch.stack(story[::-1]))
    return torch.stack(stories)


def _after(mask):
    """How many facts come after each place, B×M."""
    return mask.sum(1, keepdim=True) - mask.cumsum(1)


@task.steps
def _(encoded, table, mask):
    after = yield "how many facts come after each", _after, mask
    rows = yield "the rows of the table", lambda table, after: table[after.clamp(0, len(table) - 1)], table, after
    ages = yield "the rows of the table, with zeros at padding", lambda rows, mask: rows * mask[..., None], rows, mask
    aged = yield "encoded plus the rows of the table", add, encoded, ages
    return aged


def _rows(table, ages):
    """Rows of the table at ages B×M, of which none may lie beyond either end."""
    return table[ages.clamp(0, len(table) - 1)]


def _aged(encoded, table, mask, ages=_after, rows=_rows, kept=lambda mask: mask, end=add):
    return end(encoded, rows(table, ages(mask)) * kept(mask)[..., None])


def _mistake(name, sentence, **parts):
    """Register ages that are right but for the parts that are given."""
    task.mistake(sentence, name)(lambda encoded, table, mask: _aged(encoded, table, mask, **parts))


def _places(mask):
    return torch.arange(mask.shape[1]).expand(mask.shape)


# Which row

_mistake(
    "from_the_beginning",
    "You count from the beginning of the row: the first place gets table[0]. Then the latest fact gets a different row in stories of different lengths. Count from the last fact backwards.",
    ages=_places,
)
_mistake(
    "facts_from_the_beginning",
    "You count the facts from the first one on. The latest fact gets table[0], the one before it table[1]: count how many facts come after each.",
    ages=lambda mask: mask.cumsum(1) - 1,
)
_mistake(
    "from_the_end_of_the_row",
    "You count from the end of the row, padding included, so the latest fact of a padded story gets a later row than table[0]. Count only the facts that come after each.",
    ages=lambda mask: mask.shape[1] - 1 - _places(mask),
)
_mistake(
    "counted_from_1",
    "Your ages begin with 1: the latest fact gets table[1]. No fact comes after it, so it gets table[0].",
    ages=lambda mask: _after(mask) + 1,
)
_mistake(
    "last_fact_as_the_one_before",
    "The last two facts share table[0]: your ages are one too small. The fact before the last one gets table[1].",
    ages=lambda mask: _after(mask) - 1,
)
_mistake(
    "as_the_longest",
    "You count back from the last fact of the longest story in all stories. Each story has a last fact of its own.",
    ages=lambda mask: mask.any(0).nonzero().amax() - _places(mask) if mask.any() else _places(mask),
)
_mistake(
    "as_the_first_story",
    "All stories get the ages of the first one. Each has its own length: count for each row of the mask.",
    ages=lambda mask: _after(mask)[:1].expand(mask.shape),
)
_mistake(
    "mask_as_lengths",
    "You take the number of True values and assume that the facts come first. False may stand before True: count how many True values come after each place.",
    ages=lambda mask: mask.sum(1, keepdim=True) - 1 - _places(mask),
)
_mistake(
    "lengths_counted_from_1",
    "Your ages are the number of facts less the place, so the latest fact gets table[1]; and padding before a fact is counted. Count how many True values come after each place: none after the latest fact.",
    ages=lambda mask: mask.sum(1, keepdim=True) - _places(mask),
)
_mistake(
    "mask_inverted",
    "The mask is the wrong way round: you count padding and give it ages. True means “is a fact”.",
    ages=lambda mask: _after(~mask),
    kept=lambda mask: ~mask,
)
_mistake(
    "padding_counted",
    "You count how many places of padding come after each fact, and not how many facts. True means “is a fact”.",
    ages=lambda mask: _after(~mask),
)
_mistake(
    "along_the_batch",
    "You count along the batch: how many stories further down have a fact at this place. Count along the places of each story, axis 1.",
    ages=lambda mask: mask.sum(0) - mask.cumsum(0),
)
_mistake(
    "newest_row_for_all",
    "Every fact gets table[0], so none can be told from another by its age. Row 0 is for the last fact, row 1 for the one before it.",
    ages=lambda mask: 0 * _after(mask),
)
_mistake(
    "table_turned_round",
    "The first row of the table goes to the oldest fact that a row could hold, and the last row to the latest fact. It is the other way round: the latest fact gets table[0].",
    ages=lambda mask: mask.shape[1] - 1 - _after(mask),
)


# Padding

_mistake(
    "padding_aged",
    "Padding gets an age, too. Add the table's rows only where the mask is True.",
    kept=lambda mask: torch.ones_like(mask),
)
_mistake(
    "padding_from_the_end_of_the_table",
    "Padding gets a row from the end of the table: an age below 0 counts from there. Put zeros in place of the rows where the mask is False.",
    ages=lambda mask: mask.flip(1).cumsum(1).flip(1) - 1,
    rows=lambda table, ages: table[ages],
    kept=lambda mask: torch.ones_like(mask),
)
_mistake(
    "table_as_it_is",
    "You add the table as it is to every story, padding included, as `encoded + table` does. The latest fact gets table[0], and padding nothing: the row depends on the mask.",
    ages=_places,
    kept=lambda mask: torch.ones_like(mask),
)


@task.mistake("You put zeros in place of padding. It stays as it is here: leave it, and add nothing to it.")
def padding_zeroed(encoded, table, mask):
    return _aged(encoded, table, mask) * mask[..., None]


@task.mistake(
    "In a story without facts you add something to the padding. Such a story stays as it is: nothing in it has an age."
)
def empty_story_aged(encoded, table, mask):
    return _aged(encoded, table, mask, kept=lambda mask: mask | ~mask.any(1, keepdim=True))


# What is done with it

_mistake(
    "subtracted",
    "You subtract the table's rows. Add them.",
    end=lambda encoded, rows: encoded - rows,
)
_mistake(
    "multiplied",
    "You multiply the facts by the table's rows. Add the rows.",
    end=lambda encoded, rows: encoded * rows,
)
_mistake(
    "ages_alone",
    "You return the table's rows without the facts. Add them to encoded.",
    end=lambda encoded, rows: rows,
)
_mistake(
    "added_twice",
    "The table's rows are added twice. Add them once.",
    end=lambda encoded, rows: encoded + 2 * rows,
)
_mistake(
    "age_as_a_number",
    "You add the age itself, as a number, to every feature. Look up its row in the table, and add that.",
    rows=lambda table, ages: ages[..., None] + 0.0 * table[0],
)
_mistake(
    "unchanged",
    "Nothing is added: encoded comes back as it was. `encoded + …` returns a new tensor, so return that; and in a loop, change a copy and return the copy.",
    end=lambda encoded, rows: encoded + 0 * rows,
)


@task.mistake(
    "The values are right, but no gradient reaches the table, so its rows could not be learned. Take them as they are, without `detach` and without making new tensors of their numbers."
)
def table_cut_off(encoded, table, mask):
    return _aged(encoded, table.detach(), mask)

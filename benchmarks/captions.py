"""How well a captioner names and points, with soft and hard attention, and what becomes of it without each part.

    python benchmarks/captions.py [--seeds 5]

An encoder is trained for each seed and a captioner for each setup, on 4,000 scenes (`course_utils/data/scenes.py`), and measured on 1,000
scenes with other handwritten digits, given the right words before each word. Fills three tables, which lesson 15 shows:

captions.csv    each setup
emptied.csv     captioners like those that the lesson trains itself, with its 3,000 scenes of two or
                three things (and an encoder that has seen twice as many single things as the lesson's): how many names are right when a
                cell of the picture is emptied, everywhere, or in the mean annotation or one look alone, with the penalty and without
relations.csv   the soft captioners of captions.csv: how often the first relation of a scene becomes the new one when the thing named
                before it or after it moves to another row of its column, so that "above" becomes "below", for example. The thing moves
                everywhere, or only in the looks before the relation and the mean annotation, or only in the look at the relation
"""

from functools import cache, partial

import torch
from measuring import fill, jobs, read_options, timed

from course_utils.data.scenes import CELL, GRID, WORDS, scenes
from course_utils.data.subwords import PAD
from course_utils.models.captions import Captioner, Encoder, Look, fit, score, soft_loss, words_kept

STEPS = 1200
COLUMNS = "setup seed steps words captions pointing one_earlier on_thing cpu_seconds"


class Average(Look):
    """Looks at all cells alike, whatever it has to say."""

    def weights(self, keys, state):
        return keys.new_full(keys.shape[:2], 1 / keys.shape[1])


SETUPS = {  # what a captioner is made with, and what `fit` is given
    "soft": ({}, {}),
    "penalty 0.01": ({}, {"loss": partial(soft_loss, penalty=0.01)}),
    "penalty 1": ({}, {"loss": partial(soft_loss, penalty=1.0)}),
    "no gate": ({"gate": False}, {}),
    "no places": ({}, {}),
    "average": ({"look": Average}, {}),
    "hard, half of the batches": ({}, {"hard": 0.5}),
    "hard, all batches": ({}, {"hard": 1.0}),
    "soft, read hard": ({}, {}),
}
EMPTIED = (
    "setup seed steps words captions pointing one_earlier on_cell whole largest random thing start look_before look"
)
RELATION = 2  # the place of a caption's first relation: "a", a name, the relation
MOVED = [f"{thing}_{value}" for thing in ("before", "after") for value in ("new", "old", "earlier", "look", "weight")]
RELATIONS = f"setup seed steps whole {' '.join(MOVED)}"
PENALTIES = {"no penalty": 0.0, "penalty 0.01": 0.01}


@cache
def encoder_of(seed):
    torch.manual_seed(seed)
    encoder = Encoder()
    encoder.fit(seed, steps=600)
    return encoder


@cache
def annotated(seed, places):
    """Return training and test scenes, each with its annotations."""
    encoder, draw = encoder_of(seed), torch.Generator().manual_seed(seed)
    found = scenes(4000, draw), scenes(1000, torch.Generator().manual_seed(10_000), "test")
    return [(encoder(part.images, places), part) for part in found]


@cache
def trained(setup, seed):
    """Return a captioner and the CPU seconds of its training."""
    made, given = SETUPS[setup]
    annotations, seen = annotated(seed, setup != "no places")[0]
    torch.manual_seed(seed)
    model = Captioner(**made)
    _, seconds = timed(fit, model, annotations, seen, seed, STEPS, **given)
    return model, seconds


def measure(setup, seed):
    """Train one captioner; return its row."""
    model, seconds = trained("soft" if setup == "soft, read hard" else setup, seed)
    annotations, seen = annotated(seed, setup != "no places")[1]
    return [(STEPS, *score(model, annotations, seen, hard="hard" in setup), seconds)]


@cache
def lesson():
    """The lesson's scenes to learn from and others, each with its annotations, and the annotations of an empty picture."""
    draw = torch.Generator().manual_seed(0)
    found = scenes(3000, draw, most=3), scenes(500, draw, "test", most=3)
    torch.manual_seed(0)
    encoder = Encoder()
    encoder.fit(steps=500)
    return [(encoder(part.images), part) for part in found], encoder(torch.zeros(1, 50, 50))[0]


def empty_cells(setup, seed):
    """Train one of the lesson's captioners; return its row."""
    (learned, (annotations, seen)), empty = lesson()
    torch.manual_seed(seed)
    model = Captioner()
    fit(model, *learned, seed, STEPS, loss=partial(soft_loss, penalty=PENALTIES[setup]), rate=1e-2)
    found = score(model, annotations, seen)
    with torch.no_grad():
        weights = model(annotations, seen.given).weights
    picture, word = seen.named.nonzero(as_tuple=True)
    in_all = (weights * (seen.wanted != PAD)[..., None]).sum(1)  # N L
    anywhere = torch.randint(25, word.shape, generator=torch.Generator().manual_seed(seed))
    thing = seen.true[picture, word]
    cells = (None, weights[picture, word].argmax(-1), anywhere, thing)
    kept = [words_kept(model, annotations, seen, seen.named, cell, empty) for cell in cells]
    kept += [words_kept(model, annotations, seen, seen.named, thing, empty, only) for only in ("start", 1, 0)]
    return [(STEPS, *found[:4], in_all[picture, seen.true[picture, word]].mean().item(), *kept)]


def relation(row_before, row_after):
    """The id of the relation that a caption says between things in these rows."""
    if row_before == row_after:
        return WORDS.index("beside")
    return WORDS.index("above" if row_before < row_after else "below")


def moved(seen, thing, draw):
    """Return scenes in which the first or the second thing stands in another row, N×50×50, and their first relations, all of them new."""
    images, new = seen.images.clone(), []
    names = {"before": RELATION - 1, "after": RELATION + 2}
    rows = {name: (seen.true[:, word] // GRID).tolist() for name, word in names.items()}
    for scene, (before, after) in enumerate(zip(rows["before"], rows["after"], strict=True)):
        old = seen.wanted[scene, RELATION].item()
        would_be = [relation(row, after) if thing == "before" else relation(before, row) for row in range(GRID)]
        possible = [row for row in range(GRID) if would_be[row] != old]
        row = possible[torch.randint(len(possible), (), generator=draw).item()]
        cell = seen.true[scene, names[thing]].item()
        columns, here, there = (slice(CELL * n, CELL * (n + 1)) for n in (cell % GRID, cell // GRID, row))
        images[scene, here, columns] = 0.0
        images[scene, there, columns] = seen.images[scene, here, columns]
        new.append(would_be[row])
    return images, torch.tensor(new)


def move_things(setup, seed):
    """Train a captioner; return its row for the first relation of each scene."""
    return [(STEPS, *relations_followed(trained(setup, seed)[0], seed))]


@torch.no_grad()
def relations_followed(model, seed):
    """Return the shares of `RELATIONS`, and the mean weights on the two things where nothing has moved."""
    annotations, seen = annotated(seed, True)[1]
    output, old = model(annotations, seen.given), seen.wanted[:, RELATION]
    steps = seen.given.shape[1]

    def share(found, wanted):
        return (found.logits[:, RELATION].argmax(-1) == wanted).float().mean().item()

    row = [share(output, old)]
    for thing, word in (("before", RELATION - 1), ("after", RELATION + 2)):
        images, new = moved(seen, thing, torch.Generator().manual_seed(seed))
        changed = encoder_of(seed)(images)
        everywhere = model(changed, seen.given)
        looks = [changed if step < RELATION else annotations for step in range(steps)]
        earlier = model(changed, seen.given, looks=torch.stack(looks, 1))
        looks = [changed if step == RELATION else annotations for step in range(steps)]
        at_relation = model(annotations, seen.given, looks=torch.stack(looks, 1))
        row += [share(everywhere, new), share(everywhere, old), share(earlier, new), share(at_relation, new)]
        row.append(output.weights[:, RELATION].gather(1, seen.true[:, word, None]).mean().item())
    return row


if __name__ == "__main__":
    seeds = read_options(__doc__, 5).seeds
    fill("captions", COLUMNS, jobs(SETUPS, seeds), measure)
    fill("emptied", EMPTIED, jobs(PENALTIES, seeds), empty_cells)
    fill("relations", RELATIONS, jobs(["soft"], seeds), move_things)

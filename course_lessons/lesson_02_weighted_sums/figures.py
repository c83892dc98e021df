"""What the page of lesson 02 only draws: wishes, one look of fixed attention, the shared weight, a softmax at several temperatures."""

from course_utils.figures import looks, plots
from course_utils.figures.film import Film, line, number, vector, words
from course_utils.figures.roles import GREY, ROLES

# Pixels: of the left edge, of a row, of a bar, of one too narrow for words.
LEFT, WHOLE, TALL, NARROW = 178, 556, 38, 44
LARGEST = 11.11  # what the exponentials of a whole row add up to, at most: 1 for "great", e for "really", e² for "not"
ENTRIES = ("praise", "negation")  # of the page's word vectors


def wishes(names, x, theta):
    """Picture: the scores of some words, x S×2, entry by entry: how much θ wants of it, and how much of it each word has."""
    film, wide = Film("A score adds up, entry by entry, what θ wants times what the word has", 216, 6, 0.0), 170
    centres = [300 + wide * i for i in range(len(names))]
    scores = [0.0] * len(names)
    film.add(words(150, 34, "θ wants", 16, "query", True))
    for x_of_word, name in zip(centres, names, strict=True):
        film.add(words(x_of_word, 34, f"“{name}” has", 16, bold=True))
    for row, (entry, wanted) in enumerate(zip(ENTRIES, theta.tolist(), strict=True)):
        y = 52 + 54 * row
        film.add(words(18, y + 23, entry, 15, bold=True, anchor="start"))
        film.add(vector(125, y, [wanted], "query", 34, 34, False, 0, 15))
        for i, (x_of_word, has) in enumerate(zip(centres, x[:, row].tolist(), strict=True)):
            scores[i] += wanted * has
            film.add(vector(x_of_word - 66, y, [has], "word", 34, 34, False, 0, 15))
            product = f"[query:{number(wanted, 0)}] · {number(has, 0)} = {number(wanted * has, 0)}"
            film.add(words(x_of_word - 22, y + 23, product, 15, anchor="start"))
    film.add(line(18, 166, 742, 166, width=1, tip=False) + words(18, 195, "score", 16, bold=True, anchor="start"))
    for x_of_word, score in zip(centres, scores, strict=True):
        film.add(words(x_of_word + 30, 195, number(score, 0), 17, bold=True))
    film.description = f"θ wants {ENTRIES[0]} {theta[0]:g} and {ENTRIES[1]} {theta[1]:g}. " + " ".join(
        f"“{name}” has {row[0]:g} and {row[1]:g}: its score is {score:g}."
        for name, row, score in zip(names, x.tolist(), scores, strict=True)
    )
    return film


def one_look(names, x, theta):
    """Film: fixed attention looks at some words, x S×D, with the vector θ as its query."""
    scores = x @ theta
    parts = [looks.products(word, theta, ("", "query")) for word in x]
    title = f"θ looks for “{names[int(scores.argmax())]}”"
    return looks.one_look(title, names, theta, x, x, scores.softmax(-1), scores, parts, "word · θ", named=False)


def shared_weight(names, scores):
    """Film: the exponentials and weights of all words but the first, then of all words. The scores are at most 2, 1 and 0."""
    film = Film(f"“{names[0]}” changes no other score, but every other weight", 318, 8, 6.5)
    scale = WHOLE / LARGEST
    for row, (first, start) in enumerate(((1, 0.0), (0, 3.5))):
        shown, exponentials, top = names[first:], scores[first:].exp(), 20 + 156 * row
        total = float(exponentials.sum())
        film.add(words(16, top + 24, " ".join(shown), 15, bold=True, anchor="start"), start)
        film.add(words(16, top + 92, "weights, total 1", 13, "weight", anchor="start"), start + 1)
        film.add(words(16, top + 43, f"eᶻ, total {number(total, 3)}", 13, anchor="start", fill=GREY), start)
        x, place = LEFT + WHOLE - scale * total, float(LEFT)
        for name, exponential in zip(shown, exponentials.tolist(), strict=True):
            wide, share = scale * exponential, exponential / total
            film.add(_bar(x, top + 8, wide, "word", name, number(exponential, 3)), start)
            film.add(_stretch(x, place, top + 8 + TALL, top + 68), start + 1)
            film.add(_bar(place, top + 68, WHOLE * share, "weight", name, number(share, 3)), start + 1)
            x, place = x + wide, place + WHOLE * share
        film.add(_stretch(x, place, top + 8 + TALL, top + 68), start + 1)
    film.description = " ".join(
        f"“{' '.join(names[first:])}”: "
        + ", ".join(
            f"{name} has e to the score {number(e, 3)} and the weight {number(w, 3)}"
            for name, e, w in zip(names[first:], scores[first:].exp(), scores[first:].softmax(-1), strict=True)
        )
        + "."
        for first in (1, 0)
    )
    return film


def _stretch(x, to_x, y, to_y):
    """A line from the edge of an exponential to the edge of its weight."""
    return f'<path d="M{x:.1f} {y}L{to_x:.1f} {to_y}" stroke="{ROLES["word"].colour}" stroke-dasharray="3 3"/>'


def _bar(x, y, wide, role, name, text):
    """A bar with its name and number in it; to the left of a narrow bar of a word, below a narrow weight."""
    look = ROLES[role]
    shape = f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{TALL}" fill="{look.fill}" stroke="{look.colour}" stroke-width="1.5"/>'
    if wide >= NARROW:
        return shape + words(x + wide / 2, y + 16, name, 13, bold=True) + words(x + wide / 2, y + 32, text, 13)
    if role == "weight":
        return shape + words(x + wide / 2, y + TALL + 16, f"{name} {text}", 13)
    return (
        shape + words(x - 6, y + 16, name, 13, bold=True, anchor="end") + words(x - 6, y + 32, text, 13, anchor="end")
    )


def temperatures(names, weights_at, x):
    """Draw the weights of some words, x S×D, at several temperatures, each temperature a panel of bars with its context below."""
    across = plots.axes(len(weights_at), 2.1, 2.6)
    for ax, (temperature, weights) in zip(across, weights_at.items(), strict=True):
        ax.bar(names, weights.tolist(), color=ROLES["weight"].colour)
        for place, weight in enumerate(weights.tolist()):
            ax.text(place, weight + 0.02, number(weight, 3), ha="center")
        context = ", ".join(number(entry) for entry in weights @ x)
        ax.set(title=f"temperature {temperature:g}", ylim=(0, 1.15), xlabel=f"context ({context})")
    across[0].set_ylabel("weight")

"""The page on a class: what it was asked and reached, what it misunderstood, who and what needs a look.

Here: the sections, each from what `tally` counted. Not here: the frame, and how texts are made safe (`markup`).
"""

from collections.abc import Iterable
from html import escape

from course_utils.checks.report import with_code
from course_utils.grading.keeping.record import Graded
from course_utils.grading.reading.written import Written
from course_utils.grading.writing import tally
from course_utils.grading.writing.markup import anchor, block, count, line, link, page, sentence
from course_utils.grading.writing.results import number
from course_utils.lessons.tasks import answers

WORDS = {
    "passed": "passed",
    "partly": "part of the points",
    "wrong": "failed or error",
    "none": "no answer",
    "absent": "not handed in",
}
RANKS = ("most common", "second", "third", "fourth", "fifth")
SHADES = ((0.05, "h1"), (0.1, "h2"), (0.2, "h3"), (1.01, "h4"))  # share of those who handed in, below
SEEN = 12  # items of a long list that are seen at once
OPEN = 3  # of these, how many show their code
NOT_DIAGNOSED = {
    "type": "another type",
    "shape": "another shape",
    "finite": "NaN or infinite",
    "value": "other values",
    "gradient": "gradient",
    "side effect": "alters its input",
    "error": "stops with an error",
    "other": "others, each of them rare",
}


def class_page(graded: Iterable[Graded], tasks: list, title: str, notice: str = "") -> str:
    """Return the page on a class; `graded` is read once, a `notice` is on top. Links go to the pages in feedback/."""
    counts = tally.ClassTally(tasks)
    for student in graded:
        counts.add(student)
    sections = [
        ("points", "Points", _points(counts)),
        ("tasks", "Tasks", _tasks(counts)),
        ("mistakes", "What was misunderstood", _mistakes(counts)),
        ("suspicious", "Worth a look", _suspicious(counts)),
        *([("in-words", "Answers in words", _in_words(counts))] if _any_in_words(tasks) else []),
        ("look-again", "Asked to look again", _requests(counts)),
        ("problems", "Files that could not be graded", _problems(counts)),
        (
            "strangers",
            "Handed in, and not on the roster",
            _people(counts.strangers, "Nobody: whoever handed in is on the roster, or there is none."),
        ),
        ("absent", "Nothing handed in", _people(counts.absent, "Everybody handed something in.")),
        ("by-hand", "Set by hand", _reasons(counts.by_hand) if counts.by_hand else "<p>Nothing.</p>"),
        ("alike", "Identical answers", _alike(counts)),
        ("slowest", "The slowest", _slowest(counts)),
        ("students", "Students", _students(counts)),
    ]
    contents = "".join(f"<li><a href='#{name}'>{heading}</a></li>" for name, heading, _ in sections)
    body = "".join(
        f"<section aria-labelledby='{name}'><h2 id='{name}'>{heading}</h2>{text}</section>"
        for name, heading, text in sections
    )
    return page(
        title,
        f"<header><h1>{line(title)}</h1>{f'<p><strong>{line(notice, 1000)}</strong></p>' if notice else ''}{_figures(counts)}{_other_lessons(counts)}{_late_unknown(counts)}<nav aria-label='Sections'><ul class='contents'>{contents}</ul></nav>"
        f"</header><main>{body}</main>",
        wide=True,
    )


def _figures(counts):
    figures = [
        ("students", f"{counts.students:,}"),
        ("handed something in", f"{counts.handed_in:,}"),
        ("passed every task", f"{counts.passed_all:,}"),
        (f"mean points, of {number(counts.possible)}", f"{number(counts.mean)}"),
        ("median points", f"{number(counts.median)}"),
    ]
    return (
        f"<dl class='figures'>{''.join(f'<div><dt>{name}</dt><dd>{value}</dd></div>' for name, value in figures)}</dl>"
    )


def _other_lessons(counts):
    """Return who handed in what does not count: a lesson named by mistake, or a class that should be graded on more."""
    said = [
        f"Lesson {escape(lesson)} was also handed in, by {count(number, 'student')}, and does not count."
        for lesson, number in sorted(counts.other_lessons.items())
    ]
    more = " <code>--lessons</code> names those that count." if said else ""
    return f"<p>{' '.join(said)}{more}</p>" if said else ""


def _late_unknown(counts):
    """Return how many files Canvas calls late: the rule needs a time, which only the instructor can look up."""
    if not counts.late_unknown:
        return ""
    return (
        f"<p>Canvas marks what {count(counts.late_unknown, 'student')} handed in as late, but does not say when it came in, so the late "
        "rule takes nothing off. To apply it, write the times into the roster's column <code>submitted</code> and grade again.</p>"
    )


def _points(counts):
    bins = counts.tenths()
    words = ", ".join(f"{10 * i} to {10 * i + 10} %: {n}" for i, n in enumerate(bins) if n)
    top = max(bins) or 1
    bars = []
    for i, n in enumerate(bins):
        height = 110 * n / top
        bars.append(f"<rect x='{44 * i + 4}' y='{132 - height:.1f}' width='38' height='{height:.1f}' rx='2'/>")
        bars.append(f"<text x='{44 * i + 23}' y='{126 - height:.1f}'>{n:,}</text>" if n else "")
    axis = "".join(f"<text class='axis' x='{44 * i + 2}' y='150'>{10 * i}</text>" for i in range(11))
    return (
        f"<svg class='histogram' viewBox='-8 0 470 172' role='img' aria-label='Students by share of the points. {words}'>"
        f"<line x1='0' x2='444' y1='132.5' y2='132.5'/>{''.join(bars)}{axis}"
        "<text class='axis' x='222' y='168'>share of the points, in percent; above each bar: students</text></svg>"
    )


def _tasks(counts):
    rows = "".join(map(_task_row, counts.tasks.values()))
    unread = {"none": "no answer, or not read yet"}
    words = WORDS | (unread if _any_in_words(row.task for row in counts.tasks.values()) else {})
    legend = "".join(
        f"<li><svg viewBox='0 0 10 10' aria-hidden='true'>{_bar_part(standing, 0, 10, 10)}</svg>{words[standing]}</li>"
        for standing in tally.standINGS
    )
    head = "<th scope='col'>task</th><th scope='col' class='bar'>share of the class</th>"
    head += "".join(
        f"<th scope='col' class='number'>{said}</th>" for said in ("passed", *list(words.values())[1:], "mean points")
    )
    return (
        f"<p>Percentages are of those who handed the lesson in.</p><ul class='legend'>{legend}</ul>{_scroll('Table of tasks')}<table><caption>Tasks, by what came of them"
        f"</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _task_row(row):
    task, standings = row.task, row.standings
    everybody = sum(standings.values()) or 1
    place, parts = 0.0, []
    for standing in tally.standINGS:
        width = 100 * standings[standing] / everybody
        parts.append(_bar_part(standing, place, width, 10))
        place += width
    passed = f"{standings['passed']:,} ({standings['passed'] / row.handed_in:.0%})" if row.handed_in else "–"
    cells = "".join(f"<td class='number'>{standings[standing]:,}</td>" for standing in tally.standINGS[1:])
    mean = f"{number(row.points / everybody)} of {number(row.possible)}"
    return (
        f"<tr><th scope='row'><b>{_breakable(task.id)}</b><br>{escape(task.title)}</th><td class='bar'>"
        f"<svg viewBox='0 0 100 10' preserveAspectRatio='none' aria-hidden='true'>{''.join(parts)}</svg></td>"
        f"<td class='number'>{passed}</td>{cells}<td class='number'>{mean}</td></tr>"
    )


def _breakable(task_id):
    return escape(task_id).replace("_", "_<wbr>")


def _bar_part(standing, x, width, height):
    """Return a piece of a bar. The table beside it has the numbers, so it need not be told by its colour."""
    if not width:
        return ""
    return f"<rect class='f-{standing}' x='{x:.2f}' y='0' width='{width:.2f}' height='{height}'/>"


def _mistakes(counts):
    rows, found = [], []
    for row in counts.tasks.values():
        mistakes = row.common_mistakes()
        if mistakes:
            rows.append(_heat_row(row, mistakes))
            named = [mistake for mistake in mistakes if mistake.name]
            others = [mistake for mistake in mistakes if not mistake.name]
            found += [(row, mistake) for mistake in (*named[: len(RANKS)], *others[:2])]
    if not rows:
        return "<p>No mistakes: every answer is right, or there was none.</p>"
    found.sort(key=lambda pair: -pair[1].count)
    items = [_mistake(row, mistake, i < OPEN) for i, (row, mistake) in enumerate(found)]
    head = "<th scope='col'>task</th>" + "".join(f"<th scope='col'>{rank}</th>" for rank in (*RANKS, "without a name"))
    return (
        "<p>The judge names a mistake when an answer does what that mistake does, on all ordinary inputs. The stronger a "
        "colour, the larger the share of those who handed in the lesson: below 5%, 10%, 20%, and above.</p>"
        f"{_scroll('Table of mistakes')}<table class='heat'><caption>Mistakes by task, the most common first</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        f"<h3 class='apart'>The same with an example each</h3>{_folded(items, 'mistakes')}"
    )


def _folded(items, name):
    """Return a list whose first items are seen, and the others on request; a link to one of them opens it."""
    seen, rest = items[:SEEN], items[SEEN:]
    text = f"<ol class='{name}'>{''.join(seen)}</ol>"
    if rest:
        text += f"<details><summary>{len(rest):,} more</summary><ol class='{name}' start='{SEEN + 1}'>{''.join(rest)}</ol></details>"
    return text


def _heat_row(row, mistakes):
    named = [mistake for mistake in mistakes if mistake.name]
    unnamed = sum(mistake.count for mistake in mistakes if not mistake.name)
    cells = [_heat_cell(row, mistake) for mistake in named[: len(RANKS)]]
    cells += ["<td></td>"] * (len(RANKS) - len(cells))
    cells.append(f"<td>{unnamed:,} ({_share(unnamed, row)})</td>" if unnamed else "<td></td>")
    return f"<tr><th scope='row'><b>{_breakable(row.task.id)}</b></th>{''.join(cells)}</tr>"


def _heat_cell(row, mistake):
    share = mistake.count / max(1, row.handed_in)
    shade = next(name for limit, name in SHADES if share < limit)
    words = f"<a href='#{_place(row, mistake)}'>{line(_words(mistake))}</a><span>{mistake.count:,} ({_share(mistake.count, row)})</span>"
    return f"<td class='{shade}'>{words}</td>"


def _share(n, row):
    return f"{n / max(1, row.handed_in):.0%}"


def _place(row, mistake):
    return anchor("m", row.task.id, mistake.name or f"-{mistake.kind}")


def _words(mistake):
    return (
        mistake.name.replace("_", " ")
        if mistake.name
        else f"without a name: {NOT_DIAGNOSED.get(mistake.kind, 'wrong')}"
    )


def _mistake(row, mistake, is_open):
    declared = next((m.sentence for m in row.task.mistakes if m.name == mistake.name), "")
    said = with_code(declared) if declared else sentence(mistake.message)
    return (
        f"<li id='{_place(row, mistake)}'><div><h3><b>{escape(row.task.id)}</b>: {line(_words(mistake))}</h3>"
        f"<p class='quiet'>{count(mistake.count, 'student')} ({_share(mistake.count, row)})</p><p>{said}</p></div>"
        f"<div>{_example('The shortest example', mistake.code, is_open)}</div></li>"
    )


def _example(words, code, is_open=False):
    return f"<details{' open' * is_open}><summary>{words}</summary>{block(code)}</details>" if code else ""


def _alike(counts):
    own = answers()
    found = [(row, g) for row in counts.tasks.values() for g in row.groups(own.get(row.task.id, ""))]
    together = {}  # what the same people share, task after task
    for row, group in found:
        key = (group.count, *sorted(group.people))
        together.setdefault(key, []).append((row, group))
    shared = sorted(together.values(), key=lambda pairs: (-_weight(pairs), pairs[0][1].count))
    listed = shared[: tally.LISTED]
    items = [_shared(pairs) for pairs in listed]
    text = (
        "<p><strong>For a conversation, not a verdict.</strong> These answers differ in the names of variables, in blanks and in comments at most. "
        f"Left out: answers of fewer than {tally.SHORT} characters, and what more than a fifth of those who answered wrote, "
        "which many find by themselves. Who shares most comes first; wrong answers count twice. Those that are the course's own, which <code>solution</code> shows, come last.</p>"
    )
    left_out = sum(row.not_compared for row in counts.tasks.values())
    if left_out:
        text += f"<p>The class is large: {count(left_out, 'answer')} could not be compared.</p>"
    if not items:
        return text + "<p>There are none.</p>"
    more = (
        f"<p class='quiet'>and {count(len(shared) - len(listed), 'group')} more</p>"
        if len(shared) > len(listed)
        else ""
    )
    return text + _folded(items, "groups") + more


def _shared(pairs):
    group = pairs[0][1]
    people = ", ".join(map(link, group.people)) + (f" and {group.people.more:,} more" if group.people.more else "")
    wrong = sum(not group.passed for _, group in pairs)
    heading = f"{count(group.count, 'student')}, alike in {count(len(pairs), 'task')}" + (
        f", {wrong:,} of them wrong" if wrong else ""
    )
    if len(pairs) == 1:
        same = "the course's own answer" if group.known else f"the same {'wrong' if wrong else 'right'} answer"
        heading = f"{count(group.count, 'student')}, {same}"
    codes = "".join(
        _example(_about(row, group), group.code) for row, group in sorted(pairs, key=lambda pair: pair[1].passed)
    )
    return f"<li><div><h3>{heading}</h3><p>{people}</p></div><div>{codes}</div></li>"


def _weight(pairs):
    return sum(0 if group.known else 2 - group.passed for _, group in pairs)


def _about(row, group):
    known = ": the course's own answer, which <code>solution</code> shows to whoever has tried" if group.known else ""
    return f"{escape(row.task.id)}, {'passed' if group.passed else 'wrong'}{known}"


def _suspicious(counts):
    if not counts.suspicious:
        return "<p>Nothing was found.</p>"
    return f"<p>What a notebook tried, and why a person should look at it.</p>{_reasons(counts.suspicious)}"


def _any_in_words(tasks):
    return any(isinstance(task, Written) for task in tasks)


def _in_words(counts):
    still = f"{count(counts.to_read, 'answer')} still to be read" if counts.to_read else "Every answer has been read"
    return f"<p>{still}. <a href='to-read.html'>All answers, to be read one after the other</a>.</p>"


def _requests(counts):
    answered = f"<p>{count(counts.requests_answered, 'request')} answered.</p>" if counts.requests_answered else ""
    if not counts.requests:
        return answered or "<p>Nobody asked.</p>"
    return (
        "<p>What students wrote into a text cell of their notebook. Points or a comment for the task in the table of overrides "
        f"answer a request, and the student reads both.</p>{_reasons(counts.requests)}{answered}"
    )


def _problems(counts):
    return _reasons(counts.problems) if counts.problems else "<p>Every file could be graded.</p>"


def _reasons(listing):
    items = []
    for who, reasons, more in listing:
        ended = (text if text.endswith((".", "!", "?", "…")) else f"{text}." for text in reasons)
        said = " ".join(map(sentence, ended)) + (f" And {more:,} more." if more else "")
        items.append(f"<li>{link(who)}: {said}</li>")
    return f"<ul class='reasons'>{''.join(items)}</ul>{_more(listing)}"


def _slowest(counts):
    if not counts.slowest:
        return "<p>No times were kept.</p>"
    rows = "".join(
        f"<tr><td>{link(who)}</td><td>{line(file)}</td><td class='number'>{_time(seconds)}</td>"
        f"<td>{line(task)}{f', {_time(most)}' if task else ''}</td></tr>"
        for seconds, who, file, (task, most) in counts.slowest
    )
    head = "<th scope='col'>student</th><th scope='col'>file</th><th scope='col' class='number'>time</th><th scope='col'>of it, the slowest task</th>"
    return (
        f"{_scroll('Table of the slowest')}<table><caption>The slowest notebooks; all together took {counts.seconds:,.0f} s</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _time(seconds):
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"


def _people(listing, nobody):
    if not listing:
        return f"<p>{nobody}</p>"
    return f"<ul class='people'>{''.join(f'<li>{link(who)}</li>' for who in listing)}</ul>{_more(listing)}"


def _students(counts):
    items = "".join(f"<li>{link(who)}: {total}</li>" for who, total in counts.people)
    return (
        "<p>With their points. <a href='feedback.html'>A list of all pages of feedback</a>.</p>"
        f"<ul class='people'>{items}</ul>{_more(counts.people)}"
    )


def _more(listing):
    return f"<p class='quiet'>and {listing.more:,} more</p>" if listing.more else ""


def _scroll(name):
    return f"<div class='scroll' role='region' aria-label='{name}' tabindex='0'>"

"""Run by every kernel that `course lab` starts, before a notebook's first cell: explains a name that the kernel does not know, an answer
that is called instead of passed to `check`, an id without quotes, and a typographic character that Python does not know.

After a restart a kernel knows nothing, not even `check`, so this cannot wait for the course to be imported, nor does it import any of it.
"""


def _explain_errors():
    import builtins
    import difflib
    import linecache
    import re
    import sys

    try:
        shell = get_ipython()  # noqa: F821
    except NameError:
        return

    def explain(shell, kind, error, trace, tb_offset=None):
        if issubclass(kind, SyntaxError):
            if advice := id_without_quotes(error) or sign_of_a_text(error) or command(error):
                return shell._showtraceback(kind, error, [f"SyntaxError: {error.msg}", advice])
            running = trace.tb_frame.f_code.co_name == "run_code"  # else the cell itself is not Python
            return shell.showtraceback((kind, error, trace), tb_offset=tb_offset, running_compiled_code=running)
        last = trace
        while last.tb_next is not None:
            last = last.tb_next
        code = last.tb_frame.f_code
        if code.co_name != "<module>" or not getattr(error, "name", None):
            if issubclass(kind, TypeError) and (advice := called_instead_of_handed_over(code.co_filename)):
                return shell._showtraceback(kind, error, [f"TypeError: {error}", advice])
            return shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        shown, advice = [f"NameError: {error}"], letter_without_quotes(code.co_filename, error.name)
        if not advice and "torch" not in shell.user_ns:  # every notebook's first cell imports it
            advice = (
                f"This kernel does not know `{error.name}`. If it was restarted, or the notebook has only been opened, the cells "
                "above have not been run in it: choose Run, Run All Above Selected Cell, and then run this cell again."
            )
        elif not advice:
            shown = shell.InteractiveTB.structured_traceback(kind, error, trace, tb_offset=tb_offset)
            advice = nearest(error.name, shell.user_ns)
        return shell._showtraceback(kind, error, [*shown, advice])

    OF_THE_COURSE = ("check", "doctor", "hint", "play", "predict", "progress", "reveal", "solution")

    QUOTES = {"“”„«»": '"', "‘’‚`´": "'"}
    PLAIN = QUOTES | {"–—−": "-", "×·": "*", "…": "..."}  # typographic characters, and what Python uses

    def id_without_quotes(error):
        quote = f"[\"'{''.join(QUOTES)}]?"
        calls = rf"\b({'|'.join(OF_THE_COURSE)})\(\s*({quote})(\d\d(?:\.\w+)?)({quote})\s*([,)])"
        cell = "".join(linecache.getlines(error.filename or ""))
        for call in re.finditer(calls, cell):
            first, last = (cell.count("\n", 0, place) + 1 for place in call.span())
            whole = call[2] == call[4] and call[2] in ("'", '"')
            if not whole and first <= (error.lineno or 0) <= last:
                more = ", …" if call[5] == "," else ""
                return f'{call[3]} is put in straight quotes: {call[1]}("{call[3]}"{more}).'
        return None

    def sign_of_a_text(error):
        found = re.match("invalid character '(.)'", error.msg or "")
        plain = next((plain for signs, plain in PLAIN.items() if found and found[1] in signs), None)
        return plain and f"Python does not know the sign {found[1]} here: type {plain} instead."

    def command(error):
        line = linecache.getline(error.filename or "", error.lineno or 0).strip()
        found = re.match(r"course [a-z]", line)
        return found and f"In a cell, a command begins with an exclamation mark: !{line}"

    def nearest(name, known):
        if name not in OF_THE_COURSE and (meant := difflib.get_close_matches(name, OF_THE_COURSE, n=1, cutoff=0.8)):
            return f"Did you mean `{meant[0]}`?"
        names = [each for each in (*known, *dir(builtins)) if not each.startswith("_")]
        if name in OF_THE_COURSE:
            return f"`{name}` comes with the course: run `from course_utils import {name}`, and then this cell again."
        if found := difflib.get_close_matches(name, names, n=1, cutoff=0.7):
            return f"Did you mean `{found[0]}`?"
        return f"No cell that was run in this kernel defines `{name}`: run the one that does, or correct the name."

    def letter_without_quotes(file, name):
        call = call_of_check(file, r"\d\d\.q\d+", name)
        if not call or len(name) > 1 and "torch" not in shell.user_ns:
            return None
        catalogue = sys.modules.get("course_utils.checks.catalogue")  # not imported for this
        asked = catalogue.asked(call[1][:2], questions=True) if catalogue else ()
        if any(each.id == call[1] and isinstance(each, catalogue.NumberQuestion) for each in asked):
            return f'{call[1]} asks for a number, as in check("{call[1]}", 0.5).'
        if len(name) > 1:
            return f'{call[1]} asks for a letter in quotes, as in check("{call[1]}", "…").'
        return f'A letter is put in quotes: check("{call[1]}", "{name}").'

    def called_instead_of_handed_over(file):
        call = call_of_check(file, r"\d\d\.\w+", r"(\w+)\(\s*\)")
        return (
            call and f'Hand over the function itself, without brackets behind its name: check("{call[1]}", {call[2]}).'
        )

    def call_of_check(file, which, answer):
        """Return the match of the cell's call of `check` with such an id and such an answer; None if there is none."""
        cell = "".join(linecache.getlines(file))
        return re.search(rf"""\bcheck\(\s*["']({which})["']\s*,\s*(?:answer\s*=\s*)?{answer}\s*[,)]""", cell)

    shell.set_custom_exc((NameError, TypeError, SyntaxError), explain)


_explain_errors()
del _explain_errors

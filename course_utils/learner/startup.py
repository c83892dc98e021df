"""Run by every kernel that `course lab` starts, before a notebook's first cell: explains a name that the kernel does not know, and an answer
that is called where it is to be checked.

After a restart a kernel knows nothing, `check` included, so this cannot wait for the course to be imported. It imports nothing of it.
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
        last = trace
        while last.tb_next is not None:
            last = last.tb_next
        code = last.tb_frame.f_code
        if code.co_name != "<module>" or not getattr(error, "name", None):
            if issubclass(kind, TypeError) and (advice := called_instead_of_handed_over(code.co_filename)):
                return shell._showtraceback(kind, error, [f"TypeError: {error}", advice])
            return shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        shown, advice = [f"NameError: {error}"], letter_without_quotes(code.co_filename, error.name)
        if not advice and "torch" not in shell.user_ns:  # which the first cell of every notebook imports
            advice = (
                f"This kernel does not know `{error.name}`. If it was restarted, or the notebook has only been opened, the cells "
                "above have not been run in it: choose Run, Run All Above Selected Cell, and then run this cell again."
            )
        elif not advice:
            shown = shell.InteractiveTB.structured_traceback(kind, error, trace, tb_offset=tb_offset)
            advice = nearest(error.name, shell.user_ns)
        return shell._showtraceback(kind, error, [*shown, advice])

    OF_THE_COURSE = ("check", "doctor", "hint", "play", "predict", "progress", "reveal", "solution")

    def nearest(name, known):
        names = [each for each in (*known, *dir(builtins)) if not each.startswith("_")]
        if name in OF_THE_COURSE:
            return f"`{name}` comes with the course: run `from course_utils import {name}`, and then this cell again."
        if found := difflib.get_close_matches(name, names, n=1, cutoff=0.7):
            return f"Did you mean `{found[0]}`?"
        return f"No cell that was run in this kernel defines `{name}`: run the one that does, or correct the name."

    def letter_without_quotes(file, name):
        call = call_of_check(file, r"\d\d\.q\d+", name)
        if not call or len(name) > 1:
            return None
        catalogue = sys.modules.get("course_utils.checks.catalogue")  # not imported for this
        asked = catalogue.asked(call[1][:2], questions=True) if catalogue else ()
        if any(each.id == call[1] and isinstance(each, catalogue.NumberQuestion) for each in asked):
            return f'{call[1]} asks for a number, as in check("{call[1]}", 0.5).'
        return f'A letter is put in quotes: check("{call[1]}", "{name}").'

    def called_instead_of_handed_over(file):
        call = call_of_check(file, r"\d\d\.\w+", r"(\w+)\(\s*\)")
        return (
            call and f'Hand over the function itself, without brackets behind its name: check("{call[1]}", {call[2]}).'
        )

    def call_of_check(file, which, answer):
        """Return the match of the cell's call of `check` with such an id and such an answer; None where there is none."""
        cell = "".join(linecache.getlines(file))
        return re.search(rf"""\bcheck\(\s*["']({which})["']\s*,\s*(?:answer\s*=\s*)?{answer}\s*[,)]""", cell)

    shell.set_custom_exc((NameError, TypeError), explain)


_explain_errors()
del _explain_errors

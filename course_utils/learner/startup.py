"""Run by every kernel that `course lab` starts, before a notebook's first cell: explains a name that the kernel does not know.

After a restart a kernel knows nothing, `check` included, so this cannot wait for the course to be imported. It imports nothing of it.
"""


def _explain_unknown_names():
    try:
        shell = get_ipython()  # noqa: F821
    except NameError:
        return

    def explain(shell, kind, error, trace, tb_offset=None):
        last = trace
        while last.tb_next is not None:
            last = last.tb_next
        if last.tb_frame.f_code.co_name != "<module>" or not getattr(error, "name", None):
            return shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        shown, advice = [f"NameError: {error}"], letter_without_quotes(last.tb_frame.f_code.co_filename, error.name)
        if not advice and "torch" not in shell.user_ns:  # which the first cell of every notebook imports
            advice = (
                f"This kernel does not know `{error.name}`. If it was restarted, or the notebook has only been opened, the cells "
                "above have not been run in it: choose Run, Run All Above Selected Cell, and then run this cell again."
            )
        elif not advice:
            shown = shell.InteractiveTB.structured_traceback(kind, error, trace, tb_offset=tb_offset)
            advice = nearest(error.name, shell.user_ns)
        return shell._showtraceback(kind, error, [*shown, advice])

    def nearest(name, known):
        import builtins
        import difflib

        names = [each for each in (*known, *dir(builtins)) if not each.startswith("_")]
        if found := difflib.get_close_matches(name, names, n=1, cutoff=0.7):
            return f"Did you mean `{found[0]}`?"
        return f"No cell that was run in this kernel defines `{name}`: run the one that does, or correct the name."

    def letter_without_quotes(file, name):
        import linecache
        import re

        cell = "".join(linecache.getlines(file))
        call = re.search(rf"""\bcheck\(\s*["'](\d\d\.q\d+)["']\s*,\s*(?:answer\s*=\s*)?{name}\s*[,)]""", cell)
        if call and len(name) == 1:
            return f'A letter is put in quotes: check("{call[1]}", "{name}").'
        return None

    shell.set_custom_exc((NameError,), explain)


_explain_unknown_names()
del _explain_unknown_names

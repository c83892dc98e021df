"""Grades a class: runs each submission's answers in a cage, judges what comes back, keeps a journal, writes the results.

    submissions --> notebook_file --> box: cage + fork server --> judge --> journal --> points --> results, pages

Nothing of a learner's is ever imported, executed or unpickled on this, the trusted side: notebooks are read as text, and
answers run in processes that hold neither tasks nor judge (`fork_server`), behind the kernel's locks (`cage`).
"""

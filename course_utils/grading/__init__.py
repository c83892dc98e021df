"""Grades a class: `pipeline.grade_class` leads through it.

    ingest: submissions --> judging: a process in the sandbox, and the judge --> storage: a journal --> reports: results

In `judging`, a notebook's way into the sandbox, and its answers' way back:

    pool: a file   --> notebook_grader: requests --> notebook_run: one cell or answer --> sandbox_client: bytes --> fork_server: runs it
    pool: a result <-- notebook_grader: verdicts <-- notebook_run: answers            <-- sandbox_client: reply <-- fork_server: outcomes

Nothing of a learner's is ever imported, executed or unpickled on this, the trusted side: notebooks are read as text, and answers run
in processes that hold neither tasks nor judge, behind the kernel's locks. What runs there is in `sandbox`. `handing_out` writes what
a class is given to work on.
"""

"""Grades a class: `pipeline.grade_class` runs it all.

    ingest: submissions --> judging: a process in the sandbox, and the judge --> storage: a journal --> reports: results

In `judging`, how a notebook gets into the sandbox and its answers get back:

    pool: a file   --> notebook_grader: requests --> notebook_run: one cell or answer --> sandbox_client: bytes --> fork_server: runs it
    pool: a result <-- notebook_grader: verdicts <-- notebook_run: answers            <-- sandbox_client: reply <-- fork_server: outcomes

A learner's code is never imported, executed or unpickled on this, the trusted side: notebooks are read as text, and answers run
in processes that contain neither tasks nor the judge, locked in by the kernel; `sandbox` runs there. `handing_out` writes what
a class is given to work on.
"""

"""Grades a class: `grade.grade_class` leads through it.

    reading: submissions --> judging: a box around a process in the cage, and the judge --> keeping: a journal --> writing: results

Nothing of a learner's is ever imported, executed or unpickled on this, the trusted side: notebooks are read as text, and answers run
in processes that hold neither tasks nor judge, behind the kernel's locks. What runs there is in `cage`. `handing_out` writes what
a class is given to work on.
"""

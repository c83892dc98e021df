"""How an answer is run, judged and explained. What is asked is in `course_lessons`; `catalogue.py` finds it.

    cases(seed) --> run(answer, cases) --> outcomes --> judge(task, cases, outcomes) --> report

`running` is the half that calls the answer; it imports neither tasks nor judge, so that it can live in a process of its own.
`judge` is the other half: `expected` runs the oracle and the named mistakes, `first_failure` and `failure_message` find what is wrong with one outcome,
`match_mistake` and `explain` why, `compare` and `report` serve them all. `answer` joins the two in one process. `task` and `lesson` say what a task
and a lesson are made of; none of them is declared here.
"""

"""How an answer is run, judged and explained. The tasks are in `course_lessons`; `catalogue.py` finds them.

    make_cases(seed) --> run(answer, cases) --> outcomes --> judge(task, cases, outcomes) --> report

`running` is the half that calls the answer; it imports neither tasks nor the judge, so it can run in its own process.
`judge` is the other half: `expected` runs the oracle and the named mistakes, `first_failure` and `failure_message` say what is wrong with one outcome,
`match_mistake` and `explain` why; `compare` compares values, `report` shows the result. `judge_answer` joins the two halves in one process.
`task` and `lesson` define what a task and a lesson consist of; none is declared here.
"""

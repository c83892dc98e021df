"""How an answer is run, judged and explained. What is asked lives in `course_utils.tasks`.

    cases(seed) --> run(answer, cases) --> outcomes --> judge(task, cases, outcomes) --> report

`running` is the half that calls the answer; it imports neither tasks nor judge, so that it can live in a process of its own.
`judge` is the other half, with `compare` and `report`. `notebook` joins the two and keeps the learner's progress in `state`.
"""

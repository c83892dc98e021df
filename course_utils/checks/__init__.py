"""How an answer is run, judged and explained. What is asked lives in `course_utils.tasks`.

    cases(seed) --> run(answer, cases) --> outcomes --> judge(task, cases, outcomes) --> report

`contract` holds what may cross the cut between run and judge: tensors, numbers and strings.
`run` is the only module that calls an answer; it imports neither tasks nor judge. A process of its own for it needs
`contract`, `limit` and `run`, and must leave out `course_utils.tasks` (the truth, the answers) and `judge`.
`notebook` joins the two halves in one process and keeps the learner's progress.
"""

"""Relations between an incorrect answer and the right one: changes of the result (`result_changes`), of the arguments (`argument_changes`),
of a step of the reference computation (`step_changes`), and factors (`factors`).

Each is a text and a function. Which of them an answer shows is for `explain` to find.
"""

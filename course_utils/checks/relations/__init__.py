"""The relations in which a wrong answer may stand to the right one: changes of what comes out (`results`), of what goes in
(`arguments`), of a step on the way (`steps`), and factors (`factors`).

Each is a text and a function. Not here: which of them an answer shows, which is `explain`'s to find.
"""

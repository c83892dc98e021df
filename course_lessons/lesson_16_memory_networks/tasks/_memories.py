"""What the tasks on hops share: the scores. No task is declared here."""


def dot(question, memory):
    """Return the scores of question B×D and memory B×M×D: B×M."""
    return (question[:, None] * memory).sum(-1)

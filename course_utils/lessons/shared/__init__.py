"""Mistakes that more than one task invites, as changes of its steps; each takes the words of the lesson for its sentences."""

"""What a learner's notebook calls (`notebook`: check, hint, solution, progress), and what is kept of it (`state`)."""

"""What a learner's notebook calls (`notebook`), what its kernel has run (`history`), and what is kept of it (`state`)."""

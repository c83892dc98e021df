"""What a learner's notebook calls (`notebook`), what its kernel has run (`history`), and the stored progress (`state`)."""

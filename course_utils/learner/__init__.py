"""What a learner's notebook calls (`notebook`), what its kernel has run (`history`), and the progress that is stored (`state`)."""

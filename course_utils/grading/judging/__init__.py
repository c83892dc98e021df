"""From a notebook to verdicts: a `notebook_grader` judges what its `sandbox_client` brings back; a `pool` of processes or a `cluster` has many."""

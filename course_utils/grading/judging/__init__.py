"""From a notebook to verdicts: a `notebook_grader` judges what a `notebook_run` gets from the `sandbox_client`; a `pool` or `cluster` runs many."""

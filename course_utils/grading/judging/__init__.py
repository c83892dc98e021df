"""From a notebook to verdicts: a `notebook_grader` judges what a `notebook_run` brings back from the `sandbox_client`; a `pool` or a `cluster` has many."""

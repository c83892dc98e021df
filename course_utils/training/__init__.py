"""How translation models are trained: settings, batches, loss, optimizer, the loop, a run's folder.

`settings` has a run's settings, `corpus` what it trains on, `loop` the training itself (`train`), `checkpoint` what resumes it, `run_folder` what it leaves behind.
"""

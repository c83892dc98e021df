"""What runs beside a learner's code, and what locks it in: this folder, like all of `locks.PUBLIC`, can be read in there."""

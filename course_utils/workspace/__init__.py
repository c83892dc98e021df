"""The learner's workspace: own copies of the notebooks (`copies`), new versions of them (`merging`, `updating`), handing in (`submission`)."""

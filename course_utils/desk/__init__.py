"""The learner's desk: own copies of the notebooks (`copies`), new versions of them (`merging`, `updating`), handing in (`handing_in`)."""

"""How an answer is run: the half of a check that sees neither tasks nor truth, in a notebook and in the sandbox alike.

`contract` holds what may cross to the judge's side: tensors, numbers and strings. `run` is the only module that calls an answer;
`limit` stops it when it takes too long.
"""

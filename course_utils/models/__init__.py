"""The models of the course, to be read from top to bottom: sums of words, attention, recurrent translators, the Transformer.

`plain` shows their mechanisms one by one, in a few lines each. `files` makes the models by name, and keeps and loads trained
ones, of which some ship in `pretrained/`. Only `sentiment` trains, and no model imports checks or tasks.
"""

"""The models of the course, to be read from top to bottom: sums of words, attention, recurrent translators, the Transformer.

`minimal` shows their mechanisms one by one, in a few lines each. `serialization` makes the models by name, and keeps and loads trained
ones, of which some ship in `pretrained/`. No model imports checks or tasks.
"""

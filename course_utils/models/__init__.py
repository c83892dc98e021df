"""The models of the course, to be read from top to bottom: sums of words, attention, recurrent translators, the Transformer.

`minimal` shows their mechanisms one by one, in a few lines each. `serialization` makes the models by name, and keeps and loads trained
ones, of which some ship in `pretrained/`. No model imports checks or tasks.

No lesson imports these: `sequence_layers` and `llama`, which tests hold the pages of lessons 09 and 22 against, `snail`, which they hold the
tasks of lesson 19 against, and `intra_attention`, which `benchmarks/recall.py` measures.
"""

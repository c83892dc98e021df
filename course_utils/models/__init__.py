"""The models of the course, to be read from top to bottom: sums of words, attention, recurrent translators, the Transformer.

`minimal` shows their mechanisms one by one, in a few lines each. `serialization` makes the models by name, and saves and loads trained
ones, some of which ship in `pretrained/`. No model imports checks or tasks.

No lesson imports these: `sequence_layers` and `llama`, with which tests compare the pages of lessons 09 and 22, `snail`, with which they
compare the tasks of lesson 19, and `intra_attention`, which `benchmarks/recall.py` measures.
"""

"""The end of an exercise: a learner's own functions are trained once they pass their checks."""

from tasks import solution_of

from course_utils.learner.train_answers import train_own

ENCODER, DECODER = "12.encoder_layer", "12.decoder_layer"


def test_answers_that_pass_are_handed_on_in_their_order():
    encoder, decoder = solution_of(ENCODER), solution_of(DECODER)
    assert train_own(lambda *layers: layers, {ENCODER: encoder, DECODER: decoder}) == (encoder, decoder)


def test_answers_that_do_not_pass_are_not_trained():
    encoder, decoder = solution_of(ENCODER), solution_of(DECODER)

    class Unfinished(decoder):
        def forward(self, x, memory, memory_mask):
            raise NotImplementedError

    def train(*layers):
        raise AssertionError("trained all the same")

    for layers, name, task in (
        ((encoder, Unfinished), "DecoderLayer", DECODER),
        ((decoder, decoder), "EncoderLayer", ENCODER),
    ):
        said = f"{name} does not pass its check yet: check({task!r}, {name}) says why. Once it passes, run this cell again."
        assert repr(train_own(train, dict(zip((ENCODER, DECODER), layers, strict=True)))) == said

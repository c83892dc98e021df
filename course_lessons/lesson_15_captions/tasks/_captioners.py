"""What 15.catch_blind_captioner tries a learner's test on: captioners with weights of their own. No task is declared here.

Each is captioner(annotations B×L×5, words B×T×3) → features B×T×F. Features are sums of what a step knows, without a tanh at the end: what
a captioner sees moves them by more than 1e-4 where random numbers of about 1 are added to it.
"""

from functools import partial

import torch
import torch.nn.functional as F

from course_lessons.shared.candidate_tests import with_nan
from course_lessons.shared.fixed_weights import fixed
from course_lessons.shared.padding import summed

ANNOTATION, WORD, STATE, HIDDEN, FEATURES = 5, 3, 4, 6, 7  # widths
MOST = 30  # captions, places and words in a call, at most
_made = partial(fixed, spread=0.7)  # small enough that no attention weight comes near 0
OF_WORD, OF_STATE, OF_CONTEXT = _made(11, STATE, WORD), _made(12, STATE, STATE), _made(13, STATE, ANNOTATION)
LOOK_S, LOOK_A, V, GATE = _made(14, HIDDEN, STATE), _made(15, HIDDEN, ANNOTATION), _made(16, HIDDEN), _made(17, STATE)
FIRST, BY_PLACE = _made(18, STATE, ANNOTATION), 1.5 * _made(19, MOST, STATE)
TELL_WORD, TELL_STATE, TELL_CONTEXT = (
    _made(20 + n, FEATURES, width) for n, width in enumerate((WORD, STATE, ANNOTATION))
)


# Looks: a context B×E from state B×H and annotations B×L×E


def _soft(state, annotations):
    scores = torch.tanh((state @ LOOK_S.T)[:, None] + annotations @ LOOK_A.T) @ V  # B L
    return summed(scores.softmax(1), annotations)


def _gated(state, annotations):
    return (state @ GATE).sigmoid()[:, None] * _soft(state, annotations)


def _by_place(state, annotations):
    """Attention by location: the state alone decides how much each place counts."""
    return summed((state @ BY_PLACE[: annotations.shape[1]].T).softmax(1), annotations)


def _mean(state, annotations):
    return annotations.mean(1)


def _normalised(state, annotations):
    """Annotations go through a layer norm first: a number that is added to all features of one changes nothing."""
    return _soft(state, F.layer_norm(annotations, (ANNOTATION,)))


def _directions(state, annotations):
    """Annotations are scaled to length 1 first: a number above 0 that multiplies one changes nothing."""
    return _soft(state, F.normalize(annotations, dim=-1))


def _nothing(state, annotations):
    return annotations.new_zeros(len(annotations), ANNOTATION)


# Ways through the words, each with a look


def _features(word, state, context):
    return word @ TELL_WORD.T + state @ TELL_STATE.T + context @ TELL_CONTEXT.T


def _zeros(annotations):
    return annotations.new_zeros(len(annotations), STATE)


def _from_the_mean(annotations):
    return annotations.mean(1) @ FIRST.T


def _recurrent(annotations, words, look=_soft, begin=_zeros):
    """A state that goes from word to word, and a look with it before each."""
    state, features = begin(annotations), []
    for word in words.unbind(1):
        context = look(state, annotations)
        features.append(_features(word, state, context))
        state = torch.tanh(word @ OF_WORD.T + state @ OF_STATE.T + context @ OF_CONTEXT.T)
    return torch.stack(features, 1)


def _prefix(words):
    """The mean of the words so far, B×T×3, as all of them less those to come: rounding depends on the words to come, the value does not."""
    later = words.flip(1).cumsum(1).flip(1) - words
    return (words.sum(1, keepdim=True) - later) / torch.arange(1, words.shape[1] + 1)[:, None]


def _at_once(annotations, words, so_far=_prefix, look=_soft):
    """All steps at once: the mean of the words so far takes the place of a state."""
    B, T, _ = words.shape
    query = torch.tanh(so_far(words) @ OF_WORD.T).flatten(0, 1)
    context = look(query, annotations.repeat_interleave(T, 0))
    return _features(words.flatten(0, 1), query, context).view(B, T, FEATURES)


def _with(look, way=_recurrent, **others):
    """A captioner with another look."""
    return lambda annotations, words: way(annotations, words, look=look, **others)


def _given(change, captioner=_recurrent):
    """A captioner that gets the annotations with something done to them."""
    return lambda annotations, words: captioner(change(annotations), words)


def _reading(change, captioner=_recurrent):
    """A captioner that reads the words with something done to them."""
    return lambda annotations, words: captioner(annotations, change(words))


# Right ones


def _mean_beside_each_word(annotations, words):
    """No state at all: each word, and beside it the mean."""
    return torch.cat([words @ TELL_WORD.T, annotations.mean(1, keepdim=True).expand(-1, words.shape[1], -1)], 2)


def _words_unread(annotations, words):
    """The same features at every step: those of the mean."""
    return (annotations.mean(1, keepdim=True) @ TELL_CONTEXT.T).repeat(1, words.shape[1], 1)


def _looks_once(annotations, words):
    """Looks before the first word, and keeps nothing of it for the others."""
    features = _recurrent(annotations, words, _nothing)
    seen = _mean(None, annotations) @ TELL_CONTEXT.T
    return torch.cat([features[:, :1] + seen[:, None], features[:, 1:]], 1)


RIGHT = {
    _recurrent: "a correct captioner: soft attention with a state",
    _with(_mean): "a correct captioner: an average of the annotations at each step",
    _with(_by_place): "a correct captioner: attention by location",
    _with(
        _nothing, begin=_from_the_mean
    ): "a correct captioner: it starts from the mean annotation and never attends again",
    _with(_gated, begin=_from_the_mean): "a correct captioner: a gate, and a first state from the mean annotation",
    _at_once: "a correct captioner: all steps at once",
    _with(_normalised): "a correct captioner: it subtracts each annotation's mean from it",
    _with(_directions): "a correct captioner: it scales each annotation to length 1",
    _mean_beside_each_word: "a correct captioner: the mean annotation alongside each word",
    _words_unread: "a correct captioner: an average of the annotations, with words that have no effect",
    _looks_once: "a correct captioner: it looks only before the first word",
}


# Wrong ones: blind to some annotation


def _hiding(seen):
    """A change of annotations that puts zeros at places: `seen(places, L)` tells where it does not."""

    def change(annotations):
        L = annotations.shape[1]
        return annotations * seen(torch.arange(L), L)[:, None]

    return change


def _largest_weight_alone(annotations, words):
    """Hard attention by location, decided once by the first word: the other places have no effect."""
    place = (words[:, 0] @ OF_WORD.T @ BY_PLACE[: annotations.shape[1]].T).argmax(1)
    picked = annotations[torch.arange(len(words)), place]
    return _recurrent(picked[:, None], words)


def _places_taken_for_words(annotations, words):
    """Word t and place t belong together: it stops where there are not as many of both."""
    return _recurrent(annotations, words) + annotations.cumsum(1) @ TELL_CONTEXT.T


def _place_beside_each_word(annotations, words):
    """Place t is seen beside word t: it stops where there are more words than places."""
    return _recurrent(annotations, words) + annotations[:, : words.shape[1]] @ TELL_CONTEXT.T


# Wrong ones: words to come


def _following(words, by=1):
    """The word that stands `by` places later, zeros where there is none."""
    return F.pad(words, (0, 0, 0, by))[:, by:]


def _one_row_careful(words):
    """The following word is seen in all captions but the first."""
    return words + _following(words) * (torch.arange(len(words)) > 0)[:, None, None]


def _careful_at_first(words):
    """The following word is seen by all steps but the first."""
    return words + _following(words) * (torch.arange(words.shape[1]) > 0)[:, None]


def _all_words_in_the_query(annotations, words):
    return _at_once(annotations, words, so_far=lambda words: words.mean(1, keepdim=True).expand_as(words))


def _both_directions(annotations, words):
    """A second state that comes from the end of the caption."""
    return _recurrent(annotations, words) + _recurrent(annotations, words.flip(1)).flip(1)


def _shares_over_the_steps(annotations, words):
    """The weights of each place sum to 1 over the steps, and not those of each step over the places."""
    scores = 2 * torch.tanh(_prefix(words) @ OF_WORD.T) @ BY_PLACE[: annotations.shape[1]].T  # B T L
    return words @ TELL_WORD.T + scores.softmax(1) @ annotations @ TELL_CONTEXT.T


WRONG = {
    _with(_nothing): "an incorrect captioner: it ignores the picture",
    _with(lambda state, annotations: 0 * _soft(state, annotations)): "an incorrect captioner: it looks at the picture but uses nothing that it sees",
    _given(_hiding(lambda places, L: places < L - 1)): "an incorrect captioner: it is blind to the last annotation",
    _given(_hiding(lambda places, L: places > 0), _with(_mean)): "an incorrect captioner: it is blind to the first annotation",
    _given(_hiding(lambda places, L: places == 0)): "an incorrect captioner: it sees only the first annotation",
    _given(_hiding(lambda places, L: places != L // 2), _with(_gated)): "an incorrect captioner: it is blind to the annotation in the middle",
    _largest_weight_alone: "an incorrect captioner: only the annotation with the largest weight has an effect",
    _given(lambda annotations: annotations.roll(1, 0)): "an incorrect captioner: each row looks at the previous row's picture",
    _given(lambda annotations: annotations[:1].expand_as(annotations)): "an incorrect captioner: all rows look at the first picture",
    _given(lambda annotations: annotations * (torch.arange(len(annotations)) % 2 == 0)[:, None, None]): "an incorrect captioner: every other row is blind to its picture",
    _given(lambda annotations: annotations * (torch.arange(len(annotations)) > 0)[:, None, None]): "an incorrect captioner: the first row is blind to its picture",
    _places_taken_for_words: "an incorrect captioner: it fails unless there are as many words as annotations",
    _place_beside_each_word: "an incorrect captioner: it fails if there are more words than annotations",
    _reading(lambda words: words + _following(words)): "an incorrect captioner: each step sees the next word",
    _reading(lambda words: words + _following(words, 2)): "an incorrect captioner: each step sees the word after the next one",
    _reading(_one_row_careful): "an incorrect captioner: each step sees the next word, in every row but the first",
    _reading(_careful_at_first): "an incorrect captioner: every step but the first sees the next word",
    _reading(lambda words: words + _following(words) * (torch.arange(words.shape[1]) == 0)[:, None]): "an incorrect captioner: only the first step sees the next word",
    lambda annotations, words: _recurrent(annotations, words).roll(-1, 1): "an incorrect captioner: its features come one step too early, so each knows the next word",
    _reading(lambda words: (words @ words.mT / 2).softmax(-1) @ words): "an incorrect captioner: self-attention over the words without a causal mask",
    _all_words_in_the_query: "an incorrect captioner: its query is computed from the mean of all words",
    _both_directions: "an incorrect captioner: it reads the words from both ends",
    _shares_over_the_steps: "an incorrect captioner: its softmax runs over the steps, so later words affect the weights",
}  # fmt: skip
RARE = {
    with_nan(
        _recurrent
    ): "an incorrect captioner: one of its features is NaN, so its differences are neither above 1e-5 nor below"
}

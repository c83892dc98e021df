"""What lesson 01 asks: a vocabulary, a sum of word vectors, logistic regression and its gradient, word polarity."""

import string
from collections import Counter

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

WORDS = ("good", "bad", "film", "plot", "a", "the", "not", "fun", "dull", "cast", "very")

build_vocabulary = Task(
    "01.build_vocabulary",
    "numbers for words",
    arguments=("sentences", "min_count"),
    result="vocabulary",
    hints=(
        "Count every word over all sentences first. Then decide the order, then hand out numbers from 2 on.",
        'The order is by two keys: the count, falling, then the word itself, rising. `"<pad>"` is 0 and `"<unk>"` is 1, always.',
        "counts = Counter of all words; kept = the words with count >= min_count; sort kept by the key (-count, word); "
        'begin a dict with "<pad>": 0, "<unk>": 1 and give each kept word the next number.',
    ),
)


def _sentences(draw, words, lengths):
    return [[WORDS[i] for i in draw.whole(0, words, length)] for length in lengths]


@build_vocabulary.cases
def _(draw):
    yield Case("one sentence", ([["good", "film", "good"]],))
    yield Case("words equally frequent", ([["fun", "bad"], ["a", "good", "film"]],))
    yield Case(
        "a word twice in one sentence, another in two", ([["the", "plot", "the", "the"], ["plot", "a"], ["plot"]], 2)
    )
    yield Case("random sentences", (_sentences(draw, 11, (7, 5, 3, 11)),))
    yield Case("random sentences, min_count 2", (_sentences(draw, 11, (7, 5, 11)) + [["fun"], ["dull", "dull"]], 2))
    yield Case("random sentences, min_count 3", (_sentences(draw, 5, (13, 11)) + [["fun"] * 3, ["dull"] * 2], 3))
    as_it_is = ["film"] * 5 + ["Film"] * 4 + ["n't"] * 3 + ["film."] * 2 + ["!"]
    yield Case("capitals and punctuation", ([as_it_is],))
    yield Case("no sentence at all", ([],), edge=True)
    yield Case("an empty sentence", ([[], ["fun"]], 1), edge=True)


def _vocabulary(sentences, min_count, key, counts=None, reverse=False):
    counts = counts or Counter(word for sentence in sentences for word in sentence)
    kept = sorted((w for w in counts if counts[w] >= min_count), key=lambda w: key(w, counts[w]), reverse=reverse)
    return {word: i for i, word in enumerate(["<pad>", "<unk>", *kept])}


@build_vocabulary.oracle
def _(sentences, min_count=1):
    words = [word for sentence in sentences for word in sentence]
    vocabulary = {"<pad>": 0, "<unk>": 1}
    for times in range(len(words), min_count - 1, -1):
        for word in sorted(set(words)):
            if words.count(word) == times:
                vocabulary[word] = len(vocabulary)
    return vocabulary


@build_vocabulary.mistake('"<pad>" and "<unk>" are missing: they come first, as 0 and 1, whatever the sentences hold.')
def no_special_words(sentences, min_count=1):
    return {w: i - 2 for w, i in _vocabulary(sentences, min_count, lambda w, n: (-n, w)).items() if i > 1}


@build_vocabulary.mistake('"<pad>" should be 0 and "<unk>" 1; you have them the other way round.')
def special_words_swapped(sentences, min_count=1):
    return {**_vocabulary(sentences, min_count, lambda w, n: (-n, w)), "<pad>": 1, "<unk>": 0}


@build_vocabulary.mistake(
    "Your words are in alphabetical order. Frequent words come first; the alphabet only settles ties."
)
def alphabetical(sentences, min_count=1):
    return _vocabulary(sentences, min_count, lambda w, n: w)


@build_vocabulary.mistake("Rare words come first in yours: the order is by falling count.")
def rare_first(sentences, min_count=1):
    return _vocabulary(sentences, min_count, lambda w, n: (n, w))


@build_vocabulary.mistake(
    "Words with the same count stand in the order they were met (as Counter.most_common gives them). Ties go by the alphabet, "
    "so that the same words give the same numbers whatever the order of the sentences."
)
def ties_as_met(sentences, min_count=1):
    return _vocabulary(sentences, min_count, lambda w, n: -n)


@build_vocabulary.mistake(
    "Your words are numbered in the order they are first met. Frequent words come first; the alphabet settles ties."
)
def order_met(sentences, min_count=1):
    return _vocabulary(sentences, min_count, lambda w, n: 0)


@build_vocabulary.mistake(
    "`reverse=True` turns round both keys: the counts fall, as they should, but ties run from z to a. "
    "Sort rising by (-count, word): the minus turns round the count alone."
)
def ties_turned(sentences, min_count=1):
    return _vocabulary(sentences, min_count, lambda w, n: (n, w), reverse=True)


@build_vocabulary.mistake(
    'Your words are numbered from 0, which "<pad>" has already, and 1 is that of "<unk>": the first word gets 2.'
)
def words_from_zero(sentences, min_count=1):
    vocabulary = _vocabulary(sentences, min_count, lambda w, n: (-n, w))
    return {w: i - 2 if i > 1 else i for w, i in vocabulary.items()}


@build_vocabulary.mistake("A word seen exactly min_count times belongs in: your comparison leaves it out.")
def min_count_exclusive(sentences, min_count=1):
    return _vocabulary(sentences, min_count + 1, lambda w, n: (-n, w))


@build_vocabulary.mistake("min_count has no effect: words seen fewer times should be left out.")
def min_count_unused(sentences, min_count=1):
    return _vocabulary(sentences, 1, lambda w, n: (-n, w))


@build_vocabulary.mistake(
    "You count in how many sentences a word stands. A word that stands twice in one sentence counts twice."
)
def sentences_counted(sentences, min_count=1):
    return _vocabulary(sentences, min_count, lambda w, n: (-n, w), Counter(w for s in sentences for w in set(s)))


@build_vocabulary.mistake(
    'You change words before you count them: capitals to small letters. "Film" and "film" are two words here; they are taken as they come.'
)
def lower_case(sentences, min_count=1):
    lower = [[word.lower() for word in sentence] for sentence in sentences]
    return _vocabulary(lower, min_count, lambda w, n: (-n, w))


@build_vocabulary.mistake(
    "You strip punctuation from the words. They are taken as they come: a full stop may be a word, too."
)
def punctuation_stripped(sentences, min_count=1):
    stripped = [[word.strip(string.punctuation) for word in sentence] for sentence in sentences]
    return _vocabulary([[w for w in s if w] for s in stripped], min_count, lambda w, n: (-n, w))


sum_vectors = Task(
    "01.sum_vectors",
    "the sum of a sentence's word vectors",
    arguments=("words B×S×D", "mask B×S"),
    result="sums B×D",
    hints=(
        "Sentences of different length share one tensor, so the short ones end in padding. Padding must not change the sum.",
        "sums_(b,d) = Σ_s mask_(b,s) · words_(b,s,d): the axis of the words, S, is the one that goes away.",
        "Give the mask a third axis of size 1 so that it meets B×S×D, use it to turn padding into zeros, then add over axis 1.",
    ),
    partial={"side effect": (0.75, "every sum is right, but the words that came in are altered.")},
)


@sum_vectors.cases
def _(draw):
    for size in sizes(B=3, S=5, D=7):
        B, S, D = size.B, size.S, size.D
        name = f"{count(B, 'sentence')} of up to {S} words, width {D}"
        yield Case(name, (draw.numbers(B, S, D), draw.lengths_mask(B, S)), size.full)
    yield Case(
        "a sentence of padding only", (draw.numbers(2, 3, 2), torch.tensor([[True] * 3, [False] * 3])), edge=True
    )
    yield Case(
        "the first sentence is the shorter one",
        (draw.numbers(2, 3, 2) + 0.25, torch.tensor([[True, False, False], [True] * 3])),
    )
    front = torch.tensor([[True, True, True], [False, True, True]])
    yield Case("padding in front", (draw.numbers(2, 3, 2) + 0.25, front), edge=True)
    yield Case("sentences of one word, width 1", (draw.numbers(2, 1, 1), torch.ones(2, 1) > 0), edge=True)
    yield Case("float64 numbers", (draw.numbers(3, 5, 7, dtype=torch.float64), draw.lengths_mask(3, 5)), edge=True)


@sum_vectors.oracle
def _(words, mask):
    empty = words[0, 0] * 0
    return torch.stack(
        [sum((w for w, real in zip(s, m, strict=True) if real), empty) for s, m in zip(words, mask, strict=True)]
    )


@sum_vectors.mistake(
    "You add the padding too: the mask has no effect. Then a sentence's sum depends on how long its neighbours are."
)
def padding_added(words, mask):
    return words.sum(1)


@sum_vectors.mistake("The mask is used the wrong way round: True marks a word, and you keep the padding.")
def mask_inverted(words, mask):
    return (words * ~mask[..., None]).sum(1)


@sum_vectors.mistake("You divide by the number of words: that is the mean. Asked is the sum.")
def mean_of_words(words, mask):
    return (words * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


@sum_vectors.mistake(
    "You take the mean over the padded length: it is a sum that is asked, and padding should not count in any way."
)
def mean_over_padding(words, mask):
    return (words * mask[..., None]).mean(1)


@sum_vectors.mistake(
    "You add over the sentences of the batch. Each sentence gets a sum of its own: add over its words, axis 1."
)
def added_over_batch(words, mask):
    return (words * mask[..., None]).sum(0)


@sum_vectors.mistake("You add over the features, the last axis. The words' axis, 1, is the one to add over.")
def added_over_width(words, mask):
    return (words * mask[..., None]).sum(2)


@sum_vectors.mistake(
    "You count the words and add up the first so many: right only where the padding stands at the end. The mask says which ones are words."
)
def padding_at_the_end_assumed(words, mask):
    return torch.stack([s[:n].sum(0) for s, n in zip(words, mask.sum(1).tolist(), strict=True)])


@sum_vectors.mistake(
    "`words * mask` lines the mask up with the last two axes, words and features, S×D. It belongs to sentences and words: "
    "give it a third axis, `mask[..., None]`. Without it this runs only where sizes happen to fit, and is wrong there."
)
def mask_without_third_axis(words, mask):
    return (words * mask).sum(1)


@sum_vectors.mistake(
    "`words[mask]` lays the words of all sentences in one row, so you add all sentences together. Each one gets a sum of its own: "
    "turn padding into zeros, then add over axis 1."
)
def all_sentences_together(words, mask):
    return words[mask].sum(0)


@sum_vectors.mistake("Your sums keep an axis of size 1 where the words were (keepdim=True). Asked is B×D: let it go.")
def axis_kept(words, mask):
    return (words * mask[..., None]).sum(1, keepdim=True)


sentiment = Task(
    "01.sentiment",
    "logistic regression on the sums",
    arguments=("sums B×D", "weight D", "bias"),
    result="probability B",
    hints=(
        "Two steps: a score for each sentence, then a squashing of the score into a probability between 0 and 1.",
        "p_b = σ(Σ_d weight_d · sums_(b,d) + bias) with σ(z) = 1 / (1 + exp(-z)). One number a sentence: shape (B,).",
        "scores = matrix product of sums (B×D) and weight (D), plus bias; return torch.sigmoid(scores).",
    ),
)


@sentiment.cases
def _(draw):
    for size in sizes(B=3, D=5):
        yield Case(
            f"{count(size.B, 'sentence')}, width {size.D}",
            (draw.numbers(size.B, size.D), draw.numbers(size.D), draw.numbers(13)[0]),
            size.full,
        )
    yield Case("scores of ±10,000", (torch.tensor([[1e4], [-1e4], [0.0]]), torch.ones(1), torch.tensor(0.0)), edge=True)
    yield Case("float64 numbers", tuple(draw.numbers(*s, dtype=torch.float64) for s in ((3, 5), (5,), ())), edge=True)


@sentiment.oracle
def _(sums, weight, bias):
    return ((sums * weight).sum(1) + bias).div(2).tanh().add(1).div(2)


@sentiment.mistake("These are the scores themselves, not yet probabilities: the sigmoid is missing.")
def no_sigmoid(sums, weight, bias):
    return sums @ weight + bias


@sentiment.mistake("The bias is missing from the score.")
def no_bias(sums, weight, bias):
    return (sums @ weight).sigmoid()


@sentiment.mistake("You return the probability of the negative class: the sign of the score is turned round.")
def other_class(sums, weight, bias):
    return (-(sums @ weight + bias)).sigmoid()


@sentiment.mistake(
    "A softmax makes the sentences of a batch compete. Each sentence has a probability of its own: the sigmoid of its score."
)
def softmax_over_batch(sums, weight, bias):
    return (sums @ weight + bias).softmax(0)


@sentiment.mistake(
    "Your result has shape (B, 1), asked is (B,). Against labels of shape (B,) it would broadcast to B×B without an error, and the loss would be wrong."
)
def column(sums, weight, bias):
    return (sums @ weight[:, None] + bias).sigmoid()


@sentiment.mistake("You return decisions, 0 or 1. Asked is the probability, before any threshold.")
def decided(sums, weight, bias):
    return (sums @ weight + bias > 0).float()


@sentiment.mistake(
    "exp(z) / (1 + exp(z)) is infinity over infinity for a large score. Use torch.sigmoid, or 1 / (1 + exp(-z))."
)
def overflow(sums, weight, bias):
    z = (sums @ weight + bias).exp()
    return z / (1 + z)


@sentiment.mistake(
    "The bias is added to each feature before the sum, so it counts D times. It is added once, to the score."
)
def bias_for_each_feature(sums, weight, bias):
    return (sums * weight + bias).sum(-1).sigmoid()


@sentiment.mistake(
    "The order of the product is turned round: in a matrix product the axis that goes away stands last on the left. That is D, "
    "so `sums` (B×D) comes first. `weight @ sums` runs only where B = D, and is wrong there."
)
def product_turned(sums, weight, bias):
    return (weight @ sums + bias).sigmoid()


sentiment_gradient = Task(
    "01.sentiment_gradient",
    "the gradient of the mean cross-entropy, by formula",
    arguments=("sums B×D", "labels B", "weight D", "bias"),
    result=("weight_gradient D", "bias_gradient"),
    hints=(
        "For the cross-entropy behind a sigmoid the derivative with respect to the score is as short as can be: how far off the probability is.",
        "With p = σ(sums·weight + bias): ∂L/∂weight_d = (1/B) Σ_b (p_b - labels_b) · sums_(b,d), and ∂L/∂bias = (1/B) Σ_b (p_b - labels_b).",
        "error = (sigmoid(sums @ weight + bias) - labels) / B; return the matrix product of error (B) and sums (B×D), and the sum of error.",
    ),
)


@sentiment_gradient.cases
def _(draw):
    for size in sizes(B=5, D=3):
        labels = (torch.arange(size.B) % 2).float()
        args = (draw.numbers(size.B, size.D), labels, draw.numbers(size.D), draw.numbers(13)[0])
        yield Case(f"{count(size.B, 'sentence')}, width {size.D}", args)
    yield Case("float64 numbers", (draw.numbers(5, 3, dtype=torch.float64), torch.tensor([1.0, 0, 0, 1, 1]).double(),
               draw.numbers(3, dtype=torch.float64), draw.numbers(13, dtype=torch.float64)[0]), edge=True)  # fmt: skip
    far = torch.tensor([[1e4], [-1e4], [0.0]])
    yield Case("scores of ±10,000", (far, torch.tensor([1.0, 0, 1]), torch.ones(1), torch.tensor(0.0)), edge=True)


@sentiment_gradient.oracle
def _(sums, labels, weight, bias):
    weight, bias = weight.clone().requires_grad_(), bias.clone().requires_grad_()
    loss = torch.nn.functional.binary_cross_entropy_with_logits(sums @ weight + bias, labels)
    by_weight, by_bias = torch.autograd.grad(loss, (weight, bias))
    return by_weight, by_bias.item()


def _error(sums, labels, weight, bias):
    return (sums @ weight + bias).sigmoid() - labels


@sentiment_gradient.mistake("You sum over the sentences; the loss is their mean, so divide by B.")
def not_averaged(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias)
    return error @ sums, error.sum()


@sentiment_gradient.mistake("The weight's gradient is averaged over the batch, the bias's is not.")
def bias_not_averaged(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias)
    return error @ sums / len(sums), error.sum()


@sentiment_gradient.mistake(
    "The sign is turned round: this is the direction in which the loss falls. The gradient is (p - label), not (label - p)."
)
def sign_turned(sums, labels, weight, bias):
    error = -_error(sums, labels, weight, bias) / len(sums)
    return error @ sums, error.sum()


@sentiment_gradient.mistake(
    "You compare the labels with the raw scores: the error is the probability minus the label, so the sigmoid belongs in."
)
def scores_not_probabilities(sums, labels, weight, bias):
    error = (sums @ weight + bias - labels) / len(sums)
    return error @ sums, error.sum()


@sentiment_gradient.mistake(
    "The factor p(1 - p) belongs to the squared error. Under the cross-entropy it cancels: what remains is p - label."
)
def squared_error(sums, labels, weight, bias):
    p = (sums @ weight + bias).sigmoid()
    error = (p - labels) * p * (1 - p) / len(sums)
    return error @ sums, error.sum()


@sentiment_gradient.mistake("The bias enters the score too: your probabilities are computed without it.")
def bias_left_out(sums, labels, weight, bias):
    error = _error(sums, labels, weight, 0 * bias) / len(sums)
    return error @ sums, error.sum()


@sentiment_gradient.mistake(
    "exp(z) / (1 + exp(z)) is infinity over infinity for a large score. Use torch.sigmoid, or 1 / (1 + exp(-z))."
)
def overflow(sums, labels, weight, bias):
    e = (sums @ weight + bias).exp()
    error = (e / (1 + e) - labels) / len(sums)
    return error @ sums, error.sum()


@sentiment_gradient.mistake("You return the bias's gradient first. Asked is (weight_gradient, bias_gradient).")
def order_swapped(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias) / len(sums)
    return error.sum(), error @ sums


@sentiment_gradient.mistake(
    "You have a weight gradient for each sentence, B×D. The loss is one number for the whole batch: add them up over the sentences."
)
def weight_gradient_per_sentence(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias) / len(sums)
    return error[:, None] * sums, error.sum()


@sentiment_gradient.mistake(
    "You have a weight gradient for each sentence, B×D. The loss is their mean over the batch: take the mean over the sentences here too."
)
def weight_gradient_not_averaged(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias)
    return error[:, None] * sums, error.mean()


@sentiment_gradient.mistake(
    "Your bias gradient has an entry for each sentence. The loss is one number for the whole batch, and so is the bias: add them up."
)
def bias_gradient_per_sentence(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias) / len(sums)
    return error @ sums, error


@sentiment_gradient.mistake(
    "Your bias gradient is the error of each sentence. The bias is one number, and the loss a mean: take the mean of the errors."
)
def bias_gradient_not_averaged(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias)
    return error @ sums / len(sums), error


@sentiment_gradient.mistake(
    "Both gradients still have an entry for each sentence. The loss is one number for the whole batch: add them up over the sentences."
)
def both_per_sentence(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias) / len(sums)
    return error[:, None] * sums, error


@sentiment_gradient.mistake(
    "Both gradients still have an entry for each sentence. The loss is a mean over the batch: take their mean over the sentences."
)
def both_not_averaged(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias)
    return error[:, None] * sums, error


@sentiment_gradient.mistake(
    "Error times weight is what reaches a word of the sentence. The weight's gradient is error times the sum that it was multiplied with."
)
def error_times_weight(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias).mean()
    return error * weight, error


# Polarity is looked at, not trained through: no gradient is asked for.
word_polarity = Task(
    "01.word_polarity",
    "the cosine between each word and the direction of sentiment",
    arguments=("word_vectors V×D", "weight D"),
    result="polarity V",
    hints=(
        "The cosine asks for the angle alone: long and short vectors in one direction get the same answer.",
        "polarity_v = (word_v · weight) / (‖word_v‖ ‖weight‖), between -1 and 1; where a vector is zero the quotient is 0/0, and 0 is asked.",
        "dots = word_vectors @ weight; lengths = norm of each row times the norm of weight; divide where lengths > 0, else 0.",
    ),
    partial={"zero_gives_nan": (0.75, "right wherever no vector is zero.")},
)


@word_polarity.cases
def _(draw):
    for size in sizes(V=5, D=3):
        words = draw.numbers(size.V, size.D) + 0.25  # no zero vector
        yield Case(f"{count(size.V, 'word')} of width {size.D}", (words, draw.numbers(size.D) + 0.25))
    small = torch.tensor([[3.0, 4.0], [0.0, 0.0]])
    yield Case("2 words of width 2, the second one zero", (small, torch.tensor([1.0, 0.0])), edge=True)
    yield Case("2 words of width 2, a direction that is zero", (small.flip(0), torch.zeros(2)), edge=True)
    words = draw.numbers(5, 3) + 0.25
    words[2] = 0
    yield Case("a word whose vector is zero", (words, draw.numbers(3) + 0.25), edge=True)
    yield Case("short vectors", (0.1 * (draw.numbers(5, 3) + 0.25), 0.3 * (draw.numbers(3) + 0.25)), edge=True)
    yield Case("a single word", (draw.numbers(1, 3) + 0.25, draw.numbers(3) + 0.25), edge=True)
    yield Case("a direction that is zero", (draw.numbers(5, 3) + 0.25, torch.zeros(3)), edge=True)
    yield Case(
        "float64 numbers",
        (draw.numbers(5, 3, dtype=torch.float64), draw.numbers(13, dtype=torch.float64)[:3] + 0.25),
        edge=True,
    )


@word_polarity.oracle
def _(word_vectors, weight):
    def cosine(a, b):
        square = (a * a).sum() * (b * b).sum()
        return (a * b).sum() / square.sqrt() if square else square

    return torch.stack([cosine(word, weight) for word in word_vectors])


def _cosine(word_vectors, weight):
    return torch.nan_to_num((word_vectors @ weight) / (word_vectors.norm(dim=1) * weight.norm()))


@word_polarity.mistake(
    "These are dot products: long vectors get large values. Divide by both lengths to be left with the angle."
)
def dot_product(word_vectors, weight):
    return word_vectors @ weight


@word_polarity.mistake("You divide by the length of weight only; each word's own length is missing.")
def word_length_missing(word_vectors, weight):
    return torch.nan_to_num(word_vectors @ weight / weight.norm())


@word_polarity.mistake("You divide by the word's length only; the length of weight is missing.")
def weight_length_missing(word_vectors, weight):
    return torch.nan_to_num(word_vectors @ weight / word_vectors.norm(dim=1))


@word_polarity.mistake(
    "You divide by the norm of the whole matrix. Each word has a length of its own: take the norm of each row."
)
def norm_of_everything(word_vectors, weight):
    return torch.nan_to_num(word_vectors @ weight / (word_vectors.norm() * weight.norm()))


@word_polarity.mistake("A zero vector gives 0/0, which is NaN. It has no direction; 0 is asked there.")
def zero_gives_nan(word_vectors, weight):
    return (word_vectors @ weight) / (word_vectors.norm(dim=1) * weight.norm())


@word_polarity.mistake("You divide by the squared lengths: the square root is missing.")
def squared_lengths(word_vectors, weight):
    return torch.nan_to_num(word_vectors @ weight / (word_vectors.square().sum(1) * weight.square().sum()))


@word_polarity.mistake(
    "You return the size of the cosine without its sign. The sign is what tells positive words from negative ones."
)
def sign_lost(word_vectors, weight):
    return _cosine(word_vectors, weight).abs()

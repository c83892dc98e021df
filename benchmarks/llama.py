"""What SmolLM2-135M-Instruct, in the course's class, makes of reviews, and what each of its heads is needed for.

    python benchmarks/llama.py

Needs the model and SST-2 (`course data smollm2 sst2`). Fills, in about ten minutes on one quiet core,

    sst2_llama.csv   share of SST-2's test reviews that are right by comparing " positive" and " negative", with four sets of examples:
                     300 drawn ones ("all") and all 383 with a negation ("negated"); "seed" is the number of the set. The threshold is 0, or the
                     median of 100 validation reviews, without their labels
    sst2_trained.csv the same for the sum of word vectors and for self-attention (lessons 01 and 03), trained on the 6,920 training reviews
    one_head.csv     40 random tokens, repeated, with each of the 270 heads switched off: nats per token the second time, and of prose
    mistakes.csv     the same nats with one mistake at a time in the class or in its use, what the model then writes, and the largest difference
                     of its logits, token by token with a cache, from the right ones

    python benchmarks/llama.py --transformers

compares the class with `transformers` instead (extra `compare`). It fills llama_logits.csv with the 20 largest logits that `transformers` finds
after each of nine texts, and measures how many tokens a second each of the two writes with a cache. They take turns for five rounds, with one
thread and with two. Between the turns, a matrix of 512 MB is multiplied by a vector, which shows the memory bandwidth.
Exits 1 where the class has less than 0.9 of `transformers`' median.
"""

import os
import sys
import time
from contextlib import nullcontext
from functools import cache, partial
from statistics import median
from unittest.mock import patch

import torch
from measuring import fill, jobs, machine, page, read_options, spread
from torch import nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

from course_utils.data.smollm2 import PROSE
from course_utils.data.sst2 import load_sst2
from course_utils.models import llama, sentiment

EXAMPLES = [
    [("a moving story, full of warmth", 1), ("dull from the first minute to the last", 0), ("never boring", 1), ("not worth your time", 0)],
    [("not worth your time", 0), ("never boring", 1), ("dull from the first minute to the last", 0), ("a moving story, full of warmth", 1)],
    [("a delight", 1), ("a waste of time", 0), ("funny and clever", 1), ("slow and predictable", 0)],
    [("one of the finest films of the year, with a wonderful cast", 1), ("the plot makes no sense and the jokes fall flat", 0), ("you will not regret seeing it", 1), ("a dreary, overlong mess", 0)],
]  # fmt: skip
TEXTS = (
    "The capital of France is",
    "<|im_start|>user\nWhy is the sky blue?<|im_end|>\n<|im_start|>assistant\n",
    "def fibonacci(n):\n    if n < 2:\n        return n\n",
    "Ein Mann in Zimmer 1234 liest am 5. Mai eine Zeitung.",
    PROSE,
    "Once upon a time, there was a",
    "<|im_start|>user\nWho was Goethe?<|im_end|>\n<|im_start|>assistant\n",
    "import torch\nfrom torch import nn\n\nclass",
    "Il était une fois",
)
LABELS = (" negative", " positive")
KINDS = {"sum": sentiment.SumOfWords, "attention": sentiment.SelfAttention}


def scores(model, tokenizer, examples, reviews, batch=32):
    """Return log p(" positive") - log p(" negative") for each review. The examples are read once; their cache serves all reviews."""
    shown = "\n\n".join(f"Review: {text}\nSentiment:{LABELS[label]}" for text, label in examples)
    before, after = (
        tokenizer.encode(shown).ids,
        [tokenizer.encode(f"\n\nReview: {text}\nSentiment:").ids for text in reviews],
    )
    labels = [tokenizer.encode(label).ids[0] for label in LABELS]
    caches = model.new_caches()
    model(torch.tensor([before]), caches)
    found = torch.empty(len(reviews))
    by_length = {}
    for i, ids in enumerate(after):
        by_length.setdefault(len(ids), []).append(i)
    for group in by_length.values():  # of equal length, so that nothing is padded
        for chunk in (group[at : at + batch] for at in range(0, len(group), batch)):
            own = [{name: part.expand(len(chunk), -1, -1, -1) for name, part in layer.items()} for layer in caches]
            x = model(torch.tensor([after[i] for i in chunk]), own)[:, -1, labels]  # B 2
            found[chunk] = x[:, 1] - x[:, 0]
    return found


def measure_sst2(reviews, seed):
    """Return how many reviews there are, and what share is right: at threshold 0, at the median of others, and of each label."""
    places = groups[reviews]
    found = scores(model, tokenizer, EXAMPLES[seed], [texts["test"][i] for i in places])
    median = scores(model, tokenizer, EXAMPLES[seed], [texts["dev"][i] for i in others]).median()
    labels = splits["test"].labels[places].bool()
    right = [((found > threshold) == labels).float() for threshold in (0.0, median)]
    sides = right[1][labels].mean().item(), right[1][~labels].mean().item()
    return [(len(places), *(each.mean().item() for each in right), *sides)]


def measure_trained(kind, reviews, seed):
    """Return the weight decay and the share of these reviews that is right."""
    decay, right = trained_on_sst2(kind, seed)
    return [(decay, right[groups[reviews]].mean().item())]


@cache
def trained_on_sst2(kind, seed):
    """Train a model of lessons 01 to 03 on SST-2; return the weight decay that is best for the validation reviews, and which test reviews are right."""
    train = splits["train"]
    vocabulary = sentiment.build_vocabulary(train.sentences)
    ids = {name: sentiment.encode(split.sentences, vocabulary) for name, split in splits.items()}
    tried = {}
    for decay in (0.03, 0.3, 3.0):
        torch.manual_seed(seed)
        made = KINDS[kind](len(vocabulary), width=16)
        sentiment.train(made, *ids["train"], train.labels, seed, weight_decay=decay)
        shares = {name: sentiment.correct(made, *ids[name], splits[name].labels).float() for name in ("dev", "test")}
        tried[shares["dev"].mean().item()] = decay, shares["test"]
    return tried[max(tried)]


def second_copy_and_prose(prose, seed):
    """Return the nats per token of 40 random tokens when they are repeated, but for the first of them, and of prose."""
    draw = torch.Generator().manual_seed(seed)
    once = torch.randint(1000, 20_000, (2, 40), generator=draw)
    rows = torch.cat([torch.ones(2, 1, dtype=torch.long), once, once], dim=1)
    nats = [cross_entropy(model(ids[:, :-1]).mT, ids[:, 1:], reduction="none") for ids in (rows, torch.tensor([prose]))]
    return nats[0][:, 41:].mean().item(), nats[1].mean().item()


def measure_head(layer, head, seed):
    W_O = model.layers[layer].attention.f.W_O.weight
    columns = slice(64 * head, 64 * head + 64) if head >= 0 else slice(0, 0)  # -1: no head
    kept = W_O[:, columns].clone()
    W_O[:, columns] = 0
    found = second_copy_and_prose(tokenizer.encode(PROSE).ids, seed)
    W_O[:, columns] = kept
    return [found]


def without_mask(q, k, v):
    keys, values = (part.repeat_interleave(q.shape[1] // k.shape[1], 1) for part in (k, v))
    return scaled_dot_product_attention(q, keys, values), None


def of_another_text():
    caches = [{} for _ in model.layers]
    model(torch.tensor([tokenizer.encode("<|im_start|>user\nWho was Goethe?<|im_end|>\n").ids]), caches)
    return caches


def encode_in_two(text):
    """Encode a text in two parts, of which the first ends with the middle one of the spaces."""
    spaces = [i for i, letter in enumerate(text, 1) if letter == " "]
    middle = spaces[len(spaces) // 2]
    return [i for part in (text[:middle], text[middle:]) for i in tokenizer.encode(part).ids]


RIGHT_NORM = llama.RMSNorm.forward
MISTAKES = {  # functions that return what makes the mistake as long as it is entered
    "none": nullcontext,
    "final norm left out": lambda: patch.object(model, "norm", nn.Identity()),
    "no cache, newest token only": lambda: patch.object(model, "new_caches", lambda: None),
    "rotary pairs in halves": lambda: patch.object(llama, "turn", page("22_real_language_model").turn_halves),
    "θ = 10,000": lambda: patch.object(model, "theta", 1e4),
    "mean subtracted (LayerNorm)": lambda: patch.object(
        llama.RMSNorm, "forward", lambda norm, x: RIGHT_NORM(norm, x - x.mean(-1, keepdim=True))
    ),
    "positions start again at 0": lambda: patch.object(
        model, "angles", lambda start, T: type(model).angles(model, 0, T)
    ),
    "cache of another text": lambda: patch.object(model, "new_caches", of_another_text),
    "text cut after a space": nullcontext,
    "no causal mask": lambda: patch.object(llama, "grouped_attention", without_mask),
}


def read_answer(ids, answer):
    """Return the logits that the model has while it writes: at the end of ids and after each id of an answer but the last."""
    caches, found = model.new_caches(), []
    for new in (ids, *([i] for i in answer[:-1])):
        found.append(model(torch.tensor([new]), caches)[0, -1])
    return torch.stack(found)


def write(ids, steps=32):
    """Return the most probable ids after these, up to the end of the turn."""
    caches, new, found = model.new_caches(), ids, []
    while len(found) < steps and (not found or found[-1] != tokenizer.token_to_id("<|im_end|>")):
        new = [model(torch.tensor([new]), caches)[0, -1].argmax().item()]
        found += new
    return found


def measure_mistake(mistake, seed):
    question = TEXTS[1]
    encode = encode_in_two if mistake == "text cut after a space" else lambda text: tokenizer.encode(text).ids
    ids = tokenizer.encode(question).ids
    answer = write(ids)
    right = read_answer(ids, answer)
    with MISTAKES[mistake]():
        copy, prose = second_copy_and_prose(encode(PROSE), seed)
        difference = (read_answer(encode(question), answer) - right).abs().max().item()
        written = tokenizer.decode(write(encode(question)), skip_special_tokens=False)
    return [(prose, copy, difference, " ".join(written.split())[:100])]


def as_transformers(model):
    """Return the same model in `transformers`, with rotary pairs in halves."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=49_152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3,
        rms_norm_eps=1e-5, rope_parameters={"rope_type": "default", "rope_theta": 100_000.0}, tie_word_embeddings=True,
        max_position_embeddings=8192, attn_implementation="eager",
    )  # fmt: skip
    renamed = {
        "attention.norm": "input_layernorm", "feed_forward.norm": "post_attention_layernorm", "attention.f.W_Q": "self_attn.q_proj",
        "attention.f.W_K": "self_attn.k_proj", "attention.f.W_V": "self_attn.v_proj", "attention.f.W_O": "self_attn.o_proj",
        "feed_forward.f": "mlp", ".gate": ".gate_proj", ".up": ".up_proj", ".down": ".down_proj", "embedding": "embed_tokens",
    }  # fmt: skip
    weights = {"lm_head.weight": model.embedding.weight}
    for name, weight in model.state_dict().items():
        heads = {"W_Q": 9, "W_K": 3}.get(name.split(".")[-2])
        for ours, theirs in renamed.items():
            name = name.replace(ours, theirs)
        in_halves = weight.unflatten(0, (heads, -1, 2)).transpose(1, 2).flatten(0, 2) if heads else weight
        weights[f"model.{name}"] = in_halves
    theirs = LlamaForCausalLM(config).eval()
    theirs.load_state_dict(weights)
    return theirs.requires_grad_(False)


def generate(theirs, ids, steps):
    """Return the ids B×T and the most probable `steps` ids after them, by `transformers` with its cache."""
    ids = torch.as_tensor(ids)
    return theirs.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=steps,
        do_sample=False,
        eos_token_id=None,
        pad_token_id=0,
    )


def largest_logits(theirs, text):
    """Return the 20 largest logits of `transformers` after a text, each with its token."""
    logits = theirs(torch.tensor([tokenizer.encode(TEXTS[text]).ids])).logits[0, -1]
    found = logits.topk(20)
    return list(zip(found.indices.tolist(), found.values.tolist(), strict=True))


def compare_speed(theirs, rounds=5, steps=32):
    """Print the tokens a second of the class and of `transformers`, and what share of the memory bandwidth each uses; return their ratios."""
    ids = tokenizer.encode("Once upon a time there was a").ids
    assert write(ids, steps) == generate(theirs, [ids], steps)[0, len(ids) :].tolist()
    matrix, vector = torch.ones(2**27 // 1024, 1024), torch.ones(1024)  # 512 MB
    bytes_a_token = sum(4 * weights.numel() for weights in model.parameters())
    work = {
        "this class": (partial(write, ids, steps), steps),
        "transformers": (partial(generate, theirs, [ids], steps), steps),
        "matrix times vector": (lambda: matrix @ vector, matrix.numel() * 4 / 1e9),
    }
    print(machine(), f"prompt of {len(ids)} tokens, then {steps}", sep="; ")
    print("minimum, median and maximum of", rounds, "rounds")
    ratios = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        found = {name: [] for name in work}
        for _ in range(rounds):
            for name, (run, amount) in work.items():
                began = time.perf_counter()
                run()
                found[name].append(amount / (time.perf_counter() - began))
        bandwidth = median(found.pop("matrix times vector"))
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
        print(f"threads: {threads}; memory bandwidth: {bandwidth:.1f} GB/s; load of the machine: {load:.1f}")
        for name, each in found.items():
            share = median(each) * bytes_a_token / 1e9 / bandwidth
            print(f"{name:12} {spread(each, '6.1f')} tokens a second; {share:.2f} of the bandwidth")
        ratios.append(median(found["this class"]) / median(found["transformers"]))
        print(f"ratio of the medians: {ratios[-1]:.2f}", flush=True)
    return ratios


if __name__ == "__main__":
    options = read_options(__doc__, transformers=False)
    model, tokenizer, _ = llama.load_smollm2()
    if options.transformers:
        with torch.no_grad():
            theirs = as_transformers(model)
            fill(
                "llama_logits",
                "text token logit",
                [(text,) for text in range(len(TEXTS))],
                partial(largest_logits, theirs),
            )
            sys.exit(min(compare_speed(theirs)) < 0.9)
    splits = {name: load_sst2(name) for name in ("train", "dev", "test")}
    texts = {name: [" ".join(words) for words in split.sentences] for name, split in splits.items()}
    draw = torch.Generator().manual_seed(0)
    drawn = torch.randperm(len(splits["test"]), generator=draw)[:300].tolist()
    groups = {"all": drawn, "negated": splits["test"].negated.nonzero().flatten().tolist()}
    others = torch.randperm(len(splits["dev"]), generator=draw)[:100].tolist()
    trained = jobs([(kind, reviews) for kind in KINDS for reviews in groups], range(3))
    fill("sst2_trained", "model reviews seed decay right", trained, measure_trained)
    with torch.no_grad():
        columns = "reviews seed count right right_by_median positive_right negative_right"
        fill("sst2_llama", columns, jobs(list(groups), range(len(EXAMPLES))), measure_sst2)
        heads = [(0, -1), *((layer, head) for layer in range(30) for head in range(9))]
        fill("one_head", "layer head seed second_copy prose", jobs(heads, range(1)), measure_head)
        columns = "mistake seed prose second_copy difference writes"
        fill("mistakes", columns, jobs(list(MISTAKES), range(3)), measure_mistake)

"""The file of SmolLM2-135M-Instruct (Allal et al. 2025), and a small file of the same format in case it is unavailable.

Not here: the model (`models/llama.py`) and the address of its file (`download.py`).
"""

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from course_utils.data.download import DataError, fetch

FILE = "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
PROSE = (
    "The old harbour was quiet in the morning. Two fishermen mended their nets while a dog slept between the baskets, and the smell of "
    "bread came from the bakery on the corner. At eight the ferry arrived with the post and a handful of visitors, who walked up the hill "
    "to see the church. By noon the square was full of people, and nobody could remember that it had ever been so warm in April."
)
D, H, G, F, N, V = 36, 9, 3, 48, 30, 49_152  # of the stand-in: width, heads, groups, hidden units, layers, vocabulary


def file_or_stand_in() -> Path:
    """Return the path of the model's file or, if it is unavailable, of a small one with random weights, and say so in a line.

    If the environment variable COURSE_REAL_DATA is set, as it is while lessons are built, there is no stand-in (`DataError`).
    """
    try:
        return fetch(FILE)
    except DataError as error:
        if os.environ.get("COURSE_REAL_DATA"):
            raise
        print(f"STAND-IN: a small model with random weights takes the place of SmolLM2, so that the cells run. {error}")
        return _write_stand_in()


@cache
def _write_stand_in() -> Path:
    from gguf import GGUFWriter
    from tokenizers import pre_tokenizers

    path = Path(tempfile.mkdtemp(prefix="smollm2-")) / "stand-in.gguf"
    atexit.register(shutil.rmtree, path.parent, ignore_errors=True)
    file = GGUFWriter(path, "llama")
    file.add_vocab_size(V)
    file.add_embedding_length(D)
    file.add_head_count(H)
    file.add_head_count_kv(G)
    file.add_feed_forward_length(F)
    file.add_block_count(N)
    file.add_rope_freq_base(100_000.0)
    file.add_layer_norm_rms_eps(1e-5)
    control = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokens = [*control, *sorted(pre_tokenizers.ByteLevel.alphabet()), "he"]
    tokens += [f"<|unused {i}|>" for i in range(len(tokens), V)]
    file.add_token_list(tokens)
    file.add_token_types([3] * len(control) + [1] * (V - len(control)))
    file.add_token_merges(["h e"])
    draw = np.random.default_rng(0)
    attention = {"attn_q": (D, D), "attn_k": (D * G // H, D), "attn_v": (D * G // H, D), "attn_output": (D, D)}
    feed_forward = {"ffn_gate": (F, D), "ffn_up": (F, D), "ffn_down": (D, F)}
    file.add_tensor("token_embd.weight", draw.normal(size=(V, D)).astype("float32"))
    file.add_tensor("output_norm.weight", np.ones(D, "float32"))
    for i in range(N):
        for name in ("attn_norm", "ffn_norm"):
            file.add_tensor(f"blk.{i}.{name}.weight", np.ones(D, "float32"))
        for name, shape in (attention | feed_forward).items():
            file.add_tensor(f"blk.{i}.{name}.weight", (draw.normal(size=shape) / D**0.5).astype("float32"))
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    return path

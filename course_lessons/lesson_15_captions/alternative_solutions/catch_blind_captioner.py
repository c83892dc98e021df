"""Correct answers to 15.catch_blind_captioner in other styles than the solution's."""

import numpy as np
import torch


def by_cutting_captions(captioner):
    """Features of a caption that is cut off are those of the whole one."""
    rng = np.random.default_rng(2)
    annotations, words = (torch.tensor(rng.normal(size=n), dtype=torch.float32) for n in ((3, 4, 5), (3, 6, 3)))
    try:
        whole = captioner(annotations, words).numpy()
        cut = [captioner(annotations, words[:, :t]).numpy() for t in range(1, 7)]
        if not all(np.allclose(whole[:, : t + 1], each, atol=1e-5) for t, each in enumerate(cut)):
            return False
        for b, place in np.ndindex(3, 4):
            changed = annotations.clone()
            changed[b, place] -= torch.tensor(rng.normal(size=5), dtype=torch.float32)
            if np.allclose(captioner(changed, words).numpy()[b], whole[b], atol=1e-5):
                return False
    except Exception:
        return False
    return True


def one_question_after_another(captioner):
    torch.manual_seed(1)
    annotations, words = torch.randn(2, 4, 5), torch.randn(2, 6, 3)

    def different(a, b):
        return bool(((a - b).abs() > 1e-5).any())

    try:
        features = captioner(annotations, words)
        for b in range(2):
            for i in range(4):
                changed = annotations.clone()
                changed[b, i] = torch.randn(5)
                if not different(captioner(changed, words)[b], features[b]):
                    return False
        for t in range(6):
            changed = words.clone()
            changed[:, t] = torch.randn(2, 3)
            if different(captioner(annotations, changed)[:, :t], features[:, :t]):
                return False
    except Exception:
        return False
    return True


NONE_OF_ITS_OWN = "A captioner is tested by what moves when its inputs change."
CORRECT = [by_cutting_captions, one_question_after_another]

"""Right answers to 15.catch_blind_captioner in other styles than the solution's: many draws, one batch, a cut caption, questions."""

import numpy as np
import torch


def many_draws(captioner):
    """Other sizes at each draw, and every annotation replaced by another one."""
    draw = torch.Generator().manual_seed(5)
    for B, L, T in ((2, 5, 3), (3, 4, 5)):
        annotations, words, others = (torch.randn(*n, generator=draw) for n in ((B, L, 5), (B, T, 3), (B, L, 5)))
        try:
            before = captioner(annotations, words)
            for place in range(L):  # of all rows at once, and each row is compared with itself
                for b in range(B):
                    changed = annotations.clone()
                    changed[b, place] = others[b, place]
                    if not (captioner(changed, words) - before)[b].abs().max() > 5e-5:
                        return False
            for t in range(T - 1):
                later = words.clone()
                later[:, t + 1 :] = torch.randn(B, T - t - 1, 3, generator=draw)
                off = (captioner(annotations, later) - before)[:, : t + 1].abs().max()
                if not off < 1e-5:
                    return False
        except Exception:
            return False
    return True


def all_changes_in_one_batch(captioner):
    """Copies of one picture side by side, each with another annotation changed; another picture stands first and last."""
    g = torch.Generator().manual_seed(8)
    L, T = 4, 6
    picture, caption = torch.randn(L, 5, generator=g), torch.randn(T, 3, generator=g)
    other, noise = torch.randn(1, L, 5, generator=g), torch.randn(L, 5, generator=g)
    pictures = picture + torch.eye(L)[:, :, None] * noise  # copy i has annotation i changed
    batch = torch.cat([other, picture[None], pictures, other])
    words = caption.repeat(len(batch), 1, 1)
    words[0] = words[-1] = -caption
    captions = torch.stack([torch.cat([caption[:t], caption[t:].flip(0) + 1.5]) for t in range(1, T + 1)])
    try:
        features = captioner(batch, words)
        later = captioner(picture.repeat(T + 1, 1, 1), torch.cat([captions, caption[None]]))
    except Exception:
        return False
    moved = (features[2:-1] - features[1]).abs().amax((1, 2)) > 3e-5
    stays = [torch.allclose(later[t - 1, :t], later[-1, :t], atol=1e-5) for t in range(1, T + 1)]
    return bool(moved.all()) and all(stays) and torch.allclose(later[-1], features[1], atol=1e-5)


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
    annotations = torch.randn(2, 4, 5)
    words = torch.randn(2, 6, 3)

    def different(a, b):
        return bool(((a - b).abs() > 1e-5).any())

    try:
        features = captioner(annotations, words)
        # Does each annotation matter?
        for b in range(2):
            for i in range(4):
                changed = annotations.clone()
                changed[b, i] = torch.randn(5)
                new = captioner(changed, words)
                if not different(new[b], features[b]):
                    return False
        # Does it look at words to come?
        for t in range(6):
            changed = words.clone()
            changed[:, t] = torch.randn(2, 3)
            new = captioner(annotations, changed)
            for before in range(t):
                if different(new[:, before], features[:, before]):
                    return False
    except Exception:
        return False
    return True


NONE_OF_ITS_OWN = "A captioner is tested by what moves when its inputs change."
RIGHT = [
    many_draws,
    all_changes_in_one_batch,
    by_cutting_captions,
    # As beginners write them
    one_question_after_another,
]

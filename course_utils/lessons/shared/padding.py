"""The mistakes that a mask of words, or of facts, invites where padding is left out, as changes of the argument `mask`."""

import torch


def mask_mistakes(task, unused, inverted, one="caption", lengths=True):
    """Declare the mistakes of a task with an argument `mask`, a row for each caption or story, True where there is a word or a fact.

    Args:
        task: its `steps` use the mask as it comes.
        unused: what padding then does, and what to do about it, as sentences.
        inverted: what True means, and what is done with padding in its place: '"is a word", and you look at padding alone'.
        one: what a row is the mask of.
        lengths: whether False may come before True, so that counting is a mistake.
    """
    of = {
        "mask_unused": (f"The mask has no effect: {unused}", torch.ones_like),
        "mask_inverted": (f"The mask is the wrong way round: True means {inverted}.", torch.logical_not),
        "first_mask_for_all": (
            f"You use the first {one}'s mask for all of them. Each has its own.",
            lambda mask: mask[:1].expand_as(mask),
        ),
        "mask_as_lengths": (
            "You count the True values of a mask and take as many steps from the front. False may come before True: leave out the steps where the mask is False.",
            lambda mask: torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True),
        ),
    }
    for name, (sentence, change) in of.items():
        if lengths or name != "mask_as_lengths":
            task.changed(name, sentence, {"mask": change})

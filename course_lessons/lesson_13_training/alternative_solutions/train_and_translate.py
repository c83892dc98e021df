"""Correct answers to 13.train_and_translate with other models and other training than the solution's."""

import torch
import torch.nn.functional as F
from torch import nn


def with_a_whole_transformer(source, target, V, steps, new_source, new_target):
    """PyTorch's own stacks of layers, normalised before, with dropout, AdamW, a warm-up and clipping."""
    torch.manual_seed(0)
    embedding, places = nn.Embedding(V, 32), nn.Embedding(20, 32)
    sizes = {"dropout": 0.05, "batch_first": True, "norm_first": True}
    encoder_layer = nn.TransformerEncoderLayer(32, 4, 64, **sizes)
    encoder = nn.TransformerEncoder(encoder_layer, 1, nn.LayerNorm(32), enable_nested_tensor=False)
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(32, 4, 64, **sizes), 1, nn.LayerNorm(32))
    transformer = nn.Transformer(32, 4, custom_encoder=encoder, custom_decoder=decoder, batch_first=True)
    readout = nn.Linear(32, V, bias=False)
    model = nn.ModuleList([embedding, places, transformer, readout])

    def logits_of(source, given):
        x, y = (embedding(ids) + places.weight[: ids.shape[1]] for ids in (source, given))
        later = nn.Transformer.generate_square_subsequent_mask(given.shape[1])
        hidden = torch.zeros(source.shape).masked_fill(source == 0, -torch.inf)
        return readout(transformer(x, y, tgt_mask=later, src_key_padding_mask=hidden, memory_key_padding_mask=hidden))

    optimizer = torch.optim.AdamW(model.parameters(), lr=0.006)
    warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 10))
    losses = torch.empty(steps)
    for step in range(steps):
        optimizer.zero_grad()
        logits = logits_of(source, target[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), target[:, 1:], ignore_index=0)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        warmup.step()
        losses[step] = loss.detach()
    model.eval()
    return losses, [_used(logits_of, *pair) for pair in zip(new_source, new_target, strict=True)]


def with_recurrent_networks(source, target, V, steps, new_source, new_target):
    """GRUs with attention: any model that keeps the promises is correct, Transformer or not."""
    torch.manual_seed(0)
    D = 48
    words, readout = nn.Embedding(V, D), nn.Linear(2 * D, V)
    encoder, decoder = nn.GRUCell(D, D), nn.GRU(D, D, batch_first=True)
    model = nn.ModuleList([words, readout, encoder, decoder])

    def logits_of(source, given):
        state = torch.zeros(len(source), D)
        states = []
        for t in range(source.shape[1]):
            new = encoder(words(source[:, t]), state)
            state = torch.where((source[:, t] != 0)[:, None], new, state)
            states.append(state)
        memory = torch.stack(states, 1)
        y, _ = decoder(words(given), state[None])
        scores = (y @ memory.mT).masked_fill((source == 0)[:, None], -torch.inf)
        return readout(torch.cat([y, scores.softmax(-1) @ memory], -1))

    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(steps):
        loss = _mean_loss(logits_of(source, target[:, :-1]), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [_used(logits_of, *pair) for pair in zip(new_source, new_target, strict=True)]


def _mean_loss(logits, target):
    real = target[:, 1:] != 0
    return -logits.log_softmax(-1).gather(-1, target[:, 1:, None]).squeeze(-1)[real].mean()


@torch.no_grad()
def _used(logits_of, source, target):
    logits = logits_of(source, target[:, :-1])
    translations = torch.zeros(len(target), target.shape[1] - 1, dtype=torch.long)
    for row, sentence in enumerate(source):  # one sentence after the other
        written = [1]
        while written[-1] != 2 and len(written) < target.shape[1]:
            written.append(int(logits_of(sentence[None], torch.tensor([written]))[0, -1].argmax()))
        translations[row, : len(written) - 1] = torch.tensor(written[1:])
    return logits, float(_mean_loss(logits, target)), translations


OWN = [with_a_whole_transformer]
CORRECT = [*OWN, with_recurrent_networks]


MOST_CASES = 2  # each trains a model


def inputs(draw):
    """A task's own case: the new batches hold the training pairs."""
    from course_lessons.lesson_13_training.tasks.train_and_translate import task

    return task.make_cases(draw.randint(0, 99))[0].args

"""Correct answers to 13.catch_wrong_step in other styles than the solution's."""

import torch
from torch import nn


def by_a_module(train):
    """Its dropout is drawn from a generator that begins anew, and its own loop uses torch.optim."""
    torch.manual_seed(1)
    network = nn.Sequential(nn.Embedding(7, 8), nn.Dropout(0.5), nn.Linear(8, 7))
    start = [parameter.detach().clone() for parameter in network.parameters()]
    *batches, held_out = [(torch.randint(1, 7, (n, 3)), torch.randint(0, 7, (n, 3))) for n in (4, 2, 5, 6)]

    def loss_of(batch, training):
        source, target = batch
        network.train(training).zero_grad()
        return nn.functional.cross_entropy(network(source).transpose(1, 2), target, ignore_index=0)

    def model(weights, batch, training):
        with torch.no_grad():
            nn.utils.vector_to_parameters(nn.utils.parameters_to_vector(weights), network.parameters())
        loss = loss_of(batch, training)
        loss.backward()
        return loss, [parameter.grad for parameter in network.parameters()]

    def mine(clip):
        optimizer, losses = torch.optim.SGD(network.parameters(), lr=0.4), []
        for batch in batches:
            loss_of(batch, True).backward()
            nn.utils.clip_grad_norm_(network.parameters(), clip)
            optimizer.step()
            losses.append(loss_of(held_out, False).item())
        return [parameter.detach().clone() for parameter in network.parameters()], losses

    try:
        for clip in (0.05, 1e3):
            model(start, held_out, False)
            torch.manual_seed(2)
            expected = mine(clip)
            torch.manual_seed(2)
            weights, losses = train(model, start, batches, held_out, 0.4, clip)
            torch.testing.assert_close((list(weights), list(losses)), expected, atol=1e-5, rtol=1e-5)
    except Exception:
        return False
    return True


def by_a_record(train):
    """Each call is asked about by itself: the model knows what it should be called with, and gives gradients that it has ready."""
    draw = torch.Generator().manual_seed(0)
    first = [torch.randn(2, 3, generator=draw), torch.randn(4, generator=draw)]
    for size, clip in ((1.0, 0.3), (0.01, 0.3), (1.0, 1e3)):
        ready = [[size * torch.randn(w.shape, generator=draw) for w in first] for _ in range(3)]
        after = [first]
        for gradients in ready:
            norm = sum(float((g**2).sum()) for g in gradients) ** 0.5
            after.append([w - 0.5 * g * min(1, clip / norm) for w, g in zip(after[-1], gradients, strict=True)])
        calls = []

        def model(weights, batch, training, calls=calls, ready=ready):
            calls.append((weights, int(batch), training))
            return 1.0 + len(calls), ready[batch] if batch < 3 else ready[0]

        try:
            weights, losses = train(model, first, [0, 1, 2], 9, 0.5, clip)
        except Exception:
            return False
        expected = [call for t in range(3) for call in ((after[t], t, True), (after[t + 1], 9, False))]
        if [call[1:] for call in calls] != [call[1:] for call in expected] or list(losses) != [3.0, 5.0, 7.0]:
            return False
        pairs = [*zip(calls, expected, strict=True), ((weights,), (after[-1],))]
        for (came, *_), (right, *_) in pairs:
            if not all(a.shape == b.shape and (a - b).abs().max() < 1e-5 for a, b in zip(came, right, strict=True)):
                return False
    return True


OWN = [by_a_module]
CORRECT = [*OWN, by_a_record]

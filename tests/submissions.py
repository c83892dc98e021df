"""Submissions for the tests of grading, and helpers that read the results."""

import csv
import json

import pytest

from course_utils.checks.running.contract import pack, without_labels
from course_utils.grading.judging.candidates import Candidates, one_by_one
from course_utils.grading.judging.notebook_run import AnswerRequest
from course_utils.grading.sandbox import policy

needs_sandbox = pytest.mark.skipif(
    not policy.available().safe, reason=f"this machine cannot lock a learner's code in (it gives: {policy.available()})"
)

PADDING = "def padding_mask(lengths, size):\n    return torch.arange(size) < lengths[:, None]\n"
CAUSAL = "def causal_mask(size):\n    return torch.ones(size, size, dtype=torch.bool).tril()\n"
ATTENTION = """def attention(query, key, value, mask=None):
    scores = query @ key.mT
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = scores.softmax(-1)
    weights = weights if mask is None else weights * mask
    return weights @ value, weights
"""


def notebook(*sources, **extra):
    """Return the text of a notebook with these code cells."""
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source} for source in sources]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells, **extra})


def grades(out):
    """Return the rows of grades.csv by student."""
    with open(out / "grades.csv", encoding="utf-8-sig", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def wanted(task, cases, ask=None, offers=()):
    """Return what is wanted of the sandbox for one task; `ask` answers for the candidates in place of the usual one."""
    alone = () if ask else one_by_one(task, cases)
    ask = ask or (Candidates(task, cases) if task.candidates else None)
    asked = pack(list(map(without_labels, cases)))
    return AnswerRequest(
        task.id, task.answer_name, task.answer_kinds, asked, ask, (*task.offers, *offers), one_by_one=alone
    )

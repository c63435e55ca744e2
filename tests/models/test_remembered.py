"""What the model has said is remembered in a bounded space."""

from __future__ import annotations

import numpy as np
import pytest

from macex.ask.answers import Answers
from macex.models.remembered import MOST_SLOTS, Remembered


@pytest.mark.parametrize("width", [1, 2, 3, 1000, 10**7])
def test_the_space_does_not_grow_with_the_number_of_classes(width):
    memory = Remembered.of(queries=2048, width=width)
    assert memory.slots.size <= max(5 * MOST_SLOTS, width + 2)
    assert len(memory.slots) & (len(memory.slots) - 1) == 0


def test_a_row_is_found_with_its_own_answer_or_not_at_all():
    memory = Remembered.of(queries=1, width=2)
    keys = np.random.default_rng(0).integers(1, 2**63, 5000).astype(np.uint64)
    said = Answers(np.column_stack([keys % 7, keys % 11]).astype(float), (keys % 5).astype(int))
    memory.add(keys, said)
    known, answers = memory.look(keys)
    assert 0 < known.sum() < len(keys)
    assert (answers.scores == said.scores[known]).all()
    assert (answers.decision == said.decision[known]).all()

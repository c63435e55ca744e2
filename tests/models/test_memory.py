"""What the model has said is remembered in a bounded space."""

from __future__ import annotations

import numpy as np
import pytest

from macex.ask.answers import Answers
from macex.models.memory import MOST_ROWS, Remembered


def said(keys, width=2):
    scores = np.column_stack([keys % np.uint64(7 + turn) for turn in range(width)]).astype(float)
    return Answers(scores, (keys % np.uint64(5)).astype(int))


def drawn(count, seed=0):
    return np.random.default_rng(seed).integers(1, 2**63, count).astype(np.uint64)


def asked(memory, keys):
    """Ask about what is new; what then is known of all, and how many were asked about."""
    place, new = memory.places(keys)
    memory.write(place[new], said(keys[new]))
    answers, done = memory.answers(place)
    assert done.all()
    assert (answers.scores == said(keys).scores).all()
    assert (answers.decision == said(keys).decision).all()
    return new


def test_every_row_gets_its_own_answer_and_equal_ones_are_asked_about_once():
    keys = drawn(3000)
    keys = np.concatenate([keys, keys[::-1], drawn(500, seed=1)])
    new = asked(Remembered.of(queries=1, width=2), keys)
    assert np.array_equal(keys[new], np.concatenate([keys[:3000], keys[6000:]]))


def test_what_is_known_is_not_asked_about_again_unless_its_slot_was_taken():
    memory, keys = Remembered.of(queries=16, width=2), drawn(4000)
    asked(memory, keys)
    again = asked(memory, keys)
    assert len(again) < len(keys) / 4
    assert len(asked(memory, keys[again][:1])) <= 1


@pytest.mark.parametrize("width", [1, 2, 3, 1000])
def test_the_space_does_not_grow_with_the_number_of_classes(width):
    memory = Remembered.of(queries=2048, width=width)
    assert memory.most * width <= 3 * MOST_ROWS
    assert memory.most == max(1, MOST_ROWS // max(1, width // 2))


def test_a_full_space_is_used_anew(monkeypatch):
    monkeypatch.setattr("macex.models.memory.MOST_ROWS", 64)
    memory = Remembered(rows=64, width=2)
    for seed in range(20):
        assert len(asked(memory, drawn(50, seed))) == 50
    asked(memory, drawn(500))  # more at once than there is room for


def test_what_was_not_answered_is_asked_about_again():
    memory, keys = Remembered(rows=8, width=2), drawn(3)
    place, new = memory.places(keys)
    memory.write(place[new[:1]], said(keys[:1]))
    answers, done = memory.answers(place)
    assert done.tolist() == [True, False, False]
    assert answers.scores[1:].tolist() == [[0, 0], [0, 0]]
    memory.forget(place[~done])
    assert memory.places(keys)[1].tolist() == [1, 2]

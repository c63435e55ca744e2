"""The table of model kinds has a line for each, and dashes where there is no twin."""

from __future__ import annotations

import pytest

from macex.bench import kinds
from macex.bench.tables import Report


def test_a_kind_has_a_line_and_a_missing_library_a_note(monkeypatch):
    pytest.importorskip("skl2onnx")

    def absent(_):
        raise ImportError("nothing is not installed")

    chosen = {name: kinds.KINDS[name] for name in ("function", "logistic, pipeline")}
    monkeypatch.setattr(kinds, "KINDS", {**chosen, "nothing": (absent, False)})
    monkeypatch.setattr(kinds, "TRAINED", 300)
    report = Report()
    table = kinds.run(report, singles=1, batch=2)
    assert [line[0] for line in table.lines] == ["function", "logistic, pipeline"]
    assert table.lines[0][3:] == ("-", "-")
    assert all(float(value) > 0 for value in table.lines[1][1:])
    assert "nothing is not installed" in report.markdown()

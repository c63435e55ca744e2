from __future__ import annotations

import pytest

pytest.importorskip("torch")

from macex.bench import gpu


def test_the_benchmark_prints_queries_a_second_by_stage_and_compares_answers(monkeypatch, capsys):
    monkeypatch.setattr(gpu, "EPOCHS", 1)
    monkeypatch.setattr(gpu, "RUNS", {"end to end": gpu.RUNS["end to end"]})
    gpu.run(device="cpu", sizes="200", sample=40)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Adult, torch network (50, 50)")
    assert [line[:20].strip() for line in lines[2:3]] == ["end to end"]
    assert float(lines[2].split()[-1].replace(",", "")) > 0
    assert lines[3].startswith("against the explainer: 40 answers: ")
    assert lines[3].endswith(" 0.0% with more")

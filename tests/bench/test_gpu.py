from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("xgboost")
pytest.importorskip("lightgbm")

from macex.bench import gpu


def test_the_benchmark_prints_queries_a_second_by_stage_and_compares_answers(monkeypatch, capsys):
    monkeypatch.setattr(gpu, "EPOCHS", 1)
    monkeypatch.setattr(gpu, "RUNS", {"end to end": gpu.RUNS["end to end"]})
    gpu.run(device="cpu", sizes="50", sample=40)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Adult, torch network (50, 50)")
    assert lines[4].startswith("Adult, XGBoost (100 trees, depth 6)")
    assert lines[8].startswith("Adult, LightGBM")
    assert lines[12].startswith("Adult, random forest")
    for table in (lines[:4], lines[4:8], lines[8:12], lines[12:]):
        assert table[2][:20].strip() == "end to end"
        assert float(table[2].split()[-1].replace(",", "")) > 0
        assert table[3].startswith("against the explainer: 40 answers: ")
        assert float(table[3].split("answers: ")[1].split("%")[0]) >= 85, table[3]
        assert table[3].endswith(" 0.0% with more")

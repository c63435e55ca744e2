"""A project whose columns have reason codes tells them over HTTP."""

from __future__ import annotations

import httpx

from macex.server import Settings
from macex.server.projects.parts import described
from serving import serving


def test_a_project_tells_the_codes_of_its_columns(loan_files, tmp_path, row):
    folder = tmp_path / "loans"
    folder.mkdir()
    for name in ("model.skops", "train.csv", "rows.csv"):
        (folder / name).write_bytes((loan_files / name).read_bytes())
    parts = {"title": "Loans", "model": "model.skops", "data": "train.csv", "label": "outcome"}
    parts |= {"names": {"income": {"text": "income", "code": "R1", "reason": "Too low"}}}
    described(parts).write(folder)
    settings = Settings(state=tmp_path / "state", project=folder)
    with serving(settings) as one, httpx.Client(base_url=f"{one.url}/api/v1", timeout=60) as http:
        asked = http.post("/projects/loans/explain", json={"rows": [row]})
    (found,) = asked.json()["explanations"]
    assert found["reason_codes"] == [{"code": "R1", "text": "Too low", "column": "income"}]

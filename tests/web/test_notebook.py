"""A notebook that is executed, exported and looked at in a browser."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path

import pytest

from web.looking import FAINT, OVERFLOW, looks, opened, photographed

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

SOURCE = Path(__file__).parents[2] / "src"
SET_UP = """
import numpy as np, pandas as pd, macex as mx
data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20, "city": ["Oslo", "Rome"] * 20})
def model(rows):
    return 1 / (1 + np.exp(44.5 - rows["hours"] + rows["debt"]))
constraints = mx.Constraints(fixed=["city"], ranges={"hours": (20, 60)})
explainer = mx.Explainer(model, data, classes=("no", "yes"), constraints=constraints)
found = explainer.explain(data.head(5), n=2)
"""
SHOWN = [
    "explainer",
    "explainer.schema",
    "constraints",
    "found",
    "found[0]",
    "found[0].counterfactuals[0]",
    "found.summary()",
    "found[0].plot()",
    "found.plot('scores')",
    "explainer.plan(data)",
    "explainer.picture(data)",
    "explainer.what_if(data.head(1), hours=45)",
]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What each cell shows as HTML."""
    cells = [nbformat.v4.new_code_cell(text) for text in (SET_UP, *SHOWN)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    paths = os.pathsep.join(filter(None, [str(SOURCE), os.environ.get("PYTHONPATH")]))
    client = nbclient.NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path_factory.mktemp("notebook"))}},
    )
    client.execute(env={**os.environ, "PYTHONPATH": paths})
    shown = notebook.cells[1:]
    return {
        source: cell.outputs[0].data.get("text/html")
        for source, cell in zip(SHOWN, shown, strict=True)
    }


def exported(outputs):
    cells = "".join(
        f'<pre>{escape(source)}</pre><div class="jp-RenderedHTMLCommon">{html}</div>'
        for source, html in outputs.items()
    )
    return f'<!DOCTYPE html><meta charset="utf-8"><body>{cells}'


@pytest.mark.parametrize("source", SHOWN)
def test_everything_shows_itself_as_html(outputs, source):
    html = outputs[source]
    assert html is not None
    assert html.count("<th") == html.count(' scope="') + html.count("<thead")


def test_the_notebook_fits_and_can_be_read(browser, tmp_path, outputs):
    with opened(browser, exported(outputs)) as page:
        for look in looks(page):
            photographed(page, f"notebook-{look}", tmp_path)
            assert page.evaluate(OVERFLOW) <= 0
            assert page.evaluate(FAINT) == []
        assert page.asked == []
        assert page.locator(".mx-card").count() >= 9

"""A report on paper, where there is a browser."""

from __future__ import annotations

import pytest

from explanation.made import batch
from macex.errors import RenderError
from macex.render.pdf import chromium, pdf_bytes

needs_browser = pytest.mark.skipif(chromium() is None, reason="no Chromium here")


@needs_browser
def test_a_report_is_printed_whole(tmp_path):
    path = tmp_path / "report.pdf"
    batch().to_pdf(path, title="Loans")
    assert path.read_bytes().startswith(b"%PDF-")
    assert list(tmp_path.iterdir()) == [path]


def test_without_a_browser_the_error_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("MACEX_CHROMIUM", "a-browser-that-is-not-there")
    with pytest.raises(RenderError, match="MACEX_CHROMIUM"):
        batch().to_pdf(tmp_path / "report.pdf")
    assert list(tmp_path.iterdir()) == []


def test_a_browser_that_prints_nothing_is_an_error(monkeypatch):
    monkeypatch.setenv("MACEX_CHROMIUM", "true")
    with pytest.raises(RenderError, match="made no PDF"):
        pdf_bytes("<p>")

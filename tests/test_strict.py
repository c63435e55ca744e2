"""A strict run accepts no skip, except for want of a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

CONFTEST = (Path(__file__).parent / "conftest.py").read_text(encoding="utf-8")


def outcome(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, body: str, strict: str):
    monkeypatch.setenv("MACEX_STRICT", strict)
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(f"import pytest\n\n{body}\n\ndef test_passes():\n    pass\n")
    return pytester.runpytest_subprocess()


NO_GPU = "@pytest.mark.skip(reason='no GPU here')\ndef test_on_device(): pass"
NO_FILE = "@pytest.mark.skip(reason='no file')\ndef test_of_file(): pass"
NO_LIBRARY = "pytest.importorskip('a_library_that_does_not_exist')"
EXPECTED = "@pytest.mark.xfail(reason='known')\ndef test_known(): raise ValueError"


@pytest.mark.parametrize("body", [NO_FILE, NO_LIBRARY])
def test_a_skip_fails_a_strict_run(pytester, monkeypatch, body):
    result = outcome(pytester, monkeypatch, body, strict="1")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*these may not be skipped*"])


@pytest.mark.parametrize("body", [NO_GPU, EXPECTED])
def test_want_of_a_gpu_and_expected_failures_pass_a_strict_run(pytester, monkeypatch, body):
    assert outcome(pytester, monkeypatch, body, strict="1").ret == pytest.ExitCode.OK


def test_a_skip_passes_an_ordinary_run(pytester, monkeypatch):
    assert outcome(pytester, monkeypatch, NO_FILE, strict="0").ret == pytest.ExitCode.OK

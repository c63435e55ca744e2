"""How the tests run: strict or not, how hard Hypothesis tries, and torch on one thread."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

STRICT = os.environ.get("MACEX_STRICT") == "1"
FUZZ = os.environ.get("MACEX_FUZZ") == "1"
os.environ["MACEX_OPENML"] = "off"  # no test depends on the internet

settings.register_profile(
    "macex",
    deadline=None,
    derandomize=STRICT and not FUZZ,
    max_examples=200 if FUZZ else 25,
)
settings.load_profile("macex")


def forbidden_skips(config: pytest.Config) -> list[str]:
    """Skips that a strict run does not accept: all but those for want of a GPU."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if STRICT and reporter else []
    reasons = {report.nodeid: str(report.longrepr[2]) for report in skipped}
    return [f"{place}: {reason}" for place, reason in reasons.items() if "GPU" not in reason]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    clean = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    if clean and forbidden_skips(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = forbidden_skips(terminalreporter.config)
    if lines:
        terminalreporter.section("MACEX_STRICT=1: these may not be skipped", red=True)
        terminalreporter.write_line("\n".join(lines))
    for property_, title in (
        ("checked", "claims checked by the referee"),
        ("measured", "measured"),
    ):
        told = [
            f"{report.nodeid}: {value}"
            for report in terminalreporter.stats.get("passed", [])
            for name, value in report.user_properties
            if name == property_
        ]
        if told:
            terminalreporter.section(title)
            terminalreporter.write_line("\n".join(told))


@pytest.fixture
def one_thread():
    """Threads of torch that wait for each other take minutes on a busy machine."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)

"""The load on a server is judged by what company costs the clients of an honest project."""

from __future__ import annotations

import pytest

pytest.importorskip("typer")

import typer

from macex.bench import serving
from macex.bench.company import Company
from macex.bench.serving import Load, main, verdict


def load(late_s: float, errors: int = 0) -> Load:
    return Load(1.0, [late_s] * 100, errors)


def test_a_verdict_says_how_much_longer_answers_take_in_company():
    said, bearable = verdict(50, load(0.5), load(0.7), 0.026)
    told = "50 clients in company: p95 1.40 times as long as alone, 0 errors, probes 26 ms"
    assert said == told
    assert bearable


@pytest.mark.parametrize(
    ("alone", "beside", "probed_s"),
    [
        (load(0.5), load(0.76), 0.01),
        (load(0.5), load(0.5, errors=1), 0.01),
        (load(0.5, 1), load(0.5), 0.01),
        (load(0.5), load(0.5), 0.11),
    ],
)
def test_more_than_half_as_long_again_an_error_or_a_late_probe_is_not_bearable(
    alone, beside, probed_s
):
    assert not verdict(50, alone, beside, probed_s)[1]


def test_the_command_fails_where_company_costs_too_much(monkeypatch, capsys):
    found = {50: ("50 clients: fine", True), 200: ("200 clients: too late", False)}
    monkeypatch.setattr(serving, "measured", lambda clients, seconds: found[clients])
    main(clients=[50], seconds=1)
    with pytest.raises(typer.Exit) as ended:
        main(clients=None, seconds=1)
    assert ended.value.exit_code == 1
    assert capsys.readouterr().out.endswith("50 clients: fine\n200 clients: too late\n")


def test_both_probes_are_told():
    company = Company()
    for took in company.probes_s.values():
        took.extend([0.01] * 99 + [0.2])
    said = [line.partition(":")[0] for line in company.lines()]
    assert said == ["/health", "/ready"]
    company.probes_s["ready"].extend([0.2] * 10)
    assert company.late_s == 0.2

"""Tables: every line at once, aligned, and the same again in Markdown."""

from __future__ import annotations

from macex.bench.tables import Report


def test_lines_are_printed_as_they_come(capsys):
    table = Report().table("Speed", "cell", "ms", "rows")
    capsys.readouterr()
    table.add("adult", 1.25, 1200)
    assert capsys.readouterr().out.split() == ["adult", "1.25", "1,200"]


def test_columns_line_up(capsys):
    table = Report().table("Speed", "cell", "ms")
    table.add("adult", 1.0)
    table.add("breast", 1234.5)
    lines = capsys.readouterr().out.strip().splitlines()[1:]
    assert len({len(line) for line in lines}) == 1


def test_markdown_holds_tables_and_notes_in_order():
    report = Report()
    report.note("First.")
    report.table("Speed", "cell", "ms").add("adult", None)
    assert report.markdown() == (
        "# Benchmarks\n\nFirst.\n\n### Speed\n\n| cell | ms |\n| --- | ---: |\n| adult | - |\n"
    )


def test_progress_stays_out_of_the_results(capsys):
    Report().progress("fitting")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "fitting" in printed.err

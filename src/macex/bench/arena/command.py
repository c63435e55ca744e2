"""`macex bench --arena`: every method on the same models, rows and budgets, by one command."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from macex.bench.arena.cells import ArenaCells
from macex.bench.arena.entries import chosen, own_name, suited
from macex.bench.arena.factories import LAST, missing
from macex.bench.arena.layout import KEYS, ArenaTask, asked, read_parts, read_results, write_lines
from macex.bench.arena.page import write_board
from macex.bench.arena.runner import ArenaJob, run, undone
from macex.bench.arena.tables import ArenaTable, table_names, table_of
from macex.errors import DataError, MacexError, OptionError, closest

BUDGETS = "100,500,2000"
QUICK = {
    "datasets": "breast,wine,totals",
    "models": "XGBoost,logistic",
    "budgets": "500",
    "queries": 20,
}
"""What runs in ten minutes on two cores."""
QUERIES = 50


def arena(  # noqa: PLR0917
    arena: Annotated[bool, typer.Option("--arena", help="The arena, not the tables.")] = True,
    datasets: Annotated[str, typer.Option(help="Some of the tables, by commas.")] = "",
    models: Annotated[str, typer.Option(help=f"Some of {', '.join(LAST)}.")] = "",
    methods: Annotated[str, typer.Option(help="Some of the methods, by commas.")] = "",
    method: Annotated[str, typer.Option(help="A method of yours: FILE.py:NAME.")] = "",
    data: Annotated[
        Path | None, typer.Option(help="A CSV file of yours, or the folder of datasets' files.")
    ] = None,
    label: Annotated[str, typer.Option(help="The column of that file that is predicted.")] = "",
    budgets: Annotated[str, typer.Option(help="Rows of the model a query may cost.")] = "",
    queries: Annotated[int | None, typer.Option(min=1, help="Queries of a cell.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds of the methods.")] = 1,
    splits: Annotated[int, typer.Option(min=1, help="Splits into training and test.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="The first seed, and the first split.")] = 0,
    answers: Annotated[int, typer.Option(min=1, help="Answers for each query.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="Ten minutes on two cores.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes at a time.")] = 1,
    out: Annotated[Path, typer.Option(help="Where results and the page go.")] = Path(
        "arena-results"
    ),
    page: Annotated[
        Path | None, typer.Option(help="Write the board into this page of the documentation.")
    ] = None,
    results: Annotated[
        list[Path] | None,
        typer.Option(help="Measure nothing: write the board of this file. Repeatable."),
    ] = None,
) -> None:
    """Let every method answer the same questions, and measure the answers.

    What is done is kept in --out: the same command goes on with a run that was interrupted.
    """
    del arena
    try:
        if results:
            _write(read_results(results), out, page)
            return
        added = _own_table(data, label)
        folder = str(data) if data is not None and data.is_dir() else None
        if quick:
            datasets, models = datasets or str(QUICK["datasets"]), models or str(QUICK["models"])
            budgets, queries = (
                budgets or str(QUICK["budgets"]),
                queries or int(str(QUICK["queries"])),
            )
        job = ArenaJob(out, folder, method or None, added)
        tasks = planned(
            _tables(datasets, added),
            _installed(_checked("model", _listed(models), list(LAST))),
            chosen(_listed(methods), method or None),
            (range(seed, seed + splits), range(seed, seed + seeds)),
            _numbers(budgets or BUDGETS),
            (answers, queries or QUERIES),
            ArenaCells(folder, added),
        )
        _perform(tasks, job, jobs)
        lines = read_parts(out, tasks)
        _write(lines, out, page)
        if method:
            _tell_failures(lines, own_name(method))
    except MacexError as error:
        typer.echo(f"macex bench: {error}", err=True)
        raise typer.Exit(2) from error
    except KeyboardInterrupt:
        typer.echo("macex bench: interrupted; the same command goes on with it", err=True)
        raise typer.Exit(130) from None


def _write(lines: pd.DataFrame, out: Path, page: Path | None) -> None:
    """Write the results and the board, and print it."""
    out.mkdir(parents=True, exist_ok=True)
    write_lines(out / "results.parquet", lines)
    if asked(lines).empty:
        raise DataError(f"no model could be fitted: {lines['error'].iloc[0]}")
    typer.echo(write_board(lines, out, page))


def _tell_failures(lines: pd.DataFrame, name: str) -> None:
    """Say at the end, where it is seen, in how many cells the caller's own method failed."""
    told = asked(lines)
    tasks = told[told["method"] == name].drop_duplicates(list(KEYS))
    failed = tasks[tasks["error"].notna()]
    if len(failed):
        said = f"{name} failed {len(failed)} times of {len(tasks)}: {failed['error'].iloc[0]}"
        typer.echo(f"macex bench: {said}", err=True)


def planned(
    tables: list[str],
    models: list[str],
    methods: list[str],
    repeats: tuple[range, range],
    budgets: list[int],
    asked: tuple[int, int],
    cells: ArenaCells,
) -> list[ArenaTask]:
    """The tasks of a selection, without tables whose files are missing."""
    marks = {name: mark for name in tables if (mark := _mark(name, cells))}
    return [
        ArenaTask(name, kind, split, method, budget, seed, *asked, marks[name])
        for name, kind, split, method, budget, seed in product(
            marks, models, repeats[0], methods, budgets, repeats[1]
        )
        if suited(method, kind)
    ]


def _mark(name: str, cells: ArenaCells) -> str:
    """The mark of a table; none where its file is missing."""
    try:
        return cells.table(name).mark
    except DataError as error:
        typer.echo(f"left out: {error}", err=True)
        return ""


def _installed(kinds: list[str]) -> list[str]:
    """The kinds of models whose library is here; the others are named."""
    for said in filter(None, map(missing, kinds)):
        typer.echo(f"left out: {said}", err=True)
    return [kind for kind in kinds if missing(kind) is None]


def _own_table(data: Path | None, label: str) -> tuple[ArenaTable, ...]:
    if data is None or data.is_dir():
        if label:
            raise OptionError("--label says what is predicted in a file: name it by --data FILE")
        return ()
    if not data.is_file():
        raise DataError(f"--data: there is no file {str(data)!r}")
    if not label:
        raise OptionError(f"--data {str(data)!r} is a file: say by --label what is predicted")
    try:
        frame = pd.read_csv(data)
    except ValueError as error:  # pandas' own errors of files are such
        raise DataError(f"--data: {str(data)!r} is no CSV file: {error}") from error
    return (table_of(frame, label, data.stem),)


def _tables(said: str, added: tuple[ArenaTable, ...]) -> list[str]:
    own = [one.name for one in added]
    known = [*own, *table_names()]
    return _checked("table", _listed(said) or own, known)


def _checked(what: str, names: list[str], known: list[str]) -> list[str]:
    for name in names:
        if name not in known:
            raise OptionError(f"no {what} is called {name!r}{closest(name, known)}")
    return names or known


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _numbers(text: str) -> list[int]:
    words = _listed(text)
    if not words or not all(word.isdigit() and int(word) > 1 for word in words):
        raise OptionError(f"--budgets {text!r}: numbers of rows from 2 on, by commas")
    return [int(word) for word in words]


def _perform(tasks: list[ArenaTask], job: ArenaJob, jobs: int) -> None:
    """Do what is not done, with a bar on stderr that says how much CPU time is left."""
    todo = undone(tasks, job)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as progress:
        bar = progress.add_task("measuring", total=len(todo))
        took: list[float] = []

        def tell(task: ArenaTask, seconds: float) -> None:
            took.append(seconds)
            left = (len(todo) - len(took)) * sum(took) / len(took) / 60
            said = f"{task.dataset} / {task.model} / {task.method} (left: {left:.0f} min of CPU)"
            progress.update(bar, advance=1, description=said)

        run(todo, job, jobs, tell)

"""`macex bench`: the paper's experiments, rerun by one command."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from macex.bench.cells import MODELS, BenchCells
from macex.bench.experiments.engine.quality import changed_columns
from macex.bench.experiments.registry import EXPERIMENTS, GROUPS, measures
from macex.bench.findings import Findings
from macex.bench.methods import methods as all_methods
from macex.bench.methods import read_plugin
from macex.bench.plan import BenchPlan
from macex.bench.report.html import write_page
from macex.bench.report.markdown import around, write_summary
from macex.bench.report.markdown import markdown as as_markdown
from macex.bench.report.pages import write_pages
from macex.bench.results import Results
from macex.bench.runner import BenchJob, run
from macex.bench.series_sets import series_set
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.writing import document, machine
from macex.datasets import SERIES_NAMES
from macex.datasets import names as dataset_names
from macex.datasets.series import SHIPPED
from macex.errors import DataError, MacexError, OptionError, closest

TABLES = ", ".join([*EXPERIMENTS, *GROUPS])
ARENA = {"--arena", "--method", "--label", "--quick", "--budgets"}


def command_of(arguments: Sequence[str]) -> Callable[..., None]:
    """What the arguments ask for: the tables, or the arena.

    >>> command_of(["--method=mine.py:Mine"]).__name__, command_of(["--tables", "1"]).__name__
    ('arena', 'bench')
    """
    from macex.bench.arena.command import arena

    return arena if ARENA & {one.partition("=")[0] for one in arguments} else bench


def bench(  # noqa: PLR0917
    tables: Annotated[str, typer.Option(help=f"Some of {TABLES}, by commas.")] = "paper",
    datasets: Annotated[str, typer.Option(help="Some of the datasets.")] = "",
    models: Annotated[str, typer.Option(help=f"Some of {', '.join(MODELS)}.")] = "",
    methods: Annotated[str, typer.Option(help="Some of the methods.")] = "",
    queries: Annotated[int | None, typer.Option(min=1, help="The most queries in a cell.")] = None,
    rows: Annotated[
        int | None, typer.Option(min=1000, help="Rows of the largest run of table scale.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="More than one adds a summary.")] = 1,
    jobs: Annotated[int, typer.Option(min=1, help="Processes at a time.")] = 1,
    data: Annotated[
        Path | None, typer.Option(help="The folder of datasets' files; else MACEX_DATA.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where results and the report go.")] = Path(
        "bench-results"
    ),
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    plugin: Annotated[
        list[Path] | None, typer.Option(help="A file that registers methods or datasets.")
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            help="Write the story into this page, and its tables into the folder of its name."
        ),
    ] = None,
    summary: Annotated[
        Path | None, typer.Option(help="Write the table of changed columns into this page.")
    ] = None,
) -> None:
    """Rerun the paper's experiments, and print them beside its numbers.

    Results are written as they come; a run that was interrupted goes on with --resume. With
    --arena every method meets every other on more tables and models: --arena --help says how.
    """
    plugins = tuple(plugin or ())
    try:
        for path in plugins:
            read_plugin(path)
        if markdown is not None and markdown.exists():
            around(markdown)
        plan = planned(tables, datasets, models, methods, queries, seeds, BenchCells(data))
        plan = replace(plan, rows=rows)
        results = Results(out, resume=resume)
        tasks = [task for name in plan.tables for task in EXPERIMENTS[name].tasks(plan)]
        job = BenchJob(measures, None if data is None else str(data), plugins)
        perform(tasks, results, job, jobs)
        command = said(tables, datasets, models, methods, queries, seeds, rows)
        findings = Findings(plan, tasks, results)
        report(findings, results, command, out, markdown)
        if summary is not None:
            write_summary(changed_columns(findings), summary)
    except MacexError as error:
        typer.echo(f"macex bench: {error}", err=True)
        raise typer.Exit(2) from error
    except KeyboardInterrupt:
        typer.echo(f"macex bench: interrupted; --out {out} --resume goes on with it", err=True)
        raise typer.Exit(130) from None


def planned(
    tables: str,
    datasets: str,
    models: str,
    methods: str,
    queries: int | None,
    seeds: int,
    cells: BenchCells,
) -> BenchPlan:
    """The plan that the options ask for; a dataset that cannot be read is missing from it."""
    grouped = [part for name in _listed(tables) for part in GROUPS.get(name, (name,))]
    wanted = [*grouped, *(["seeds"] if seeds > 1 else [])]
    known = all_methods()
    usual = [name for name, method in known.items() if not method.optional]
    sizes, missing = {}, {}
    chosen = _chosen("dataset", _listed(datasets) or dataset_names(), dataset_names())
    for name in chosen:
        try:
            sizes[name] = len(cells.dataset(name).split()[1])
        except DataError as error:
            missing[name] = str(error)
    return BenchPlan(
        tables=_chosen("table", dict.fromkeys(wanted), [*EXPERIMENTS, *GROUPS]),
        datasets=chosen,
        models=_chosen("model", _listed(models) or cells.models, cells.models),
        methods=_chosen("method", _listed(methods) or usual, known),
        queries=queries,
        seeds=seeds,
        sizes=sizes,
        missing=missing,
        series=_series(cells, SERIES_NAMES),
        shipped=_series(cells, SHIPPED),
    )


def _series(cells: BenchCells, names: Iterable[str]) -> dict[str, int]:
    """The sets of time series that can be read, and how many channels each has."""
    found = {}
    for name in names:
        with suppress(DataError):
            found[name] = len(series_set(name, cells.folder).channels)
    return found


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _chosen(what: str, wanted: Iterable[str], known: Iterable[str]) -> list[str]:
    names = list(wanted)
    for name in names:
        if name not in list(known):
            raise OptionError(f"no {what} is called {name!r}{closest(name, known)}")
    return names


def perform(tasks: Sequence[BenchTask], results: Results, job: BenchJob, jobs: int) -> None:
    """Do what is not done, with a bar on stderr."""
    todo = [task for task in dict.fromkeys(tasks) if not results.done(task)]
    results.start(machine())
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        bar = progress.add_task("measuring", total=len(todo))

        def tell(outcome: TaskOutcome) -> None:
            progress.update(bar, advance=1, description=outcome.task.name)
            if outcome.error is not None:
                console.print(f"{outcome.task.name}: {outcome.error}", markup=False)

        run(todo, results, job, jobs=jobs, report=tell)


def said(
    tables: str,
    datasets: str,
    models: str,
    methods: str,
    queries: int | None,
    seeds: int,
    rows: int | None = None,
) -> str:
    """The command again, without what concerns one machine alone.

    >>> said("1,2", "", "MLP", "", 100, 1)
    'macex bench --tables 1,2 --models MLP --queries 100'
    """
    given = {
        "--tables": tables,
        "--datasets": datasets,
        "--models": models,
        "--methods": methods,
        "--queries": "" if queries is None else str(queries),
        "--rows": "" if rows is None else str(rows),
        "--seeds": "" if seeds == 1 else str(seeds),
    }
    words = [word for option, value in given.items() if value for word in (option, value)]
    return shlex.join(["macex", "bench", *words])


def report(
    findings: Findings, results: Results, command: str, out: Path, page: Path | None
) -> None:
    """Print the report and write it as Markdown and HTML."""
    made = document(findings, results.machines, command)
    (out / "report.md").write_text(as_markdown(made), encoding="utf-8")
    write_page(made, out / "report.html")
    if page is not None:
        write_pages(made, page)
    typer.echo(as_markdown(made))
    typer.echo(f"Written to {out / 'report.md'} and {out / 'report.html'}", err=True)

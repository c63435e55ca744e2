"""`macex key`: who may use a server that others than this machine can reach."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from macex.cli import options
from macex.cli.serve import settings_from

app = options.group("Keys of a server.")
State = Annotated[Path | None, typer.Option("--state", metavar="DIR", help="As for `macex serve`.")]
Database = Annotated[
    str | None, typer.Option("--database", metavar="URL", help="As for `macex serve`.")
]


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="Whose key it is.")],
    scope: Annotated[
        str, typer.Option(help="read, explain (with read) or admin (with both).")
    ] = "explain",
    project: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A project it is for; may be repeated. Default: all."),
    ] = None,
    state: State = None,
    database: Database = None,
) -> None:
    """Make a key and print it. It is kept as a digest and cannot be shown again."""
    print(_keys(state, database).make(name, (scope,), tuple(project) if project else None))


@app.command("list")
def listed(state: State = None, database: Database = None, as_json: options.Json = False) -> None:
    """The names of all keys and what they may do."""
    known = _keys(state, database).all()
    if as_json:
        parts = ("name", "scopes", "projects", "created")
        print(json.dumps([{part: getattr(key, part) for part in parts} for key in known]))
        return
    for key in known:
        where = "" if key.projects is None else f"  for {', '.join(key.projects)}"
        print(f"{key.name}  {', '.join(key.scopes)}{where}  made {key.created[:10]}")


@app.command()
def revoke(
    name: Annotated[str, typer.Argument(help="Whose key it is.")],
    state: State = None,
    database: Database = None,
) -> None:
    """Make a key worthless, within seconds on servers that run."""
    _keys(state, database).revoke(name)


def _keys(state: Path | None, database: str | None) -> Any:
    given = {"state": state, "database": database}
    settings = settings_from({name: value for name, value in given.items() if value is not None})
    from macex.server.storage.database import open_database
    from macex.server.storage.keys import Keys

    return Keys(open_database(settings.database_url))

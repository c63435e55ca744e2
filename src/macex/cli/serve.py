"""`macex serve`: the page and the HTTP API."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from macex.errors import OptionError

SWITCH_S = 0.0005  # requests are read while an explanation is computed, not after it


def serve(
    *,
    project: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A project: see `macex project new`.")
    ] = None,
    host: Annotated[
        str | None, typer.Option(help="The address to listen on; 127.0.0.1 by default.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="0 for any free one; default: 8000.")] = None,
    state: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Uploads and the database.")
    ] = None,
    database: Annotated[
        str | None, typer.Option(metavar="URL", help="An SQLAlchemy URL instead of SQLite.")
    ] = None,
    token: Annotated[
        bool | None,
        typer.Option(
            "--token/--no-token",
            help="Without keys, admit only the first visitor of the printed address; default: yes.",
        ),
    ] = None,
) -> None:
    """Look at decisions on a page, and ask over HTTP.

    The demo; the address that it prints signs in one browser:

        macex serve

    A project of your own:

        macex project new loans --model model.ubj --data train.csv --label granted

        macex serve --project loans

    For others than this machine a key is needed:

        macex key new alice --scope explain

        macex serve --host 0.0.0.0

    Every setting is an environment variable, too: MACEX_HOST, MACEX_PORT, MACEX_DATABASE and so on.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # requests are what runs at the same time
    if token is None and "MACEX_TOKEN" not in os.environ:
        token = True
    given = {
        "token": token,
        "project": project,
        "host": host,
        "port": port,
        "state": state,
        "database": database,
    }
    settings = settings_from({name: value for name, value in given.items() if value is not None})
    gc.disable()  # until all is imported, which makes hundreds of thousands of objects that stay
    server, write_lines = _server(settings)
    gc.enable()
    sys.setswitchinterval(SWITCH_S)
    _Announced(server, settings.host).run()
    write_lines()
    _leave()


class _Announced:
    """A server that says where it listens once it does."""

    def __init__(self, server: Any, host: str) -> None:
        self.server, self.host = server, host
        gate = server.config.app.state.server.gate
        self.path = f"/login?token={gate.token}" if gate.token and gate.unlocked else ""

    def run(self) -> None:
        """Serve until it is interrupted."""
        begin = self.server.startup

        async def startup(sockets: Any = None) -> None:
            await begin(sockets=sockets)
            for one in self.server.servers:
                port = one.sockets[0].getsockname()[1]
                said = f"macex listens on http://{self.host}:{port}{self.path}\n"
                sys.stderr.write(said)  # at once: lines of the log are written at the same time
            sys.stderr.flush()
            _warm_up(self.server.config.app.state.server)

        self.server.startup = startup
        self.server.run()


def _warm_up(server: Any) -> None:
    """Open the project that is looked at first, if there is only one."""
    projects = list(server.projects)
    if len(projects) == 1:
        server.opening.begin(projects[0])


def _leave() -> None:
    """End the process, whatever a thread of it still computes."""
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    for thread in others:
        if not thread.daemon:
            thread.join(1)
    if any(thread.is_alive() and not thread.daemon for thread in others):
        os._exit(0)


def settings_from(given: dict[str, Any]) -> Any:
    """Settings from options and environment; what is wrong with one is said in a line."""
    try:
        from pydantic import ValidationError

        from macex.server.settings import Settings
    except ImportError as error:
        raise _missing(error) from error
    try:
        return Settings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = "_".join(map(str, first["loc"]))
        raise OptionError(f"{name} (MACEX_{name.upper()}): {first['msg']}") from error


def _server(settings: Any) -> tuple[Any, Callable[[], None]]:
    """A server, and what writes the log lines that wait when it has ended."""
    workers = _workers(settings)
    try:
        import uvicorn

        from macex.server.app import create_app
        from macex.server.listener import config_for
        from macex.server.logs import log_to_stderr
    except ImportError as error:
        raise _missing(error) from error
    app = create_app(settings, workers)
    write_lines = log_to_stderr(values=settings.log_values)
    return uvicorn.Server(config_for(app, settings)), write_lines


def _workers(settings: Any) -> Any:
    """The workers; the demo's model is made while the server's own libraries are imported."""
    from macex.server.projects import demo
    from macex.server.workers.pool import workers_for

    workers = workers_for(settings)
    if settings.demo and settings.project is None and not settings.projects.exists():
        workers.begin(demo.__name__)
    return workers


def _missing(error: ImportError) -> OptionError:
    return OptionError(f"{error.name} is not installed: pip install macex[server]")

"""A project that stands on an explainer in memory, and its page.

The page is a server on this machine that ends with the process. `Explainer.show` finds it by its
name, since an explainer knows nothing of servers.
"""

from __future__ import annotations

import atexit
import os
import sys
import tempfile
import threading
import time
import webbrowser
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import uvicorn

from macex.errors import UnavailableError
from macex.explainer import Explainer
from macex.server.app import create_app
from macex.server.listener import config_for
from macex.server.projects.parts import Parts
from macex.server.projects.project import Project
from macex.server.settings import Settings

HOST = "127.0.0.1"
PATIENCE_S = 30.0
NAME, TITLE = "explainer", "Explainer"


class Shown:
    """A page that is there until it is closed, or the process ends.

    `address` lets in the first browser that opens it, once.
    """

    def __init__(self, explainer: Explainer, rows: Any = None, *, port: int = 0) -> None:
        """Begin to listen, on any free port unless one is given."""
        self._state = tempfile.TemporaryDirectory(prefix="macex-")
        folder = Path(self._state.name)
        settings = Settings(host=HOST, port=port, token=True, demo=False, audit=False, state=folder)
        app = create_app(settings)
        self.project = app.state.server.projects.list_live(LiveProject(explainer, rows))
        self._server = uvicorn.Server(config_for(app, settings))
        self._thread = threading.Thread(target=self._server.run, name="macex", daemon=True)
        self._thread.start()
        self.address = self._begun(app.state.server.gate.token)
        atexit.register(self.close)

    def _begun(self, token: str) -> str:
        """Wait until the server listens; where."""
        until = time.monotonic() + PATIENCE_S
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > until:
                self.close()
                raise UnavailableError(f"nothing listens on {HOST}: is the port taken?", retry_s=1)
            time.sleep(0.01)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        return f"http://{HOST}:{port}/login?token={token}"

    def close(self) -> None:
        """End the server."""
        self._server.should_exit = True
        self._thread.join(10)
        self._state.cleanup()
        atexit.unregister(self.close)

    def __repr__(self) -> str:
        return f"The explainer is shown at {self.address} until this process ends"

    def _repr_html_(self) -> str:
        link = f'<a href="{escape(self.address)}" target="_blank" rel="noopener">Open the page</a>'
        return f"<p>{link} of the explainer. It works once, and until this process ends.</p>"


def show(explainer: Explainer, rows: Any, *, port: int, browser: bool) -> Shown:
    """A page for an explainer; opened in a browser where this machine has a desktop."""
    shown = Shown(explainer, rows, port=port)
    desktop = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if browser and desktop:
        webbrowser.open(shown.address)
    return shown


class LiveProject(Project):
    """The rows of an explainer, or others, and the model as it is in memory."""

    def __init__(self, explainer: Explainer, rows: Any = None) -> None:
        """`rows` are those to look at; without any the training rows."""
        self._live = explainer
        super().__init__(NAME, TITLE, lambda: _parts(explainer, rows))

    @cached_property
    def _whole(self) -> Explainer:
        """The explainer itself."""
        return self._live


def _parts(explainer: Explainer, rows: Any) -> Parts:
    schema = explainer.schema
    training = _framed(schema.frame(explainer.engine.fitted.ground.codes), schema)
    read = None if rows is None else schema.read(rows)
    return Parts(
        model=None,
        training=training,
        rows=training if read is None else _framed(schema.frame(read.codes), schema),
        constraints=explainer.constraints,
        names=explainer.engine.options.names,
        classes=explainer.classes,
    )


def _framed(frame: Any, schema: Any) -> pd.DataFrame:
    """Rows as pandas has them, whatever library the explainer's are of."""
    if isinstance(frame, pd.DataFrame):
        return frame
    if hasattr(frame, "to_pandas"):
        return pd.DataFrame({name: frame[name].to_list() for name in frame.columns})
    return pd.DataFrame(frame, columns=list(schema.frame_names))

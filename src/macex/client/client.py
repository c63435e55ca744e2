"""A client of `macex serve`: the same questions as to an `Explainer`, the same answers.

    client = mx.Client("http://127.0.0.1:8000", project="adult")
    found = client.explain(rows, n=3)

The answers are the `Explanations` that the library itself returns, with the caller's own rows,
dtypes and index in them. Many rows become a job on the server, which is waited for.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Self
from urllib.parse import urlencode

from macex.ask.answers import Outlook
from macex.ask.goals import AboveRow, AnyOf, Goal, goal_stated, resolve
from macex.ask.question import FIELDS
from macex.client.bodies import (
    AskedRows,
    cells_of,
    constraints_as_json,
    names_of,
    whole_schema,
)
from macex.client.connection import API, Connection
from macex.engine.batch import reporter
from macex.engine.options import PREFERENCES
from macex.errors import OptionError, ServerError, closest
from macex.explanation import Explanations
from macex.explanation.json import plain
from macex.explanation.reader import explanations_read
from macex.render.names import read_names
from macex.schema import Rows, Schema
from macex.stages.search.protocol import DEFAULT_SEARCH

FULL = 0.8  # how much of the largest body a request uses
VALUES = 1000  # of a column that an answer of the server holds
APART = ("want", "constraints", "on_error")  # said of each row, or by no request
OPTIONS = ("method", "prefer", "structure", *(part for part in FIELDS if part not in APART))


class Client:
    """Asks a server about a project's model.

    Parameters
    ----------
    url : where the server is, `"http://127.0.0.1:8000"`.
    key : an API key, where the server wants one.
    project : which project; not needed where the server has only one.
    timeout_s : how long to wait for one answer over the network.
    wait_s : how long to come back to a server that says it is busy; 0 to be told at once.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        project: str | None = None,
        *,
        timeout_s: float = 120.0,
        wait_s: float = 60.0,
    ) -> None:
        self._connection = Connection(url, key, timeout_s, wait_s)
        self._url, self._project = url, project

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def projects(self) -> list[str]:
        """The names of the server's projects."""
        return [one["name"] for one in self._json("GET", "/projects")["projects"]]

    @cached_property
    def project(self) -> str:
        """The name of the project that is asked."""
        names = self.projects()
        if self._project is None and len(names) == 1:
            return names[0]
        if self._project not in names:
            said = f"project={self._project!r}: the server has no such project"
            raise OptionError(said + closest(self._project, names))
        return str(self._project)

    @cached_property
    def info(self) -> Mapping[str, Any]:
        """What the server says of the project: columns, classes, constraints."""
        found: dict[str, Any] = self._json("GET", f"/projects/{self.project}")
        return found

    @cached_property
    def health(self) -> Mapping[str, Any]:
        """The version of the server, and how much one request may ask for."""
        found: dict[str, Any] = self._json("GET", "/health")
        return found

    @property
    def limits(self) -> Mapping[str, Any]:
        """How much one request may ask for."""
        limits: Mapping[str, Any] = self.health["limits"]
        return limits

    @cached_property
    def schema(self) -> Schema:
        """The columns that rows need."""
        if self.info["kind"] == "series":
            raise OptionError(
                f"project {self.project!r} holds time series, and a Client asks about rows: send "
                f"cases to {self._url}{API}/projects/{self.project}/explain"
            )
        return whole_schema(self.info["format"], self._values)

    def _values(self, column: str, start: int) -> list[Any]:
        """Some of the values of a column."""
        query = urlencode({"column": column, "start": start, "size": VALUES})
        values: list[Any] = self._json("GET", f"/projects/{self.project}/values?{query}")["values"]
        return values

    @property
    def columns(self) -> list[str]:
        """The names of the columns that rows need."""
        return list(self.schema.frame_names)

    @property
    def classes(self) -> tuple[object, ...] | None:
        """The labels the model decides between; None for a bare score."""
        known = self.info["classes"]
        return None if known is None else tuple(known)

    def predict(self, rows: Any) -> list[Mapping[str, Any]]:
        """What the model says of each row: its label, its score, and the score of every class."""
        cells = cells_of(self.schema.read(rows))
        scores = self.limits["answer_scores"] // max(1, len(self.classes or ()))
        size = max(1, min(self._most({"rows": cells}, cells), scores))
        said: list[Mapping[str, Any]] = []
        for start in range(0, max(1, len(cells)), size):
            said += self._post("predict", {"rows": cells[start : start + size]})["predictions"]
        return said

    def what_if(self, row: Any, *variants: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """What the model says of one row, and of it with other values in some columns."""
        read = self.schema.read(row)
        if len(read) != 1:
            raise OptionError(f"what_if takes one row, not {len(read)}")
        said = self._post("whatif", {"row": cells_of(read)[0], "variants": plain(list(variants))})
        return [said["query"], *said["variants"]]

    def steps(
        self,
        row: Any,
        costs: Mapping[str, Any] | None = None,
        *,
        want: Any = None,
        constraints: Any = None,
        prefer: str = PREFERENCES[0],
        reach: float | None = None,
        rank: int = 1,
        dense: bool = False,
    ) -> Mapping[str, Any]:
        """In which order to make the changes of an answer to one row, and what it takes.

        `costs` and `dense` are as in `Explainer.steps`, without functions; `rank` is that of the
        answer.
        """
        read = self.schema.read(row)
        if len(read) != 1:
            raise OptionError(f"steps takes one row, not {len(read)}")
        asked = {"want": self._wants(want, 1), "constraints": constraints_as_json(constraints, 1)}
        asked |= {"prefer": prefer, "reach": reach, "rank": rank, "dense": dense}
        asked |= {"row": cells_of(read)[0], "costs": plain(dict(costs or {}))}
        said: Mapping[str, Any] = self._post("steps", asked)
        return said

    def explain(
        self,
        rows: Any,
        *,
        n: int = 1,
        want: Any = None,
        constraints: Any = None,
        method: str = DEFAULT_SEARCH,
        prefer: str = PREFERENCES[0],
        max_rows: int | None = None,
        timeout_s: float | None = None,
        margin: float = 1e-6,
        diagnose: bool = False,
        robust: float | None = None,
        reach: float | None = None,
        also: Iterable[str] = (),
        structure: str | None = None,
        progress: Any = None,
    ) -> Explanations:
        """Counterfactuals for every row, as from `Explainer.explain`.

        A row the model fails on gets a reason. More rows than the server answers at once become
        jobs, which are waited for, and cancelled if the waiting is interrupted.

        Parameters
        ----------
        rows : a frame or array of rows to explain, or one row as a mapping or Series.
        n, want, constraints, max_rows, margin, diagnose, robust, reach : as in `Explainer.explain`.
        method, prefer : as for `Explainer`.
        also : names of further projects of the server, whose models must agree with every answer.
        structure : "keep", "warn" or "ignore", where it is not to be what the project says.
        timeout_s : the most seconds the call may take; for as many rows as are answered at once.
        progress : True for a progress bar, or a function of (done, total).
        """
        read, ask = self._asked(locals())
        cells = cells_of(read)
        documents: list[Mapping[str, Any]] = []
        with reporter(progress, len(read)) as report:
            if len(cells) <= self.limits["sync_rows"]:
                documents += self._answered(ask, cells)
                report(len(cells))
            else:
                for job in self._jobs(ask, cells):
                    documents += job.documents(report, len(documents))
        return self._explanations(documents, read, ask.options)

    def submit(
        self,
        rows: Any,
        *,
        n: int = 1,
        want: Any = None,
        constraints: Any = None,
        method: str = DEFAULT_SEARCH,
        prefer: str = PREFERENCES[0],
        max_rows: int | None = None,
        timeout_s: float | None = None,
        margin: float = 1e-6,
        diagnose: bool = False,
        robust: float | None = None,
        reach: float | None = None,
        also: Iterable[str] = (),
        structure: str | None = None,
    ) -> RemoteJob:
        """A job on the server; `job.result()` waits for its answers. Arguments as in `explain`."""
        read, ask = self._asked(locals())
        said = self._made(ask.body(cells_of(read), 0))
        return RemoteJob(self, said["id"], len(read), read, ask.options)

    def _asked(self, arguments: Mapping[str, Any]) -> tuple[Rows, AskedRows]:
        """The rows among the arguments of a call, and what is asked of them."""
        read = self.schema.read(arguments["rows"])
        options = {part: arguments[part] for part in OPTIONS}
        options["also"] = names_of(arguments["also"])
        want = self._wants(arguments["want"], len(read))
        constraints = constraints_as_json(arguments["constraints"], len(read))
        return read, AskedRows(options, want, constraints)

    def _answered(self, ask: AskedRows, cells: list[dict[str, Any]]) -> list[Mapping[str, Any]]:
        if not cells:
            return []
        found: list[Mapping[str, Any]] = self._post("explain", ask.body(cells, 0))["explanations"]
        return found

    def _jobs(self, ask: AskedRows, cells: list[dict[str, Any]]) -> Iterator[RemoteJob]:
        """Jobs one after the other, each as large as a body may be."""
        size = self._most(ask.body(cells, 0), cells)
        for start in range(0, len(cells), size):
            part = cells[start : start + size]
            yield RemoteJob(self, self._made(ask.body(part, start))["id"], len(part))

    def _most(self, body: Mapping[str, Any], cells: list[dict[str, Any]]) -> int:
        """How many of the rows one body may have."""
        share = FULL * self.limits["body_bytes"] / len(json.dumps(body))
        values = self.limits["body_values"] / (len(self.columns) + 8)  # and a goal, and constraints
        most = min(int(share * len(cells)), int(FULL * values), self.limits["body_rows"])
        return min(max(1, most), self.limits["job_rows"])

    def _wants(self, want: Any, count: int) -> Any:
        stated = [self._stated(goal) for goal in resolve(want, count)]
        return stated[0] if stated and all(one == stated[0] for one in stated) else stated

    def _stated(self, goal: Goal) -> Any:
        if isinstance(goal, AboveRow):
            row = self.schema.read(goal.row)
            return {"kind": "above_row", "row": cells_of(row)[0], "label": plain(goal.label)}
        any_other = isinstance(goal, AnyOf) and goal.labels is None
        return None if any_other else plain(goal_stated(goal))

    def _explanations(
        self, documents: Sequence[Mapping[str, Any]], rows: Rows, options: Mapping[str, Any]
    ) -> Explanations:
        told = self.info["format"]
        outlook = {**told["outlook"], "classes": self.classes}
        chosen = {part: options[part] for part in ("method", "prefer")}
        meta = {"version": self.health["version"], **chosen, "seed": 0, "n": options["n"]}
        margin = options.get("margin", 1e-6)
        names = read_names(told["names"])
        known = Outlook(**outlook)
        return explanations_read(documents, rows, names, meta, outlook=known, margin=margin)

    def _post(self, what: str, body: Any) -> Any:
        return self._json("POST", f"/projects/{self.project}/{what}", body)

    def _made(self, body: Any) -> Any:
        """A new job, once, however often the request must be sent."""
        once = secrets.token_hex(16)
        return self._answer("POST", f"/projects/{self.project}/jobs", body, once).json()

    def _json(self, method: str, path: str, body: Any = None) -> Any:
        return self._answer(method, path, body).json()

    def _answer(self, method: str, path: str, body: Any = None, once: str = "") -> Any:
        return self._connection.answer(method, path, body, once)


class RemoteJob:
    """A job on a server."""

    def __init__(
        self,
        client: Client,
        identity: str,
        total: int,
        rows: Rows | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._client, self.id, self.total = client, identity, total
        self._rows, self._options = rows, options or {}

    def status(self) -> Mapping[str, Any]:
        """How far it is."""
        said: Mapping[str, Any] = self._client._json("GET", f"/jobs/{self.id}")  # noqa: SLF001
        return said

    def cancel(self) -> None:
        """End it; what is finished stays on the server."""
        self._client._json("POST", f"/jobs/{self.id}/cancel")  # noqa: SLF001

    def result(self, progress: Any = None) -> Explanations:
        """Wait for the end; the answers."""
        if self._rows is None:
            raise OptionError("only a job that was submitted as such has a result of its own")
        with reporter(progress, self.total) as report:
            documents = self.documents(report, 0)
        return self._client._explanations(documents, self._rows, self._options)  # noqa: SLF001

    def documents(self, report: Any, before: int) -> list[Mapping[str, Any]]:
        """Wait for the end; the answers as documents. Interrupted, the job is cancelled."""
        pause = 0.05
        try:
            while (said := self.status())["status"] in ("queued", "running"):
                report(before + said["done"])
                time.sleep(pause)
                pause = min(1.0, 1.5 * pause)
        except BaseException:
            self.cancel()
            raise
        if said["status"] != "done":
            raise ServerError(said["error"] or f"the job was {said['status']}", status=409)
        report(before + said["done"])
        lines = self._client._answer("GET", f"/jobs/{self.id}/result").text.splitlines()  # noqa: SLF001
        return [json.loads(line) for line in lines]

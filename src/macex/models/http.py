"""A model behind an HTTP endpoint: asked in batches, with retries, within a budget of rows.

The rows of a batch are sent as JSON, `{"rows": [{column: value, ...}, ...]}`, and the answer is a
JSON list with a number, or a list of numbers, for each row, alone or under "scores".
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from macex.errors import ModelError, OptionError, require_count
from macex.schema import Array

LONGEST_WAIT_S = 30.0
TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}


class Endpoint:
    """A model that answers over HTTP, as a function of a frame.

    Parameters
    ----------
    url : where rows are posted to.
    classes : names of the scores in order; one score and two names make it the second's.
    batch : the most rows of one request.
    retries : how often a request that failed is sent again, after waiting twice as long each time.
    wait_s : how long the first wait is; an answer's own `Retry-After` goes before it.
    timeout_s : the most seconds for one request.
    max_rows : the most rows that may ever be sent, training rows included.
    headers : further headers, such as an authorization.
    request : makes the JSON that is sent from a list of rows, each a mapping.
    response : takes the scores from the JSON that came back.
    """

    def __init__(
        self,
        url: str,
        *,
        classes: Sequence[object] | None = None,
        batch: int = 1000,
        retries: int = 4,
        wait_s: float = 0.5,
        timeout_s: float = 30.0,
        max_rows: int | None = None,
        headers: Mapping[str, str] | None = None,
        request: Callable[[list[dict[str, Any]]], Any] | None = None,
        response: Callable[[Any], Any] | None = None,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise OptionError(f"url must begin with http:// or https://, not {url!r}")
        self.url = url
        self.classes_ = None if classes is None else tuple(classes)
        self.batch = require_count("batch", batch)
        self.retries = require_count("retries", retries, least=0)
        self.wait_s, self.timeout_s = wait_s, timeout_s
        self.max_rows = max_rows
        self.headers = {"Content-Type": "application/json", **(headers or {})}
        self.request, self.response = request or _as_rows, response or _scores
        self.rows = 0
        self.requests = 0

    def __call__(self, frame: Any) -> Array:
        """The scores of a frame."""
        rows = list(_records(frame))
        if self.max_rows is not None and self.rows + len(rows) > self.max_rows:
            raise ModelError(
                f"{self.url} may be asked about {self.max_rows} rows: {self.rows} are spent and "
                f"{len(rows)} more are needed; raise max_rows= or give Explainer fewer rows"
            )
        self.rows += len(rows)
        parts = [rows[at : at + self.batch] for at in range(0, len(rows), self.batch)]
        return np.concatenate([self._asked(part) for part in parts]) if parts else np.zeros(0)

    def _asked(self, rows: list[dict[str, Any]]) -> Array:
        given = self._posted(json.dumps(self.request(rows), allow_nan=False).encode())
        try:
            table = np.asarray(self.response(given), dtype=float)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(
                f"{self.url} answered {_short(given)}, in which no scores were found: {error!r}"
            ) from error
        if table.ndim not in {1, 2} or len(table) != len(rows):
            raise ModelError(
                f"{self.url} answered with scores of shape {table.shape} for {len(rows)} rows"
            )
        return table

    def _posted(self, body: bytes) -> Any:
        """The JSON that came back, after as many tries as are allowed."""
        for turn in range(self.retries + 1):
            try:
                return self._once(body)
            except _AgainError as fault:
                if turn == self.retries:
                    raise ModelError(
                        f"{self.url} failed {turn + 1} times, at last with {fault}"
                    ) from fault
                wait = self.wait_s * 2**turn if fault.wait_s is None else fault.wait_s
                time.sleep(min(wait, LONGEST_WAIT_S))
        raise ModelError(f"{self.url} was not asked")

    def _once(self, body: bytes) -> Any:
        from urllib import error as faults
        from urllib.request import Request, urlopen

        self.requests += 1
        request = Request(self.url, data=body, headers=self.headers)  # noqa: S310 - checked above
        try:
            with urlopen(request, timeout=self.timeout_s) as answer:  # noqa: S310 - the same
                said = answer.read()
        except faults.HTTPError as fault:
            detail = f"status {fault.code}: {_short(fault.read().decode(errors='replace'))}"
            if fault.code in TRY_AGAIN:
                raise _AgainError(detail, _seconds(fault.headers.get("Retry-After"))) from fault
            raise ModelError(f"{self.url} refused the rows with {detail}") from fault
        except (faults.URLError, OSError) as fault:
            raise _AgainError(str(getattr(fault, "reason", fault))) from fault
        try:
            return json.loads(said)
        except ValueError as fault:
            raise ModelError(
                f"{self.url} answered {_short(said.decode(errors='replace'))}, which is no JSON"
            ) from fault


class _AgainError(Exception):
    """A request that failed and may be sent again."""

    def __init__(self, message: str, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.wait_s = wait_s


def _as_rows(rows: list[dict[str, Any]]) -> Any:
    return {"rows": rows}


def _scores(given: Any) -> Any:
    return given["scores"] if isinstance(given, dict) else given


def _records(frame: Any) -> Iterator[dict[str, Any]]:
    """The rows of a frame as JSON can hold them; a missing value is null."""
    if isinstance(frame, np.ndarray):
        frame = pd.DataFrame(frame, columns=[str(place) for place in range(frame.shape[1])])
    columns = {str(label): [_plain(cell) for cell in frame[label]] for label in frame.columns}
    for cells in zip(*columns.values(), strict=True):
        yield dict(zip(columns, cells, strict=True))


def _plain(cell: Any) -> Any:
    if cell is None or cell is pd.NA or cell is pd.NaT or cell != cell:  # noqa: PLR0124
        return None
    if hasattr(cell, "isoformat"):
        return cell.isoformat()
    return cell.item() if isinstance(cell, np.generic) else cell


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdecimal() else None


def _short(said: Any) -> str:
    text = " ".join(str(said).split())
    return text if len(text) <= 120 else text[:120] + "…"

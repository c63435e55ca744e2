"""The walk of one row through the package: `make walk` prints how far it is.

`python tests/walk.py explain` prints the files of one of the walks, too: how often a call goes on
in each, and which of its functions are entered how often.

Counted are the frames whose code lies in `src/macex`, comprehensions aside:

- files and functions: how many different ones are entered;
- switches: how often a call goes on in another file than the call before it;
- depth: how many frames of the package are open at once, at most.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

import httpx  # noqa: E402 - behind the paths
import numpy as np  # noqa: E402

from checks.questions import cases, explainer, grant, machine, people  # noqa: E402
from macex import SeriesExplainer  # noqa: E402
from macex.device import DeviceExplainer  # noqa: E402

PACKAGE = str(ROOT / "src" / "macex")
INNER = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>", "<module>"}


class Walk:
    """What is entered while it is on, in this thread and in those that are started later."""

    def __init__(self) -> None:
        self.on = False
        self.entered: list[tuple[str, str]] = []
        self.depth = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """One event of the profiler."""
        if self.on and event == "call" and _ours(frame):
            code = frame.f_code
            self.entered.append((code.co_filename, code.co_qualname))
            self.depth = max(self.depth, _open(frame))

    def follow(self, steps: Callable[[], Any]) -> Any:
        """What these steps give, counted from nothing."""
        self.entered, self.depth, self.on = [], 0, True
        try:
            return steps()
        finally:
            self.on = False

    def files(self) -> str:
        """A line for each file, those first in which calls go on most often."""
        entered = Counter(self.entered)
        reached = Counter(
            there for (here, _), (there, _) in pairwise(self.entered) if here != there
        )
        lines = []
        for file in sorted({file for file, _ in entered}, key=lambda file: -reached[file]):
            mine = [f"{name} {count}" for (where, name), count in entered.items() if where == file]
            place = Path(file).relative_to(PACKAGE)
            lines.append(f"{reached[file]:4} {place!s:32} {', '.join(mine)}\n")
        return "".join(lines)

    def __str__(self) -> str:
        files = [file for file, _ in self.entered]
        switches = sum(here != there for here, there in pairwise(files))
        counts = (len(set(files)), len(set(self.entered)), switches, self.depth)
        return "{:>7} {:>10} {:>9} {:>6}".format(*counts)


def _ours(frame: FrameType) -> bool:
    code = frame.f_code
    return code.co_filename.startswith(PACKAGE) and code.co_name not in INNER


def _open(frame: FrameType | None) -> int:
    count = 0
    while frame is not None:
        count += _ours(frame)
        frame = frame.f_back
    return count


def one_row() -> Any:
    """A row of a table."""
    return explainer("people").explain(people().iloc[[0]])


def one_series() -> Callable[[], Any]:
    """A case of four channels."""
    made = SeriesExplainer(machine, cases(), classes=["calm", "bump", "raised"])
    return lambda: made.explain(cases()[:1])


def one_device_row() -> Callable[[], Any]:
    """A row of codes, by the search for devices, on NumPy."""
    known = explainer("people")
    read = known.schema.read(people())

    def score(codes: np.ndarray) -> np.ndarray:
        return grant(known.schema.frame(codes, read, np.zeros(len(codes), int)))

    made = DeviceExplainer(known, score, confirm=False)
    return lambda: made.explain(read.codes[:1])


def one_request(state: str) -> Callable[[], Any]:
    """A row that comes with an HTTP request to the demo project."""
    from macex.server import Settings, create_app

    app, loop = create_app(Settings(state=Path(state))), asyncio.new_event_loop()
    client = httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8000/api/v1"
    )
    row = {"age": 39, "workclass": "Government", "education": "Bachelors"}
    row |= {"marital_status": "Single", "occupation": "White-Collar", "race": "White"}
    row |= {"gender": "Male", "hours_per_week": 40}

    def ask() -> None:
        asking = client.post("/projects/adult/explain", json={"rows": [row]}, timeout=120)
        loop.run_until_complete(asking).raise_for_status()

    return ask


def main() -> None:
    """Every walk, once to warm up and once to count."""
    walk = Walk()
    threading.setprofile(walk)
    with tempfile.TemporaryDirectory() as state:
        walks = {
            "explain": one_row,
            "request": one_request(state),
            "series": one_series(),
            "device": one_device_row(),
        }
        sys.stdout.write(f"{'':8}{'files':>7} {'functions':>10} {'switches':>9} {'depth':>6}\n")
        for name, steps in walks.items():
            steps()
            sys.setprofile(walk)
            walk.follow(steps)
            sys.setprofile(None)
            sys.stdout.write(f"{name:8}{walk}\n{walk.files() if name in sys.argv[1:] else ''}")


if __name__ == "__main__":
    main()

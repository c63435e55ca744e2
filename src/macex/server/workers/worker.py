"""The process that holds one model and answers for it.

The first message is the content of the model's file. The process imports what that needs, gives up
all else (`confine`), opens the file and says what the model can be asked for. Every further message
is a question. A model that has no file is made by a module of this package.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import threading
import time
from importlib import import_module
from typing import IO, Any

from macex.errors import MacexError, ModelError, ModelFileError, needed
from macex.models.consultation import by_highest_score, regresses
from macex.models.files.opening import format_of, opened, tried
from macex.models.files.sandbox import confine
from macex.models.files.trial import LIBRARIES
from macex.models.first_steps import columns_dropped
from macex.models.kinds import adapted
from macex.models.prepared import Prepared, prepared
from macex.server.workers.messages import packed, receive, send

WAYS = ("predict_proba", "decision_function", "predict", "decide")
MOST_BYTES = 2**40  # of a question: the server is trusted
LOOK_S = 1.0


class Held:
    """The model of a process, and what was made ready for questions by code."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.prepared: dict[int, Prepared] = {}

    def face(self) -> dict[str, Any]:
        """What the model can be asked for."""
        model = self.model
        classes = getattr(model, "classes_", None)
        return {
            "ways": [way for way in WAYS if hasattr(model, way)],
            "by_highest_score": by_highest_score(model),
            "classes": None if classes is None else [_plain(label) for label in classes],
            "regresses": regresses(model),
        }

    def answer(self, question: dict[str, Any]) -> bytes:
        """The reply to a question."""
        if question["do"] == "prepare":
            return self._ready(question)
        if question["do"] == "unread":
            return packed({"unread": columns_dropped(self.model, question["schema"])})
        if question["do"] == "codes":
            way = self.prepared.get(question["key"])
            if way is None:  # this process has not been told yet
                return packed({"unprepared": True})
            return packed({}, way(question["codes"], question["way"]))
        ask = getattr(self.model, question["way"]) if question["way"] else self.model
        given = ask(question["rows"])
        return packed({}, given.detach().cpu() if hasattr(given, "detach") else given)

    def _ready(self, question: dict[str, Any]) -> bytes:
        way = prepared(self.model, question["schema"], question["codes"])
        if way is None:
            return packed({"width": None})
        self.prepared[question["key"]] = way
        return packed({"width": way.width})


def main(order: dict[str, Any]) -> int:
    """Open the model and answer until nobody asks any more."""
    questions, answers = _pipes()
    threading.Thread(target=_leave_with, args=[order["parent"]], daemon=True).start()
    held = _opened(questions, answers, order["memory_mb"], order["recipe"])
    if held is None:
        return 1
    while True:
        try:
            question = pickle.loads(receive(questions, MOST_BYTES))  # noqa: S301 - our own server
        except EOFError:
            return 0
        _bound_cpu(order["cpu_s"])
        send(answers, _reply(held, question))


def _opened(
    questions: IO[bytes], answers: IO[bytes], memory_mb: int, recipe: str | None
) -> Held | None:
    content = receive(questions, MOST_BYTES)
    try:
        model, missing = _read(content, memory_mb) if recipe is None else _made(recipe, memory_mb)
        held = Held(adapted(model))
        reply = packed({"face": held.face(), "missing": missing})
    except MacexError as error:
        send(answers, packed({"refused": str(error)}))
        return None
    except MemoryError:
        send(answers, packed({"refused": f"opening it takes more than {memory_mb:,} MB"}))
        return None
    except Exception as error:  # noqa: BLE001 - whatever a library says of a bad file
        said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        send(answers, packed({"refused": f"the file cannot be opened: {said}"}))
        return None
    send(answers, reply)
    return held


def _read(content: bytes, memory_mb: int) -> tuple[Any, list[str]]:
    """The model of a file, and what could not be given up before it was opened."""
    form = format_of(content)
    if form == "pickle":
        raise ModelFileError(
            "this looks like a pickle or joblib file, which can run code when opened"
        )
    needed(*LIBRARIES[form])
    missing = confine(memory_mb)
    model = opened(content, form)
    tried(model)
    return model, missing


def _made(recipe: str, memory_mb: int) -> tuple[Any, list[str]]:
    model = import_module(recipe).model()
    return model, confine(memory_mb)


def _reply(held: Held, question: dict[str, Any]) -> bytes:
    try:
        return held.answer(question)
    except ModelError as error:
        return packed({"wrong": str(error)[:2000]})
    except Exception as error:  # noqa: BLE001 - the model's own, whatever it is
        return packed({"raised": repr(error)[:2000]})


def _pipes() -> tuple[IO[bytes], IO[bytes]]:
    """The pipes to the server; whatever prints or reads meets nothing instead."""
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    return questions, answers


def _leave_with(parent: int) -> None:
    """End when the server has ended, whatever the model does."""
    while os.getppid() == parent:
        time.sleep(LOOK_S)
    os._exit(1)


def _bound_cpu(seconds: int) -> None:
    """Limit the CPU seconds of the next call, over all threads."""
    if sys.platform == "win32":
        return
    import resource

    used = time.process_time()
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used + seconds) + 1, most))


def _plain(label: Any) -> Any:
    if hasattr(label, "tolist"):
        return label.tolist()
    return [_plain(one) for one in label] if isinstance(label, list | tuple) else label


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))

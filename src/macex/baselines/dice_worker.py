"""A process of its own that runs dice-ml, in an environment of its own, and asks its parent.

It is started as a script by the Python of that environment and imports nothing of macex. Messages
go over stdin and stdout: a line of JSON, which says how long the arrays after it are, then the
arrays as `.npy` bytes. Nothing is pickled, and the caller's model never leaves the parent: where
dice-ml wants predictions, the worker sends rows of numbers and waits for their scores.

    parent                                       worker
    {"do": "warm", ...}                     ->
    {"do": "open", ...}  training rows      ->
    {"do": "goal", ...}  which of them meet ->
                                            <-   {"is": "rows"}   rows to be scored
    {}                   their scores       ->
                                            <-   {"is": "done"}
    {"do": "explain", ...} a query          ->
                                            <-   {"is": "rows"}   ... any number of times
                                            <-   {"is": "done"}   rows, or {"is": "error"}
"""

from __future__ import annotations

import io
import json
import os
import random
import sys
from typing import Any, BinaryIO

import numpy as np

OUTCOME = "outcome"
Head = dict[str, Any]


def send(stream: BinaryIO, head: Head, *arrays: Any) -> None:
    """Write a message."""
    bodies = []
    for array in arrays:
        body = io.BytesIO()
        np.save(body, np.asarray(array), allow_pickle=False)
        bodies.append(body.getvalue())
    line = json.dumps({**head, "sizes": [len(body) for body in bodies]})
    stream.write(line.encode() + b"\n" + b"".join(bodies))
    stream.flush()


def receive(stream: BinaryIO) -> tuple[Head, list[Any]]:
    """Read a message; EOFError when the other side is gone.

    >>> pipe = io.BytesIO()
    >>> send(pipe, {"is": "rows"}, np.arange(3))
    >>> _ = pipe.seek(0)
    >>> receive(pipe)
    ({'is': 'rows', 'sizes': [152]}, [array([0, 1, 2])])
    """
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError("the other side is gone")
    head = json.loads(line)
    arrays = []
    for size in head["sizes"]:
        body = stream.read(size)
        if len(body) < size:
            raise EOFError("the other side is gone")
        arrays.append(np.load(io.BytesIO(body), allow_pickle=False))
    return head, arrays


class Asked:
    """A classifier, as dice-ml wants one, whose answers come from the parent."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker

    def predict_proba(self, frame: Any) -> Any:
        """The chance of missing the goal and of reaching it, (n, 2)."""
        codes = np.column_stack([frame[name].astype("float64") for name in self.worker.columns])
        score = self.worker.ask(codes)
        return np.column_stack([1 - score, score])

    def predict(self, frame: Any) -> Any:
        """1 where the goal is reached."""
        return (self.predict_proba(frame)[:, 1] >= 0.5).astype(int)


class Worker:
    """What the parent has told so far, and an explainer of dice-ml's for each goal."""

    def __init__(self, stdin: BinaryIO, stdout: BinaryIO) -> None:
        self.stdin, self.stdout = stdin, stdout
        self.columns: list[str] = []
        self.explainers: dict[str, Any] = {}  # dice-ml's, by goal

    def ask(self, codes: Any) -> Any:
        """The parent's scores for rows of codes."""
        send(self.stdout, {"is": "rows"}, codes)
        _, (score,) = receive(self.stdin)
        return score

    def warm(self, head: Head, arrays: list[Any]) -> None:  # noqa: ARG002 - like the others
        """Import what is slow to import, and fail now if it is not there."""
        import dice_ml  # noqa: F401

        if head["method"] == "gradient":
            import torch  # noqa: F401

    def open(self, head: Head, arrays: list[Any]) -> None:
        """Take the training rows."""
        self.columns, self.precision = head["columns"], head["precision"]
        self.method = head["method"]
        self.explainers.clear()
        self.training = self.frame(arrays[0])

    def frame(self, codes: Any) -> Any:
        """Rows of codes as dice-ml has them: numbers as floats, categories as text."""
        import pandas as pd

        return pd.DataFrame(
            {
                name: column if name in self.precision else [str(code) for code in column]
                for name, column in zip(self.columns, codes.T.astype(float), strict=True)
            }
        )

    def goal(self, head: Head, arrays: list[Any]) -> None:
        """Make dice-ml's explainer for a goal, of which some training rows are examples."""
        import dice_ml

        data = dice_ml.Data(
            dataframe=self.training.assign(**{OUTCOME: arrays[0].astype(int)}),
            continuous_features=list(self.precision),
            continuous_features_precision=self.precision,
            outcome_name=OUTCOME,
        )
        if self.method == "gradient":
            net = network(arrays[1:])
            model = dice_ml.Model(model=net, backend="PYT", func="ohe-min-max")
        else:
            model = dice_ml.Model(model=Asked(self), backend="sklearn")
        seed(head["seed"])
        self.explainers[head["goal"]] = dice_ml.Dice(data, model, method=self.method)

    def explain(self, head: Head, arrays: list[Any]) -> Any:
        """Rows of codes that dice-ml offers for a query, (n, columns)."""
        seed(head["seed"])
        query = self.frame(arrays[0][None])
        wish = {"features_to_vary": head["vary"], "permitted_range": head["ranges"] or None}
        if self.method != "gradient":
            wish["desired_class"] = 1
        explainer = self.explainers[head["goal"]]
        found = explainer.generate_counterfactuals(query, total_CFs=head["n"], **wish)
        example = found.cf_examples_list[0]
        rows = example.final_cfs_df_sparse
        rows = example.final_cfs_df if rows is None else rows
        if rows is None or not len(rows):
            return np.zeros((0, len(self.columns)))
        return rows[self.columns].astype("float64").to_numpy()


def network(arrays: list[Any]) -> Any:
    """Weights and biases as a torch network with ReLUs between and a sigmoid at the end."""
    import torch

    layers: list[Any] = []
    for weight, bias in zip(arrays[::2], arrays[1::2], strict=True):
        layer = torch.nn.Linear(*weight.shape)
        layer.weight.data = torch.tensor(weight.T, dtype=torch.float32)
        layer.bias.data = torch.tensor(bias, dtype=torch.float32)
        layers += [layer, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1], torch.nn.Sigmoid())


def seed(number: int) -> None:
    """Seed all generators that dice-ml draws from; this process has no other use for them."""
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002 - it is dice-ml that uses it
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(number)


def main() -> None:
    """Answer the parent until it is gone; what dice-ml prints goes to stderr."""
    stdout = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    worker = Worker(sys.stdin.buffer, stdout)
    while True:
        try:
            head, arrays = receive(worker.stdin)
        except EOFError:
            return
        try:
            found = getattr(worker, head["do"])(head, arrays)
        except EOFError:
            return
        except Exception as error:  # noqa: BLE001 - whatever dice-ml raises is an answer
            send(stdout, {"is": "error", "said": f"{type(error).__name__}: {error}"[:500]})
        else:
            send(
                stdout,
                {"is": "ready" if found is None else "found"},
                *([found] * (found is not None)),
            )


if __name__ == "__main__":
    main()

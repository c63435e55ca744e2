"""`python -m macex.bench.gpu`: how many queries a second a device answers, codes in, codes out.

With `--files 1000000` it is so many rows, file to file, with every answer confirmed by the model
itself: by all cores with the device, and without.

Adult, a torch network of two hidden layers of 50 and 100 trees of XGBoost, of LightGBM and of a
random forest, on every device there is. What the stages cost is read off runs that leave some of
them out. A sample of the answers is compared with those of the explainer itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from sklearn.ensemble import RandomForestClassifier

from macex.ask.constraints import Constraints
from macex.bench.cells import encoder, pipeline, xgboost
from macex.datasets import Dataset, load
from macex.device import CodeAnswers, DeviceExplainer, TorchScores, TreeScores
from macex.device.arrays import on_host
from macex.errors import needed
from macex.explainer import Explainer
from macex.models.kinds.networks import Network
from macex.scale.files import explain_file

EPOCHS = 8
# What the device itself does: answers are compared with those of an explainer that does so, too.
LIKE_A_DEVICE: dict[str, Any] = {
    "prefer": "fewest",
    "structure": "ignore",
    "plausibility": "distance",
}
TRAINED = 0.8  # of the rows
RUNS = {
    "level 1": ({"finetune": None}, 1),
    "level 1, refined": ({}, 1),
    "all levels": ({"finetune": None}, None),
    "end to end": ({}, None),
}


class Bench(NamedTuple):
    """A model on a dataset."""

    title: str
    dataset: Dataset
    model: Any
    scores: Callable[[Explainer, str], Any]  # the model as a function of codes, on a device

    def explainer(self, options: dict[str, Any]) -> Explainer:
        """An explainer of the model."""
        rows = self.dataset.frame.iloc[: _trained(self.dataset)]
        return Explainer(self.model, rows, **LIKE_A_DEVICE, **options)


def _trained(dataset: Dataset) -> int:
    return int(TRAINED * len(dataset.frame))


def trained(dataset: Dataset) -> Bench:
    """A network of two hidden layers of 50, trained on the first rows of a dataset."""
    torch = needed("torch", "torch")
    from sklearn.preprocessing import StandardScaler

    columns = encoder(dataset, StandardScaler())
    count = _trained(dataset)
    inputs = torch.as_tensor(columns.fit_transform(dataset.frame.iloc[:count]).astype(np.float32))
    labels = torch.as_tensor(np.asarray(dataset.label)[:count].astype(np.int64))
    torch.manual_seed(0)
    layers = torch.nn
    network = layers.Sequential(
        layers.Linear(inputs.shape[1], 50),
        layers.ReLU(),
        layers.Linear(50, 50),
        layers.ReLU(),
        layers.Linear(50, 2),
    )
    steps = torch.optim.Adam(network.parameters(), lr=3e-3)
    for _ in range(EPOCHS):
        for some in torch.randperm(count).split(256):
            steps.zero_grad()
            layers.functional.cross_entropy(network(inputs[some]), labels[some]).backward()
            steps.step()
    network.eval()

    def prepare(frame: Any) -> Any:
        return columns.transform(frame).astype(np.float32)

    def scores(explainer: Explainer, device: str) -> TorchScores:
        return TorchScores(explainer, deepcopy(network).to(device), prepare, logits=True)

    model = Network(network, prepare, classes=(0, 1), logits=True)
    return Bench("torch network (50, 50)", dataset, model, scores)


def of_trees(dataset: Dataset, title: str, model: Any) -> Bench:
    """A model of trees, trained on the first rows of a dataset."""
    count = _trained(dataset)
    model.fit(dataset.frame.iloc[:count], np.asarray(dataset.label)[:count])

    def scores(explainer: Explainer, device: str) -> TreeScores:
        return TreeScores(explainer, device=device)

    return Bench(title, dataset, model, scores)


def forests(dataset: Dataset) -> Iterator[Bench]:
    """100 trees of every library there is."""
    if find_spec("xgboost"):
        yield of_trees(dataset, "XGBoost (100 trees, depth 6)", xgboost(dataset))
    if find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        trees = pipeline(dataset, "passthrough", LGBMClassifier(verbose=-1, random_state=0))
        yield of_trees(dataset, "LightGBM (100 trees, 31 leaves)", trees)
    forest = RandomForestClassifier(max_leaf_nodes=64, random_state=0)
    trees = pipeline(dataset, "passthrough", forest)
    yield of_trees(dataset, "random forest (100 trees, 64 leaves)", trees)


def queries(bench: Bench, explainer: Explainer, count: int) -> Any:
    """Codes of rows the model was not trained on, over and over."""
    rest = bench.dataset.frame.iloc[_trained(bench.dataset) :]
    return np.resize(explainer.schema.read(rest).codes, (count, len(explainer.schema.columns)))


def seconds(explain: Any, codes: Any, device: str, repeats: int = 3) -> float:
    """The least time a call takes, after one to warm up."""
    torch = needed("torch", "torch")
    codes = torch.as_tensor(codes, device=device)
    taken = []
    for _ in range(repeats + 1):
        began = time.perf_counter()
        explain(codes)
        if device != "cpu":
            torch.cuda.synchronize()
        taken.append(time.perf_counter() - began)
    return min(taken[1:])


def agreement(explainer: Explainer, codes: Any, answers: CodeAnswers) -> str:
    """How answers compare with the explainer's own."""
    changed, found, made = map(on_host, (answers.changed, answers.found, answers.codes))
    same, fewer = [], []
    for at, item in enumerate(explainer.explain(explainer.schema.frame(codes))):
        if item.counterfactuals and found[at]:
            best = item.counterfactuals[0]
            same.append(np.array_equal(explainer.schema.read(best.row).codes[0], made[at]))
            fewer.append(np.sign(best.sparsity - changed[at]))
    ways = np.array(fewer)
    return (
        f"{len(same):,} answers: {np.mean(same):.1%} equal, {np.mean(ways > 0):.1%} with fewer "
        f"changes, {np.mean(ways < 0):.1%} with more"
    )


def table(bench: Bench, device: str, sizes: list[int], sample: int) -> None:
    """Print queries a second by stage and by size on a device, and how the answers compare."""
    torch = needed("torch", "torch")
    what = torch.cuda.get_device_name() if device != "cpu" else f"{torch.get_num_threads()} CPUs"
    print(f"Adult, {bench.title}, {what}: queries a second")
    print(f"{'':20}" + "".join(f"{size:>14,}" for size in sizes))
    for title, (options, most) in RUNS.items():
        explainer = bench.explainer(options)
        fast = DeviceExplainer(
            explainer,
            bench.scores(explainer, device),
            device=device,
            constraints=Constraints(max_changes=most),
            confirm=False,
            compiled=device != "cpu",
        )
        rates = [
            size / seconds(fast.explain, queries(bench, explainer, size), device) for size in sizes
        ]
        print(f"{title:20}" + "".join(f"{rate:14,.0f}" for rate in rates), flush=True)
    codes = queries(bench, explainer, sample)
    print(f"against the explainer: {agreement(explainer, codes, fast.explain(codes))}")


def rows_file(bench: Bench, count: int, path: Path) -> None:
    """A Parquet file of Adult rows the model was not trained on, drawn again, numbers moved."""
    rest = bench.dataset.frame.iloc[_trained(bench.dataset) :]
    draw = np.random.default_rng(0)
    rows = rest.iloc[draw.integers(0, len(rest), count)].reset_index(drop=True)
    for name in bench.dataset.continuous:
        moved = rows[name] + draw.integers(-2, 3, count)
        rows[name] = moved.clip(rest[name].min(), rest[name].max()).astype(rows[name].dtype)
    rows.to_parquet(path)


def files(bench: Bench, device: str, count: int, only: str) -> None:
    """Print how long many rows take file to file, on a device and on all cores without one."""
    rows = bench.dataset.frame.iloc[: _trained(bench.dataset)]
    with TemporaryDirectory() as folder:
        source = Path(folder) / "rows.parquet"
        rows_file(bench, count, source)
        for where, name in ((device, f"{device} and all cores"), (None, "all cores")):
            for title, options in (("default", {}), ("like a device", LIKE_A_DEVICE)):
                run_of = f"{bench.title}, {name}, {title}"
                if only in run_of:
                    made, out = Explainer(bench.model, rows, **options), Path(folder) / run_of
                    done = explain_file(made, source, out, jobs=-1, device=where)
                    print(f"Adult, {run_of}: {done}", flush=True)


def run(
    device: Annotated[str, typer.Option(help="cpu, cuda, or nothing for all there are.")] = "",
    sizes: Annotated[
        str, typer.Option(help="Queries at once, by commas.")
    ] = "10000,100000,1000000",
    sample: Annotated[int, typer.Option(help="Answers compared with the explainer's.")] = 1000,
    files_of: Annotated[
        int, typer.Option("--files", help="Rows from file to file instead, confirmed.")
    ] = 0,
    model: Annotated[str, typer.Option(help="Models whose title has this in it.")] = "",
    only: Annotated[str, typer.Option(help="With --files: runs whose line has this in it.")] = "",
) -> None:
    """Print queries a second by stage and by size, on every device there is."""
    torch, dataset = needed("torch", "torch"), load("adult")
    benches = [bench for bench in (trained(dataset), *forests(dataset)) if model in bench.title]
    devices = [device] if device else ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    if files_of:
        for bench in benches:
            files(bench, devices[-1], files_of, only)
        return
    for name in devices:
        wide = [int(size) for size in sizes.split(",")]
        for bench in benches:
            table(bench, name, wide if name != "cpu" else [min(wide[0], 10_000)], sample)


if __name__ == "__main__":
    typer.run(run)

"""`macex doctor`: what is installed, and what works with it."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from macex.cli import options
from macex.render.text import aligned

NEEDED = ("macex", "numpy", "scipy", "scikit-learn", "pandas", "typer", "rich")
OPTIONAL = {
    "polars": ("polars", "polars frames", "polars"),
    "pyarrow": ("pyarrow", "Parquet and Arrow files", "files"),
    "openpyxl": ("openpyxl", "Excel files", "excel"),
    "xgboost": ("xgboost", "XGBoost models (.json, .ubj)", "xgboost"),
    "lightgbm": ("lightgbm", "LightGBM models (.txt)", "lightgbm"),
    "catboost": ("catboost", "CatBoost models (.cbm)", "catboost"),
    "onnxruntime": ("onnxruntime", "ONNX models (.onnx)", "onnx"),
    "skops": ("skops", "scikit-learn models without pickle (.skops)", "skops"),
    "faiss-cpu": ("faiss", "neighbours among millions of training rows", "ann"),
    "torch": ("torch", "PyTorch models", "torch"),
}


class LibraryCheck(NamedTuple):
    """One library: its version, what it is for, and what to do where it does not work."""

    library: str
    version: str | None
    serves: str
    trouble: str | None


def doctor(as_json: options.Json = False) -> None:
    """Show which libraries are installed, their versions, and which models can be explained.

    macex doctor

    macex doctor --json
    """
    found = [*_needed(), *_optional()]
    if as_json:
        print(json.dumps({"python": platform.python_version(), "libraries": _plain(found)}))
        return
    print(f"Python {platform.python_version()} on {platform.platform()}\n")
    lines = [
        [
            finding.library,
            finding.version or "-",
            finding.serves,
            finding.trouble or "works",
        ]
        for finding in found
    ]
    print("\n".join(aligned(lines)))
    print(
        "\nAny Python object with predict_proba or predict, and any function of a frame, can be "
        "explained\nfrom Python. Pickle and joblib files need --allow-pickle."
    )


def _plain(found: list[LibraryCheck]) -> list[dict[str, str | None]]:
    return [finding._asdict() for finding in found]


def _needed() -> Iterator[LibraryCheck]:
    for name in NEEDED:
        yield LibraryCheck(name, _version(name), "needed", None)


def _optional() -> Iterator[LibraryCheck]:
    for name, (module, serves, extra) in OPTIONAL.items():
        try:
            import_module(module)
            yield LibraryCheck(name, _version(name) or _attribute(module), serves, None)
        except ModuleNotFoundError:
            yield LibraryCheck(name, None, serves, f"pip install macex[{extra}]")
        except Exception as error:  # noqa: BLE001 - a library may be broken in any way
            yield LibraryCheck(name, _version(name), serves, f"broken: {error!r}"[:200])


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _attribute(module: str) -> str | None:
    return getattr(import_module(module), "__version__", None)

"""Opening a file first in a child process, which may crash, hang or eat memory in our stead."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from macex.errors import ModelFileError
from macex.models.files.formats import Format
from macex.models.files.opening import opened, tried
from macex.models.optional import needed

LIBRARIES = {
    "catboost": ("catboost", "catboost"),
    "lightgbm": ("lightgbm", "lightgbm"),
    "onnx": ("onnxruntime", "onnx"),
    "skops": ("skops.io", "skops"),
    "xgboost": ("xgboost", "xgboost"),
}
REFUSED = 3


def try_open(
    content: bytes, form: Format, trusted: Sequence[str], memory_mb: int, timeout_s: float
) -> None:
    """Raise unless a child process, bounded in memory and time, can open the content."""
    needed(*LIBRARIES[form])
    order = json.dumps({"form": form, "trusted": list(trusted), "memory_mb": memory_mb})
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            [sys.executable, "-m", "macex.models.files.trial", order],
            input=content,
            capture_output=True,
            timeout=timeout_s,
            check=False,
            env=surroundings(),
        )
    except subprocess.TimeoutExpired:
        raise ModelFileError(
            f"opening the {form} file took more than {timeout_s:g} s; timeout_s= allows more"
        ) from None
    if done.returncode:
        raise ModelFileError(_reason(form, done.returncode, done.stderr.decode(errors="replace")))


def surroundings() -> dict[str, str]:
    """The child sees the same packages and starts no crowd of threads."""
    paths = os.pathsep.join(path for path in sys.path if path)
    return {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _reason(form: Format, code: int, said: str) -> str:
    last = said.strip().splitlines()[-1:] or [""]
    if code == REFUSED:
        return last[0]
    if code < 0:
        return f"opening the {form} file crashed the process that tried it (signal {-code})"
    return f"the {form} file cannot be opened: {last[0][:300]}"


def bound_memory(memory_mb: int) -> None:
    """Bound what the process may take from now on; elsewhere than on Linux only time is bounded."""
    if sys.platform != "linux":
        return
    import resource

    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        held = int(file.read().split()[0]) * resource.getpagesize()
    most = held + memory_mb * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(order: dict[str, Any]) -> int:
    """Open and try what stands on the standard input."""
    form: Format = order["form"]
    needed(*LIBRARIES[form])
    content = sys.stdin.buffer.read()
    bound_memory(order["memory_mb"])
    try:
        tried(opened(content, form, order["trusted"]))
    except ModelFileError as error:
        sys.stderr.write(f"\n{error}")
        return REFUSED
    except MemoryError:
        sys.stderr.write(f"\nit needs more than {order['memory_mb']} MB; memory_mb= allows more")
        return 1
    except Exception as error:  # noqa: BLE001 - whatever a library says of a bad file
        sys.stderr.write("\n" + " ".join(f"{type(error).__name__}: {error}".split())[:300])
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))

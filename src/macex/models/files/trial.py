"""Opening a file first in a child process, which may crash, hang or run out of memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from macex.errors import ModelFileError, needed
from macex.models.files.opening import Format, opened, tried
from macex.models.files.sandbox import confine, surroundings

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
    """Raise unless a child process, bounded in all that it may do, can open the content."""
    needed(*LIBRARIES[form])
    order = json.dumps({"form": form, "trusted": list(trusted), "memory_mb": memory_mb})
    try:
        with tempfile.TemporaryDirectory(prefix="macex-") as empty:
            done = subprocess.run(  # noqa: S603 - our own module
                [sys.executable, "-m", "macex.models.files.trial", order],
                input=content,
                capture_output=True,
                timeout=timeout_s,
                check=False,
                cwd=empty,
                env=surroundings(here=bool(trusted)),
            )
    except subprocess.TimeoutExpired:
        raise ModelFileError(
            f"opening the {form} file took more than {timeout_s:g} s; timeout_s= allows more"
        ) from None
    if done.returncode:
        raise ModelFileError(_reason(form, done.returncode, done.stderr.decode(errors="replace")))


def _reason(form: Format, code: int, said: str) -> str:
    last = said.strip().splitlines()[-1:] or [""]
    if code == REFUSED:
        return last[0]
    if code < 0:
        return f"opening the {form} file crashed the process that tried it (signal {-code})"
    return f"the {form} file cannot be opened: {last[0][:300]}"


def main(order: dict[str, Any]) -> int:
    """Open and try what stands on the standard input."""
    form: Format = order["form"]
    needed(*LIBRARIES[form])
    content = sys.stdin.buffer.read()
    confine(order["memory_mb"])
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

"""The most memory that a piece of work took, as Linux counts it."""

from __future__ import annotations

from pathlib import Path

STATUS, MARK = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class MemoryPeak:
    """Starts to watch when it is made; elsewhere than on Linux it knows nothing."""

    def __init__(self) -> None:
        self.known = _mark()
        self.before = _held("VmRSS") if self.known else 0.0

    def mib(self) -> float:
        """The most that was held at once since then, in MiB, beyond what was held before."""
        return max(0.0, _held("VmHWM") - self.before) if self.known else float("nan")


def _mark() -> bool:
    """Let the peak begin anew."""
    try:
        MARK.write_text("5", encoding="ascii")
    except OSError:
        return False
    return STATUS.exists()


def _held(name: str) -> float:
    lines = STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024

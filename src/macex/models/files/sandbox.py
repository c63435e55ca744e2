"""What a process gives up before it opens an untrusted file.

Memory is bounded, no core is dumped, nothing is written, only the Python installation is read, and
there is no network, no other program and no other process. What of it a system cannot do, `confine`
names. The process starts in an empty folder, and of the environment it has what Python needs: no
keys, passwords or addresses.
"""

from __future__ import annotations

import os
import site
import sys
import time
from math import ceil
from pathlib import Path

from macex.models.files.landlock import keep_reading
from macex.models.files.seccomp import keep_to_itself

KEPT = (
    *("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "LANG", "LC_ALL", "TZ"),
    "PYTHONPYCACHEPREFIX",
)
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
SYSTEM = (
    *("/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/etc/ld.so.cache"),
    *("/usr/share/zoneinfo", "/etc/localtime", "/proc/self", "/proc/cpuinfo", "/proc/meminfo"),
    *("/sys/devices/system", "/sys/fs/cgroup", "/dev/urandom"),
)
DEVICES = ("/dev/null",)


def surroundings(*, here: bool = False) -> dict[str, str]:
    """The environment of such a process: the same packages, and no crowd of threads.

    `here` adds the present folder, where a caller's own modules may lie.
    """
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    paths = os.pathsep.join([*_packages(), *([str(Path.cwd())] if here else [])])
    return {**kept, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": paths, "PYTHONUTF8": "1"}


def confine(memory_mb: int, *, output_mb: int = 0, cpu_s: float | None = None) -> list[str]:
    """Give up what opening a file does not need; the names of what could not be given up.

    `output_mb` is how much may be written to files that are open already. `cpu_s` ends a process
    that nobody waits for any more.
    """
    bounded = _bound(memory_mb, output_mb, cpu_s)
    if sys.platform != "linux":
        return ["memory", "files", "network", "processes"] if not bounded else ["files", "network"]
    places = {*_packages(), sys.prefix, sys.base_prefix, sys.exec_prefix, *SYSTEM}
    missing = [] if bounded else ["memory"]
    missing += [] if keep_reading(sorted(places), DEVICES) else ["files"]
    return missing + ([] if keep_to_itself() else ["network", "processes"])


def _packages() -> list[str]:
    """Where Python finds packages, but for the folder that it happened to be started in."""
    here = Path.cwd()
    own = [str(Path(__file__).parents[3]), *site.getsitepackages()]
    found = [path for path in sys.path if path and Path(path).absolute() != here]
    return list(dict.fromkeys([*found, *own]))


def _bound(memory_mb: int, output_mb: int, cpu_s: float | None) -> bool:
    """Bound what the process may take from now on; elsewhere than on Linux only time is bounded."""
    if sys.platform == "win32":
        return False
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if cpu_s is not None:
        until = ceil(time.process_time() + cpu_s)
        resource.setrlimit(resource.RLIMIT_CPU, (until, until))
    resource.setrlimit(resource.RLIMIT_FSIZE, (output_mb * 2**20, output_mb * 2**20))
    if sys.platform != "linux":
        return False
    held = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = held * resource.getpagesize() + memory_mb * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    return True

"""What a process gives up, for ever, before it opens an untrusted file.

Memory is bounded, no core is dumped, nothing is written, only the Python installation is read, and
there is no network, no other program and no other process. What of it a system cannot do, `confine`
names. The process starts in an empty folder, and of the environment it has what Python needs: no
keys, passwords or addresses.

It needs no privileges. Linux takes files away by Landlock, from kernel 5.13 on, and system calls by
seccomp: other processes are not started, not signalled, not looked into; threads are allowed.
"""

from __future__ import annotations

import ctypes
import os
import platform
import site
import struct
import sys
import time
from collections.abc import Iterable
from errno import ENOSYS, EPERM
from math import ceil
from pathlib import Path

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


FILTER, ALL_THREADS = 1, 1
NO_NEW_PRIVILEGES = 38  # of prctl
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, FIRST = 0, 4, 16  # where the words of a call lie
ALLOW, FAIL, KILL = 0x7FFF0000, 0x00050000, 0x80000000
OTHER_TABLE = 0x40000000  # numbers of x86-64's other table of calls
THREAD = 0x00010000  # CLONE_THREAD

Step = tuple[int, int, int, int]  # what, jump if true, jump if false, operand
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
SECCOMP = {"x86_64": 317, "aarch64": 277}
CLONE = {"x86_64": 56, "aarch64": 220}
CLONE3 = 435
FORBIDDEN = {
    # socket, connect, accept, bind, listen, socketpair, fork, vfork, execve, execveat, ptrace,
    # process_vm_readv and _writev, unshare, setns, mount, bpf, perf_event_open, userfaultfd,
    # keyctl, rt_sigqueueinfo, rt_tgsigqueueinfo, tkill
    "x86_64": (
        *(41, 42, 43, 49, 50, 53, 57, 58, 59, 322, 101, 310, 311, 272, 308, 165, 321, 298, 323),
        *(250, 129, 297, 200, 288),
    ),
    "aarch64": (
        *(198, 203, 202, 200, 201, 199, 221, 281, 117, 270, 271, 97, 268, 40, 280, 241, 282, 219),
        *(138, 240, 130, 242),
    ),
}
# io_uring_setup, _enter, _register, pidfd_open, pidfd_send_signal, pidfd_getfd, process_madvise
EVERYWHERE = (425, 426, 427, 434, 424, 438, 440)
ON_ITSELF = {"x86_64": (62, 234, 302), "aarch64": (129, 131, 261)}  # kill, tgkill, prlimit64


def keep_to_itself() -> bool:
    """Give up network, programs and other processes; False where the kernel has no seccomp."""
    machine = platform.machine()
    if machine not in AUDIT:
        return False
    steps = _program(machine, os.getpid())
    code = b"".join(struct.pack("=HBBI", *step) for step in steps)
    held = ctypes.create_string_buffer(code)
    program = struct.pack("@HP", len(steps), ctypes.addressof(held))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return libc.syscall(SECCOMP[machine], FILTER, ALL_THREADS, program) == 0


def _program(machine: str, own: int) -> list[Step]:
    """The filter: for each forbidden call a comparison and an answer."""
    no, missing = (RETURN, 0, 0, FAIL | EPERM), (RETURN, 0, 0, FAIL | ENOSYS)
    steps: list[Step] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, AUDIT[machine]),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 0, 1, OTHER_TABLE),
        (RETURN, 0, 0, KILL),
        (EQUAL, 0, 1, CLONE3),  # its flags cannot be looked at: callers turn to clone
        missing,
    ]
    for number in (*FORBIDDEN[machine], *EVERYWHERE):
        steps += [(EQUAL, 0, 1, number), no]
    for number in ON_ITSELF[machine]:  # of itself, which is 0 to prlimit64
        steps += [(EQUAL, 0, 4, number), (LOAD, 0, 0, FIRST), (EQUAL, 2, 0, own)]
        steps += [(EQUAL, 1, 0, 0 if number == ON_ITSELF[machine][2] else own), no]
        steps += [(LOAD, 0, 0, NUMBER)]
    steps += [(EQUAL, 0, 3, CLONE[machine]), (LOAD, 0, 0, FIRST), (ANY_BIT, 1, 0, THREAD), no]
    return [*steps, (RETURN, 0, 0, ALLOW)]


CREATE, ADD_RULE, RESTRICT = 444, 445, 446  # system calls, the same on every architecture
ASK_VERSION = 1
BENEATH = 1
EXECUTE, WRITE, READ, LIST = 1, 2, 4, 8
ON_FILES = EXECUTE | WRITE | READ
HANDLED = {1: 13, 2: 14, 3: 15, 4: 15}  # version: how many kinds of access it knows
NEWEST = 16


def keep_reading(places: Iterable[str], devices: Iterable[str] = ()) -> bool:
    """Only what lies beneath some places can be read from now on, and nothing written.

    `devices` can be written to, such as `/dev/null`. False where the kernel has no Landlock.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(CREATE, None, ctypes.c_size_t(0), ASK_VERSION)
    if version < 1:
        return False
    handled = struct.pack("Q", (1 << HANDLED.get(version, NEWEST)) - 1)
    rules = libc.syscall(CREATE, handled, ctypes.c_size_t(len(handled)), 0)
    if rules < 0:
        return False
    for place in places:
        _allow(libc, rules, place, EXECUTE | READ | LIST)
    for place in devices:
        _allow(libc, rules, place, READ | WRITE)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    done = libc.syscall(RESTRICT, rules, 0) == 0
    os.close(rules)
    return done


def _allow(libc: ctypes.CDLL, rules: int, place: str, access: int) -> None:
    try:
        opened = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule
    try:
        kept = access if os.path.isdir(place) else access & ON_FILES  # noqa: PTH112
        rule = struct.pack("=Qi", kept, opened)
        libc.syscall(ADD_RULE, rules, BENEATH, rule, 0)
    finally:
        os.close(opened)

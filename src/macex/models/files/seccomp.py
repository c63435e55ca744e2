"""Seccomp: a Linux process gives up system calls for ever.

No network, no other programs, no other processes: they are not started, not signalled, not looked
into. Threads are allowed. It needs no privileges.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from errno import ENOSYS, EPERM

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

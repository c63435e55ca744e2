"""Landlock: a Linux process gives up all files but those beneath a few folders, for ever.

It needs no privileges. Kernels before 5.13, and systems that are not Linux, do not have it.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable

CREATE, ADD_RULE, RESTRICT = 444, 445, 446  # system calls, the same on every architecture
ASK_VERSION = 1
BENEATH = 1
NO_NEW_PRIVILEGES = 38  # of prctl
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

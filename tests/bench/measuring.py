"""Measurements that end well, badly, or not at all; processes import them from here."""

from __future__ import annotations

import os

from macex.bench.tasks import TaskOutcome


def fine(task, workshop):
    return TaskOutcome(task, [{"by": os.getpid()}])


def raises(task, workshop):
    raise ValueError("no such thing")


def dies(task, workshop):
    os._exit(1)


def measures():
    return {"fine": fine, "raises": raises, "dies": dies}

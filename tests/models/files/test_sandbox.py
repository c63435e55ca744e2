"""A process that is confined ends by itself, though nobody waits for it."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

TURNS = "from macex.models.files.sandbox import confine; confine(500, cpu_s=1)\nwhile True: pass"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows bounds no CPU")
def test_a_process_that_nobody_ends_is_ended_by_its_cpu():
    done = subprocess.run([sys.executable, "-c", TURNS], check=False, timeout=120)
    assert -done.returncode in {signal.SIGXCPU, signal.SIGKILL}

"""A process that is confined has what Python needs and no more, and ends by itself."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

TURNS = "from macex.models.files.sandbox import confine; confine(500, cpu_s=1)\nwhile True: pass"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows bounds no CPU")
def test_a_process_that_nobody_ends_is_ended_by_its_cpu():
    done = subprocess.run([sys.executable, "-c", TURNS], check=False, timeout=120)
    assert -done.returncode in {signal.SIGXCPU, signal.SIGKILL}


TRIES = """
import json, os, socket, sys
from macex.models.files.sandbox import confine

def fork():
    if os.fork() == 0:
        os._exit(0)

left, told = confine(500), {}
for name, act in {
    "files": lambda: open("/etc/passwd").read(),
    "network": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
    "processes": fork,
}.items():
    try:
        act()
        told[name] = "done"
    except OSError as error:
        told[name] = type(error).__name__
print(json.dumps([left, told]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux confines more than memory")
def test_a_confined_process_reads_no_file_and_has_no_network_and_no_other_process():
    """Or says which of it the kernel could not take away."""
    done = subprocess.run([sys.executable, "-c", TRIES], capture_output=True, check=True)
    left, told = json.loads(done.stdout)
    kept = {name: "done" if name in left else "PermissionError" for name in told}
    assert told == kept
    assert len(left) < len(told)

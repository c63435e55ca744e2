"""The demo: its model is made in a process of its own, and the server stays light."""

from __future__ import annotations

import subprocess
import sys

ASK = """
import sys
from pathlib import Path
from macex.server import Settings, create_app

server = create_app(Settings(state=Path(sys.argv[1]))).state.server
project = server.projects["adult"]
answers = project.explainer().explain(project.parts.rows.head(1))
print(answers[0].status, *sys.modules)
server.close()
"""


def test_an_answer_takes_no_scikit_learn_in_the_servers_process(tmp_path):
    told = [sys.executable, "-c", ASK, str(tmp_path)]
    done = subprocess.run(told, capture_output=True, text=True, check=True)
    status, *modules = done.stdout.split()
    assert status == "found"
    assert {"sklearn", "scipy"}.isdisjoint(modules)

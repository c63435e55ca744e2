"""What the table of tools says of macex is looked at by the test that its row names."""

from __future__ import annotations

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "tools.md"


def test_every_row_names_a_test_in_a_browser():
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| (\d+) \| ", text)
    named = re.findall(r"(?m)^(\d+)\. `(.+)::(\w+)`$", text)
    assert len(rows) > 15
    assert rows == [at for at, _, _ in named] == [str(at) for at in range(1, len(rows) + 1)]
    for _, file, name in named:
        tree = ast.parse((HERE / file).read_text(encoding="utf-8"))
        tests = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
        taken = {argument.arg for argument in tests[name].args.args}
        assert taken & {"visit", "browser", "page"}, name

"""What the table of tools says of macex is looked at by the test that its row names."""

from __future__ import annotations

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "tools.md"


def test_every_row_names_a_test_in_a_browser():
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    rows = lines[2:]
    assert len(rows) > 15
    named = [re.fullmatch(r"`(.+)::(\w+)`", row.strip("| ").rpartition("| ")[2]) for row in rows]
    assert [row for row, found in zip(rows, named, strict=True) if found is None] == []
    for found in named:
        tree = ast.parse((HERE / found[1]).read_text(encoding="utf-8"))
        tests = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
        taken = {argument.arg for argument in tests[found[2]].args.args}
        assert taken & {"visit", "browser", "page"}, found[2]

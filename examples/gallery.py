"""Run the lines of docs/gallery.md and keep the pictures they draw in docs/images/gallery.

`python examples/gallery.py` writes them; the outputs on the page are written by the tests of the
docs.
"""

from __future__ import annotations

import re
import shutil
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

DOCS = Path(__file__).parents[1] / "docs"
EXAMPLE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def main() -> None:
    lines = "\n".join(EXAMPLE.findall((DOCS / "gallery.md").read_text(encoding="utf-8")))
    kept = DOCS / "images" / "gallery"
    with TemporaryDirectory() as folder:
        with chdir(folder):
            exec(compile(lines, "gallery.md", "exec"), {"__name__": "gallery"})  # noqa: S102
        kept.mkdir(parents=True, exist_ok=True)
        for picture in Path(folder).glob("*.svg"):
            shutil.copyfile(picture, kept / picture.name)


if __name__ == "__main__":
    main()

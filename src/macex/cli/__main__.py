"""`python -m macex.cli` is `macex`."""

from __future__ import annotations

import sys

from macex.cli import main

if __name__ == "__main__":
    sys.exit(main())

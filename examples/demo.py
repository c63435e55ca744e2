"""The tour of half a minute that `make demo` shows; `macex demo` is the same."""

from __future__ import annotations

from macex.cli.demo import SHORT, SPOKEN, fitted, main

__all__ = ["SHORT", "SPOKEN", "fitted"]

if __name__ == "__main__":
    main()

"""Small data files that a stranger might send, by what they try.

As a program, it reads all files of a folder within the bounds of an upload, in a process that has
given up the rest, and says what became of each.
"""

from __future__ import annotations

import gzip
import io
import json
import pickle
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

Make = Callable[[], bytes]
LISTENER = "http://127.0.0.1:9/rows.csv"
MEMORY_MB = 700


def parquet(table: Any, **options: Any) -> bytes:
    packed = io.BytesIO()
    pq.write_table(table, packed, **options)
    return packed.getvalue()


def arrow(table: Any) -> bytes:
    packed = io.BytesIO()
    with pa.ipc.new_file(packed, table.schema) as file:
        file.write_table(table)
    return packed.getvalue()


def small(**metadata: str) -> Any:
    return pa.table({"a": [1, 2], "b": ["x", "y"]}).replace_schema_metadata(metadata or None)


def extension(name: str, told: bytes) -> Any:
    """A column of a type of a stranger's, whose description is a pickle."""
    said = {"ARROW:extension:name": name, "ARROW:extension:metadata": told}
    field = pa.field("a", pa.int64(), metadata=said)
    return pa.table([pa.array([1, 2])], schema=pa.schema([field]))


class Trap:
    def __reduce__(self) -> tuple[Any, ...]:
        return exec, ("import os; os.mkdir('sprung')",)


def pandas_says(**more: Any) -> Any:
    """What pandas keeps beside a table, made up."""
    column = {"name": "a", "field_name": "a", "pandas_type": "int64", "numpy_type": "int64"}
    said = {"index_columns": [], "column_indexes": [], "columns": [column], **more}
    return small(pandas=json.dumps(said))


def elsewhere() -> bytes:
    """The footer says that the columns lie in another file."""
    kept: list[Any] = []
    pq.write_table(small(), io.BytesIO(), metadata_collector=kept)
    kept[0].set_file_path("/etc/passwd")
    packed = io.BytesIO()
    kept[0].write_metadata_file(packed)
    return packed.getvalue()


def footer(length: int) -> bytes:
    return b"PAR1" + bytes(64) + struct.pack("<I", length) + b"PAR1"


def flipped(content: bytes, start: int) -> bytes:
    spoilt = bytearray(content)
    for place in range(start, len(content) - 8, 7):
        spoilt[place] ^= 0xFF
    return bytes(spoilt)


def blown(rows: int) -> Any:
    once = pa.array(np.zeros(rows, np.int32))
    return pa.table({"a": once, "b": pa.array(["x" * 100]).take(once)})


REFUSED: dict[str, Make] = {
    "nothing": bytes,
    "noise": lambda: bytes(range(128, 256)) * 8,
    "a pickle": lambda: pickle.dumps(pd.DataFrame({"a": [1]})),
    "text of another code": lambda: "a,b\nä,ö\n".encode("utf-16"),
    "a line without end": lambda: b"a" * 2**21,
    "columns without end": lambda: b",".join(b"%d" % at for at in range(6000)) + b"\n",
    "two columns of one name": lambda: b"a,a\n1,2\n",
    "an open quote": lambda: b'a,b\n1,"2\n',
    "a line that is short": lambda: b"a,b\n1\n",
    "a cell without end": lambda: b"a,b\n1," + b"x" * 300_000 + b"\n",
    "json of depth": lambda: b'{"a":' * 20_000,
    "json of another shape": lambda: b'{"a": 1}\n[1]\n',
    "json with other cells": lambda: b'{"a": 1}\n{"b": 1}\n',
    "json of one huge number": lambda: b'{"a": ' + b"9" * 100_000 + b"}\n",
    "gzip that breaks off": lambda: gzip.compress(b"a,b\n" + b"1,2\n" * 1000)[:40],
    "gzip of zeros": lambda: gzip.compress(bytes(50_000_000)),
    "gzip of rows": lambda: gzip.compress(b"a,b\n" + b"1,2\n" * 600_000, 9),
    "gzip of gzip": lambda: gzip.compress(gzip.compress(b"a,b\n1,2\n" * 9000)),
    "parquet, half": lambda: parquet(small())[:60],
    "parquet without a footer": lambda: b"PAR1" + bytes(100),
    "parquet of a footer too long": lambda: footer(2**31 - 1),
    "parquet of a footer of zeros": lambda: footer(64),
    "parquet with flipped bytes": lambda: flipped(parquet(small()), 60),
    "parquet whose columns lie elsewhere": elsewhere,
    "parquet of too many cells": lambda: parquet(blown(600_000), compression="zstd"),
    "arrow, half": lambda: arrow(small())[:200],
    "arrow with flipped bytes": lambda: flipped(arrow(small()), 100),
    "arrow of nothing": lambda: b"ARROW1\x00\x00",
}
HARMLESS: dict[str, Make] = {
    "a web address instead of rows": f"{LISTENER}\n".encode,
    "web addresses in cells": f"a,b\n1,{LISTENER}\n2,file:///etc/passwd\n".encode,
    "paths in cells": lambda: b"a,b\n1,/etc/passwd\n2,../../etc/passwd\n",
    "formulas in cells": lambda: b'a,b\n1,"=HYPERLINK(""http://127.0.0.1"")"\n2,@SUM(1)\n',
    "an address in json": lambda: json.dumps({"a": 1, "b": LISTENER}).encode() + b"\n",
    "parquet with a pickled type": lambda: parquet(
        extension("arrow.py_extension_type", pickle.dumps(Trap()))
    ),
    "arrow with a pickled type": lambda: arrow(
        extension("arrow.py_extension_type", pickle.dumps(Trap()))
    ),
    "parquet of an unknown type": lambda: parquet(extension("evil.type", b"__import__('os')")),
    "parquet with a schema of arrow's that is none": lambda: parquet(
        small(**{"ARROW:schema": "__import__"}), store_schema=False
    ),
}
ODD: dict[str, Make] = {  # read or refused, whatever pandas makes of them
    "parquet whose index is elsewhere": lambda: parquet(pandas_says(index_columns=["zz"])),
    "parquet whose index is huge": lambda: parquet(
        pandas_says(
            index_columns=[{"kind": "range", "name": None, "start": 0, "stop": 10**15, "step": 1}]
        )
    ),
    "parquet whose dtype is code": lambda: parquet(
        pandas_says(
            columns=[
                {
                    "name": "a",
                    "field_name": "a",
                    "pandas_type": "object",
                    "numpy_type": "__import__('os').mkdir('sprung')",
                    "metadata": None,
                }
            ]
        )
    ),
}
ALL = REFUSED | HARMLESS | ODD


def main(folder: Path) -> None:
    """Read each file as an upload is read."""
    from macex.models.files.sandbox import confine
    from macex.scale.intake import IntakeLimits, _table

    files = [path.open("rb") for path in sorted(folder.iterdir())]
    left = confine(MEMORY_MB)
    bounds = IntakeLimits(memory_mb=MEMORY_MB, cells=1_000_000)
    for file in files:
        try:
            table = _table(file, bounds, [])
            said = {"cells": [[str(cell)[:100] for cell in row] for row in table.to_numpy()[:3]]}
        except MemoryError:
            said = {"refused": "reading it takes more memory than it may"}
        except Exception as error:  # noqa: BLE001 - as in an upload
            said = {"refused": f"it cannot be read: {error}"[:300]}
        print(json.dumps({"left": left, **said}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]))

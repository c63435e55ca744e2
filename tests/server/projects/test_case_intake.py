"""Files of strangers' cases: what is right is read as it is, what is not is refused."""

from __future__ import annotations

import io
import pickle
import struct
import subprocess
import zipfile
from tokenize import TokenError
from zipfile import BadZipFile

import numpy as np
import pytest

from macex.errors import DataError
from macex.scale.intake import IntakeLimits, read_apart
from macex.server.projects.case_intake import read

BOUNDS = IntakeLimits(columns=50, cells=100_000, memory_mb=300, seconds=60)
X = np.arange(24.0).reshape(2, 3, 4)


def npz(**arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def npy(array, *, allow_pickle=False):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=allow_pickle)
    return file.getvalue()


def boxed(content, name="X.npy"):
    """An archive with one file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as box:
        box.writestr(name, content)
    return file.getvalue()


def headed(text):
    """An array that says this of itself, and holds nothing."""
    head = text.encode() + b" " * (117 - len(text)) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head


@pytest.mark.parametrize(
    "content",
    [
        npz(X=X, y=np.zeros(2)),
        npz(X=X.astype("<f4")),
        npz(X=X.astype(">i2")),
        npz(X=np.asfortranarray(X)),
        npy(X),
        npy(X.astype(np.uint8)),
    ],
)
def test_cases_are_read_as_they_are(content):
    assert read(io.BytesIO(content), BOUNDS).tolist() == X.tolist()


class Loud:
    def __reduce__(self):
        return print, ("a pickle was opened",)


HOSTILE = {
    "nothing": b"",
    "text": b"hello, world",
    "a table": b"a,b\n1,2\n",
    "a pickle": pickle.dumps(Loud()),
    "a pickled array": npy(np.array([Loud()], dtype=object), allow_pickle=True),
    "a pickled array in an archive": boxed(
        npy(np.array([Loud()], dtype=object), allow_pickle=True)
    ),
    "text in an array": npz(X=np.array([[["a"]]])),
    "dates in an array": npz(X=np.array([[["2020-01-01"]]], dtype="datetime64[D]")),
    "records": npz(X=np.zeros((1, 1, 1), dtype=[("a", float)])),
    "complex numbers": npz(X=X.astype(complex)),
    "no X": npz(Y=X),
    "two axes": npz(X=X[0]),
    "four axes": npz(X=X[None]),
    "no axes": npz(X=np.float64(3)),
    "no cases": npz(X=X[:0]),
    "no channels": npz(X=X[:, :0]),
    "no time": npz(X=X[:, :, :0]),
    "too many channels": npz(X=np.zeros((1, 51, 1))),
    "a bomb": npz(X=np.zeros((1000, 50, 1000))),
    "half an archive": npz(X=X)[:-30],
    "half an array": npy(X)[:-8],
    "an array with a tail": npy(X) + b"x",
    "a broken archive": b"PK\x03\x04" + b"\xff" * 500,
    "a file out of the folder": boxed(npy(X), "../X.npy"),
    "a promise of terabytes": headed(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (10, 10, 10000000000000)}"
    ),
    "a negative length": headed("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 3, -4)}"),
    "a shape of text": headed("{'descr': '<f8', 'fortran_order': False, 'shape': 'abc'}"),
    "a call in the head": headed(
        "{'descr': print('run'), 'fortran_order': False, 'shape': (1, 1, 1)}"
    ),
    "a head of depth": headed("{'descr': '<f8', 'shape': " + "(" * 60),
    "an array of another version": b"\x93NUMPY\x09\x00" + b"\x00" * 100,
    "an archive in an archive": boxed(npz(X=X)),
}


def many_files():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as box:
        box.writestr("X.npy", npy(X))
        for place in range(200):
            box.writestr(f"{place}.npy", b"")
    return file.getvalue()


HOSTILE["many files"] = many_files()


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_no_cases_is_refused(kind, capfd):
    with pytest.raises((DataError, ValueError, OSError, EOFError, BadZipFile, TokenError)):
        read(io.BytesIO(HOSTILE[kind]), BOUNDS)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    "kind", ["a pickled array", "a bomb", "half an archive", "a head of depth"]
)
def test_a_process_of_its_own_refuses_in_a_sentence(kind, tmp_path):
    source, target = tmp_path / "sent", tmp_path / "made.npz"
    source.write_bytes(HOSTILE[kind])
    with pytest.raises(DataError, match=r"^the cases") as caught:
        read_apart("macex.server.projects.case_intake", source, target, "the cases", BOUNDS, {})
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_what_is_written_is_opened_without_pickle(tmp_path):
    source, target = tmp_path / "sent", tmp_path / "made.npz"
    source.write_bytes(npz(X=X, y=np.zeros(2)))
    read_apart("macex.server.projects.case_intake", source, target, "the cases", BOUNDS, {})
    with np.load(target, allow_pickle=False) as made:
        assert made.files == ["X"]
        assert made["X"].tolist() == X.tolist()


def test_the_process_knows_no_secret(tmp_path, monkeypatch):
    """It has the environment of Python and nothing of the server's."""
    monkeypatch.setenv("MACEX_ADMIN_KEY", "secret")
    seen = []
    run = subprocess.run
    monkeypatch.setattr(
        subprocess, "run", lambda *a, **more: seen.append(more["env"]) or run(*a, **more)
    )
    source = tmp_path / "sent"
    source.write_bytes(npz(X=X))
    read_apart("macex.server.projects.case_intake", source, tmp_path / "made", "x", BOUNDS, {})
    assert seen
    assert "secret" not in str(seen[0])

"""Where files are: on this machine, or wherever fsspec reaches, such as `s3://` or `memory://`.

A place is named by its path or its URL. What is written to one is there whole or not at all. fsspec
knows how to log in, from the environment and its own configuration; macex never sees a secret.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import IO, Any

from macex.audit import file_hash
from macex.errors import DataError, OptionError, require_path
from macex.render.exports import whole_file, write_whole

MARKS = ("ETag", "etag", "md5Hash", "content_md5")  # what a store says of a file's content
PATTERN = "*?["
WEB = ("http", "https")
LOCK = "lock"


@dataclass(frozen=True)
class Local:
    """A path on this machine."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.name

    @property
    def suffix(self) -> str:
        """The ending of the name, without that of gzip."""
        return _ending(self.name)

    def within(self, name: str) -> Local:
        """What is called so in this folder."""
        return Local(self.path / name)

    def beside(self, name: str) -> Local:
        """What is called so beside this."""
        return Local(self.path.with_name(name))

    def exists(self) -> bool:
        """Whether there is such a file or folder."""
        return self.path.exists()

    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.path.is_dir()

    def files(self) -> list[str]:
        """The files in the folder and in those inside it, by their names within it, sorted."""
        inside = sorted(file for file in self.path.rglob("*") if file.is_file())
        return [file.relative_to(self.path).as_posix() for file in inside]

    def opened(self) -> IO[bytes]:
        """The file, to be read."""
        return self.path.open("rb")

    def read(self) -> bytes:
        """What is in the file."""
        return self.path.read_bytes()

    def write(self, content: bytes) -> None:
        """Write the file, whole or not at all; folders on the way are made."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self.path, content)

    def written(self) -> AbstractContextManager[IO[bytes]]:
        """The file to write to; it is there when all is written, and else as it was."""
        return whole_file(self.path)

    def remove(self) -> None:
        """Remove the file, or the folder with all that is in it, if it is there."""
        if self.path.is_dir():
            shutil.rmtree(self.path)
        else:
            self.path.unlink(missing_ok=True)

    def absolute(self) -> str:
        """The whole path."""
        return self.path.absolute().as_posix()

    def sweep(self, *, inside: bool = False) -> None:
        """Remove what was written beside it, to be renamed."""
        found = self.path.rglob(".*.part") if inside else self.path.parent.glob(".*.part")
        for file in [*found]:
            name, _, process = file.name.removeprefix(".").removesuffix(".part").rpartition(".")
            if process.isdecimal() and (inside or name == self.name):
                file.unlink(missing_ok=True)

    def make(self) -> None:
        """Make the folder."""
        self.path.mkdir(parents=True, exist_ok=True)

    def held(self) -> AbstractContextManager[None]:
        """Held by a lock that ends with the process."""
        return alone(self.path)


@dataclass(frozen=True)
class Remote:
    """A URL that fsspec reaches, with the methods of `Local`.

    A store has no folders and no locks: names have slashes.
    """

    url: str

    def __str__(self) -> str:
        return self.url

    @cached_property
    def _at(self) -> tuple[Any, str]:
        """The file system and the path on it."""
        with reaching(self.url):
            system, path = _fsspec().url_to_fs(self.url)
        return system, str(path)

    @property
    def name(self) -> str:
        """What stands behind the last slash."""
        return self.url.rstrip("/").rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """The ending of the name, without that of gzip."""
        return _ending(self.name)

    def within(self, name: str) -> Remote:
        """A name below this one."""
        return Remote(f"{self.url.rstrip('/')}/{name}")

    def beside(self, name: str) -> Remote:
        """Another name below the same."""
        return Remote(f"{self.url.rstrip('/').rpartition('/')[0]}/{name}")

    def exists(self) -> bool:
        """Whether something is there now."""
        return bool(self._asked("exists"))

    def is_folder(self) -> bool:
        """Whether there are names below it; an address of the web is a file."""
        return not self.url.startswith(WEB) and bool(self._asked("isdir"))

    def files(self) -> list[str]:
        """All names below it."""
        path = self._at[1].rstrip("/")
        return sorted(str(file)[len(path) + 1 :] for file in self._asked("find"))

    def matching(self) -> list[str]:
        """The URLs that a pattern stands for."""
        system = self._at[0]
        return [str(system.unstrip_protocol(file)) for file in sorted(self._asked("glob"))]

    def opened(self) -> IO[bytes]:
        """The file, read in blocks as they are needed."""
        found: IO[bytes] = self._asked("open", "rb")
        return found

    def read(self) -> bytes:
        """What is in the file."""
        with self.opened() as file:
            return file.read()

    def mark(self) -> str:
        """What tells its content from any other: what the store says, or a hash of it."""
        known = self._asked("info")
        for name in MARKS:
            if known.get(name):
                return f"{known[name]} {known.get('size')}"
        made = sha256()
        with self.opened() as file, reaching(self.url):
            while block := file.read(1 << 20):
                made.update(block)
        return made.hexdigest()

    def write(self, content: bytes) -> None:
        """Put it there in one piece."""
        self._asked("pipe_file", content)

    @contextmanager
    def written(self) -> Iterator[IO[bytes]]:
        """Written on this machine first, and put there when it is whole."""
        with tempfile.NamedTemporaryFile(prefix="macex-") as file:
            yield file
            file.flush()
            with reaching(self.url):
                self._at[0].put_file(file.name, self._at[1])

    def remove(self) -> None:
        """Remove it and all names below it."""
        if self.exists():
            system, path = self._at
            with reaching(self.url):
                system.rm(path, recursive=True)

    def sweep(self, *, inside: bool = False) -> None:
        """Nothing is written beside it."""

    def make(self) -> None:
        """There is nothing to be made."""

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody is kept away: two runs of one job write the same bytes."""
        yield

    def _asked(self, what: str, *given: Any) -> Any:
        """What the file system answers, which is not to remember what it saw before."""
        system, path = self._at
        with reaching(self.url):
            system.invalidate_cache()
            return getattr(system, what)(path, *given)


Place = Local | Remote


def _ending(name: str) -> str:
    return PurePosixPath(name.removesuffix(".gz")).suffix


def place_of(option: str, given: object) -> Place:
    """The place that a path or a URL names."""
    if is_url(given):
        return Remote(str(given))
    path = str(given).removeprefix("file://") if _local(given) else given
    return Local(require_path(option, path))


def is_url(given: object) -> bool:
    """Whether this names a place that is not on this machine.

    >>> is_url("s3://night/new.csv"), is_url("new.csv"), is_url("file:///night/new.csv")
    (True, False, False)
    """
    return isinstance(given, str) and "://" in given and not _local(given)


def is_pattern(url: str) -> bool:
    """Whether a URL stands for several; in an address of the web these signs mean something else.

    >>> is_pattern("s3://night/*.csv"), is_pattern("https://bank.example/new.csv?day=1")
    (True, False)
    """
    return not url.startswith(WEB) and any(sign in url for sign in PATTERN)


def opened(file: str | Path) -> IO[bytes]:
    """A file, to be read."""
    return place_of("source", file).opened()


def content_mark(file: str | Path) -> str:
    """What tells the content of a file from any other."""
    place = place_of("source", file)
    return place.mark() if isinstance(place, Remote) else file_hash(str(place))


@contextmanager
def reaching(url: str) -> Iterator[None]:
    """Says that a place cannot be reached, whatever its library raises."""
    try:
        yield
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise FileNotFoundError(2, "there is no such file", url) from error
    except ImportError as error:
        raise OptionError(f"{url} needs a library that is not installed: {error}") from error
    except Exception as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{url} cannot be read or written: {said}") from error


def _local(given: object) -> bool:
    return isinstance(given, str) and given.startswith("file://")


def _fsspec() -> Any:
    try:
        return import_module("fsspec.core")
    except ImportError as error:
        raise ImportError("pip install macex[remote]") from error


try:
    import fcntl
except ImportError:  # a system without such locks
    fcntl = None  # type: ignore[assignment]


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold a folder; one that another run holds is an error. A run that dies lets go of it."""
    held = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if fcntl is not None:
            _hold(held, folder)
        yield
    finally:
        os.close(held)


def _hold(file: int, folder: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise OptionError(
            f"another run is writing to {folder} now: wait until it ends, or name another output"
        ) from error
    except OSError:
        return  # a disk without locks

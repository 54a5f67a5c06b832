"""Files at addresses (s3://, gs://, hf://, https://): streams through fsspec, in bounded memory.

A connection that breaks is opened again where it broke. What cannot be read to its end is an error,
never the end of a file.
"""

from __future__ import annotations

import contextlib
import glob
import io
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

from ..common.packages import install_hint, is_installed
from .faults import CorpusError

# The scheme of an address, also after `Path` has made one slash of two; one letter is a drive.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")

# What fsspec needs for a scheme, beside itself.
_PACKAGES = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "hf": "huggingface_hub",
    "http": "aiohttp",
    "https": "aiohttp",
    "az": "adlfs",
    "abfs": "adlfs",
}
_LOGIN = {
    "s3": "aws configure",
    "gs": "gcloud auth application-default login",
    "hf": "hf auth login",
}
# What file systems call the version of a file, or the time of its latest change.
_VERSIONS = ("ETag", "etag", "blob_id", "LastModified", "updated", "mtime", "created")
_PAUSES = (0.5, 2.0)  # seconds, before a connection is opened again


def is_url(name: str) -> bool:
    return bool(_URL.match(name))


class Url(NamedTuple):
    """A file at an address, with what readers ask of a `Path`."""

    address: str
    bytes: int | None = None  # None: not known
    version: str = ""  # changes with the file, where the server says so

    def __str__(self) -> str:
        return self.address

    @property
    def plain(self) -> Path:
        """Its path without a query, for suffixes and parts."""
        is_web = self.address.startswith("http")
        return Path(re.split("[?#]", self.address)[0] if is_web else self.address)

    @property
    def suffix(self) -> str:
        return self.plain.suffix

    def open(self, mode: str = "rb", buffering: int = io.DEFAULT_BUFFER_SIZE) -> BinaryIO:
        assert mode == "rb"
        return io.BufferedReader(_Stream(self.address), max(buffering, 1))


def find_urls(name: str, hidden: list[str]) -> list[Url] | Url:
    """The file at an address; or those that a folder or a glob names, except hidden ones."""
    address = _whole(name)
    is_web = address.startswith("http")
    if is_web and address.endswith("/"):
        address += "*"  # the links on its page
    files, path = _connect(address)
    with _plainly(address):
        if "*" in path or (not is_web and glob.has_magic(path)):
            start = re.split(r"[*?\[]", path)[0].rpartition("/")[0]
            found = files.glob(path, detail=True)
            for folder in [each for each, facts in found.items() if facts["type"] == "directory"]:
                found |= files.find(folder, detail=True)
        else:
            facts = files.info(path)  # `isdir` may download the whole file
            if facts["type"] != "directory":
                return _url(files, path, facts)
            start, found = path, files.find(path, detail=True)
    urls = []
    for each, facts in sorted(found.items(), key=lambda item: item[0].split("/")):
        if facts["type"] == "directory":
            continue
        inner = each.removeprefix(start)
        if re.search(r"(^|/)\.", inner) and not re.search(r"(^|/)\.", path.removeprefix(start)):
            hidden.append(str(_url(files, each, facts)))
        else:
            urls.append(_url(files, each, facts))
    return urls


def _whole(name: str) -> str:
    """The address, with the slashes that a `Path` has dropped."""
    scheme, _, path = name.partition(":")
    slashes = "///" if scheme in ("file", "local") else "//"
    return name if path.startswith("//") else f"{scheme}:{slashes}{path[1:]}"


def _url(files: Any, path: str, facts: dict[str, Any]) -> Url:
    known = (facts[name] for name in _VERSIONS if facts.get(name))
    return Url(str(files.unstrip_protocol(path)), facts.get("size"), str(next(known, "")))


def _connect(address: str) -> tuple[Any, str]:
    """The file system of an address, and its path there."""
    scheme = address.partition("://")[0].lower()
    needed = [name for name in ("fsspec", _PACKAGES.get(scheme, "")) if name]
    if missing := [name for name in needed if not is_installed(name)]:
        raise _needs(address, missing)
    import fsspec  # here, since few corpora need it

    try:
        with _plainly(address):
            files, path = fsspec.url_to_fs(address)
    except ImportError as error:  # of a scheme that is not listed above
        raise _needs(address, [error.name] if error.name else [], str(error)) from error
    return files, str(path)


def _needs(address: str, missing: list[str], why: str = "") -> CorpusError:
    if not missing:
        return CorpusError(f"{address}: reading it needs another package ({why}); install it")
    names = ", ".join(map(repr, missing))
    these = "the package" if len(missing) == 1 else "the packages"
    hint = install_hint("remote", *missing)
    return CorpusError(f"{address}: reading it needs {these} {names}: {hint}")


# --- Streams -----------------------------------------------------------------------------------


class _Stream(io.RawIOBase):
    """A file at an address. Where its connection breaks, it is opened again at the same byte."""

    def __init__(self, address: str) -> None:
        self._address, self._at = address, 0
        self._file: Any = None
        self._tried(lambda: None)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._file.seekable())

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_END:
            offset += self._tried(lambda: self._file.seek(0, io.SEEK_END))
        elif whence == io.SEEK_CUR:
            offset += self._at
        self._tried(lambda: self._file.seek(offset))
        self._at = offset
        return offset

    def readinto(self, room: Any) -> int:
        data = self._tried(lambda: self._read(len(room)))
        room[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _read(self, most: int) -> bytes:
        data = bytes(self._file.read(most))
        size = getattr(self._file, "size", None)
        if not data and most and isinstance(size, int) and self._at < size:
            raise ConnectionError(f"it ended after {self._at:,} of {size:,} bytes")
        return data

    def _tried(self, act: Any) -> Any:
        """Act on the open file; again, if the connection breaks."""
        for pause in (*_PAUSES, None):
            try:
                if self._file is None:
                    self._file = self._open()
                return act()
            except Exception as error:
                if pause is None or not _may_pass(error):
                    _refuse(self._address, error)
                self._forget()
                time.sleep(pause)
        raise AssertionError

    def _open(self) -> Any:
        files, path = _connect(self._address)
        file = files.open(path, "rb")
        if isinstance(file, io.BytesIO):  # of memory://, which all its readers share
            file = io.BytesIO(file.getvalue())
        if self._at:
            try:
                file.seek(self._at)
            except (OSError, ValueError, NotImplementedError):  # a stream begins anew
                left = self._at
                while left and (data := file.read(min(left, 1 << 20))):
                    left -= len(data)
        return file

    def _forget(self) -> None:
        file, self._file = self._file, None
        with contextlib.suppress(Exception):
            file.close()

    def close(self) -> None:
        if not self.closed:
            self._forget()
        super().close()


# --- Errors in plain words ---------------------------------------------------------------------

_FINAL = (FileNotFoundError, PermissionError, IsADirectoryError, ImportError, MemoryError)


def _may_pass(error: Exception) -> bool:
    return not isinstance(error, (*_FINAL, CorpusError)) and not _is_refusal(error)


def _is_refusal(error: BaseException) -> bool:
    """Whether the server knows the file but not the reader. Each package has errors of its own."""
    if error.__cause__ is not None and _is_refusal(error.__cause__):
        return True
    response = getattr(error, "response", None)
    status = getattr(error, "status", None) or getattr(response, "status_code", None)
    names = " ".join(kind.__name__ for kind in type(error).__mro__)
    words = re.search("Credential|Gated|Unauthorized|Forbidden|AccessDenied|PermissionError", names)
    return status in (401, 403) or bool(words)


@contextlib.contextmanager
def _plainly(address: str) -> Iterator[None]:
    try:
        yield
    except (ImportError, CorpusError, MemoryError):
        raise
    except Exception as error:
        _refuse(address, error)


def _refuse(address: str, error: Exception) -> NoReturn:
    if isinstance(error, (CorpusError, ImportError, MemoryError)):
        raise error
    scheme = address.partition("://")[0].lower()
    why = " ".join(str(error.__cause__ or error).split()) or type(error).__name__
    if _is_refusal(error):
        login = f"log in ({_LOGIN[scheme]}), or " if scheme in _LOGIN else ""
        message = f"access is refused ({why}); {login}check the address and that you may read it"
    elif isinstance(error, FileNotFoundError) or "404" in why:
        message = "no such file or folder there; check the spelling of the address"
    elif isinstance(error, ValueError) and "Protocol not known" in why:
        message = f"no file system is known for {scheme}://; check the spelling of the address"
    else:
        message = f"cannot be read ({why}); check the address and the connection, and try again"
    raise CorpusError(f"{address}: {message}") from error

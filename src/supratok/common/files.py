"""Write files that appear whole or not at all, and never over what is read.

    refuse_overwriting(out, corpus_files, "--out out.json")   # before an hour of work
    with whole_file(out) as file:
        file.write(data)

A link is followed. What is no regular file (a pipe, a device, standard output as "-") is written
into and never replaced. Errors name the path that the caller gave.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

STANDARD_OUTPUT = "-"

# Folders whose entries are open files: `/dev/stdout` leads to one of them. What they lead to is
# written into, even a regular file: a shell may have opened it, to append to it.
_OPEN_FILES = re.compile(r"/dev/fd|/proc/(\d+)(/task/\d+)?/fd")

_MOST_LINKS = 40  # from one to the next: the limit of Linux

_REMEDIES = {
    errno.ENOENT: "create its folder first",
    errno.ENOTDIR: "a part of its path is no folder; choose another",
    errno.EISDIR: "name a file in it",
    errno.ENOSPC: "free some room, or choose another disk",
    errno.EDQUOT: "free some room, or choose another disk",
    errno.EACCES: "change the permissions, or choose another path",
    errno.EPERM: "change the permissions, or choose another path",
}


# --- Checks before the work --------------------------------------------------------------------


def refuse_unwritable(path: Path, what: str) -> None:
    """Raise before an hour of work if its result could not be written."""
    import tempfile  # here, since it loads a dozen modules

    if str(path) == STANDARD_OUTPUT:
        return
    with _naming(path):
        target = _target(path)
    if target.is_dir() or _is_replaced(target):
        try:
            with tempfile.TemporaryFile(dir=target.parent):
                pass
        except OSError as error:
            raise ValueError(
                f"{what}: cannot write in the folder {path.parent} ({error.strerror});"
                " create it, or choose another"
            ) from error
    if target.exists() and not os.access(target, os.W_OK):
        raise ValueError(f"{what}: exists and is read-only; choose another path")


def refuse_overwriting(
    out: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]], what: str
) -> None:
    """Raise if `out` is one of the files to read, under this or another name, or through links."""
    found = _stat(out, sys.stdout)
    if found is None or not stat.S_ISREG(found.st_mode):
        return  # nothing is there to lose
    for path in inputs:
        other = _stat(path, sys.stdin)
        if other is not None and os.path.samestat(found, other):
            name = os.fsdecode(path)
            same = "" if name == os.fsdecode(out) else f", as {name}"
            raise ValueError(f"{what}: this file is also read{same}; choose another path to write")


def refuse_overwriting_in(
    folder: Path, names: Iterable[str], inputs: Iterable[str | os.PathLike[str]]
) -> None:
    """Raise if one of the files to write in a folder is one of the files to read."""
    there = [folder / name for name in names if (folder / name).exists()]
    read = list(inputs) if there else []  # listing a corpus may take a while
    for path in there:
        refuse_overwriting(path, read, f"cannot write {path}")


def _stat(path: str | os.PathLike[str], standard: TextIO) -> os.stat_result | None:
    with contextlib.suppress(OSError, ValueError, AttributeError):  # missing, or no real stream
        return os.fstat(standard.fileno()) if os.fsdecode(path) == "-" else Path(path).stat()
    return None


# --- Writing -----------------------------------------------------------------------------------


def write_whole(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to. It takes the place of `path` at the end, if no error comes first."""
    with _naming(path) as ours:
        target = _target(path)
        ours.add(str(target))
        if str(path) == STANDARD_OUTPUT or not _is_replaced(target):
            with _open_into(path, target) as file:
                yield file
            return
        part, mode = _part(target), _mode(target)
        ours.add(str(part))
        try:
            # Created with the right permissions: at no moment may others read what they should not.
            with open(part, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            _put(part, target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def move_whole(made: Path, path: Path) -> None:
    """Move a finished file to `path`, as `whole_file` would write it."""
    import shutil

    with _naming(path) as ours:
        target = _target(path)
        ours |= {str(target), str(made)}
        if _is_replaced(target) and made.stat().st_dev == target.parent.stat().st_dev:
            sync(made)
            _put(made, target)
            return
    with made.open("rb") as source, whole_file(path) as file:
        shutil.copyfileobj(source, file)


def _put(part: Path, target: Path) -> None:
    """Rename a file that is on the disk: a crash leaves the old file or the new one."""
    if target.exists():
        part.chmod(_mode(target))  # the umask may have taken some
    part.replace(target)
    sync(target.parent)


def sync(path: Path) -> None:
    """Have the system put a file, or the names in a folder, on the disk."""
    is_folder = path.is_dir()
    try:
        handle = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
    except OSError:
        if is_folder:  # not every system can open one
            return
        raise
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Sync the files of a folder, then their names."""
    for path in (*folder.iterdir(), folder):
        sync(path)


def _target(path: Path) -> Path:
    """Where the links lead, to a path that may not exist yet; a link to an open file stays."""
    for _ in range(_MOST_LINKS):
        path = Path(os.path.realpath(path.parent), path.name)
        if _OPEN_FILES.fullmatch(str(path.parent)) or not path.is_symlink():
            return path
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _is_replaced(target: Path) -> bool:
    """Whether a new file takes the place of the target; False: it is written into."""
    if _OPEN_FILES.fullmatch(str(target.parent)):
        return False
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return target.is_file() or not target.exists()


def _open_into(path: Path, target: Path) -> contextlib.AbstractContextManager[BinaryIO]:
    """Open a pipe, a device or an open file, as it is: another may write to it as well."""
    if str(path) == STANDARD_OUTPUT:
        sys.stdout.flush()
        try:
            return os.fdopen(os.dup(sys.stdout.fileno()), "wb")
        except io.UnsupportedOperation:  # a stand-in, without a file below
            return contextlib.nullcontext(sys.stdout.buffer)
    found = _OPEN_FILES.fullmatch(str(target.parent))
    if found and target.name.isdigit() and found[1] in (None, str(os.getpid())):
        return os.fdopen(os.dup(int(target.name)), "wb")
    return open(target, "wb")


def _part(target: Path) -> Path:
    """A name of our own beside the target. 50 characters of its name fit into any file system."""
    return target.with_name(f".{target.name[:50]}.{os.urandom(8).hex()}.part")


def _mode(target: Path) -> int:
    """The permissions of the file that is there; for a new one, those that the umask reduces."""
    if not target.exists():
        return 0o666
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return stat.S_IMODE(target.stat().st_mode)


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[set[str]]:
    """Errors of writing name this path, instead of those in the set that it yields, or of none.
    Errors with other names come from what the caller does meanwhile, and pass."""
    ours: set[str] = set()
    try:
        yield ours
    except OSError as error:
        if error.filename is not None and str(error.filename) not in ours:
            raise
        remedy = _REMEDIES.get(error.errno or 0, "choose another path")
        why = f"cannot be written ({error.strerror or error}); {remedy}"
        raise OSError(error.errno or errno.EIO, why, str(path)) from error

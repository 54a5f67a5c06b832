"""Files appear whole or not at all; links, pipes and devices stay; inputs are never replaced."""

from __future__ import annotations

import errno
import os
import queue
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from supratok.common.files import (
    move_whole,
    refuse_overwriting,
    refuse_overwriting_in,
    refuse_unwritable,
    whole_file,
    write_whole,
)

needs_fifo = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")


def parts(folder: Path) -> list[str]:
    """Temporary files left in a folder."""
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


# --- Links, pipes, devices


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_its_target_is_written(tmp_path: Path, exists: bool) -> None:
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "target.txt", tmp_path / "link.txt"
    (tmp_path / "middle").symlink_to("far/target.txt")
    link.symlink_to(tmp_path / "middle")
    if exists:
        target.write_text("old")
    write_whole(link, "new")
    assert link.is_symlink() and (tmp_path / "middle").is_symlink()
    assert target.read_text() == "new" and not target.is_symlink()
    assert parts(tmp_path) == parts(tmp_path / "far") == []


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    for write in (write_whole, refuse_unwritable):
        with pytest.raises(OSError, match="cannot be written") as caught:
            write(tmp_path / "a", "x")
        assert caught.value.filename == str(tmp_path / "a")


@needs_fifo
def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    made = tmp_path / "made"
    made.write_bytes(b"moved")
    for path, move in ((pipe, False), (link, False), (pipe, True)):
        found: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=lambda to=found: to.put(pipe.read_bytes())).start()
        refuse_unwritable(path, "out")
        if move:
            move_whole(made, path)
        else:
            write_whole(path, "text")
        assert found.get(timeout=20) == (b"moved" if move else b"text")
        assert stat.S_ISFIFO(pipe.stat().st_mode) and link.is_symlink()
    assert parts(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "mknod") or os.geteuid() != 0, reason="needs root")
def test_a_device_is_written_into(tmp_path: Path) -> None:
    """A private node with the numbers of the null device."""
    node = tmp_path / "null"
    try:
        os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        node.open("wb").close()
    except PermissionError:
        pytest.skip("no devices may be made or opened here")
    write_whole(node, "text")
    assert stat.S_ISCHR(node.stat().st_mode)


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="no /dev/fd here")
def test_an_open_file_is_written_into(tmp_path: Path) -> None:
    """As through /dev/stdout: what a shell has opened to append to it keeps its beginning."""
    reading, writing = os.pipe()
    write_whole(Path(f"/dev/fd/{writing}"), "into a pipe")
    os.close(writing)
    assert os.read(reading, 99) == b"into a pipe"
    os.close(reading)
    file = tmp_path / "log"
    file.write_text("old ")
    with file.open("ab") as opened:
        link = tmp_path / "link"
        link.symlink_to(f"/dev/fd/{opened.fileno()}")
        inode = file.stat().st_ino
        write_whole(link, "new")
    assert file.read_text() == "old new" and file.stat().st_ino == inode


def test_standard_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = (
        "from pathlib import Path; from supratok.common.files import *; print('before');"
        "refuse_unwritable(Path('-'), 'x'); write_whole(Path('-'), 'é'); print('after')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == "before\néafter\n".encode()
    assert list(tmp_path.iterdir()) == []


# --- Whole or not at all


def test_permissions(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "new", "x")
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
        for mode in (0o600, 0o664, 0o755):
            (tmp_path / "new").chmod(mode)
            with whole_file(tmp_path / "new") as file:
                now = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
                assert now & ~mode == 0  # never wider, not even meanwhile
            assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == mode
    finally:
        os.umask(before)


def test_the_umask_is_never_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It belongs to the whole process: another thread could make a file meanwhile."""
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("changed"))
    write_whole(tmp_path / "x", "x")


def test_synced_before_it_is_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def watched(handle: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def renamed(self: Path, target: Path) -> Path:
        done.append("rename")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", watched)
    monkeypatch.setattr(Path, "replace", renamed)
    write_whole(tmp_path / "x", "x" * 100_000)
    assert done == ["file", "rename", "folder"]
    done.clear()
    (tmp_path / "made").write_text("made")
    move_whole(tmp_path / "made", tmp_path / "x")
    assert done == ["file", "rename", "folder"] and (tmp_path / "x").read_text() == "made"


def test_an_error_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")
    for failure in (ValueError("no"), KeyboardInterrupt(), SystemExit(143)):
        with pytest.raises(type(failure)), whole_file(path) as file:
            file.write(b"new")
            raise failure
        assert path.read_text() == "old" and parts(tmp_path) == []


def test_errors_name_the_path_that_was_given(tmp_path: Path) -> None:
    def check(path: Path, kind: type[OSError], *words: str) -> None:
        with pytest.raises(kind) as caught:
            write_whole(path, "x")
        assert caught.value.filename == str(path)
        assert all(word in str(caught.value) for word in words), caught.value
        assert ".part" not in str(caught.value)

    check(tmp_path / "no" / "x.json", FileNotFoundError, "create its folder")
    check(tmp_path, IsADirectoryError, "name a file in it")
    (tmp_path / "file").write_text("x")
    check(tmp_path / "file" / "x.json", NotADirectoryError, "no folder")
    (tmp_path / "link").symlink_to(tmp_path / "no" / "y")
    check(tmp_path / "link", FileNotFoundError)
    path = tmp_path / "full"
    with pytest.raises(OSError, match="No space left") as caught, whole_file(path):
        raise OSError(errno.ENOSPC, "No space left on device")  # as `write` raises it
    assert caught.value.filename == str(path) and "free some room" in str(caught.value)
    with pytest.raises(FileNotFoundError) as other, whole_file(path):
        (tmp_path / "input").read_bytes()  # not about writing: its own name stays
    assert other.value.filename == str(tmp_path / "input")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    (tmp_path / "x").chmod(0o400)
    with pytest.raises(PermissionError, match="permissions"):
        write_whole(tmp_path / "x", "new")
    with pytest.raises(ValueError, match="read-only"):
        refuse_unwritable(tmp_path / "x", "--out x")
    assert (tmp_path / "x").read_text() == "old"


def test_a_long_name(tmp_path: Path) -> None:
    for name in ("x" * 255, "é" * 127):
        write_whole(tmp_path / name, "x")
        assert (tmp_path / name).read_text() == "x"


# --- Never over the input


def test_an_input_is_recognised_by_any_name(tmp_path: Path) -> None:
    read = tmp_path / "in.txt"
    read.write_text("x")
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.txt").symlink_to(read)
    (tmp_path / "hard.txt").hardlink_to(read)
    for out in (read, tmp_path / "sub" / ".." / "in.txt", tmp_path / "link.txt"):
        for name in (read, tmp_path / "link.txt", tmp_path / "hard.txt"):
            with pytest.raises(ValueError, match=r"--out: this file is also read.*choose another"):
                refuse_overwriting(out, [tmp_path / "absent", name], "--out")
    other = tmp_path / "other.txt"
    refuse_overwriting(other, [read], "--out")
    other.write_text("x")
    refuse_overwriting(other, [read], "--out")
    refuse_overwriting_in(tmp_path, ["other.txt", "new.txt"], [read])
    with pytest.raises(ValueError, match=r"hard\.txt.*also read, as"):
        refuse_overwriting_in(tmp_path, ["other.txt", "hard.txt"], [read])


def test_standard_input_is_an_input(tmp_path: Path) -> None:
    path = tmp_path / "c.txt"
    path.write_text("text")
    code = (
        "import sys; from supratok.common.files import refuse_overwriting as refuse\n"
        "refuse(sys.argv[1], ['-'], '--out')"
    )
    with path.open("rb") as file:
        done = subprocess.run(
            [sys.executable, "-c", code, path], stdin=file, capture_output=True, check=False
        )
    assert b"also read, as -" in done.stderr

"""Files at addresses: read as files of this machine are, and never in part without an error."""

from __future__ import annotations

import functools
import http.server
import io
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corpora import PACK, TEXTS, as_json, as_parquet, message, packings, skips, twice, write
from supratok.common import _core
from supratok.common.progress import Progress
from supratok.corpus import open_corpus, remote
from supratok.corpus.split import Split

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def memory() -> Iterator[Any]:
    """An empty file system in memory."""
    files = fsspec.filesystem("memory")
    before = dict(files.store)
    files.store.clear()
    yield files
    files.store.clear()
    files.store.update(before)


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_PAUSES", (0.0, 0.0))


def put(files: Any, path: str, data: bytes) -> str:
    files.pipe_file(path, data)
    return f"memory://{path}"


@packings
@pytest.mark.parametrize("suffix", [".txt", ".jsonl", ".json", ".parquet"])
def test_round_trip(memory: Any, suffix: str, packing: str) -> None:
    if suffix == ".parquet":
        data = as_parquet({"text": TEXTS})
    else:
        data = as_json(TEXTS) if "j" in suffix else "\n".join(TEXTS).encode()
    address = put(memory, f"/x/a{suffix}{packing}", PACK[packing](data))
    form = "lines" if suffix == ".txt" else "auto"
    for source in (address, [address], Path(address)):
        assert twice(source, format=form) == TEXTS
    corpus = open_corpus(address, format=form)
    assert corpus.bytes_total == memory.size(f"/x/a{suffix}{packing}")
    assert len(list(corpus)) == len(TEXTS) and corpus.bytes_read == corpus.bytes_total


def test_folders_and_globs(memory: Any) -> None:
    for name in ("b.txt", "a.txt", "sub/c.jsonl", "sub/deep/d.txt", "e.bin", ".f.txt", ".g/h.txt"):
        data = as_json([name]) if name.endswith("l") else name.encode()
        put(memory, f"/data/{name}", data if "bin" not in name else b"\0")
    everything = ["a.txt", "b.txt", "sub/c.jsonl", "sub/deep/d.txt"]
    assert sorted(twice("memory://data")) == sorted(twice("memory://data/")) == everything
    assert twice("memory://data/*.txt") == ["a.txt", "b.txt"]
    assert sorted(twice("memory://data/**/*.txt")) == ["a.txt", "b.txt", "sub/deep/d.txt"]
    assert sorted(twice("memory://data/*")) == everything
    assert twice(["memory://data/b.txt", "memory://data/sub"]) == [
        "b.txt",
        "sub/c.jsonl",
        "sub/deep/d.txt",
    ]
    with open_corpus("memory://data") as corpus:
        assert "2 hidden" in corpus.describe_left_out() and "e.bin" in corpus.describe_left_out()
        assert all(name.startswith("memory://") for name in corpus.files)
    assert twice("memory://data/.f.txt") == [".f.txt"]
    assert "no file of a known format" in message("memory://data/*.bin")
    put(memory, "/data/plain", b"text without a suffix")
    assert twice("memory://data/plain") == ["text without a suffix"]
    assert "unknown suffix" in message("memory://data/e.bin")


def test_beside_files_of_this_machine(memory: Any, tmp_path: Path) -> None:
    here = write(tmp_path / "a.jsonl", as_json(["here"]))
    there = put(memory, "/b.jsonl", as_json(["there"]))
    assert twice([str(here), there]) == ["here", "there"]
    for source in (
        f"file://{here}",
        Path(f"file://{here}"),
        f"local://{here}",
        f"file://{tmp_path}",
    ):
        assert twice(source) == ["here"]
    texts = ["https://x.org/a.txt is an address", "b"]
    assert twice(texts) == texts


def test_the_core_reads_lines_from_addresses(memory: Any) -> None:
    texts = [f"text {number}" for number in range(500)]
    for number in range(5):
        data = as_json(texts[number * 100 : number * 100 + 100])
        put(memory, f"/{number}.jsonl.zst", PACK[".zst"](data))
    with open_corpus("memory://*.jsonl.zst") as corpus:
        split = Split(corpus, None, 3, Progress())
        _core.WordTable(10).count(split.portions("words"), 3)
        assert split.totals.documents == 500 and corpus.bytes_read == corpus.bytes_total
        assert len(list(split.texts("later"))) == split.totals.training_documents


class Page(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, except what is secret."""

    def send_head(self) -> Any:
        if "secret" in self.path:
            return self.send_error(403)
        return super().send_head()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    """The address of a server of the folder."""
    handler = functools.partial(Page, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_web_server(web: str, tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    write(tmp_path / "a.jsonl.zst", PACK[".zst"](as_json(TEXTS * 300)))
    write(tmp_path / "b.txt", b"text")
    assert twice(f"{web}/a.jsonl.zst") == twice(f"{web}/a.jsonl.zst?raw=true") == TEXTS * 300
    assert twice(f"{web}/*.txt") == ["text"]
    assert twice(f"{web}/") == [*TEXTS * 300, "text"]
    assert "no such file or folder there" in message(f"{web}/gone.txt")
    assert "access is refused" in message(f"{web}/secret.txt")


# --- Errors ------------------------------------------------------------------------------------


def test_what_is_not_there(memory: Any) -> None:
    for name in ("memory://gone.txt", "memory://gone/", "memory://gone/a.jsonl"):
        found = message(name)
        assert found.startswith(name) and "no such file or folder there" in found
    assert "no file of a known format" in message("memory://gone/*.txt")
    found = message("nowhere://a.txt")
    assert "no file system is known for nowhere://" in found


@pytest.mark.parametrize(
    ("address", "needed"),
    [
        ("s3://bucket/a.jsonl", "s3fs"),
        ("gs://bucket/a.jsonl", "gcsfs"),
        ("hf://datasets/a/b.parquet", "huggingface_hub"),
        ("https://x.org/a.txt", "aiohttp"),
    ],
)
def test_missing_packages(address: str, needed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "is_installed", lambda name: name == "fsspec")
    found = message(address)
    assert found == f"{address}: reading it needs the package '{needed}': pip install \"{needed}\""
    monkeypatch.setattr(remote, "is_installed", lambda name: False)
    found = message(Path(address))
    assert found.startswith(f"{address}: reading it needs the packages 'fsspec', '{needed}'")
    assert '"fsspec' in found and f'"{needed}"' in found


class Login(Exception):
    """As the packages of file systems have them."""

    status = 403


class Broken(io.BytesIO):
    """A connection that breaks at some bytes, as often as `breaks` says."""

    size: int
    breaks: dict[int, list[BaseException | None]]

    def read(self, size: int | None = -1) -> bytes:
        for at, errors in self.breaks.items():
            if errors and self.tell() <= at < self.tell() + (size or 0):
                error = errors.pop(0)
                if error is not None:
                    raise error
                return b""  # it just ends
        return super().read(size)

    def getvalue(self) -> bytes:
        raise AssertionError("a whole file in memory")


FileSystem: Any = fsspec.AbstractFileSystem


class Failing(FileSystem):  # type: ignore[misc]
    """Files that break."""

    protocol = "failing"
    cachable = False
    data: bytes = b""
    breaks: dict[int, list[BaseException | None]]
    opened = 0

    def info(self, path: str, **_: object) -> dict[str, object]:
        return {"name": path, "size": len(Failing.data), "type": "file"}

    def _open(self, path: str, mode: str = "rb", **_: object) -> Any:
        Failing.opened += 1
        file = Stream(Broken(Failing.data))
        file.size, file.inner.breaks = len(Failing.data), Failing.breaks
        return file


class Stream:
    """No BytesIO: what fsspec opens for remote files."""

    size = 0

    def __init__(self, inner: Broken) -> None:
        self.inner = inner

    def read(self, size: int = -1) -> bytes:
        return self.inner.read(size)

    def seek(self, *where: int) -> int:
        return self.inner.seek(*where)

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        self.inner.close()


@pytest.fixture
def failing() -> type[Failing]:
    fsspec.register_implementation("failing", Failing, clobber=True)
    Failing.data, Failing.opened = as_json([f"text {number} " * 300 for number in range(200)]), 0
    Failing.breaks = {}
    return Failing


@pytest.mark.parametrize("error", [ConnectionError("reset"), TimeoutError("late"), Login, None])
def test_a_connection_that_breaks(failing: type[Failing], error: Any) -> None:
    """It is opened again where it broke; and if it always breaks, the error names the file."""
    if error is Login:
        failing.breaks = {300_000: [Login("who are you?")]}
        found = message("failing://a.jsonl")
        assert found.startswith("failing://a.jsonl: access is refused (who are you?)")
        return
    expected = [f"text {number} " * 300 for number in range(200)]
    failing.breaks = {300_000: [error, error], 400_000: [error]}
    assert list(open_corpus("failing://a.jsonl")) == expected and failing.opened == 4
    for skip_bad in (False, True):
        failing.breaks = {300_000: [error] * 50}
        corpus = open_corpus("failing://a.jsonl", skip_bad=skip_bad)
        with pytest.raises(ValueError, match=r"failing://a\.jsonl: cannot be read \("):
            list(corpus)
        failing.breaks = {300_000: [error] * 50}
        split = Split(corpus, None, 2, Progress())
        with pytest.raises(ValueError, match=r"failing://a\.jsonl: cannot be read \("):
            _core.WordTable(10).count(split.portions("words"), 2)


def test_a_parquet_file_that_breaks_is_not_corrupt(failing: type[Failing]) -> None:
    failing.data = as_parquet({"text": TEXTS * 100})
    failing.breaks = {99: [ConnectionError("reset")] * 50}
    with open_corpus("failing://a.parquet", skip_bad=True) as corpus:
        with pytest.raises(ValueError, match="reset"):
            list(corpus)
        failing.breaks = {}
        assert len(list(corpus)) == 500


def test_a_bad_line_before_a_break_comes_first(failing: type[Failing]) -> None:
    failing.data = as_json(["a"]) * 5 + b"bad\n" + failing.data
    failing.breaks = {300_000: [ConnectionError("reset")] * 50}
    with open_corpus("failing://a.jsonl") as corpus:
        split = Split(corpus, None, 2, Progress())
        with pytest.raises(ValueError, match="line 6: malformed JSON"):
            _core.WordTable(10).count(split.portions("words"), 2)


def test_bad_records_are_skipped_as_ever(memory: Any) -> None:
    address = put(memory, "/a.jsonl", as_json(["a"]) + b"bad\n" + as_json(["b"]))
    assert skips(address) == (["a", "b"], {"malformed JSON": 1})
    assert "memory:///a.jsonl, line 2: malformed JSON" in message(address)


def test_addresses_load_fsspec_alone_when_needed() -> None:
    code = "import sys, supratok.corpus; print('fsspec' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

"""The folder of an export: what was there is kept, and nothing is left half-written."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from supratok import Tokenizer
from supratok.formats.export import export
from texts import small_tokenizer as small


def test_other_files_stay_and_earlier_exports_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    tokenizer = small("merges")
    for _ in range(2):
        done = export(tokenizer, tmp_path, ["huggingface"])
    assert done.files == ["supratok.json", "tokenizer.json", "tokenizer_config.json"]
    assert (tmp_path / "config.json").read_text() == "{}"
    assert {row.runtime for row in done.verification.rows} >= {"tokenizers", "transformers"}


def test_a_file_that_would_disagree_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.model").write_bytes(b"old")
    with pytest.raises(ValueError, match=r"tokenizer\.model exists"):
        export(small("merges"), tmp_path, ["huggingface"])
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.model"]


def test_a_folder_that_fails_is_not_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = small("merges")
    merges = tokenizer.merges()
    monkeypatch.setattr(Tokenizer, "merges", lambda self: merges[len(merges) // 2 :])
    with pytest.raises(ValueError, match=r"was not written, .* tokenizers .* differently"):
        export(tokenizer, tmp_path / "x", ["huggingface"])
    assert list(tmp_path.iterdir()) == []


def test_unknown_formats_and_missing_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = small("merges")
    with pytest.raises(ValueError, match="format 'onnx': not one of huggingface"):
        export(tokenizer, tmp_path / "x", ["onnx"])
    for name in [name for name in sys.modules if name.startswith("sentencepiece")]:
        monkeypatch.delitem(sys.modules, name)
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "sentencepiece" else found(name)
    )
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    done = export(tokenizer, tmp_path / "x")
    assert 'pip install "sentencepiece>=0.2"' in done.left_out["sentencepiece"]
    assert "tokenizer.model" not in done.files and "tokenizer.json" in done.files


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("mine")
    tokenizer = small("merges")
    with pytest.raises(ValueError, match=r"x: a file, and export writes a folder"):
        export(tokenizer, tmp_path / "x")
    with pytest.raises(ValueError, match=r"x is a file, so no folder can be in it"):
        export(tokenizer, tmp_path / "x" / "y")
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    with pytest.raises(ValueError, match=r"link: a link to nothing"):
        export(tokenizer, tmp_path / "link")
    assert (tmp_path / "x").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "x"]


def test_links_in_a_folder_are_not_replaced(tmp_path: Path) -> None:
    """As in the cache of huggingface_hub, whose files are links to other folders."""
    (tmp_path / "blob").write_text("mine")
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "tokenizer.json").symlink_to(tmp_path / "blob")
    with pytest.raises(ValueError, match=r"x/tokenizer.json: exists and is no plain file"):
        export(small("merges"), tmp_path / "x", ["huggingface"])
    assert (tmp_path / "blob").read_text() == "mine"
    assert [path.name for path in (tmp_path / "x").iterdir()] == ["tokenizer.json"]


def test_a_link_to_a_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    export(small("merges"), tmp_path / "link", ["huggingface"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "tokenizer.json").exists()
    assert len(list((tmp_path / "real").iterdir())) == 3


FULL = """
import resource, sys
from supratok import Tokenizer
tokenizer = Tokenizer.load(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    tokenizer.export(sys.argv[2], ["huggingface", "sentencepiece", "gguf"], eos="</s>")
except OSError as error:
    print(error)
"""


@pytest.mark.parametrize("new", [True, False])
@pytest.mark.parametrize("share", [0.1, 0.7, 0.95])
def test_a_full_disk_leaves_what_was_there(new: bool, share: float, tmp_path: Path) -> None:
    """Each file larger than the limit fails, as it does on a full disk."""
    path, folder = tmp_path / "my.json", tmp_path / "x"
    small("merges", special_tokens=("</s>",)).save(path)
    before: dict[str, bytes] = {}
    if not new:
        small("merges").export(folder, ["huggingface", "sentencepiece", "gguf"])
        before = {file.name: file.read_bytes() for file in folder.iterdir()}
    limit = int(share * path.stat().st_size)
    done = subprocess.run(
        [sys.executable, "-c", FULL, path, folder, str(limit)],
        capture_output=True, text=True, check=True, timeout=100,
    )  # fmt: skip
    assert done.stdout.count("\n") == 1 and str(folder) in done.stdout
    assert "nothing was written" in done.stdout and f".{folder.name}." not in done.stdout
    assert {file.name: file.read_bytes() for file in folder.glob("*")} == before
    assert sorted(tmp_path.iterdir()) == ([path] if new else [path, folder])


@pytest.mark.skipif(sys.platform != "linux", reason="looks names up in /proc")
def test_files_are_synced_before_they_appear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them before the first is in place."""
    synced: list[tuple[str, bool]] = []
    sync = os.fsync

    def fsync(handle: int) -> None:
        name = Path(f"/proc/self/fd/{handle}").readlink().name
        synced.append((name, (tmp_path / "x" / "tokenizer.json").exists()))
        sync(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    export(small("merges"), tmp_path / "x", ["huggingface"])
    assert {"supratok.json", "tokenizer.json", "tokenizer_config.json"} <= {
        name for name, there in synced if not there
    }

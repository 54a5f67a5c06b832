"""A run that dies goes on with the same call, to the same bytes; another run is refused."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from read_texts import BAD, RECIPES, learnt, mixed, small_portions, write_lines

import supratok
from supratok import CorpusError, Recipe
from supratok.common.progress import Progress
from supratok.readings import local, work
from supratok.readings.work import Work, WorkError
from texts import prose

SMALL = Recipe(vocab_size=400)


class Died(Exception):
    pass


def dying(patch: pytest.MonkeyPatch, at: int, *, saved: bool) -> None:
    """The process dies at the so-many-th thing to save, when it is `saved`, or before."""
    left = [at]

    def around(name: str) -> None:
        real = getattr(Work, name)

        def save(self: Work, *args: Any) -> None:
            left[0] -= 1
            if left[0] or saved:
                real(self, *args)
            if left[0] == 0:
                raise Died

        patch.setattr(Work, name, save)

    around("save_first")
    around("save")


def interrupted(source: Any, recipe: Recipe, folder: Path, at: int, **options: Any) -> bytes | None:
    """Die, and go on; None: the run ended before."""
    kept = folder / f"work-{at}"
    with pytest.MonkeyPatch.context() as patch, small_portions():
        patch.setattr(local, "COMMIT", 0.0)
        with pytest.MonkeyPatch.context() as inner:
            dying(inner, at, saved=at % 2 == 0)
            try:
                learnt(source, recipe, folder / "t.json", work=kept, **options)
                return None
            except Died:
                assert kept.is_dir()
        found = learnt(source, recipe, folder / "t.json", work=kept, **options)
    assert not kept.exists()
    return found


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "default": ("default", {}),
    "dense": ("dense", {}),
    "paper": ("paper", {}),
    "held out": ("default", {"hold_out": 0.5}),
    "sample": ("default", {"max_documents": 150}),
    "skipped": ("default", {"skip_bad": True}),
}


SLOW = ("dense", "held out")


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow) if case in SLOW else case for case in CASES]
)
def test_goes_on_from_wherever_it_died(case: str, tmp_path: Path) -> None:
    name, options = CASES[case]
    source = mixed(tmp_path / "corpus", *(BAD if "skip_bad" in options else ()), size=25)
    expected = learnt(source, RECIPES[name], tmp_path / "t.json", **options)
    moments = [1, 4, 9, 16, 35]
    found = [interrupted(source, RECIPES[name], tmp_path, at, **options) for at in moments]
    ended = [one for one in found if one is not None]
    assert len(ended) >= 3
    assert all(one == expected for one in ended)


SCRIPT = """
import os, signal, sys
import supratok
from supratok.corpus import readers, records
from supratok.readings import local
from supratok.readings.work import Work
readers.BLOCK = readers._HEAD = 500
records.PORTION, local.COMMIT = 1000, 0.0
at, out, work, *files = sys.argv[1:]
at, left = int(at), [int(at)]
def around(name):
    real = getattr(Work, name)
    def save(self, *args):
        left[0] -= 1
        if left[0] == 0 and at % 2: os.kill(os.getpid(), signal.SIGKILL)
        real(self, *args)
        if left[0] == 0: os.kill(os.getpid(), signal.SIGKILL)
    setattr(Work, name, save)
around("save_first")
around("save")
supratok.train(files, vocab_size=400, threads=2, progress=False, work=work).save(out)
"""


def script(at: int, out: Path, kept: Path, files: list[Path], **more: Any) -> tuple[int, str]:
    env = {name: value for name, value in os.environ.items() if "LEAK" not in name}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, str(at), str(out), str(kept), *files],
        capture_output=True, timeout=120, check=False, env=env, **more,
    )  # fmt: skip
    return done.returncode, done.stderr.decode()


def test_a_killed_process_goes_on(tmp_path: Path) -> None:
    """Killed three times, farther each time, in a work folder that grows."""
    files = sorted(mixed(tmp_path / "corpus").iterdir())
    expected = learnt(files, SMALL, tmp_path / "t.json")
    out, kept = tmp_path / "out.json", tmp_path / "work"
    for at in (2, 9, 30):
        assert script(at, out, kept, files)[0] == -signal.SIGKILL
        assert not out.exists() and (kept / "run.json").exists()
    with (kept / "documents.blocks").open("ab") as blocks:
        blocks.write(b"torn" * 1000)  # what was written after the last commit
    assert script(0, out, kept, files) == (0, "")
    assert out.read_bytes() == expected
    assert not kept.exists()


def test_a_full_disk_is_one_clear_error(tmp_path: Path) -> None:
    files = [write_lines(tmp_path / "a.jsonl", prose(1, 500))]
    out, kept = tmp_path / "out.json", tmp_path / "work"

    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    code, said = script(0, out, kept, files, preexec_fn=small_disk)
    assert code == 1 and "File too large" in said.splitlines()[-1]
    assert str(kept) in said.splitlines()[-1]
    assert script(0, out, kept, files) == (0, "")
    assert out.read_bytes() == learnt(files, SMALL, tmp_path / "t.json")


def test_a_bad_record_is_found_again(tmp_path: Path) -> None:
    """No commit steps over it."""
    source, kept = mixed(tmp_path / "corpus", BAD[0]), tmp_path / "work"
    with pytest.MonkeyPatch.context() as patch, small_portions():
        patch.setattr(local, "COMMIT", 0.0)
        for _ in range(3):
            with pytest.raises(CorpusError, match=r"a\.jsonl, line 25: "):
                learnt(source, SMALL, tmp_path / "t.json", work=kept)


# --- What the folder belongs to ----------------------------------------------------------------


@pytest.fixture
def begun(tmp_path: Path) -> tuple[list[Path], Path]:
    """Files, and the work folder of a run on them that died."""
    files = [write_lines(tmp_path / f"{name}.jsonl", prose(2, 30)) for name in "ab"]
    with pytest.MonkeyPatch.context() as patch:
        dying(patch, 2, saved=True)
        with pytest.raises(Died):
            learnt(files, SMALL, tmp_path / "t.json", work=tmp_path / "work", text_key="text")
    return files, tmp_path / "work"


def refusal(source: Any, kept: Path, recipe: Recipe = SMALL, **options: Any) -> str:
    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    with pytest.raises(WorkError) as caught:
        learnt(source, recipe, kept.parent / "t.json", work=kept, **options)
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == before
    return str(caught.value)


def test_another_recipe_is_refused(begun: tuple[list[Path], Path]) -> None:
    said = refusal(*begun, replace(SMALL, vocab_size=500))
    assert "recipe.vocab_size was 400 and is 500" in said and "remove the folder" in said


def test_other_options_are_refused(begun: tuple[list[Path], Path]) -> None:
    assert "reading.skip_bad was false and is true" in refusal(*begun, skip_bad=True)
    assert "hold_out was 0.05 and is 0.1" in refusal(*begun, hold_out=0.1)
    assert "max_documents was null and is 7" in refusal(*begun, max_documents=7)


def test_another_corpus_is_refused(begun: tuple[list[Path], Path]) -> None:
    (one, two), kept = begun
    assert "b.jsonl" in refusal([one], kept)
    assert "order was" in refusal([two, one], kept)
    found = two.stat()
    os.utime(two, ns=(found.st_atime_ns, found.st_mtime_ns + 1))
    assert "b.jsonl" in refusal([one, two], kept)
    write_lines(two, ["more"])
    os.utime(two, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert "b.jsonl" in refusal([one, two], kept)


def test_a_folder_of_others_is_refused(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "a.jsonl", prose(2, 30))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    assert "thesis.txt" in refusal(source, tmp_path / "mine")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / ".run.json.0123456789abcdef.part").write_text("{")  # a run died here
    learnt(source, SMALL, tmp_path / "t.json", work=tmp_path / "empty")
    assert not (tmp_path / "empty").exists()


def test_a_damaged_note_is_refused(begun: tuple[list[Path], Path]) -> None:
    files, kept = begun
    (kept / "run.json").write_text("{")
    assert "not JSON" in refusal(files, kept)


def test_files_of_others_stay(tmp_path: Path) -> None:
    """A result that somebody puts into the folder outlives it."""
    source = write_lines(tmp_path / "a.jsonl", prose(2, 30))
    kept = tmp_path / "work"
    learnt(source, SMALL, tmp_path / "t.json", work=kept, keep_work=True)
    (kept / "mine.json").write_text("mine")
    learnt(source, SMALL, tmp_path / "t.json", work=kept)
    assert [path.name for path in kept.iterdir()] == ["mine.json"]


def test_two_runs_at_once_are_refused(begun: tuple[list[Path], Path], tmp_path: Path) -> None:
    files, kept = begun
    run = json.loads((kept / "run.json").read_text())
    with (
        Work(kept, run),
        pytest.raises(ValueError, match="another process works in this folder"),
    ):
        learnt(files, SMALL, tmp_path / "t.json", work=kept)
    learnt(files, SMALL, tmp_path / "t.json", work=kept)
    assert not kept.exists()


def test_texts_in_memory_have_no_work(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="only files can be read again"):
        supratok.train(["one text"] * 30, SMALL, progress=False, work=tmp_path / "work")
    source = write_lines(tmp_path / "a.jsonl", prose(2, 30))
    with pytest.raises(ValueError, match="reread with work"):
        supratok.train(source, SMALL, progress=False, work=tmp_path / "work", reread=True)


# --- What is finished --------------------------------------------------------------------------


class Phases(Progress):
    def __init__(self) -> None:
        self.names: list[str] = []

    def start(self, phase: str, total: float | None = None, unit: str = "") -> None:
        self.names.append(phase)


@pytest.mark.parametrize("name", ["default", "dense", "at once"])
def test_finished_readings_are_not_counted_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, kept = mixed(tmp_path / "corpus"), tmp_path / "work"
    first = learnt(source, RECIPES[name], tmp_path / "t.json", work=kept, keep_work=True)
    assert (kept / "documents.blocks").exists()

    def never(*_: object, **__: object) -> None:
        raise AssertionError("a finished reading is counted again")

    monkeypatch.setattr(local.LocalText, "_documents", never)
    monkeypatch.setattr(work.Work, "save", never)
    monkeypatch.setattr(work.Work, "save_first", never)
    assert learnt(source, RECIPES[name], tmp_path / "t.json", work=kept) == first
    assert not kept.exists()


def test_a_lost_reading_is_counted_again(tmp_path: Path) -> None:
    source, kept = mixed(tmp_path / "corpus"), tmp_path / "work"
    first = learnt(source, SMALL, tmp_path / "t.json", work=kept, keep_work=True)
    for path in kept.glob("*-*.counts"):
        path.unlink()
    assert learnt(source, SMALL, tmp_path / "t.json", work=kept, keep_work=True) == first
    (path,) = kept.glob("runs-*.counts")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ValueError, match="runs-"):  # which names the file to remove
        learnt(source, SMALL, tmp_path / "t.json", work=kept)

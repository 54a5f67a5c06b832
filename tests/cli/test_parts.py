"""Training in parts and in steps: tally, merge, and train with --counts, --work, --memory and
samples."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from commands import documents, good, refused, run


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder, texts = tmp_path_factory.mktemp("parts"), documents(count=400)
    found = []
    for number in range(4):
        found.append(folder / f"{number}.jsonl")
        some = texts[number * 100 : (number + 1) * 100]
        lines = "".join(json.dumps({"text": text}) + "\n" for text in some)
        found[-1].write_text(lines, encoding="utf-8")
    return found


SIZE = ("--vocab-size", 400, "--quiet")


@pytest.fixture(scope="module")
def expected(files: list[Path]) -> bytes:
    good("train", *files, *SIZE, "--out", out := files[0].with_name("whole.json"))
    return out.read_bytes()


def test_tally_merge_and_train_go_around(
    files: list[Path], expected: bytes, tmp_path: Path
) -> None:
    """As docs/counts.md tells it; each error names the next step."""
    out, counts = tmp_path / "out.json", [tmp_path / "words.counts"]
    for file in files:
        good("tally", file, "--out", tmp_path / f"w-{file.stem}.counts", "--quiet")
    good("merge", *sorted(tmp_path.glob("w-*.counts")), "--out", counts[0], "--quiet")
    for number in range(5):
        done = run("train", "--counts", *counts, *SIZE, "--out", out)
        if done.returncode == 0:
            break
        said = done.stderr.decode()
        assert said.count("\n") == 1
        plan = Path(re.search(r"supratok tally --plan (\S+) --out", said)[1])  # type: ignore[index]
        assert plan == Path(f"{out}.plan") and not out.exists()
        counts.append(tmp_path / f"r{number}.counts")
        good("tally", *files, "--plan", plan, "--out", counts[-1], "--quiet")
    assert out.read_bytes() == expected
    assert len(counts) > 1


def test_tally_and_merge_tell_what_they_did(files: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "a.counts"
    done = run("tally", files[0], "--out", out)
    assert f"{out}: words: {out.stat().st_size:,} bytes, in " in done.stderr.decode()
    run("tally", files[1], "--out", tmp_path / "b.counts")
    done = run("merge", out, tmp_path / "b.counts", "--out", tmp_path / "c.counts")
    assert "words: 2 files added up in " in done.stderr.decode()


def test_what_does_not_add_up_is_one_line(files: list[Path], tmp_path: Path) -> None:
    one, other, out = (tmp_path / f"{name}.counts" for name in ("one", "other", "out"))
    good("tally", files[0], "--out", one, "--quiet")
    good("tally", files[1], "--out", other, "--quiet", "--hold-out", "0.1")
    assert "do not add up: hold_out 0.05 and 0.1" in refused("merge", one, other, "--out", out)
    assert "both count" in refused("merge", one, one, "--out", out)
    assert "both count" in refused("train", "--counts", one, one, *SIZE, "--out", out)
    assert "also read" in refused("merge", one, "--out", one)
    assert not out.exists()
    one.write_bytes(one.read_bytes()[:-50])
    assert str(one) in refused("train", "--counts", one, *SIZE, "--out", out)
    assert str(tmp_path) in refused("merge", tmp_path / "absent.counts", "--out", out)


def test_text_or_counts(files: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "t.json"
    why = "name the files to train on, or --counts; one of them"
    assert why in refused("train", *SIZE, "--out", out)
    assert why in refused("train", files[0], "--counts", "x.counts", *SIZE, "--out", out)


def test_plans_and_standard_input_of_tally(files: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "t.counts"
    (tmp_path / "bad.plan").write_bytes(b"no plan")
    said = refused("tally", files[0], "--plan", tmp_path / "bad.plan", "--out", out)
    assert "bad.plan: not a plan of supratok" in said
    assert "only files" in refused("tally", "-", "--out", out, stdin=b"a text\n")
    (tmp_path / "recipe.toml").write_text("[curation]\nlow = 0.1\nhigh = 0.5\nby_quantile = true\n")
    said = refused("tally", files[0], "--recipe", tmp_path / "recipe.toml", "--out", out)
    assert "by_quantile needs all documents" in said
    assert not out.exists()


@pytest.mark.parametrize(
    "options", [("--work", "WORK"), ("--memory", "1GB"), ("--reread",), ("--hold-out", "0.05")]
)
def test_the_result_stays_the_same(
    options: tuple[str, ...], files: list[Path], expected: bytes, tmp_path: Path
) -> None:
    out, given = tmp_path / "t.json", [one.replace("WORK", str(tmp_path / "w")) for one in options]
    good("train", *files, *SIZE, "--out", out, *given)
    assert out.read_bytes() == expected
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]


def test_work_that_is_kept(files: list[Path], expected: bytes, tmp_path: Path) -> None:
    out, kept = tmp_path / "t.json", tmp_path / "work"
    command = ["train", *files, *SIZE, "--out", out, "--work", kept]
    good(*command, "--keep-work")
    assert {"run.json", "first.counts", "documents.blocks"} <= {p.name for p in kept.iterdir()}
    said = refused(*command, "--crossover", "0.9")
    assert "keeps the work of another run: recipe.crossover was null and is 0.9" in said
    good(*command)
    assert out.read_bytes() == expected and not kept.exists()


def test_the_result_must_outlive_the_work_folder(files: list[Path], tmp_path: Path) -> None:
    said = refused("train", *files, *SIZE, "--out", tmp_path / "t.json", "--work", tmp_path)
    assert "lies in the work folder, which is removed at the end" in said


def test_samples(files: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "t.json"

    def documents_of(*options: object) -> int:
        good("train", *files, *SIZE, "--out", out, *options)
        return int(json.loads(out.read_text())["report"]["documents"])

    assert documents_of("--max-documents", 120) == 120
    assert 20 < documents_of("--max-bytes", "20kB") < 200
    assert documents_of("--max-documents", 10**9) == 400
    assert "max_documents=0" in refused("train", *files, *SIZE, "--out", out, "--max-documents", 0)
    assert "--max-bytes" in refused("train", *files, *SIZE, "--out", out, "--max-bytes", "much")
    assert "hold_out=1.0" in refused("train", *files, *SIZE, "--out", out, "--hold-out", 1)


def test_options_that_do_not_fit_are_one_line(files: list[Path], tmp_path: Path) -> None:
    command = ["train", *files, *SIZE, "--out", tmp_path / "t.json"]
    work = ("--work", tmp_path / "work")
    assert "keeps no work" in refused(*command, "--engine", "ray", *work)
    assert "reread with work" in refused(*command, "--reread", *work)
    assert "pass engine='ray'" in refused(*command, "--address", "auto")
    assert "at least 512 MB" in refused(*command, "--memory", "5MB")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a").write_text("")
    assert "not a work folder" in refused(*command, "--work", tmp_path / "mine")

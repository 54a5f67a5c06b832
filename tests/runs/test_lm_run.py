"""The scripts of runs/ that train language models make their tables and keep their rows."""

from __future__ import annotations

import io
import json
import re
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import zstandard

from run_scripts import SIZE, script
from supratok.formats.peer import open_any
from supratok.lab.lm.coder import Coder
from supratok.lab.lm.saving import load_folder
from supratok.lab.measure.figures import articles
from texts import prose, write_corpus

SMALL = ["--size", str(SIZE), "--shape", "2", "32", "32", "--batch", "4"]
BPE = "BPE-Bytes-GPT4o"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like SUPRATOK_DATA, of made-up text."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("data")
    for name in ("train", "test/wikitext103", "test/hellaswag", "test/mmlu"):
        (folder / name).mkdir(parents=True)
    write_corpus(folder / "train/en100k.jsonl.zst", prose(1, 400))
    for file, texts in (("valid", prose(1, 405)[400:]), ("test", prose(1, 410)[405:])):
        wiki = "".join(f" = Title {number} = \n\n {text} \n" for number, text in enumerate(texts))
        (folder / f"test/wikitext103/wiki.{file}.raw").write_text(wiki, encoding="utf-8")
    item = {"activity_label": "Cooking", "ctx": "A man is", "endings": ["a", "b", "c", "d"]}
    lines = "\n".join(json.dumps({**item, "label": number % 4}) for number in range(5))
    packed = zstandard.compress(lines.encode())
    (folder / "test/hellaswag/hellaswag_val.jsonl.zst").write_bytes(packed)
    (folder / "test/mmlu/mmlu.tar.zst").write_bytes(zstandard.compress(_mmlu()))
    return folder


def _mmlu() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for split, rows in (("dev", 5), ("test", 4)):
            text = "".join(f"What is {row}?,one,two,three,four,B\n" for row in range(rows)).encode()
            entry = tarfile.TarInfo(f"{split}/anatomy_{split}.csv")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
    return made.getvalue()


@pytest.fixture
def call(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a script and gives its tables by folder; a second run computes nothing."""
    monkeypatch.setenv("SUPRATOK_DATA", str(data))

    def run(name: str, *arguments: str) -> dict[str, dict[str, Any]]:
        out = tmp_path / "out"
        kept = ["--out", out, "--tokenizers", data / "tokenizers", "--cache", data / "cache"]
        given = [*map(str, kept), *SMALL, *arguments]
        script(name).main(given)
        rows = (out / "rows.jsonl").read_bytes()
        script(name).main([*given, "--finished"])
        assert (out / "rows.jsonl").read_bytes() == rows
        paths = sorted(out.rglob("table.json"))
        return {path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in paths}

    return run


def test_variants(call: Any) -> None:
    table = call("variants", "--budget", "2000", "--only", BPE, "default", "default + shared")[
        "out"
    ]
    assert [line[0] for line in table["lines"]] == [BPE, "default", "default + shared"]
    assert table["lines"][0][3] == "-"
    assert table["lines"][1][3].endswith("%)")
    assert table["pictures"] == ["recipes.svg", "aids.svg"]


@pytest.mark.parametrize(
    ("row", "said"), [("defalt", "'defalt': choose one of default,"), ("default + luck", "'luck'")]
)
def test_rows_that_do_not_exist_are_refused(
    row: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        script("variants").main(["--only", row])
    assert said in capsys.readouterr().err


def test_names_that_fit() -> None:
    short = script("variants").short
    assert short("balanced + composed, words first") == "words first"
    assert short("balanced, fewest + composed, words first") == "fewest: words first"
    assert short("balanced + composed") == "composed"
    assert short("SuperBPE + shared") == "SuperBPE: shared"


def test_aids(call: Any) -> None:
    """Differences from BPE and from today's aids, of two seeds; the texts are those that decide."""
    today = "balanced + composed, words first"
    rows = [BPE, today, f"{today}, 10% at the end", f"{today}, own part late"]
    arguments = ["--budget", "2000", "--seeds", "0", "1", "--only", *rows]
    table = call("aids", *arguments)["out"]
    head, lines = table["head"], table["lines"]
    assert [line[0] for line in lines] == rows
    assert not any("test" in cell for cell in head)
    assert head[-3:] == ["held out, words only", f"over {BPE}", "over today's aids"]
    assert [line[4:6] for line in lines[:1]] == [["-", "-"]]
    assert lines[1][5] == "-" and lines[2][5].count("%") == 5
    held, words = head.index("held out"), head.index("held out, words only")
    assert lines[0][held] == lines[0][words]
    assert lines[1][held] != lines[1][words]


def test_texts_that_do_not_exist_are_refused(call: Any) -> None:
    with pytest.raises(SystemExit, match="--tests 'held': choose among deciding, held out"):
        call("ladder", "--budgets", "1000", "--shapes-at", "0", "--only", BPE, "--tests", "held")


def test_ladder(call: Any) -> None:
    table = call(
        "ladder", "--budgets", "1000", "2000", "--shapes-at", "0", "--only", BPE, "default"
    )
    lines = table["out"]["lines"]
    assert [line[2] for line in lines] == ["tokens"] * 4 + ["text"]
    assert [line[3] for line in lines] == [BPE, "default"] * 2 + ["default"]
    assert table["out"]["pictures"] == ["ladder.svg", "bits.svg"]


def test_downstream(call: Any) -> None:
    best = script("downstream").BEST
    given = ["--budget", "1000", "--only", BPE, best, "--items", "4"]
    tables = call("downstream", *given, "--shape", "2", "32", "128")
    assert set(tables) == {"table-2", "table-8", "table-10", "table-11"}
    tasks = tables["table-8"]["lines"]
    assert [line[:2] for line in tasks] == [
        [task, name] for task in ("HellaSwag", "MMLU") for name in (BPE, best)
    ]
    assert all(len(line[2].split(", ")) == 2 for line in tasks)  # two seeds
    assert "±" in tables["table-10"]["lines"][0][1]
    assert len(tables["table-2"]["lines"]) == 4 + 2  # the paper's are two


def test_models_are_saved_for_transformers(call: Any, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    given = ["--budget", "1000", "--only", "default + composed, words first"]
    call("variants", *given, "--save", str(tmp_path / "models"))
    (folder,) = (tmp_path / "models").iterdir()
    assert folder.name == f"default-composed-words-first-{SIZE}-2L-32d-0.001M-seed-0"
    model, coder = load_folder(folder)
    assert model.shape.rows == coder.rows


def test_phrases(call: Any) -> None:
    """The prices of phrases add up to the difference of the models."""
    lines = call("phrases", "--budget", "2000", "--only", "default")["out"]["lines"]
    number = {line[1]: int(line[2].replace(",", "")) for line in lines}
    share = {line[1]: float(line[7].rstrip("%")) for line in lines}
    assert number["all"] >= number["phrases"] + number["words, one or more"] > 0
    kinds = [name for name in number if name.startswith("phrases ")]
    for question in ("words", "punctuation", "times", "PMI"):
        some = [name for name in kinds if question in name]
        assert sum(number[name] for name in some) == number["phrases"]
        assert sum(share[name] for name in some) == pytest.approx(share["phrases"], abs=3)


def test_stretches_end_where_both_readings_do() -> None:
    phrases = script("phrases")
    ours = phrases.Read([1, 2, 3], [" New York", " ci", "ty"], np.array([3.0, 1.0, 0.5]))
    base = phrases.Read([4, 5, 6], [" New", " York", " city"], np.array([2.0, 1.5, 2.0]))
    assert list(phrases.stretches(ours, base)) == [
        phrases.Stretch([1], 9, 3.0, 3.5),
        phrases.Stretch([2, 3], 5, 1.5, 2.0),
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(-1, (0, "less than 0")), (0, (1, "0 to 2,000")), (2000, (2, "2,000 or more"))],
)
def test_among(value: int, expected: tuple[int, str]) -> None:
    assert script("phrases")._among(value, (0, 2000)) == expected


def test_preparing_trains_no_model(
    data: Path, tmp_path: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUPRATOK_DATA", str(data))
    given = ["--out", str(tmp_path), "--tokenizers", str(tmp_path / "tok"), "--cache",
             str(data / "cache"), *SMALL, "--only", "default", "--prepare"]  # fmt: skip
    with pytest.raises(SystemExit, match="all tokenizers are trained"):
        script("variants").main(given)
    (tokenizer,) = (tmp_path / "tok").iterdir()
    assert tokenizer.suffix == ".zst" and not (tmp_path / "rows.jsonl").exists()
    printed = re.search(
        r"characters per token: .*WikiText-103 test ([\d.]+)", capsys.readouterr().out
    )
    texts = articles((data / "test/wikitext103/wiki.test.raw").read_text())
    ids = Coder(open_any(tokenizer)).encode_all(texts)
    assert printed and float(printed[1]) == round(sum(map(len, texts)) / sum(map(len, ids)), 3)


def test_old_tokenizers_are_found_again() -> None:
    """A field that was added later is part of their names only where it is used."""
    settings = script("lm_jobs").settings
    assert settings("default", 999)["screen"] == {
        "min_pmi": 0.0, "min_count": 2, "min_documents": 10,
    }  # fmt: skip
    assert settings("boundary 5", 999)["screen"]["min_boundary_entropy"] == 5.0
    assert settings("dense", 999)["screen"] is None
    assert "crossover" not in settings(BPE, 999)


def test_texts_of_other_domains_are_measured_where_the_data_folder_has_them(tmp_path: Path) -> None:
    other_tests = script("lm")._other_tests
    assert other_tests(tmp_path) == {}
    for name in ("bbc", "lambada"):
        (tmp_path / name).mkdir()
    write_corpus(tmp_path / "bbc/bbc.jsonl.zst", ["News."])
    row = json.dumps({"context": "He said", "continuation": "no"}) + "\n"
    (tmp_path / "lambada/lambada.jsonl.zst").write_bytes(zstandard.compress(row.encode()))
    assert other_tests(tmp_path) == {"BBC": ["News."], "LAMBADA": ["He said no"]}


def test_tables_show_nothing_where_a_row_lacks_a_text() -> None:
    """Rows made before a text was added have no figures of it."""
    tables = script("lm_tables")
    figures = {"bits_per_character": 2.0, "nats": [10.0, 12.0]}
    old, new = {"tests": {"held out": figures}}, {"tests": {"held out": figures, "BBC": figures}}
    tests = ["held out", "BBC", "LAMBADA"]
    assert tables.known_tests(tests, [old, new]) == ["held out", "BBC"]
    assert tables.known_tests(tests, [old]) == ["held out"]
    assert tables.compared(old, new, tests)[2:] == ["-"] * 4
    assert tables.compared(new, old, tests)[2:] == ["2.0000", "-", "-", "-"]
    assert tables.compared(new, {**new}, tests)[2:4] == ["2.0000", "+0.00% (+0.00% to +0.00%)"]


def test_finished_rows_are_found_again(data: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """The key of a row as it was when the rows of docs/results.md were made."""
    monkeypatch.setenv("SUPRATOK_DATA", str(data))
    jobs, given = script("lm_jobs"), ["--out", str(tmp_path), "--batch", "64"]
    best = f"balanced + {jobs.BEST_AID}"
    args = jobs.model_options("", "x", 50_000, (12, 768), 1e-3, [best]).parse_args(given)
    models = script("lm").Models(args)
    one = jobs.job(best, args, 100_000_000, 0)
    asked = models._asked(one, None)
    assert jobs.row_name(one) == best
    assert asked["row"] == "balanced 50,000, 12L-768d, 100 M tokens, seed 0"
    assert asked["code"] == "lm 1" and asked["more"] == ""
    assert asked["tokenizer"][:2] == ["balanced", 50_000]
    assert asked["corpus"].keys() == {"sha256", "documents"}
    assert asked["setting"] == {
        "plan": {
            "tokens": 100_000_000, "batch": 64, "at_once": None, "rate": 0.001, "warm_up": 0.3,
            "last_rate": 0.1, "decay": 0.1, "seed": 0,
        },
        "layers": 12, "width": 768, "context": 1024, "splitting": 1.0, "fading": 0.4,
        "phrases": "composed",
    }  # fmt: skip
    args.bfloat16 = True
    narrow = jobs.setting_key(jobs.job(best, args, 100_000_000, 0).setting)
    assert narrow["plan"] == {**asked["setting"]["plan"], "bfloat16": True}

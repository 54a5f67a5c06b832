"""The page docs/counts.md: its code runs, and its reader reads what the core reads."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from supratok import Recipe, train
from supratok.common import _core
from supratok.counts import About, read_counts, split_words, word_rows, write_counts
from supratok.train import train_from_counts
from texts import HOSTILE, corpus, prose

PAGE = Path(__file__).parents[2] / "docs" / "counts.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def block_with(words: str) -> dict[str, Any]:
    """The names that a block of the page defines."""
    (block,) = (block for block in BLOCKS if words in block)
    names: dict[str, Any] = {}
    exec(compile(block, PAGE.name, "exec"), names)
    return names


def shard(path: Path, number: int, documents: list[str]) -> None:
    table = _core.WordTable(10)
    table.count(documents, 1)
    about = About("words", "f", {f"digest{number}": f"shard{number}"}, {"documents": 1})
    write_counts(path, about, {"words.rows": table.rows_blocks()})


def test_the_small_reader_reads_what_the_core_reads(tmp_path: Path) -> None:
    reader = block_with("def read_rows")
    path = tmp_path / "a.counts"
    documents = corpus(1, 100) + HOSTILE + [" ".join(f"word{'x' * (n % 50)}{n}" for n in range(99))]
    shard(path, 1, documents)
    table = _core.WordTable(10)
    table.count(documents, 1)
    texts, counts = table.rows()
    found = list(reader["read_rows"](path, "words"))
    assert [text for text, _ in found] == sorted(text.encode() for text in texts)
    assert {text.decode(): count for text, count in found} == dict(
        zip(texts, counts.tolist(), strict=True)
    )
    assert reader["read_about"](path)["totals"] == {"documents": 1}


def test_the_first_lines_merge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shards").mkdir()
    for number in range(3):
        shard(Path(f"shards/{number}.counts"), number, corpus(number, 10))
    assert block_with("merge_counts(paths")["about"].totals == {"documents": 3}


def test_words_of_others_become_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spark-output").mkdir()
    Path("spark-output/part-0").write_bytes(b" world\t3\nhello\t2\n")
    Path("spark-output/part-1").write_bytes(" world\t4\n\u2028\t1\n".encode())
    names = block_with("spark-output")
    assert " world" in names["tokenizer"].texts
    with pytest.raises(ValueError, match="twice"):
        names["train_from_counts"](["wiki.counts", "wiki.counts"], names["Recipe"]())
    blocks = list(read_counts(Path("wiki.counts")).rows("words"))
    assert blocks == list(word_rows([("hello", 2), (" world", 7), ("\u2028", 1)]))


def test_training_on_words_of_others_is_training_on_the_text(tmp_path: Path) -> None:
    documents = prose(1, 200)
    counts = Counter(word for text in documents for word in split_words(text))
    number = len(documents)
    about = About(
        "words",
        "by hand",
        {"all": "all"},
        {"documents": number, "training_documents": number},
        {"words_by_class": True, "languages_apart": False, "curation": None, "hold_out": 0.0},
    )
    write_counts(tmp_path / "a.counts", about, {"words.rows": word_rows(counts.items())})
    recipe = Recipe(vocab_size=500, crossover=1.0)
    found = train_from_counts([tmp_path / "a.counts"], recipe, 1, progress=False)
    assert found.texts == train(documents, recipe, 1, progress=False, hold_out=0.0).texts


def test_words_are_cut_as_the_page_says() -> None:
    block_with("split_words(")


def test_every_block_is_run_here() -> None:
    assert len(BLOCKS) == 4

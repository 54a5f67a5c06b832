"""A sample is the one that its definition asks for, whatever the order and the files."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from pathlib import Path

import pytest

from corpora import as_json, message, twice, write
from supratok.common import _core
from supratok.common.progress import Progress
from supratok.corpus import open_corpus
from supratok.corpus.split import Split, digest, is_held_out

TEXTS = [f"document {number} " + "é" * (number % 7) for number in range(600)]


def chance(text: str) -> int:
    data = digest(text).to_bytes(8, "big")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8, person=b"sample").digest(), "big")


def plain_sample(texts: list[str], documents: float, size: float = float("inf")) -> list[str]:
    """The definition: equal texts together, by chance, while they fit; the first always."""
    counts, kept, used = Counter(texts), list[str](), 0
    for text in sorted(counts, key=chance):
        used += counts[text] * len(text.encode())
        if kept and (len(kept) + counts[text] > documents or used > size):
            break
        kept += [text] * counts[text]
    return sorted(kept)


def test_chances_are_independent_of_digests() -> None:
    codes = [digest(text) for text in TEXTS]
    assert [_core.sample_chance(code) for code in codes] == list(map(chance, TEXTS))
    both = sum(is_held_out(digest(text), 0.5) and chance(text) < 2**63 for text in TEXTS)
    assert 120 < both < 180


@pytest.mark.parametrize("seed", range(5))
def test_samples_are_the_definition(seed: int) -> None:
    noise = random.Random(seed)
    texts = noise.choices(TEXTS[: noise.choice((3, 50, 600))], k=200) + TEXTS[:9]
    for _ in range(4):
        noise.shuffle(texts)
        documents, size = noise.randint(1, 250), noise.randint(1, 5000)
        assert sorted(twice(texts, max_documents=documents)) == plain_sample(texts, documents)
        assert sorted(twice(iter(texts), max_bytes=size)) == plain_sample(texts, 1e9, size)
        found = twice(texts, max_documents=documents, max_bytes=size)
        assert sorted(found) == plain_sample(texts, documents, size)
        assert found == [text for text in texts if text in set(found)]  # in their order


def test_exactly_so_many() -> None:
    for count in (1, 2, 299, 600):
        assert len(twice(TEXTS, max_documents=count)) == count
    assert twice(TEXTS, max_documents=601) == TEXTS == twice(TEXTS, max_bytes=10**9)


def test_a_split_of_a_sample(tmp_path: Path) -> None:
    """Files of JSON lines, which the core reads, and others; the same in any files and order."""
    sample = plain_sample(TEXTS, 250)
    found = []
    for order in range(3):
        texts = random.Random(order).sample(TEXTS, len(TEXTS))
        folder = tmp_path / str(order)
        for number in range(3):
            write(folder / f"{number}.jsonl", as_json(texts[number * 100 : number * 100 + 100]))
        odd = b'{"te\\u0078t": "%s"}\n'
        write(folder / "3.jsonl", b"".join(odd % text.encode() for text in texts[300:400]))
        write(folder / "4.txt", "\n".join(texts[400:]).encode())
        for threads in (1, 3):
            with open_corpus(
                [*sorted(folder.glob("*.jsonl")), *folder.glob("*.txt")], max_documents=250
            ) as corpus:
                corpus._parts[-1] = corpus._parts[-1]._replace(form="lines")  # type: ignore
                split = Split(corpus, None, threads, Progress())
                table = _core.WordTable(10)
                table.count(split.portions("words"), threads)
                training = sorted(split.texts("later"))
                assert sorted(training + split.deciding_texts() + split.measuring_texts()) == sample
                assert split.totals.documents == 250
                found.append((training, table.rows()[0], table.rows()[1].tolist()))
    assert all(each == found[0] for each in found)


def test_a_share_of_its_own_or_none_is_held_out() -> None:
    for share in (0.0, 0.3):
        split = Split(open_corpus(TEXTS), None, 1, Progress(), hold_out=share)
        training = [document.text for document in split.decide("first")]
        assert training == [text for text in TEXTS if not is_held_out(digest(text), share)]
        assert list(split.texts("later")) == training
        assert split.totals.held_out_documents == len(TEXTS) - len(training)
    for share in (-0.1, 1.0, 5):
        with pytest.raises(ValueError, match=f"hold_out={share}: must be a share from 0"):
            Split(open_corpus(TEXTS), None, 1, Progress(), hold_out=share)


@pytest.mark.parametrize("value", [0, -1, 1.5, "7", 2**63])
def test_sizes_that_are_refused(value: object) -> None:
    for name in ("max_documents", "max_bytes"):
        assert message(TEXTS, **{name: value}) == (
            f"{name}={value!r}: must be a whole number, at least 1"
        )


def test_empty_and_failed_readings(tmp_path: Path) -> None:
    assert twice([], max_documents=3) == []
    path = write(tmp_path / "a.jsonl", as_json(["a"]) + b"bad\n" + as_json(["b"]))
    corpus = open_corpus(path, max_documents=1)
    for _ in range(2):  # a reading that fails finds no sample, and none is forgotten
        with pytest.raises(ValueError, match=r"a\.jsonl, line 2"):
            list(corpus)
    write(path, as_json(TEXTS))
    assert len(list(corpus)) == 1
    with open_corpus(path, max_documents=9, skip_bad=True) as corpus:
        split = Split(corpus, None, 1, Progress())
        assert sum(1 for _ in split.decide("first")) == split.totals.training_documents

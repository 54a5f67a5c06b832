"""Entropy equals its definition to the last bit; which documents are kept depends on the text."""

from __future__ import annotations

import gzip
import json
import math
import random
import sys
from collections import Counter
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from supratok.cli.main import main
from supratok.common import _core
from supratok.corpus import CorpusError, open_corpus
from supratok.corpus.curate import BINS, Curator, chance, find_thresholds
from supratok.corpus.split import digest, is_held_out
from supratok.recipe import Curation
from texts import HOSTILE, any_text, prose, tight_text

# --- entropy


def plain_entropy(text: str) -> float:
    """The definition, with sums in the order of the counts."""
    counts = Counter(zip(text, text[1:], strict=False))
    pairs = counts.total()
    if pairs == 0:
        return 0.0
    logs = 0.0
    for count, times in sorted(Counter(counts.values()).items()):
        logs += times * count * math.log2(count)
    return (pairs * math.log2(pairs) - logs) / pairs


def test_worked_examples() -> None:
    assert _core.bigram_entropy("") == _core.bigram_entropy("a") == _core.bigram_entropy("日") == 0
    assert _core.bigram_entropy("aaaa") == _core.bigram_entropy("日" * 1001) == 0.0
    # "abcba" has ab bc cb ba, each once: 2 bits.
    assert _core.bigram_entropy("abcba") == 2.0
    # "abab" has ab twice and ba once.
    by_hand = 2 / 3 * math.log2(3 / 2) + 1 / 3 * math.log2(3)
    assert _core.bigram_entropy("abab") == pytest.approx(by_hand, abs=1e-15)
    # Characters, not bytes: "日本" over and over is like "ab" over and over.
    assert _core.bigram_entropy("日本日本") == _core.bigram_entropy("abab")
    # 999 times ab and 998 times ba: very nearly 1 bit.
    assert 0.999999 < _core.bigram_entropy("ab" * 999) < 1.0


# Texts that repeat, whose pairs have counts beyond the core's table of small counts.
long_text = any_text.map(lambda text: text[:9] * 1500)


@given(st.one_of(any_text, tight_text, st.lists(any_text).map("".join), long_text))
def test_is_the_definition_to_the_last_bit(text: str) -> None:
    bits = _core.bigram_entropy(text)
    assert bits == plain_entropy(text)
    assert 0.0 <= bits <= math.log2(max(1, len(text) - 1)) + 1e-9


def test_many_different_pairs() -> None:
    """The table of pairs grows more than once, and starts small for the next text."""
    rng = random.Random(5)
    codes = [code for code in range(0x3000, 0x110000, 7) if not 0xD800 <= code < 0xE000]
    long = "".join(chr(rng.choice(codes)) for _ in range(70_000))
    for text in (long, "short", long + "é" * 50_000, "日本語です", "x"):
        assert _core.bigram_entropy(text) == plain_entropy(text)


@pytest.mark.parametrize("threads", [1, 3])
def test_batches(threads: int) -> None:
    texts = [*HOSTILE, *prose(1, 200)] * 3
    found = _core.bigram_entropies(texts, threads)
    assert found.tolist() == [plain_entropy(text) for text in texts]
    assert _core.bigram_entropies([], threads).tolist() == []


# --- bins and retention


def test_bins_at_the_borders() -> None:
    curator = Curator(Curation())  # Paper 3.2: low < 3.0, 3.0 <= medium <= 4.5, high > 4.5
    below, above = math.nextafter(3.0, 0.0), math.nextafter(4.5, 9.0)
    assert [curator.bin_of(bits) for bits in (0.0, below, 3.0, 4.5, above, 20.0)] == [
        0, 0, 1, 1, 2, 2,
    ]  # fmt: skip


def made_up() -> list[str]:
    """3,000 different documents, about as many of low, of medium and of high entropy."""
    rng = random.Random(7)
    letters = ("ab", "abcd", "abcdefghijkl")
    return ["".join(rng.choices(letters[n % 3], k=150)) + f" {n}" for n in range(3000)]


def kept_of(texts: list[str], curation: Curation) -> tuple[set[str], Curator]:
    curator = Curator(curation)
    return {text for text in texts if curator.keeps(text, digest(text))}, curator


def test_shares_of_each_bin() -> None:
    texts = made_up()
    kept, curator = kept_of(texts, Curation())
    report = curator.report()
    for name, share in zip(BINS, (0.1, 0.5, 0.9), strict=True):
        row = report["bins"][name]
        assert row["documents"] > 900
        assert abs(row["kept"] / row["documents"] - share) < 0.05
    assert sum(row["kept"] for row in report["bins"].values()) == len(kept)
    assert report["bins"]["high"]["characters"] == sum(
        len(text) for text in texts if plain_entropy(text) > 4.5
    )
    assert report["bins"]["low"]["kept_characters"] == sum(
        len(text) for text in kept if plain_entropy(text) < 3.0
    )
    everything, _ = kept_of(texts, Curation(keep=(1, 1, 1)))
    nothing, _ = kept_of(texts, Curation(keep=(0, 0, 0)))
    assert everything == set(texts) and not nothing


def test_the_choice_depends_on_the_text_alone() -> None:
    texts = made_up()
    kept, curator = kept_of(texts, Curation())
    again, other = kept_of(random.Random(1).sample(texts, len(texts)), Curation())
    assert kept == again
    assert curator.report() == other.report()
    assert json.loads(json.dumps(curator.report())) == curator.report()
    # Duplicates share their fate, and the report ignores a second reading.
    assert {text for text in texts if curator.keeps(text, digest(text), record=False)} == kept
    assert curator.report() == other.report()
    # A larger share keeps more documents, and all that a smaller one keeps.
    assert kept <= kept_of(texts, Curation(keep=(0.2, 0.6, 0.95)))[0]


def test_retention_has_nothing_to_do_with_being_held_out() -> None:
    digests = [digest(f"document {number}") for number in range(40_000)]
    for share in (0.1, 0.5, 0.9):
        for held_out in (0.05, 0.5):
            inside = [chance(d) < share * 2**64 for d in digests if is_held_out(d, held_out)]
            assert abs(sum(inside) / len(inside) - share) < 0.035
        odd = [chance(d) < share * 2**64 for d in digests if d % 2]  # measuring or deciding
        assert abs(sum(odd) / len(odd) - share) < 0.02


def test_histogram() -> None:
    curator = Curator(Curation(keep=(0, 1, 1)))
    for bits in (0.0, 2.95, 3.0, 3.05, 4.5, 4.55, 7.31):
        curator.record(bits, 10, curator.decide(bits, 0))
    found = curator.report()["histogram"]
    rows = [(n, part, found[n][part]) for n in BINS for part in ("dropped", "kept")]
    steps = {
        (name, part): {round(found["start"] / found["step"]) + i: n for i, n in enumerate(row) if n}
        for name, part, row in rows
    }
    assert steps == {
        ("low", "dropped"): {0: 1, 29: 1},
        ("low", "kept"): {},
        ("medium", "dropped"): {},
        ("medium", "kept"): {30: 2, 45: 1},
        ("high", "dropped"): {},
        ("high", "kept"): {45: 1, 73: 1},
    }


# --- thresholds by quantile


def test_thresholds_by_quantile() -> None:
    texts = made_up()
    asked = Curation(low=0.05, high=0.25, keep=(0.1, 0.5, 0.9), by_quantile=True)
    with pytest.raises(ValueError, match="find_thresholds"):
        Curator(asked)
    found = find_thresholds(open_corpus(texts), asked, threads=2)
    assert (found.by_quantile, found.keep) == (False, asked.keep)
    bins = Counter(Curator(found).bin_of(plain_entropy(text)) for text in texts)
    assert [bins[place] for place in range(3)] == [150, 600, 2250]
    random.Random(2).shuffle(texts)
    assert find_thresholds(open_corpus(texts), asked) == found
    assert find_thresholds(open_corpus(texts), Curation()) == Curation()


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.0, 1.0, [0, 100, 0]), (1.0, 1.0, [100, 0, 0]), (0.07, 0.07, [7, 1, 92]),
     (0.29, 0.58, [29, 29, 42]), (0.0, 0.0, [0, 1, 99])],
)  # fmt: skip
def test_thresholds_at_the_ends(low: float, high: float, expected: list[int]) -> None:
    texts = ["".join(map(chr, range(100, 102 + n))) for n in range(100)]  # all different
    asked = Curation(low=low, high=high, by_quantile=True)
    curator = Curator(find_thresholds(open_corpus(texts), asked))
    bins = Counter(curator.bin_of(_core.bigram_entropy(text)) for text in texts)
    assert [bins[place] for place in range(3)] == expected


def test_equal_documents_stay_together() -> None:
    asked = Curation(low=0.1, high=0.5, by_quantile=True)
    found = find_thresholds(open_corpus(["abab"] * 9 + ["abcdef"]), asked)
    assert found.low == found.high == plain_entropy("abab")
    with pytest.raises(CorpusError, match="the corpus is empty"):
        find_thresholds(open_corpus([]), asked)


# --- the command


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "in" / "corpus.jsonl"
    path.parent.mkdir()
    rows = [{"id": n, "text": text, "w": "é\ud800"} for n, text in enumerate(made_up())]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return path


def ran(capsys: pytest.CaptureFixture[str], *args: object, code: int = 0) -> tuple[str, str]:
    assert main(["curate", *map(str, args)]) == code
    done = capsys.readouterr()
    return done.out, done.err


def test_command_shows_bins_and_histogram(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown, said = ran(capsys, corpus, "--threads", 1)
    assert "below 3" in shown and "3 to 4.5" in shown and "above 4.5" in shown
    assert "█" in shown and shown.count("┼") == 2
    assert "curating" in said
    (every,) = (line for line in shown.splitlines() if line.split()[:1] == ["all"])
    _, curator = kept_of(made_up(), Curation())
    report = curator.report()
    assert every.split()[1] == "3,000"
    assert every.split()[2] == f"{sum(row['kept'] for row in report['bins'].values()):,}"
    found = json.loads(ran(capsys, corpus, "--json")[0])
    assert {name: found[name] for name in report} == report
    bits = sorted(map(plain_entropy, made_up()))
    assert found["quantiles"]["0.5"] == bits[1499]
    assert found["quantiles"]["0.01"] == bits[29]


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst"])
def test_out_holds_the_kept_records_as_they_were(
    corpus: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = corpus.parent / f"kept{suffix}"
    ran(capsys, corpus, "--out", out, "--keep", 0, 0.5, 1, "--low", 2.5)
    data = out.read_bytes()
    if suffix.endswith(".gz"):
        data = gzip.decompress(data)
    elif suffix.endswith(".zst"):
        data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
    kept, _ = kept_of(made_up(), Curation(low=2.5, keep=(0, 0.5, 1)))
    lines = corpus.read_bytes().splitlines(keepends=True)
    assert data == b"".join(line for line in lines if json.loads(line)["text"] in kept)
    assert 0 < data.count(b"\n") < 3000
    assert {path.name for path in corpus.parent.iterdir()} == {"corpus.jsonl", out.name}


def test_out_of_plain_text_and_twice_read_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text("Mañana 日本\n\nabababab\n", encoding="utf-8")
    out = tmp_path / "kept.jsonl"
    options = ("--keep", 1, 1, 1, "--by-quantile", "--low", 0.5, "--high", 0.5, "--text-key", "t")
    found = json.loads(ran(capsys, tmp_path / "a.txt", "--out", out, *options, "--json")[0])
    assert out.read_text(encoding="utf-8") == ('{"t": "Mañana 日本\\n\\n"}\n{"t": "abababab\\n"}\n')
    assert found["low"] == found["high"] == plain_entropy("Mañana 日本\n\n")


def test_an_interrupt_leaves_nothing(
    corpus: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = corpus.parent / "kept.jsonl.zst"
    out.write_bytes(b"what was there")
    seen = 0

    def interrupt(self: Curator, bits: float, digest: int) -> bool:
        nonlocal seen
        seen += 1
        if seen == 1500:
            raise KeyboardInterrupt
        return True

    monkeypatch.setattr(Curator, "decide", interrupt)
    _, said = ran(capsys, corpus, "--out", out, code=130)
    assert "interrupted, nothing was written" in said
    assert out.read_bytes() == b"what was there"
    assert {path.name for path in corpus.parent.iterdir()} == {"corpus.jsonl", out.name}


def test_recipe_and_options(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = corpus.parent / "recipe.toml"
    recipe.write_text("[curation]\nlow = 1.0\nhigh = 2.0\nkeep = [1.0, 0.0, 0.5]\n", "utf-8")
    found = json.loads(ran(capsys, corpus, "--recipe", recipe, "--high", 4, "--json")[0])
    assert (found["low"], found["high"], found["keep"]) == (1.0, 4.0, [1.0, 0.0, 0.5])
    recipe.write_text("min_count = 3\n", "utf-8")
    _, said = ran(capsys, corpus, "--recipe", recipe, code=1)
    assert "no table [curation]" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--by-quantile"], "low=3.0, high=4.5: needs 0 <= low <= high <= 1"),
        (["--low", "5"], "low=5.0, high=4.5"),
        (["--keep", "0", "1", "2"], "keep=(0.0, 1.0, 2.0)"),
        (["--out", "kept.txt"], "--out kept.txt: name it .jsonl"),
        (["--out", "nowhere/kept.jsonl"], "cannot write in the folder nowhere"),
        (["--picture", "p.bmp"], "--picture p.bmp: name it .png or .svg"),
        (["--picture", "nowhere/p.png"], "--picture nowhere/p.png: cannot write"),
        (["--threads", "0"], "threads=0"),
    ],
)
def test_refusals(
    corpus: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shown, said = ran(capsys, corpus, *options, code=1)
    assert message in said and said.count("\n") == 1 and not shown


def test_an_empty_corpus_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("\n", "utf-8")
    _, said = ran(capsys, tmp_path / "a.txt", "--out", tmp_path / "b.jsonl", code=1)
    assert "the corpus is empty" in said
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("name", ["p.png", "p.svg"])
def test_picture(corpus: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    path = corpus.parent / name
    ran(capsys, corpus, "--picture", path)
    first = path.read_bytes()
    assert first.startswith(b"\x89PNG" if name == "p.png" else b"<svg") and len(first) > 5000
    ran(capsys, corpus, "--picture", path)
    assert path.read_bytes() == first


def test_a_picture_without_matplotlib(
    corpus: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, module, None)
    _, said = ran(capsys, corpus, "--picture", corpus.parent / "p.png", code=1)
    assert said.startswith("supratok: error: ") and said.count("\n") == 1
    assert "'matplotlib'" in said and said.endswith(': pip install "matplotlib>=3.8"\n')

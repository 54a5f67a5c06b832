"""Counts of every kind of tokenizer, and the figures that come from them."""

from __future__ import annotations

import itertools
import json
import math
import os
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from peers import MAKERS, documents
from supratok.corpus.batches import batches
from supratok.formats.peer import Batching, Peer, Spelling, open_any
from supratok.lab.measure.composition import CLASSES, class_of, classes, composition, sentences_in
from supratok.lab.measure.cost import peak_bytes, speed, spent
from supratok.lab.measure.counts import Counts, count, crosses_words, words_in
from supratok.lab.measure.figures import (
    articles,
    bytes_per_token,
    characters_per_token,
    crossing_use,
    crossing_vocabulary,
    fertility,
    figures,
    gini,
    latency,
    paired,
    parity,
    parity_intervals,
    premium,
    relative,
    renyi_efficiency,
    unused,
    variation,
)
from texts import HOSTILE, any_text

TEXTS = [*documents(seed=9)[:20], "naïve 日本 😀.\n\n  It is not.", ""]
kinds = pytest.mark.parametrize("kind", MAKERS)


@pytest.fixture(scope="module")
def peers(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    folder = tmp_path_factory.mktemp("peers")
    made: dict[str, Peer] = {}

    def peer(kind: str) -> Peer:
        if kind not in made:
            MAKERS[kind](folder / kind)
            made[kind] = open_any(folder / kind)
        return made[kind]

    return peer


class Words:
    """A tokenizer without batches or texts, whose ids lie beyond its size."""

    name = "words"
    vocab_size = 3

    def encode(self, text: str) -> list[int]:
        return [len(word) for word in text.split()]

    def decode(self, ids: list[int]) -> str:
        return " ".join("x" * id for id in ids)

    def token_strings(self, text: str) -> list[str]:
        return text.split()


def counted(tokens: Iterable[int], characters: Iterable[int], **others: Any) -> Counts:
    """Of a tokenizer that was never run."""
    chars, toks = np.array(list(characters)), np.array(list(tokens))
    whole = Counts("made up", 4, chars, chars, chars // 5, toks, None, np.array([3, 2, 1, 1]), None)
    return replace(whole, **others)


# --- Counting


@kinds
def test_counts_are_those_of_a_plain_loop(kind: str, peers: Callable[[str], Any]) -> None:
    peer = peers(kind)
    assert {isinstance(peer, Batching), isinstance(peer, Spelling)} == {True}
    for threads in (None, 1):
        found = count(peer, iter(TEXTS), threads)
        assert found.characters.tolist() == [len(text) for text in TEXTS]
        assert found.bytes.tolist() == [len(text.encode()) for text in TEXTS]
        assert found.words.tolist() == [words_in(text) for text in TEXTS]
        encoded = [peer.encode(text) for text in TEXTS]
        assert found.tokens.tolist() == [len(ids) for ids in encoded]
        ids = list(itertools.chain(*encoded))
        assert found.usage.tolist() == [ids.count(id) for id in range(len(found.usage))]
        assert found.crossing is not None and found.crosses is not None
        assert found.crossing.tolist() == [
            sum(crosses_words(peer.token_text(id)) for id in some) for some in encoded
        ]


def test_batches_change_nothing(
    peers: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = count(peers("supratok.json"), TEXTS)
    monkeypatch.setattr(batches, "__defaults__", (1,))
    again = count(peers("supratok.json"), TEXTS)
    assert all(map(np.array_equal, astuple(again), astuple(whole)))


def test_a_tokenizer_that_only_encodes() -> None:
    found = count(Words(), ["a bb", "", "seventy a"])
    assert found.tokens.tolist() == [2, 0, 2]
    assert found.usage.tolist() == [0, 2, 1, 0, 0, 0, 0, 1]
    assert found.crossing is None and crossing_use(found) is None
    assert crossing_vocabulary(found) is None and figures(found)["crossing_use"] is None


def test_nothing_to_count(peers: Callable[[str], Any]) -> None:
    for nothing in ([], ["", ""]):
        found = count(peers("supratok.json"), nothing)
        assert found.tokens.sum() == 0 and len(found.tokens) == len(nothing)
        for figure in (characters_per_token, bytes_per_token, fertility, crossing_use, figures):
            with pytest.raises(ValueError, match=r"pass text|some text"):
                figure(found)
    with pytest.raises(TypeError, match="pass a list of texts"):
        count(Words(), "one text")


@kinds
def test_counts_are_kept_in_a_file(kind: str, peers: Callable[[str], Any], tmp_path: Path) -> None:
    found = count(peers(kind), TEXTS)
    for one in (found, replace(found, crossing=None, crosses=None)):
        one.save(tmp_path / "counts.npz")
        again = Counts.load(tmp_path / "counts.npz")
        assert all(map(np.array_equal, astuple(again), astuple(one)))
        assert figures(again, resamples=20) == figures(one, resamples=20)
    assert [path.name for path in tmp_path.iterdir()] == ["counts.npz"]


# --- The texts of tokens


@kinds
def test_the_texts_of_tokens_are_the_text(kind: str, peers: Callable[[str], Any]) -> None:
    peer = peers(kind)
    for text in (TEXTS[0].strip(), "in New York  as well as  in the school"):
        assert "".join(map(peer.token_text, peer.encode(text))) == text
    assert peer.token_text(peer.encode("日" if kind != "supratok.json" else "😀")[0])[:3] == "<0x"
    assert peer.token_text(10**6) == ""


@pytest.mark.parametrize("kind", ["WordPiece", "end of word", "Metaspace", "byte fallback"])
def test_the_marks_of_a_vocabulary_are_no_text(kind: str, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    models, before, trainers = tokenizers.models, tokenizers.pre_tokenizers, tokenizers.trainers
    options: dict[str, Any] = {"vocab_size": 80, "show_progress": False}
    if kind == "WordPiece":
        tokenizer = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.pre_tokenizer = before.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(special_tokens=["[UNK]"], **options)
    elif kind == "end of word":
        tokenizer = tokenizers.Tokenizer(models.BPE(end_of_word_suffix="</w>"))
        tokenizer.pre_tokenizer = before.Whitespace()
        trainer = trainers.BpeTrainer(end_of_word_suffix="</w>", **options)
    else:
        tokenizer = tokenizers.Tokenizer(models.BPE(byte_fallback=kind == "byte fallback"))
        tokenizer.pre_tokenizer = before.Metaspace(prepend_scheme="never", split=False)
        trainer = trainers.BpeTrainer(special_tokens=["<0x0A>", "a b▁"], **options)
    tokenizer.train_from_iterator(documents()[:20], trainer)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    peer: Any = open_any(tmp_path / "tokenizer.json")
    text = "in New York as well as in the school"
    found = count(peer, [text])
    spaced = "".join(map(peer.token_text, peer.encode(text)))
    if kind in ("WordPiece", "end of word"):
        assert spaced == text.replace(" ", "")
        assert crossing_vocabulary(found) == 0
    else:
        assert spaced == text
        assert (crossing_vocabulary(found) or 0) > 0.1
        assert peer.token_text(0) == "<0x0A>"
        assert peer.token_text(1) == "a b▁"  # an added token is written as it is


def test_phrases_are_found_in_every_vocabulary(peers: Callable[[str], Any]) -> None:
    ours, bpe, piece = (
        count(peers(kind), TEXTS) for kind in ("supratok.json", "tokenizer.json", "tokenizer.model")
    )
    assert (crossing_vocabulary(ours) or 0) > 0.02 and (crossing_use(ours) or 0) > 0.2
    for other in (bpe, piece):
        assert crossing_vocabulary(other) == crossing_use(other) == 0


@pytest.mark.parametrize(
    ("text", "crosses"),
    [(" the", False), ("of the", True), (" of\n", False), (", and", True), ("日本語です", False)],
)
def test_what_crosses_words(text: str, crosses: bool) -> None:
    assert crosses_words(text) is crosses


# --- Words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0), (" \n", 0), ("Hello, world.", 2), ("Hello , world", 3), ("in 東京", 3),
        ("「東京タワー」。", 5), ("NHK、東京", 3), ("ที่นี่", 2), ("한국어 문장", 2), ("Яка є", 2),
        ("𠀀𠀁", 2), ("…東", 1), ("naïve—e\u0301", 1),
    ],
)  # fmt: skip
def test_words(text: str, words: int) -> None:
    assert words_in(text) == words


@given(any_text, any_text)
def test_words_of_any_text(one: str, other: str) -> None:
    assert words_in(f"{one} {other}") == words_in(one) + words_in(other)
    assert len(one.split()) <= words_in(one) <= sum(not char.isspace() for char in one)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_counted(text: str, peers: Callable[[str], Any]) -> None:
    found = count(peers("supratok.json"), [text])
    assert found.tokens.sum() == len(peers("supratok.json").encode(text))


# --- Figures


def test_ratios_are_of_sums() -> None:
    found = counted([1, 10], [10, 40])
    assert characters_per_token(found) == bytes_per_token(found) == 50 / 11
    assert fertility(found) == 1.1


def test_all_figures_go_into_json(peers: Callable[[str], Any]) -> None:
    found = figures(count(peers("supratok.json"), TEXTS), resamples=200)
    assert json.loads(json.dumps(found)) == found
    for name in ("characters_per_token", "bytes_per_token", "fertility", "crossing_use"):
        low, high = found[f"{name}_interval"]
        assert low <= found[name] <= high
    assert found["documents"] == len(TEXTS)
    assert found["characters"] / found["tokens"] == found["characters_per_token"]
    assert 0 < found["unused"] < 1 and 0 < found["renyi_efficiency"] < 1


def test_one_document_has_no_interval() -> None:
    assert "fertility_interval" not in figures(counted([2], [10]))
    with pytest.raises(ValueError, match="at least 2"):
        paired(counted([2], [10]), counted([3], [10]))


def test_what_is_not_used() -> None:
    assert unused(counted([1], [1], usage=np.array([3, 0, 1, 0]))) == 0.5


def test_renyi_efficiency_as_its_authors_compute_it() -> None:
    # The figures in the README of their tokenization-scorer, for texts that use their tokens thus.
    # It says alpha 2.5 there, but both are those of 3.
    four, five = np.array([3, 2, 1, 1]), np.array([3, 3, 2, 2, 1])
    assert renyi_efficiency(four, 4, alpha=3) == pytest.approx(0.8031528501359657)
    assert renyi_efficiency(five, 5, alpha=3) == pytest.approx(0.9105681923824472)


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=50).filter(any))
def test_renyi_efficiency(uses: list[int]) -> None:
    usage, size = np.array(uses), len(uses)
    found = renyi_efficiency(usage, size)
    assert 0 <= found <= 1 + 1e-12
    assert renyi_efficiency(usage, 2 * size) == pytest.approx(found * math.log(size, 2 * size))
    assert renyi_efficiency(np.full(size, 7), size) == pytest.approx(1)
    shannon = renyi_efficiency(usage, size, alpha=1)
    assert found <= shannon + 1e-9
    assert renyi_efficiency(usage, size, alpha=1 + 1e-6) == pytest.approx(shannon, abs=1e-4)


def test_the_difference_of_a_tokenizer_with_itself(peers: Callable[[str], Any]) -> None:
    found = count(peers("supratok.json"), TEXTS)
    assert paired(found, found) == (0, 0, 0, 1)


def test_the_difference_of_two_tokenizers(peers: Callable[[str], Any]) -> None:
    ours, theirs = (count(peers(kind), TEXTS) for kind in ("supratok.json", "tokenizer.json"))
    found = paired(ours, theirs, resamples=500)
    expected = relative(characters_per_token(ours), characters_per_token(theirs))
    assert found.value == pytest.approx(expected)
    assert 0 < found.low < found.value < found.high and found.p < 0.01
    with pytest.raises(ValueError, match="different documents"):
        paired(ours, count(peers("tokenizer.json"), TEXTS[1:]))


def test_the_latency_proxy_is_that_of_table_7() -> None:
    characters = [round(5.48 * 9_130)]
    found = latency(counted([9_130], characters), counted([10_736], characters))
    assert (round(found.characters_per_token, 2), found.tokens) == (5.48, 9_130)
    assert (round(found.speedup, 2), round(found.fewer, 3)) == (1.18, 0.150)
    assert found.seconds == pytest.approx(456.5)


# --- Languages


def test_parity() -> None:
    found = parity({"en": 100, "de": 150, "th": 300})
    assert (found.best, found.worst, found.worst_over_best) == ("en", "th", 3)
    assert found.premiums == {"en": 1, "de": 1.5, "th": 3}
    assert found.gini == pytest.approx((50 + 200 + 150) * 2 / (2 * 9 * 550 / 3))
    assert parity({"en": 5, "de": 5}).gini == 0
    for wrong in ({}, {"en": 0, "de": 1}, {"en": math.nan}):
        with pytest.raises(ValueError, match="more than 0 in each"):
            parity(wrong)


@given(st.lists(st.floats(0.01, 1e6), min_size=1, max_size=20))
def test_gini_is_the_mean_difference(costs: list[float]) -> None:
    apart = sum(abs(one - other) for one in costs for other in costs) / len(costs) ** 2
    expected = apart / 2 / (sum(costs) / len(costs))
    assert float(gini(np.array(costs))) == pytest.approx(expected, abs=1e-9)


def test_variation_and_premium_by_hand() -> None:
    rows = np.array([[10.0, 10.0, 10.0], [10.0, 20.0, 30.0]])
    assert variation(rows).tolist() == pytest.approx([0.0, math.sqrt(200 / 3) / 20])
    assert premium(rows, 0).tolist() == [1.0, 2.5]
    assert premium(rows, 1).tolist() == [1.0, 1.0]


def test_intervals_of_parity() -> None:
    chance = np.random.default_rng(1)
    sentences = chance.integers(20, 60, 300)
    factors = {"en": 1.0, "de": 1.3, "th": 2.0}
    tokens = {code: chance.poisson(sentences * by) for code, by in factors.items()}
    sums = {code: float(column.sum()) for code, column in tokens.items()}
    spread, uneven = parity_intervals(tokens, resamples=500)
    assert spread.low < parity(sums).worst_over_best < spread.high < spread.low + 0.15
    assert uneven.low < parity(sums).gini < uneven.high


# --- Compositions


def test_the_composition_of_a_corpus() -> None:
    long = "One of the most, in 2024 as well. It is not 3.5!\n「東京です」。はい。" + " " * 50
    found = composition([long, "short." + " " * 60, ""])
    assert (found.documents, found.left_out) == (1, 2)
    assert found.sentences == sentences_in(long) == 4
    words = [
        "One",
        "of",
        "the",
        "most",
        ",",
        "in",
        "2024",
        "as",
        "well",
        ".",
        "It",
        "is",
        "not",
        "3",
        ".",
        "5",
        "!",
        "「",
        "東京です",
        "」。",
        "はい",
        "。",
    ]
    assert found.words == len(words) and found.characters == len(long)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", ""), ("<0xE2>", CLASSES[0]), (" <0xE2><0x80>", CLASSES[0]), (" \n", CLASSES[1]),
        ("...", CLASSES[2]), (" the", CLASSES[3]), ("日本", CLASSES[3]), (" in the", "2 words"),
        ("as well as", "3 words"), ("one of the most", "4 words or more"),
        ("a b c d e f", "4 words or more"), ("a <0xE2>", "2 words"),
    ],
)  # fmt: skip
def test_classes_of_tokens(text: str, kind: str) -> None:
    assert class_of(text) == kind


@kinds
def test_the_classes_of_a_vocabulary(kind: str, peers: Callable[[str], Any]) -> None:
    found = count(peers(kind), TEXTS)
    rows = classes(peers(kind), found.usage)
    assert sum(row.tokens for row in rows) == found.vocab_size
    assert sum(row.share for row in rows) == pytest.approx(1)
    assert sum(row.use or 0 for row in rows) == pytest.approx(1)
    crossing = [row for row in rows if "words" in row.name]
    assert sum(row.share for row in crossing) == pytest.approx(crossing_vocabulary(found))
    assert sum(row.use or 0 for row in crossing) == pytest.approx(crossing_use(found))
    assert {row.use for row in classes(peers(kind), np.zeros(9, np.int64))} == {None}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_articles_of_wikitext(end: str) -> None:
    lines = ["", " = One = ", "", " text = 5 = 6 ", " = = Section = = ", " = Two , a = b = ", "x"]
    text = end.join(lines)
    found = articles(text)
    assert "".join(found) == text
    assert [part.split(end)[0] for part in found] == ["", " = One = ", " = Two , a = b = "]


# --- Time and memory


def test_speed_is_measured_in_turn() -> None:
    turns: list[str] = []

    class Slow(Words):
        def __init__(self, name: str, seconds: float) -> None:
            self.name, self._seconds = name, seconds

        def encode(self, text: str) -> list[int]:
            turns.append(self.name)
            time.sleep(self._seconds)
            return []

    found = speed([Slow("slow", 0.01), Slow("fast", 0.001)], ["four", "é"], repeats=3)
    assert turns == ["slow", "slow", "fast", "fast"] * 4
    assert found["slow"].ratios == (1, 1, 1) and found["fast"].ratio > 2
    slow = found["slow"]
    assert slow.bytes == 6 and slow.megabytes_per_second < 6e-6 / 0.02
    assert slow.spread[0] <= slow.megabytes_per_second <= slow.spread[1]


@pytest.mark.parametrize(
    ("peers", "texts", "repeats"),
    [([Words(), Words()], ["a"], 5), ([Words()], [], 5), ([Words()], ["a"], 0)],
)
def test_no_speed(peers: list[Peer], texts: list[str], repeats: int) -> None:
    with pytest.raises(ValueError, match="pass some text, and repeat at least once"):
        speed(peers, texts, repeats)


def hold(megabytes: int) -> int:
    """Runs in a process of its own."""
    if megabytes < 0:
        raise ValueError("less than nothing")
    if megabytes == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.1)
    return len(bytearray(b"x") * (megabytes << 20))


def test_memory_of_a_process_is_its_own() -> None:
    ballast = bytearray(b"x") * (300 << 20)
    assert peak_bytes() > len(ballast)
    little, much = spent(hold, 1), spent(hold, 200)
    del ballast
    assert little.peak_bytes < 250 << 20  # though this process holds more
    assert (190 << 20) < much.peak_bytes - little.peak_bytes < (230 << 20)
    assert much.result == 200 << 20 and 0.1 <= much.seconds < 5


def test_what_goes_wrong_in_a_process_is_told() -> None:
    with pytest.raises(ValueError, match="less than nothing"):
        spent(hold, -1)
    with pytest.raises(RuntimeError, match="hold ended with code -9"):
        spent(hold, 0)

"""The baselines: each learns by its definition, loses what it is said to lose, and is kept."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supratok.common.machine import Memory
from supratok.common.progress import Progress
from supratok.formats.boundless import Boundless
from supratok.formats.peer import open_any
from texts import HOSTILE, any_text, multilingual, prose

tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("sentencepiece")

from supratok.lab.baselines import (  # noqa: E402
    BASELINES,
    Documents,
    Trained,
    boundless,
    estimate,
    losses,
    merging,
    superbpe,
    trained,
)

SIZE = 700
TEXTS = prose(1, 300) + [
    "\n".join(pair) for pair in zip(prose(2, 90), multilingual(2, 90), strict=True)
]
CORPUS = Documents(TEXTS)
LOSSY = [name for name, baseline in BASELINES.items() if baseline.lossy]
LOSSLESS = [name for name in BASELINES if name not in LOSSY]
PAPER = [
    "BPE-Standard", "BPE-Standard-NFD", "WordPiece-BERT", "Unigram-SentencePiece",
    "SentencePiece-BPE", "SP-BPE-CrossBoundary", "SuperBPE",
]  # fmt: skip


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def peer(cache: Path) -> Callable[[str], Trained]:
    return lambda name: trained(name, CORPUS, SIZE, cache)


# --- All of them -----------------------------------------------------------------------------


def test_which_there_are() -> None:
    assert [name for name, baseline in BASELINES.items() if baseline.in_paper] == PAPER
    assert PAPER[:-1] == LOSSY


@pytest.mark.parametrize("name", BASELINES)
def test_each_has_the_size_asked_for_and_repeats_itself(
    name: str, peer: Callable[[str], Trained], tmp_path: Path
) -> None:
    found = peer(name)
    assert isinstance(found, Trained) and found.name == name
    assert found.vocab_size == found.made["tokens"] == SIZE and not found.made["short"]
    assert found.made["corpus"] == CORPUS.facts and found.made["seconds"] > 0
    again = trained(name, Documents(TEXTS), SIZE, tmp_path)
    assert again.path.read_bytes() == found.path.read_bytes()
    opened = open_any(found.path)
    for text in TEXTS[:3]:
        assert opened.encode(text) == found.encode(text)
        assert len(found.token_strings(text)) == len(found.encode(text)) < len(text)


def test_the_cache_is_used(cache: Path, peer: Callable[[str], Trained]) -> None:
    first = peer("BPE-Bytes-GPT4o")
    first.path.write_text(first.path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert (
        peer("BPE-Bytes-GPT4o").path.read_text(encoding="utf-8").endswith("\n")
    )  # not trained again
    fewer = trained("BPE-Bytes-GPT4o", TEXTS, SIZE, cache, documents=200)
    other = trained("BPE-Bytes-GPT4o", TEXTS, SIZE - 1, cache)
    assert len({first.path, fewer.path, other.path}) == 3
    assert fewer.made["corpus"]["documents"] == 200
    assert trained("BPE-Bytes-GPT4o", TEXTS[:200], SIZE, cache).path == fewer.path


def test_what_was_left_unfinished_is_trained_again(tmp_path: Path) -> None:
    first = trained("BPE-Standard", TEXTS, SIZE, tmp_path)
    whole = first.path.read_bytes()
    (first.path.parent / "made.json").unlink()
    first.path.write_bytes(whole[:100])
    assert trained("BPE-Standard", TEXTS, SIZE, tmp_path).path.read_bytes() == whole


def test_progress_is_told(tmp_path: Path) -> None:
    phases: list[str] = []

    class Recorder(Progress):
        def start(self, phase: str, total: float | None = None, unit: str = "") -> None:
            phases.append(phase)

        def at(self, done: float, total: float | None = None) -> None:
            phases.append("at")

    trained("BPE-Standard", iter(TEXTS), SIZE, tmp_path, progress=Recorder())
    assert [key for key, _ in groupby(phases)] == [
        "BPE-Standard: reading", "at", "BPE-Standard: training", "at",
    ]  # fmt: skip


def test_a_corpus_too_small_is_said(tmp_path: Path) -> None:
    small = trained("BPE-Bytes-GPT4o", ["one two"], 9000, tmp_path)
    assert small.vocab_size < 300 and "no more pairs" in small.made["short"]
    with pytest.raises(ValueError, match="9,000 tokens from this corpus"):
        trained("Unigram-SentencePiece", TEXTS, 9000, tmp_path)
    with pytest.raises(ValueError, match="no such baseline; choose one of BPE-Standard,"):
        trained("BPE", TEXTS, 9000, tmp_path)
    with pytest.raises(ValueError, match=r"pass Documents\(corpus, number\)"):
        trained("BPE-Standard", CORPUS, 9000, tmp_path, documents=3)


def test_what_would_be_killed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cross = estimate("SP-BPE-CrossBoundary", 237_000_000, 100_000)
    plain = estimate("BPE-Standard", 237_000_000, 100_000)
    assert cross.seconds > 5 * plain.seconds and cross.peak_bytes > 3 * plain.peak_bytes
    assert "first documents" in BASELINES["SP-BPE-CrossBoundary"].note
    monkeypatch.setattr("supratok.lab.baselines.store.memory", lambda: Memory(1000, 1000))
    with pytest.raises(ValueError, match=r"0.4 GB of memory .* the first 0 documents"):
        trained("SP-BPE-CrossBoundary", TEXTS, SIZE, tmp_path)
    assert not list(tmp_path.iterdir())


# --- What is lost ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOSSLESS)
def test_lossless_ones_lose_nothing(name: str, peer: Callable[[str], Trained]) -> None:
    found = losses(peer(name), [*TEXTS, *HOSTILE])
    assert (found.changed, found.characters_lost, found.lines_dropped) == (0, 0, 0)
    assert found.texts == len(TEXTS) + len(HOSTILE)

    @settings(max_examples=60)
    @given(any_text)
    def holds(text: str) -> None:
        tokenizer = peer(name)
        assert tokenizer.decode(tokenizer.encode(text)) == text

    holds()


@pytest.mark.parametrize("name", LOSSY)
def test_lossy_ones_lose_what_they_are_said_to_lose(
    name: str, peer: Callable[[str], Trained]
) -> None:
    found = losses(peer(name), ["bed  bad", "bed\nbad", "bed 卍"])
    assert found.changed == found.texts == 3 and found.characters_lost > 1
    tokenizer = peer(name)
    assert ("case" in BASELINES[name].loses) == (tokenizer.encode("Pad") == tokenizer.encode("pad"))


def test_decomposing_is_what_nfd_adds(peer: Callable[[str], Trained]) -> None:
    assert peer("BPE-Standard-NFD").encode("şar") == peer("BPE-Standard-NFD").encode("s\u0327ar")
    assert peer("BPE-Standard").encode("şar") != peer("BPE-Standard").encode("s\u0327ar")


def test_long_lines_are_counted(tmp_path: Path) -> None:
    """A line of 4,192 bytes is learnt from, a longer one is not."""
    just, over = "pcpc " * 838 + "pc", "pcpc " * 838 + "pcp"
    kept, without = (
        trained("SentencePiece-BPE", [*TEXTS, f"ab\n{line}\n\nab"], SIZE, tmp_path)
        for line in (just, over)
    )
    assert kept.token_strings("pcpc") == [" pcpc"] != without.token_strings("pcpc")
    lost = losses(without, [])
    assert (lost.lines_dropped, lost.bytes_dropped) == (1, 4193)
    assert losses(kept, []).lines_dropped == 0
    assert without.made["lines"] == sum(text.count("\n") + 1 for text in TEXTS) + 3


def test_only_the_order_of_marked_characters_is_ours(peer: Callable[[str], Trained]) -> None:
    """The stock trainer by itself gives the same alphabet and, but for ties, the same tokens."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(end_of_word_suffix="</w>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=SIZE, special_tokens=["[UNK]"], end_of_word_suffix="</w>", show_progress=False
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    ours = set(json.loads(peer("BPE-Standard").path.read_text(encoding="utf-8"))["model"]["vocab"])
    stock = set(tokenizer.get_vocab())
    assert len(stock) == len(ours)
    assert {text for text in stock ^ ours if len(text.removesuffix("</w>")) == 1} == set()
    assert len(stock & ours) > 0.9 * len(ours)


def test_marks_are_tokens_like_any_other(peer: Callable[[str], Trained]) -> None:
    """Training had them as special tokens; text that reads like one is still text."""
    assert len(peer("BPE-Standard").encode("a</w>")) > 2
    assert len(peer("WordPiece-BERT").encode("##a")) == 3


# --- Merging ---------------------------------------------------------------------------------


def plain_merges(
    pieces: list[list[int]], texts: list[str], may: merging.Rule, weights: list[int], overlaps: bool
) -> Iterator[merging.Merge]:
    """Count all pairs, merge the most frequent, count again."""
    while True:
        counts: Counter[tuple[int, int]] = Counter()
        for piece, weight in zip(pieces, weights, strict=True):
            last = (-1, (-1, -1))
            for place, pair in enumerate(zip(piece, piece[1:], strict=False)):
                if not overlaps and pair[0] == pair[1] and last == (place - 1, pair):
                    last = (-1, (-1, -1))
                elif may(texts[pair[0]], texts[pair[1]]):
                    last = (place, pair)
                    counts[pair] += weight
        if not counts:
            return
        (left, right), count = min(counts.items(), key=lambda item: (-item[1], item[0]))
        text = texts[left] + texts[right]
        if text not in texts:
            texts.append(text)
        token = texts.index(text)
        for piece in pieces:
            join(piece, (left, right), token)
        yield merging.Merge(left, right, token, count)


def join(piece: list[int], pair: tuple[int, int], token: int) -> None:
    place = 0
    while place < len(piece) - 1:
        if (piece[place], piece[place + 1]) == pair:
            piece[place : place + 2] = [token]
        place += 1


@settings(max_examples=150)
@given(
    st.lists(st.lists(st.integers(0, 2), max_size=30), max_size=8),
    st.sampled_from([3, 8, 99]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 4, 1000]),
)
def test_merging_is_counting_after_every_merge(
    pieces: list[list[int]], longest: int, overlaps: bool, weighted: bool, wanted: int
) -> None:
    weights = [1 + index % 3 if weighted else 1 for index in range(len(pieces))]
    symbols = np.array([id for piece in pieces for id in (*piece, merging.END)], dtype=np.int32)
    repeated = np.repeat(np.array(weights, dtype=np.int64), [len(piece) + 1 for piece in pieces])

    def may(left: str, right: str) -> bool:
        return len(left + right) <= longest and "ab" + "c" not in left + right

    learner = merging.Learner(symbols, list("abc"), may, repeated if weighted else None, overlaps)
    found = list(learner.merges(wanted))
    assert found == list(plain_merges(pieces, list("abc"), may, weights, overlaps))


def test_merging_is_that_of_tokenizers() -> None:
    """Over characters and without a rule, the stock trainer's merges in its order."""
    words = [word for text in TEXTS for word in text.split()]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=600, show_progress=False)
    tokenizer.train_from_iterator(TEXTS, trainer)
    alphabet = sorted(set("".join(words)))
    letters = [id for word in words for id in (*map(alphabet.index, word), merging.END)]
    learner = merging.Learner(np.array(letters, dtype=np.int32), alphabet)
    for _ in learner.merges(200):
        if len(learner.texts) == 600:
            break
    vocabulary = tokenizer.get_vocab()
    assert learner.texts == sorted(vocabulary, key=vocabulary.__getitem__)


# --- SuperBPE --------------------------------------------------------------------------------

LINES = [
    "in the end: of the day, as well as in the end of it 12 345\n",
    "as well as: in the!! end\n",
]
SUPER = ["".join(LINES) * 9, *prose(5, 6), "as well as in the end of the day  of it\n" * 9]


def plain_superbpe(texts: list[str], size: int, inherited: int, by_line: bool) -> list[str]:
    """The tokens, by the definition: merges of stage 1 inside pieces of its pattern; counted again
    over the pieces of stage 2; and on from there."""
    if by_line:
        texts = [line for text in texts for line in re.findall(r"[^\n]*\n|[^\n]+", text)]
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    first, second = (
        cut(texts, pattern, alphabet) for pattern in (superbpe.STAGE_1, superbpe.STAGE_2)
    )
    for merge in plain_merges(first, alphabet, lambda left, right: True, [1] * len(first), True):
        for piece in second:
            join(piece, (merge.left, merge.right), merge.token)
        if len(alphabet) == 256 + inherited:
            break
    rest = plain_merges(second, alphabet, allowed, [1] * len(second), True)
    while len(alphabet) < size and next(rest, None):
        pass
    return alphabet


def allowed(left: str, right: str) -> bool:
    token = (left + right).replace("Ġ", " ")
    return ": " not in token and len(token.split(" ")) - token.split(" ").count("") <= 4


def cut(texts: list[str], pattern: str, alphabet: list[str]) -> list[list[int]]:
    splitter = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated"),
            tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    pieces = [piece for text in texts for piece, _ in splitter.pre_tokenize_str(text)]
    return [[*map(alphabet.index, piece)] for piece in pieces]


@pytest.mark.parametrize("by_line", [True, False])
def test_superbpe_is_what_its_definition_says(
    by_line: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    merges = superbpe.stage_1(SUPER, 60, by_line)
    found = superbpe.stage_2(SUPER, merges, 420, by_line)
    assert found[:60] == merges
    tokens = superbpe.as_tokenizer(found).get_vocab()
    ordered = sorted(tokens, key=tokens.__getitem__)
    assert ordered == plain_superbpe(SUPER, 420, 60, by_line)
    assert max(map(words, ordered)) == 4 and not any(":Ġ" in token for token in ordered)
    assert any("Ċ" in token.rstrip("Ċ") for token in ordered) != by_line
    monkeypatch.setattr(superbpe, "may_merge", lambda left, right: True)
    freely = ["".join(pair) for pair in superbpe.stage_2(SUPER, merges, 420, by_line)]
    assert max(map(words, freely)) > 4 and any(":Ġ" in token for token in freely)


def words(token: str) -> int:
    return len(token.replace("Ġ", " ").split())


def test_superbpe_goes_on_from_any_stage_1(peer: Callable[[str], Trained], tmp_path: Path) -> None:
    """A larger one first or a smaller: the same files; and seconds of both stages in each."""
    small, large = (trained("SuperBPE", CORPUS, size, tmp_path) for size in (SIZE, SIZE + 90))
    assert small.path.read_bytes() == peer("SuperBPE").path.read_bytes()
    other = tmp_path / "other"
    again = [trained("SuperBPE", CORPUS, size, other) for size in (SIZE + 90, SIZE)]
    assert [found.path.read_bytes() for found in again] == [
        large.path.read_bytes(), small.path.read_bytes(),
    ]  # fmt: skip
    assert superbpe.inherited(100_000) == 78_125 and superbpe.inherited(SIZE) == 346


def test_superbpe_at_the_transition_points_of_its_authors(peer: Callable[[str], Trained]) -> None:
    assert superbpe.inherited(200_000, superbpe.EARLY) == 80_000
    assert superbpe.inherited(200_000, superbpe.LATE) == 180_000
    phrases = {}
    for name in ("SuperBPE-Early", "SuperBPE", "SuperBPE-Late"):
        model = json.loads(peer(name).path.read_text(encoding="utf-8"))["model"]
        phrases[name] = sum(words(token) > 1 for token in model["vocab"])
    assert phrases["SuperBPE-Early"] > phrases["SuperBPE"] > phrases["SuperBPE-Late"] > 0


# --- BoundlessBPE ----------------------------------------------------------------------------


def plain_boundless(texts: list[str], size: int) -> tuple[list[str], list[str], list[int]]:
    """Tokens inside words and of several words, by the definition: in one go, the most frequent
    pair of either kind, and of words only those that are single tokens by then. And how many
    tokens each text is in the end."""
    inside, across = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()), list[str]()
    cuts = [cut([text], boundless.PATTERN, inside) for text in texts]
    documents = [["".join(map(inside.__getitem__, word)) for word in text] for text in cuts]
    counts = Counter(word for text in documents for word in text)
    names = sorted(counts, key=lambda word: (-counts[word], word))  # and then phrases
    spelt = {word: [*map(inside.index, word)] for word in names}
    while len(inside) + len(across) < size:
        ready = {
            word for word, piece in spelt.items() if len(piece) == 1 and boundless.is_word(word)
        }
        ready.update(across)
        runs = [
            [*map(names.index, run)]
            for text in documents
            for whole, run in groupby(text, ready.__contains__)
            if whole
        ]
        taken = {*inside, *across}
        regular = first([(spelt[word], counts[word]) for word in counts], inside, taken)
        supers = first([(run, 1) for run in runs], names, taken)
        if max(regular.times, supers.times) == 0:
            break
        if regular.times >= supers.times:
            inside.append(inside[regular.left] + inside[regular.right])
            for piece in spelt.values():
                join(piece, regular[:2], len(inside) - 1)
        else:
            across.append(names[supers.left] + names[supers.right])
            names.append(across[-1])
            for text in documents:
                numbers = [*map(names.index, text)]
                join(numbers, supers[:2], len(names) - 1)
                text[:] = map(names.__getitem__, numbers)
    lengths = [sum(len(spelt.get(name, [0])) for name in text) for text in documents]
    return inside, across, lengths


def first(pieces: list[tuple[list[int], int]], texts: list[str], taken: set[str]) -> merging.Merge:
    """The merge to be done next, if any: one with no count otherwise."""
    may: merging.Rule = lambda left, right: left + right not in taken  # noqa: E731
    copies, weights = [list(piece) for piece, _ in pieces], [weight for _, weight in pieces]
    found = plain_merges(copies, list(texts), may, weights, overlaps=False)
    return next(found, merging.Merge(0, 0, 0, 0))


@pytest.mark.parametrize("seed", [1, 2])
def test_boundless_is_what_its_definition_says(seed: int) -> None:
    """Two phases give what one gives, and encoding splits training text as training left it."""
    said = "in the end, of the day. in the end of the day as well as 12 of the others, in the end "
    texts = [said * 4, *prose(seed, 5), "the end of the day" * 3]
    document = boundless.boundless(texts, 400)
    tokenizer = Boundless("b", document)
    inside, across, lengths = plain_boundless(texts, 400)
    assert list(document["tokenizer"]["model"]["vocab"]) == inside
    assert ["".join(pair) for pair in document["supermerges"]] == across
    assert tokenizer.vocab_size == 400 and len(across) > 5
    assert [len(tokenizer.encode(text)) for text in texts] == lengths
    assert tokenizer.token_strings("end, of the day")[-1] == " of the day"
    ids, offsets = tokenizer.encode_with_offsets(said)
    assert ids == tokenizer.encode(said)
    assert [said[start:end] for start, end in offsets] == tokenizer.token_strings(said)


def test_boundless_joins_whole_words_only(peer: Callable[[str], Trained]) -> None:
    found = peer("BoundlessBPE")
    assert found.made["supermerges"] > 20
    crossing = [token for text in TEXTS for token in found.token_strings(text) if " " in token[1:]]
    assert crossing and not any(set(token) & set(".!?\n0123456789") for token in crossing)


@pytest.mark.parametrize(
    ("text", "expected"),
    [(" the", True), ("the", True), ("a", False), (" a", True), ("don't", True), (" ", False),
     (" e\u0301a", True), ("'\u0301a", False), (" 12", False), (",a", False), (" _", False),
     ("日本", True)],
)  # fmt: skip
def test_what_is_a_word_to_boundless(text: str, expected: bool) -> None:
    splitter = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    assert boundless.is_word(splitter.pre_tokenize_str(text)[0][0]) == expected

"""Tokenizers of Hugging Face: imported, they give its ids for every text, or are refused."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import tokenizers
from foreign_tokenizers import (
    HF_SHAPES,
    LINES,
    PREFIX,
    REPLACE,
    Json,
    added_token,
    from_sp,
    gemma,
    hf_llama,
    hf_trained,
    hf_unigram,
    llama,
    texts,
    write,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import models, normalizers, pre_tokenizers, trainers

from supratok import Tokenizer
from texts import HOSTILE, corpus


@pytest.fixture(scope="module", params=HF_SHAPES)
def hf_pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Tokenizer, Callable[[str], list[int]]]:
    folder = write(HF_SHAPES[request.param](), tmp_path_factory.mktemp("hf"))
    theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    theirs.encode_special_tokens = True
    return Tokenizer.from_huggingface(folder), lambda text: theirs.encode(text).ids


@settings(max_examples=400)
@given(text=texts)
def test_huggingface_ids(hf_pair: tuple[Tokenizer, Callable[[str], list[int]]], text: str) -> None:
    ours, theirs = hf_pair
    assert ours.encode(text) == theirs(text)
    assert ours.decode(ours.encode(text)) == text


def test_huggingface_on_lines(hf_pair: tuple[Tokenizer, Callable[[str], list[int]]]) -> None:
    ours, theirs = hf_pair
    lines = [text.replace("▁", " ") for text in [*LINES, *HOSTILE, *corpus(7, 300), "".join(LINES)]]
    assert ours.encode_batch(lines) == [theirs(line) for line in lines]


@given(text=texts)
@pytest.mark.parametrize("scheme", ["first", "always"])
def test_metaspace_with_a_prefix(both: dict[str, Any], scheme: str, text: str) -> None:
    """Metaspace puts a space only before texts that have none. We always do, as SentencePiece does,
    to return the text: so ids differ only for texts that begin with a space."""
    ours, theirs = both[scheme]
    assert ours.decode(ours.encode(text)) == text
    assert text.startswith(" ") or ours.encode(text) == theirs.encode(text).ids
    assert theirs.encode(" a").ids == theirs.encode("a").ids != ours.encode(" a")
    assert len(ours.report["imported"]["differences"]) == 2


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    pairs = {}
    for scheme in ("first", "always"):
        step = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": False}
        document = from_sp(llama(), normalizer=None, pre_tokenizer=step)
        folder = write(document, tmp_path_factory.mktemp(scheme))
        theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        theirs.encode_special_tokens = True
        pairs[scheme] = (Tokenizer.from_huggingface(folder), theirs)
    return pairs


def test_both_files_of_a_tokenizer_agree(tmp_path: Path) -> None:
    """Runs of spaces are tied in one file and out of order in the other, with the same result."""
    (tmp_path / "tokenizer.model").write_bytes(llama().SerializeToString())
    one, other = (
        Tokenizer.from_sentencepiece(tmp_path),
        Tokenizer.from_huggingface(write(hf_llama(), tmp_path)),
    )
    assert one.layout
    assert other.layout
    assert len(one.layout.tied) >= 10
    tied = {text for text in other.texts if text.isspace() and len(text) > 1}
    assert {other.texts[entry] for entry in other.layout.tied} <= tied
    for text in (*LINES, *HOSTILE):
        assert one.encode(text) == other.encode(text)
    assert dict(zip(one.texts, one.entry_ids, strict=True)) == dict(
        zip(other.texts, other.entry_ids, strict=True)
    )


def changed(make: Callable[[], Json], **model: Any) -> Json:
    document = make()
    document["model"] |= model
    return document


def with_added(make: Callable[[], Json], **flags: bool) -> Json:
    document = make()
    document["added_tokens"].append(added_token("[NEW]", 7000, special=False, **flags))
    return document


def misnumbered() -> Json:
    """With an added token that skips ids: `tokenizers` gives it the next id."""
    document = hf_trained()
    document["added_tokens"].append(added_token("<extra>", 7000, special=True))
    return document


def byte_level() -> Json:
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
    tokenizer.train_from_iterator(LINES, trainers.BpeTrainer(show_progress=False, vocab_size=400))
    document: Json = json.loads(tokenizer.to_str())
    return document


def small(merges: list[list[str]], *tokens: str) -> Json:
    """A handful of tokens over a, b and c."""
    texts = [f"<0x{byte:02X}>" for byte in range(256)] + [*"abc", *tokens]
    vocab = {text: id for id, text in enumerate(texts)}
    bpe = {"type": "BPE", "byte_fallback": True, "vocab": vocab, "merges": merges}
    return {"version": "1.0", "added_tokens": [], "normalizer": None, "model": bpe}


def metaspace(scheme: str, split: bool) -> Json:
    step = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}
    return from_sp(gemma(), normalizer=None, pre_tokenizer=step, added_tokens=[])


def isolating(pattern: Json) -> Json:
    step = {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}
    return small([["a", "b"]], "ab") | {"pre_tokenizer": step}


def scored(special: float) -> Json:
    document = hf_unigram("")
    document["model"]["vocab"][1] = ("<s>", special)
    return document


HF_REFUSALS: list[tuple[Callable[[], Json], str]] = [
    (byte_level, "pre-tokenizer ByteLevel.*; it cannot be imported"),
    (lambda: from_sp(llama(), normalizer={"type": "NFKC"}), "normalizer NFKC"),
    (lambda: metaspace("never", True), r"cuts text before each space .*its token"),
    (lambda: isolating({"String": "b"}), "cuts out characters.*'b' holds one"),
    (lambda: isolating({"Regex": "[^a]"}), "pre-tokenizer Split"),
    (lambda: changed(hf_trained, dropout=0.1), "dropout=0.1"),
    (lambda: changed(hf_trained, ignore_merges=True), "ignore_merges=True"),
    (lambda: changed(hf_trained, end_of_word_suffix="</w>"), "end_of_word_suffix='</w>'"),
    (lambda: changed(hf_trained, byte_fallback=False), "no byte fallback"),
    (lambda: changed(hf_trained, type="WordPiece"), "its model is WordPiece"),
    (lambda: with_added(hf_trained, lstrip=True), r"'\[NEW\]' depends on .* \(lstrip\)"),
    (lambda: with_added(hf_llama), r"a space before each stretch .*'\[NEW\]'.*mark the token"),
    (lambda: with_added(hf_trained), r"tokenizers encodes '\[NEW\]' as"),
    (lambda: changed(hf_trained, vocab={**hf_trained()["model"]["vocab"], "[REF]": 1000}),
     r"'\[REF\]' has the ids 900 and 1000"),
    (misnumbered, "'<extra>' has the id 7000, but .* the id 901"),
    (lambda: small([["<0x41>", "a"]], "<0x41>a"), "joins bytes"),
    # "cabc": once there is ab, abc comes first; of tied tokens it would be cab, the leftmost.
    (lambda: small([["ab", "c"], ["c", "ab"], ["a", "b"]], "ab", "abc", "cab"), "around 'ab' rank"),
    (lambda: changed(hf_unigram, vocab=[[f"<0x{b:02X}>", -1.0] for b in range(9)]), "no token for"),
    (lambda: hf_unigram() | {"pre_tokenizer": None}, "may take the text '<unk>'"),
    (lambda: scored(-3.0), "may take the text '<s>' for the token"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), HF_REFUSALS)
def test_huggingface_refusals(make: Callable[[], Json], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        Tokenizer.from_huggingface(write(make(), tmp_path))
    assert "tokenizer.json: " in str(caught.value)


def test_unequal_scores_are_refused(tmp_path: Path) -> None:
    document = hf_unigram()
    document["model"]["vocab"].append(("zz", -2.0))
    with pytest.raises(ValueError, match=r"its scores differ \(from -2 to -1\)"):
        Tokenizer.from_huggingface(write(document, tmp_path))


# Small merges in any order: the import equals `tokenizers`, or is refused.
small_merges = st.lists(
    st.tuples(st.text("abc", min_size=1, max_size=3), st.text("abc", min_size=1, max_size=3)),
    max_size=14, unique=True,
)  # fmt: skip


@settings(max_examples=300)
@given(merges=small_merges, text=st.text("aabcé", max_size=25))
def test_any_merges_are_equal_or_refused(
    merges: list[tuple[str, str]], text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    known = [*"abc"]
    listed = []
    for left, right in merges:
        if left in known and right in known:
            listed.append([left, right])
            known += [] if left + right in known else [left + right]
    random.Random(len(text)).shuffle(listed)
    folder = write(small(listed, *known[3:]), tmp_path_factory.mktemp("any"))
    theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    try:
        with mock.patch("supratok.formats.huggingface.read._check"):  # which would hide a mistake
            ours = Tokenizer.from_huggingface(folder)
    except ValueError as error:
        assert "rank before those" in str(error)
        return
    assert ours.encode(text) == theirs.encode(text).ids
    assert ours.decode(ours.encode(text)) == text


def test_normalizers_of_the_package_are_what_we_read() -> None:
    """The names in the files, as the installed `tokenizers` writes them."""
    assert json.loads(normalizers.Prepend("▁").__getstate__()) == PREFIX
    assert json.loads(normalizers.Replace(" ", "▁").__getstate__()) == REPLACE

"""A tokenizer whose ids are not in the house order keeps every promise."""

from __future__ import annotations

import json
import pickle
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import supratok
from supratok import Recipe, Tokenizer
from supratok.formats.listing import Kind, Roles, listing_of
from supratok.learn.rework import prune, refine
from supratok.pages.facts import describe
from supratok.tokenizer.ids import Layout
from texts import HOSTILE, any_text, corpus, prose

ALWAYS = {"\n\n": 7, "\n\n\n": 8, "  ": 11, "[REF]": 3000}
SPARE = {"<unused0>": 5, "spare": 2999}
SPECIAL = ("<bos>", "<eos>")


@pytest.fixture(scope="module", params=["merges", "fewest"])
def house(request: pytest.FixtureRequest) -> Tokenizer:
    recipe = Recipe(vocab_size=1200, segmentation=request.param, special_tokens=SPECIAL)
    return supratok.train(prose(8, 300) + corpus(8, 200), recipe, progress=False)


def shuffled(house: Tokenizer, *, prefix: bool) -> Tokenizer:
    """The same tokens under other ids, with holes between them."""
    taken = {*ALWAYS.values(), *SPARE.values()}
    free = [id for id in range(2900) if id not in taken]
    ids = random.Random(3).sample(free, 2 + 256 + len(house.texts))
    layout = Layout(tuple(ids[:2]), tuple(ids[2:258]), tuple(ids[258:]), (), ALWAYS, SPARE, prefix)
    return Tokenizer(house.vocabulary, house.recipe, {}, layout)


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "prefix"])
def tokenizer(house: Tokenizer, request: pytest.FixtureRequest) -> Tokenizer:
    return shuffled(house, prefix=request.param)


pieces = ["\n", "\n\n", " ", "  ", "a", "the", "[REF]", "<bos>", "<eos>", "é"]
texts = st.one_of(any_text, st.lists(st.sampled_from(pieces)).map("".join))


@settings(max_examples=200)
@given(text=texts)
def test_every_way_of_encoding_agrees(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert tokenizer.decode_bytes(ids) == text.encode()
    assert tokenizer.count(text) == len(ids)
    assert tokenizer.encode(text, numpy=True).tolist() == ids
    assert tokenizer.encode_batch([text, "x", text], 2)[2] == ids
    assert tokenizer.encode_batch([text], numpy=True)[0].tolist() == ids
    found, offsets = tokenizer.encode_with_offsets(text)
    assert found == ids
    assert not text or offsets[-1][1] == len(text)
    for id, (start, end) in zip(ids, offsets, strict=True):
        piece = tokenizer.token_text(id)
        whole = piece in (text[start:end], " " + text[start:end] if start == 0 else None)
        assert whole or tokenizer.birth(id) == "byte"
    assert [piece.id for piece in tokenizer.explain(text)] == ids
    usage = tokenizer.usage([text, text])
    assert len(usage) == tokenizer.vocab_size
    assert usage.tolist() == (2 * np.bincount(ids, minlength=tokenizer.vocab_size)).tolist()


@given(text=texts)
def test_what_is_between_the_cuts_is_encoded_as_ever(house: Tokenizer, text: str) -> None:
    expected, at = list[str](), 0
    while at < len(text):  # at each place the longest, else a stretch up to the next
        cut = max((c for c in ALWAYS if text.startswith(c, at)), key=len, default="")
        places = (text.find(c, at) for c in ALWAYS)
        end = at + len(cut) if cut else min((p for p in places if p >= 0), default=len(text))
        expected += [cut] if cut else house.tokens(text[at:end])
        at = end
    assert shuffled(house, prefix=False).tokens(text) == expected


@given(text=texts)
def test_special_tokens_and_the_prefix(tokenizer: Tokenizer, text: str) -> None:
    """The first stretch of ordinary text gets the prefix, and no other."""
    assert tokenizer.decode(tokenizer.encode(text, allow_special=True)) == text
    plain = text.replace("<", "")
    bos, eos = tokenizer.special_tokens.values()
    ids = tokenizer.encode(f"<bos>{plain}<eos>", allow_special=True)
    assert ids == [bos, *tokenizer.encode(plain), eos]
    assert tokenizer.decode(ids) == f"<bos>{plain}<eos>"


def test_files_and_pickles(tokenizer: Tokenizer, tmp_path: Path) -> None:
    path, again = tmp_path / "a.json", tmp_path / "b.json"
    tokenizer.save(path)
    assert json.loads(path.read_text(encoding="utf-8"))["version"] == 2
    for copy in (Tokenizer.load(path), pickle.loads(pickle.dumps(tokenizer))):
        assert copy.layout == tokenizer.layout
        assert copy.vocab_size == 3001
        for text in [*corpus(4, 50), *HOSTILE]:
            assert copy.encode(text) == tokenizer.encode(text)
    Tokenizer.load(path).save(again)
    assert again.read_bytes() == path.read_bytes()
    path.write_text(path.read_text(encoding="utf-8").replace("3000", "3001"), encoding="utf-8")
    with pytest.raises(ValueError, match="checksum"):
        Tokenizer.load(path)


def test_files_of_the_house_order_are_of_version_1(house: Tokenizer, tmp_path: Path) -> None:
    house.save(tmp_path / "house.json")
    document = json.loads((tmp_path / "house.json").read_text(encoding="utf-8"))
    assert document["version"] == 1
    assert list(document) == ["format", "version", "sha256", "recipe", "report", "tokens"]


def test_unknown_ids_are_refused(tokenizer: Tokenizer) -> None:
    assert tokenizer.decode([SPARE["spare"], ALWAYS["[REF]"]]) == "spare[REF]"
    hole = next(id for id in range(2900) if id not in tokenizer.ids)
    for wrong in (hole, tokenizer.vocab_size, -1, 10**12):
        with pytest.raises(ValueError, match=f"no token has the id {wrong}"):
            tokenizer.decode([5, wrong])
        with pytest.raises(ValueError, match=f"no token has the id {wrong}"):
            tokenizer.token_text(wrong)


def test_lone_surrogates_are_found_in_their_place(tokenizer: Tokenizer) -> None:
    for call in (tokenizer.encode, tokenizer.count, lambda text: tokenizer.encode_batch([text])):
        with pytest.raises(ValueError, match="at character 5"):
            call("a  bc\ud800")


def test_layouts_that_do_not_fit_are_refused(house: Tokenizer) -> None:
    layout = shuffled(house, prefix=False).layout
    assert layout
    for wrong, message in (
        (replace(layout, special=(1,)), "1 special tokens"),
        (replace(layout, special=(7, 1)), "the id 7, which is negative or given twice"),
        (replace(layout, spare={"x": -1}), "the id -1"),
    ):
        with pytest.raises(ValueError, match=message):
            Tokenizer(house.vocabulary, house.recipe, {}, wrong)


def test_with_special_tokens(house: Tokenizer, tokenizer: Tokenizer) -> None:
    for before in (house, tokenizer):
        after = before.with_special_tokens(["<|im_start|>", "<|im_end|>"])
        size = before.vocab_size
        new = {"<|im_start|>": size, "<|im_end|>": size + 1}
        assert after.special_tokens == before.special_tokens | new
        assert after.vocab_size == size + 2
        for text in [*corpus(4, 50), *HOSTILE, "a <|im_start|>"]:
            assert after.encode(text) == before.encode(text)
        ids = after.encode("<|im_start|>the<|im_end|>", allow_special=True)
        assert ids == [size, *before.encode("the"), size + 1]
        assert after.decode(ids) == "<|im_start|>the<|im_end|>"
        for taken in ("the", "<bos>", "<|im_end|>", "<0x41>"):
            with pytest.raises(ValueError, match="is a token already"):
                after.with_special_tokens(["<new>", taken])
        with pytest.raises(ValueError, match="must be new and not empty"):
            after.with_special_tokens(["<new>", "<new>"])
        assert before.with_special_tokens([]) is before


def test_work_afterwards_is_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(ValueError, match="the ids of this tokenizer are fixed"):
        prune(tokenizer, ["text"], 600, progress=False)
    with pytest.raises(ValueError, match="the ids of this tokenizer are fixed"):
        refine(tokenizer, ["text"], progress=False)


def test_inspection(tokenizer: Tokenizer) -> None:
    facts = describe(tokenizer, tokenizer.usage(corpus(4, 50)), 5)
    assert facts["born"]["byte"]["tokens"] == 256
    assert facts["born"]["special"]["tokens"] == 2
    assert facts["born"]["always"]["tokens"] == len(ALWAYS)
    assert facts["born"]["spare"]["tokens"] == len(SPARE)
    assert facts["born"]["alphabet"]["use"] > 0
    assert sum(row["share"] for row in facts["born"].values()) == pytest.approx(1)


def test_listing(house: Tokenizer, tokenizer: Tokenizer) -> None:
    assert tokenizer.layout
    always = {text: id for text, id in ALWAYS.items() if text not in house.texts}
    layout = replace(tokenizer.layout, always=always)  # else one text has two ids
    tokenizer = Tokenizer(house.vocabulary, house.recipe, {}, layout)
    listing = listing_of(tokenizer, Roles(unk="<eos>"))
    assert len(listing.rows) == tokenizer.vocab_size == len({row.text for row in listing.rows})
    assert listing.prefix == layout.prefix
    for id in tokenizer.ids:
        assert listing.rows[id].text == tokenizer.token_text(id)
    kinds = {id: row.kind for id, row in enumerate(listing.rows)}
    assert always
    assert all(kinds[id] is Kind.USER_DEFINED for id in always.values())
    holes = set(range(tokenizer.vocab_size)) - set(tokenizer.ids)
    assert all(kinds[id] is Kind.UNUSED for id in [*SPARE.values(), *holes])
    assert listing.id_of("unk") == tokenizer.special_tokens["<eos>"]
    assert kinds[tokenizer.special_tokens["<eos>"]] is Kind.UNKNOWN
    ranks = [listing.rows[id].rank for id in tokenizer.entry_ids]
    assert ranks == list(range(len(house.texts)))
    rows = listing_of(house).rows
    assert [row.kind for row in rows[:3]] == [Kind.CONTROL, Kind.CONTROL, Kind.BYTE]
    assert [row.text for row in rows[258:]] == house.texts

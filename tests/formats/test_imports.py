"""Imported tokenizers give the ids of their own program for every text, or are refused."""

from __future__ import annotations

import functools
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import sentencepiece
import tokenizers
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import sentencepiece_model_pb2
from tokenizers import models, normalizers, pre_tokenizers, trainers

import supratok
from supratok import Recipe, Tokenizer
from supratok.formats.hostile import hostile_texts
from supratok.formats.listing import listing_of, swap_spaces
from texts import HOSTILE, any_text, corpus, multilingual, prose

Json = dict[str, Any]
LINES = [
    *prose(3, 400), *corpus(3, 300), *multilingual(3, 200),
    *["    if x:\n        return  y\n\n\n" + " " * n + "z" for n in range(40)],
]  # fmt: skip
WORDS = [
    "  ", "    ", "\n", "\n\n", "\t", " the", "in", "[REF]", "<s>", "é", "🙂", "日本", " ", "1",
]  # fmt: skip
any_words = st.lists(st.sampled_from(WORDS), max_size=30).map("".join)
# A literal U+2581 is the one difference: these programs read it as a space.
texts = st.one_of(any_text, any_words, st.text("ab ▁\n", max_size=30)).map(
    lambda text: text.replace("▁", " ")
)


def sp_model(**options: Any) -> Any:
    """A small model, learnt here; lossless unless the options say otherwise."""
    shape = {
        "model_type": "bpe", "vocab_size": 700, "byte_fallback": True, "character_coverage": 0.998,
        "normalization_rule_name": "identity", "remove_extra_whitespaces": False,
        "add_dummy_prefix": True, "split_digits": True, "minloglevel": 2, "num_threads": 1,
        "hard_vocab_limit": False,
    }  # fmt: skip
    learnt = _learnt(json.dumps(shape | options))
    return sentencepiece_model_pb2.ModelProto.FromString(learnt)


@functools.cache
def _learnt(options: str) -> bytes:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=written, **json.loads(options)
    )
    return written.getvalue()


def llama() -> Any:
    """As Llama 2: runs of spaces, added after training with one score below all others."""
    model = sp_model(allow_whitespace_only_pieces=False)
    for length in (2, 4, 8, 16, *range(3, 15)):
        if all(piece.piece != "▁" * length for piece in model.pieces):
            model.pieces.add(piece="▁" * length, score=-1e9)
    return model


def gemma() -> Any:
    """As Gemma: no prefix; runs of newlines and spaces are cut out first."""
    runs = ["\n" * n for n in range(1, 9)] + ["▁" * n for n in range(2, 9)]
    symbols = ["<start_of_turn>", "[REF]", "[REF]]", *runs]
    control = ["<pad>", *(f"<unused{n}>" for n in range(5))]
    return sp_model(
        add_dummy_prefix=False, user_defined_symbols=symbols, control_symbols=control,
        allow_whitespace_only_pieces=True, split_by_whitespace=False,
    )  # fmt: skip


def unigram() -> Any:
    """All scores equal: the fewest pieces."""
    model = sp_model(model_type="unigram", add_dummy_prefix=False, split_by_whitespace=False)
    for piece in model.pieces:
        if piece.type == 1:
            piece.score = -1.0
    return model


SHAPES: dict[str, Callable[[], Any]] = {"llama": llama, "gemma": gemma, "unigram": unigram}


@pytest.fixture(scope="module", params=SHAPES)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Tokenizer, Any]:
    """An imported tokenizer, and the program that it must equal."""
    data = SHAPES[request.param]().SerializeToString()
    path = tmp_path_factory.mktemp("sp") / "tokenizer.model"
    path.write_bytes(data)
    return (
        Tokenizer.from_sentencepiece(path),
        sentencepiece.SentencePieceProcessor(model_proto=data),
    )


@settings(max_examples=400)
@given(text=texts)
def test_sentencepiece_ids(pair: tuple[Tokenizer, Any], text: str) -> None:
    ours, theirs = pair
    assert ours.encode(text) == theirs.encode(text)
    assert ours.decode(ours.encode(text)) == text


def test_sentencepiece_on_lines(pair: tuple[Tokenizer, Any], tmp_path: Path) -> None:
    ours, theirs = pair
    lines = [text.replace("▁", " ") for text in [*LINES, *HOSTILE, *corpus(7, 300), "".join(LINES)]]
    expected = [theirs.encode(line) for line in lines]
    ours.save(tmp_path / "saved.json")
    for tokenizer in (ours, Tokenizer.load(tmp_path / "saved.json")):
        assert tokenizer.encode_batch(lines) == expected
        assert tokenizer.vocab_size == theirs.vocab_size()
    assert ours.special_tokens["</s>"] == theirs.eos_id()
    assert ours.report["imported"]["format"] == "sentencepiece"
    for row, id in zip(listing_of(ours).rows, range(ours.vocab_size), strict=True):
        assert swap_spaces(row.text) == theirs.id_to_piece(id)


def test_u2581_is_kept(pair: tuple[Tokenizer, Any]) -> None:
    """The documented difference."""
    ours, theirs = pair
    assert ours.decode(ours.encode("a▁b")) == "a▁b"
    assert theirs.decode(theirs.encode("a▁b")) == "a b"


def test_folders_and_packed_files(tmp_path: Path) -> None:
    data = llama().SerializeToString()
    (tmp_path / "tokenizer.model.zst").write_bytes(zstandard.compress(data))
    assert Tokenizer.from_sentencepiece(tmp_path).special_tokens["<s>"] == 1
    with pytest.raises(FileNotFoundError, match=r"tokenizer\.json"):
        Tokenizer.from_huggingface(tmp_path)


def unused(model: Any) -> None:
    """Mark the piece that is first made of two as unused."""
    next(piece for piece in model.pieces if piece.type == 1 and len(piece.piece) == 2).type = 5


def without_a_character(model: Any) -> None:
    long = next(piece for piece in model.pieces if piece.type == 1 and len(piece.piece) == 2)
    next(p for p in model.pieces if p.type == 1 and p.piece == long.piece[1]).piece = "never"


def other_scores(model: Any) -> None:
    for piece in model.pieces:
        piece.score = -0.3


SP_REFUSALS: list[tuple[Callable[[], Any], str]] = [
    (lambda: sp_model(model_type="char"), "model type is CHAR"),
    (lambda: sp_model(normalization_rule_name="nmt_nfkc"), "nmt_nfkc"),
    (lambda: sp_model(byte_fallback=False), "no byte fallback"),
    (lambda: sp_model(remove_extra_whitespaces=True), "removes spaces"),
    (lambda: sp_model(treat_whitespace_as_suffix=True), "end with their space"),
    (lambda: sp_model(model_type="unigram"), "its scores differ"),
    (lambda: but(unigram(), other_scores), "whole negative numbers"),
    (lambda: sp_model(model_type="unigram", user_defined_symbols=["[REF]"]),
     r"user-defined symbols \('\[REF\]'\)"),
    (lambda: but(llama(), unused), "marked as unused"),
    (lambda: but(llama(), without_a_character), "which is no token itself"),
]  # fmt: skip


def but(model: Any, change: Callable[[Any], None]) -> Any:
    change(model)
    return model


@pytest.mark.parametrize(("make", "message"), SP_REFUSALS)
def test_sentencepiece_refusals(make: Callable[[], Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "some.model"
    path.write_bytes(make().SerializeToString())
    with pytest.raises(ValueError, match=message) as caught:
        Tokenizer.from_sentencepiece(path)
    assert "some.model: " in str(caught.value)
    assert ";" in str(caught.value)  # the remedy


def test_what_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    twice = llama()
    twice.pieces.add(piece="a")
    for data in (b"\xff\xff", b"", twice.SerializeToString()):
        path.write_bytes(data)
        with pytest.raises(ValueError, match="not a SentencePiece model"):
            Tokenizer.from_sentencepiece(path)
    for text, message in (("{", "not a tokenizer.json"), ("[]", "it has no model")):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            Tokenizer.from_huggingface(path)


# --- Hugging Face ----------------------------------------------------------------------------


def from_sp(model: Any, **parts: Any) -> Json:
    """A model of SentencePiece as the converters of `transformers` write it: every split of a piece
    into two is a merge, those of high scores first, of equal scores those with a longer left."""
    pieces = {piece.piece: id for id, piece in enumerate(model.pieces)}
    merges = [
        (piece.score, len(piece.piece[:at]), piece.piece[:at], piece.piece[at:])
        for piece in model.pieces
        for at in range(1, len(piece.piece))
        if piece.type in (1, 4) and piece.piece[:at] in pieces and piece.piece[at:] in pieces
    ]
    merges.sort(key=lambda merge: merge[:2], reverse=True)
    added = [
        added_token(piece.piece, id, special=piece.type != 4)
        for id, piece in enumerate(model.pieces)
        if piece.type in (2, 3, 4)
    ]
    bpe = {
        "type": "BPE", "byte_fallback": True, "fuse_unk": True, "unk_token": "<unk>",
        "vocab": pieces, "merges": [[left, right] for _, _, left, right in merges],
    }  # fmt: skip
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    return {"version": "1.0", "added_tokens": added, "normalizer": replace, "model": bpe} | parts


def added_token(text: str, id: int, special: bool, **flags: bool) -> Json:
    names = ("single_word", "lstrip", "rstrip", "normalized")
    return {"id": id, "content": text, "special": special} | dict.fromkeys(names, False) | flags


PREFIX = {"type": "Prepend", "prepend": "▁"}
REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}


def hf_llama() -> Json:
    both = {"type": "Sequence", "normalizers": [PREFIX, REPLACE]}
    return from_sp(llama(), normalizer=both)


def hf_gemma() -> Json:
    split = {
        "type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious",
        "invert": False,
    }  # fmt: skip
    return from_sp(gemma(), pre_tokenizer=split)


def hf_metaspace() -> Json:
    space = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "split": False}
    return from_sp(llama(), normalizer=None, pre_tokenizer=space)


def hf_trained() -> Json:
    """Learnt by `tokenizers`: one merge a token, plain spaces, no cuts between words."""
    tokenizer = tokenizers.Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>"))
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=900, special_tokens=["<unk>", "<s>", *names], show_progress=False,
        limit_alphabet=90, max_token_length=12,
    )  # fmt: skip
    tokenizer.train_from_iterator(LINES, trainer)
    document: Json = json.loads(tokenizer.to_str())
    document["added_tokens"] = document["added_tokens"][:2]
    document["added_tokens"].append(added_token("[REF]", 900, special=False, normalized=True))
    return document


def hf_unigram(missing: str = "<>") -> Json:
    """As SupraTok writes its rule `fewest`: no text becomes the name of a byte, because `<` is cut
    out, or if it is a token, because the characters of the name score better."""
    model = unigram()
    rows: list[tuple[str, float]] = [
        (swap_spaces(piece.piece), -1.0 if piece.type == 1 else -1000.0)
        for piece in model.pieces
        if piece.type != 1 or not set(missing) & set(piece.piece)
    ]
    chars = {text for text, _ in rows if len(text) == 1}
    names = {char for text, score in rows if score < -1.0 for char in text}
    rows += [(char, -1.0) for char in sorted(names - chars - set(missing))]
    splits = [
        {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}
        for pattern in ({"String": missing[:1]}, {"Regex": "|".join(missing)})
    ]
    return {
        "version": "1.0", "normalizer": None,
        "added_tokens": [added_token(rows[id][0], id, special=True) for id in range(3)],
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": splits} if missing else None,
        "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": True, "vocab": rows},
    }  # fmt: skip


HF_SHAPES: dict[str, Callable[[], Json]] = {
    "llama": hf_llama, "gemma": hf_gemma, "metaspace": hf_metaspace, "trained": hf_trained,
    "unigram": hf_unigram, "unigram with all characters": lambda: hf_unigram(""),
}  # fmt: skip


def write(document: Json, folder: Path) -> Path:
    document.setdefault("pre_tokenizer", None)
    for name in ("truncation", "padding", "post_processor", "decoder"):
        document.setdefault(name, None)
    (folder / "tokenizer.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


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


@pytest.mark.parametrize(("rule", "coverage"), [("merges", 1.0), ("fewest", 1.0), ("fewest", 0.99)])
def test_our_own_come_back(rule: Any, coverage: float, tmp_path: Path) -> None:
    """A tokenizer of ours, exported and imported, has the same ids for all text."""
    recipe = Recipe(
        vocab_size=900, segmentation=rule, special_tokens=("<eos>", "a special one"),
        character_coverage=coverage,
    )  # fmt: skip
    ours = supratok.train(LINES, recipe, progress=False)
    ours.export(tmp_path / "out", ["huggingface", "sentencepiece"])
    for read in (Tokenizer.from_huggingface, Tokenizer.from_sentencepiece):
        back = read(tmp_path / "out")
        for text in [*LINES, *HOSTILE, *hostile_texts(ours.texts, ["<eos>"]), "▁ ▁▁"]:
            assert back.encode(text) == ours.encode(text)
            assert back.decode(back.encode(text)) == text
        assert ours.special_tokens.items() <= back.special_tokens.items()
        assert back.texts == ours.texts or rule == "fewest"


@pytest.mark.parametrize("shape", SHAPES)
def test_imported_tokenizers_are_exported(shape: str, tmp_path: Path) -> None:
    """With their ids; and the export can be imported again."""
    (tmp_path / "tokenizer.model").write_bytes(SHAPES[shape]().SerializeToString())
    ours = Tokenizer.from_sentencepiece(tmp_path).with_special_tokens(["<new>"])
    ours.export(tmp_path / "out", ["huggingface", "sentencepiece"], unk="<unk>", eos="<new>")
    assert ours.layout
    for read in (Tokenizer.from_huggingface, Tokenizer.from_sentencepiece):
        back = read(tmp_path / "out")
        assert back.special_tokens == ours.special_tokens
        assert back.layout
        assert back.layout.always == ours.layout.always
        for text in [*LINES, *HOSTILE]:
            assert back.encode(text) == ours.encode(text)


def test_a_prefix_and_cuts_are_not_for_hugging_face(tmp_path: Path) -> None:
    model = sp_model(user_defined_symbols=["[REF]"])
    (tmp_path / "tokenizer.model").write_bytes(model.SerializeToString())
    ours = Tokenizer.from_sentencepiece(tmp_path)
    with pytest.raises(ValueError, match="export the format sentencepiece"):
        ours.export(tmp_path / "out", ["huggingface"])
    assert not (tmp_path / "out").exists()
    ours.export(tmp_path / "out", ["sentencepiece"], unk="<unk>")
    assert Tokenizer.from_sentencepiece(tmp_path / "out").layout == ours.layout


def test_the_import_is_tried_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The import stops if the other program does not do what we think."""
    monkeypatch.setattr(
        sentencepiece.SentencePieceProcessor,
        "encode",
        lambda self, texts, **_: [[0] * len(text) for text in texts],
    )
    (tmp_path / "tokenizer.model").write_bytes(llama().SerializeToString())
    with pytest.raises(ValueError, match="sentencepiece encodes ' ' as"):
        Tokenizer.from_sentencepiece(tmp_path)


def test_normalizers_of_the_package_are_what_we_read() -> None:
    """The names in the files, as the installed `tokenizers` writes them."""
    assert json.loads(normalizers.Prepend("▁").__getstate__()) == PREFIX
    assert json.loads(normalizers.Replace(" ", "▁").__getstate__()) == REPLACE

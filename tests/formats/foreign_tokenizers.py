"""Small tokenizers of other programs, in the shapes of Llama, Gemma and more, to be imported."""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sentencepiece
import tokenizers
from hypothesis import strategies as st
from sentencepiece import sentencepiece_model_pb2
from tokenizers import models, trainers

from supratok.formats.listing import swap_spaces
from texts import any_text, corpus, multilingual, prose

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

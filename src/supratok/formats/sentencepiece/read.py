"""Read SentencePiece's `tokenizer.model`, as in Llama 2, Mistral and Gemma.

Its BPE joins by the score of the joined text, the highest first and of equals the leftmost: our
rule `merges`. Its unigram takes the segmentation with the highest sum of scores: our rule `fewest`,
if all scores are equal. User-defined symbols are cut out of every text first. Control symbols
become special tokens, and so does <unk>, which no text makes if every byte has a token.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from ...common.packages import package
from ...tokenizer import Tokenizer
from ...tokenizer.inputs import LONGEST_TOKEN, find_file, naming, read_file
from ..assemble import (
    LITERAL_SPACE,
    NOT_IMPORTED,
    Vocabulary,
    by_fewest,
    by_merges,
    one_score,
)
from ..check import check_import
from ..listing import Kind, swap_spaces
from .run import SentencePiece

_UNIGRAM, _BPE = 1, 2  # of TrainerSpec.ModelType


def read_sentencepiece(path: str | os.PathLike[str]) -> Tokenizer:
    """The tokenizer of a `.model` file, or of a folder with a `tokenizer.model`."""
    file = find_file(path, "tokenizer.model")
    proto = package("sentencepiece.sentencepiece_model_pb2", "export")
    with naming(file):
        return _read(file, proto)


def _read(file: Path, proto: Any) -> Tokenizer:
    data = read_file(file)
    model = parse_model(data, proto)
    vocab = Vocabulary(str(file), "sentencepiece", differences=[LITERAL_SPACE])
    vocab.prefix = model.normalizer_spec.add_dummy_prefix
    _refuse_options(vocab, model)
    runtime = SentencePiece(str(file), data)  # its loader trusts tables that we refuse
    scores, unused = _sort_out(vocab, model)
    if model.trainer_spec.model_type == _BPE:
        tokenizer = by_merges(vocab, lambda left, right: -scores.get(left + right, -math.inf))
        _refuse_unused(vocab, tokenizer, unused)
    else:
        one_score(vocab, scores)
        tokenizer = by_fewest(vocab)
    check_import(tokenizer, vocab, runtime)
    return tokenizer


def parse_model(data: bytes, proto: Any) -> Any:
    """The message that the file holds. Refuses pieces that are no text, or too long, and scores
    that are no numbers."""
    decode_error = package("google.protobuf.message", "export").DecodeError
    try:
        model = proto.ModelProto.FromString(data)
        for id, piece in enumerate(model.pieces):
            if not isinstance(piece.piece, str):  # protobuf leaves it as bytes
                raise ValueError(f"piece {id} is no UTF-8 text; download the file again")
            if len(piece.piece) > LONGEST_TOKEN or not math.isfinite(piece.score):
                raise ValueError(
                    f"piece {id} is longer than {LONGEST_TOKEN:,} characters, or its score"
                    f" {piece.score} is no number"
                )
    except (decode_error, UnicodeDecodeError) as error:
        raise ValueError(f"not a SentencePiece model ({error}); download it again") from error
    if not model.pieces:
        raise ValueError("not a SentencePiece model, it has no pieces; download it again")
    return model


def _refuse_options(vocab: Vocabulary, model: Any) -> None:
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    kind = trainer.ModelType.Name(trainer.model_type)
    refusals = {
        f"its model type is {kind}; supratok has rules for BPE and UNIGRAM only": (
            trainer.model_type not in (_BPE, _UNIGRAM)
        ),
        f"it normalises text ({normalizer.name or 'by its own table'}), so decoding does not"
        " return the text": bool(normalizer.precompiled_charsmap),
        "it removes spaces (remove_extra_whitespaces), so decoding does not return the text": (
            normalizer.remove_extra_whitespaces
        ),
        "it does not write spaces as U+2581 (escape_whitespaces)": (
            not normalizer.escape_whitespaces
        ),
        "its words end with their space instead of beginning with it"
        " (treat_whitespace_as_suffix)": trainer.treat_whitespace_as_suffix,
        "it has no byte fallback, so it loses rare characters": not trainer.byte_fallback,
    }
    for why, applies in refusals.items():
        if applies:
            raise vocab.refuse(why, NOT_IMPORTED)


def _sort_out(vocab: Vocabulary, model: Any) -> tuple[dict[str, float], dict[str, int]]:
    """Put each piece into `vocab` by its kind. Returns the scores of ordinary pieces, and those of
    them that SentencePiece makes but does not use."""
    unigram = model.trainer_spec.model_type == _UNIGRAM
    scores: dict[str, float] = {}
    names: dict[str, int] = {}
    unused: dict[str, int] = {}
    for id, piece in enumerate(model.pieces):
        text = swap_spaces(piece.piece)
        if piece.type == Kind.BYTE.value:
            names[piece.piece] = id
        elif piece.type in (Kind.CONTROL.value, Kind.UNKNOWN.value):
            vocab.special[piece.piece] = id
        elif piece.type == Kind.USER_DEFINED.value:
            vocab.always[text] = id
        elif piece.type == Kind.UNUSED.value and unigram:
            vocab.spare[text] = id
        else:
            vocab.pieces[text] = id
            scores[text] = piece.score
            if piece.type == Kind.UNUSED.value:
                unused[text] = id
    vocab.take_bytes(names)
    if unigram and vocab.always:
        raise vocab.refuse(
            f"it has user-defined symbols ({next(iter(vocab.always))!r}), which a unigram model"
            " weighs against its other pieces",
            NOT_IMPORTED,
        )
    return scores, unused


def _refuse_unused(vocab: Vocabulary, tokenizer: Tokenizer, unused: dict[str, int]) -> None:
    """SentencePiece makes unused pieces on the way and takes them apart again; our rules do not."""
    made = set(tokenizer.texts)
    for text in unused:
        if text in made:
            raise vocab.refuse(
                f"its piece {text!r} is marked as unused, but others are made from it",
                NOT_IMPORTED,
            )

"""SentencePiece's `tokenizer.model`, as in Llama 2, Mistral and Gemma.

Its BPE joins by the score of the joined text, the highest first and of equals the leftmost: our
rule `merges`. Its unigram takes the segmentation of the highest sum of scores: our rule `fewest`,
if all scores are the same. User-defined symbols are cut out first. Control symbols become special
tokens, and so does <unk>, which is never made where there are bytes.
"""

from __future__ import annotations

import math
import os
from typing import Any

from ...common.packages import package
from ...tokenizer import Tokenizer
from ..assemble import (
    AS_IT_IS,
    LITERAL_SPACE,
    Found,
    by_fewest,
    by_merges,
    one_score,
)
from ..check import check_ids, read_inside
from ..listing import Kind, swap_spaces

_UNIGRAM, _BPE = 1, 2  # of TrainerSpec.ModelType


def read_sentencepiece(path: str | os.PathLike[str]) -> Tokenizer:
    """The tokenizer of a `.model` file, or of a folder with a `tokenizer.model`."""
    file, data = read_inside(path, "tokenizer.model")
    model, theirs = _parse(str(file), data)
    found = Found(file.name, "sentencepiece", differences=[LITERAL_SPACE])
    found.prefix = model.normalizer_spec.add_dummy_prefix
    _refuse_options(found, model)
    scores, unused = _sort_out(found, model)
    if model.trainer_spec.model_type == _BPE:
        tokenizer = by_merges(found, lambda left, right: -scores.get(left + right, -math.inf))
        _refuse_unused(found, tokenizer, unused)
    else:
        one_score(found, scores)
        tokenizer = by_fewest(found)
    check_ids(tokenizer, found, theirs.encode, "sentencepiece")
    return tokenizer


def _parse(name: str, data: bytes) -> tuple[Any, Any]:
    """The model, and the program that runs it."""
    proto = package("sentencepiece.sentencepiece_model_pb2", "export")
    try:
        processor = package("sentencepiece", "export").SentencePieceProcessor(model_proto=data)
    except RuntimeError as error:
        raise ValueError(f"{name}: no model for SentencePiece ({error}); fetch it again") from error
    model = proto.ModelProto.FromString(data)
    if not model.pieces:
        raise ValueError(f"{name}: no model for SentencePiece (it is empty); fetch it again")
    return model, processor


def _refuse_options(found: Found, model: Any) -> None:
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    kind = trainer.ModelType.Name(trainer.model_type)
    refusals = {
        f"its model type is {kind}, and only BPE and UNIGRAM follow rules that there are here": (
            trainer.model_type not in (_BPE, _UNIGRAM)
        ),
        f"it normalises text ({normalizer.name or 'by a table of its own'}), so that what it"
        " changes does not come back": bool(normalizer.precompiled_charsmap),
        "it removes spaces (remove_extra_whitespaces), so that text does not come back": (
            normalizer.remove_extra_whitespaces
        ),
        "it does not write spaces as U+2581 (escape_whitespaces)": (
            not normalizer.escape_whitespaces
        ),
        "its words end with their space instead of beginning with it"
        " (treat_whitespace_as_suffix)": trainer.treat_whitespace_as_suffix,
        "it has no byte fallback, so that rare characters are lost": not trainer.byte_fallback,
    }
    for why, applies in refusals.items():
        if applies:
            raise found.refuse(why, AS_IT_IS)


def _sort_out(found: Found, model: Any) -> tuple[dict[str, float], dict[str, int]]:
    """Each piece where it belongs. Returns the scores of what may be made, and what SentencePiece
    makes but does not use."""
    unigram = model.trainer_spec.model_type == _UNIGRAM
    scores: dict[str, float] = {}
    names: dict[str, int] = {}
    unused: dict[str, int] = {}
    for id, piece in enumerate(model.pieces):
        text = swap_spaces(piece.piece)
        if piece.type == Kind.BYTE.value:
            names[piece.piece] = id
        elif piece.type in (Kind.CONTROL.value, Kind.UNKNOWN.value):
            found.special[piece.piece] = id
        elif piece.type == Kind.USER_DEFINED.value:
            found.always[text] = id
        elif piece.type == Kind.UNUSED.value and unigram:
            found.spare[text] = id
        else:
            found.pieces[text] = id
            scores[text] = piece.score
            if piece.type == Kind.UNUSED.value:
                unused[text] = id
    found.take_bytes(names)
    if unigram and found.always:
        raise found.refuse(
            f"it has user-defined symbols ({next(iter(found.always))!r}), which a unigram model"
            " weighs against its other pieces",
            AS_IT_IS,
        )
    return scores, unused


def _refuse_unused(found: Found, tokenizer: Tokenizer, unused: dict[str, int]) -> None:
    """Unused pieces are made on the way and taken apart again, which no rule here does."""
    made = set(tokenizer.texts)
    for text in unused:
        if text in made:
            raise found.refuse(
                f"its piece {text!r} is marked as unused, but is made on the way to others",
                AS_IT_IS,
            )

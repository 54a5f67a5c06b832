"""Write `tokenizer.model`, a SentencePiece model with the same ids. llama.cpp's converter reads it
for Llama-class models.

merges: type BPE, which joins by the text of the joined piece as we do; the score is minus the rank.
fewest: type unigram with equal scores. Nothing is normalised; no space is added or removed.

SentencePiece writes spaces as U+2581 and cannot tell a literal U+2581 from a space: such a text
comes back with a space. Everything else is exact.

SentencePiece requires an unknown piece, although every byte has one. If no special token has this
role, we put one after the last id, where no text reaches it.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from ...common.packages import package
from ..listing import Kind, Listing, Row, swap_spaces

_OF_TEXT = (Kind.NORMAL, Kind.USER_DEFINED, Kind.UNUSED)  # the others are names


def write(path: Path, listing: Listing) -> None:
    proto = package("sentencepiece.sentencepiece_model_pb2", "export")
    model = proto.ModelProto()
    rows = _with_unknown(listing.rows)
    if any("\0" in row.text for row in rows):
        raise ValueError(
            "a token holds the character NUL, which SentencePiece refuses; train again (training"
            " no longer puts NUL into an alphabet), or export the other formats"
        )
    _specify(model, rows, listing)
    for row in rows:
        normal = row.kind is Kind.NORMAL
        piece = model.pieces.add()
        piece.piece = swap_spaces(row.text) if row.kind in _OF_TEXT else row.text
        piece.type = row.kind.value
        piece.score = (-1.0 if listing.fewest else -float(row.rank)) if normal else 0.0
    path.write_bytes(model.SerializeToString())


def _with_unknown(rows: list[Row]) -> list[Row]:
    if any(row.kind is Kind.UNKNOWN for row in rows):
        return rows
    taken = {row.text for row in rows}
    names = itertools.chain(["<unk>"], (f"<unk{number}>" for number in itertools.count()))
    return [*rows, Row(next(name for name in names if name not in taken), Kind.UNKNOWN, 0)]


def _specify(model: Any, rows: list[Row], listing: Listing) -> None:
    """The settings of the file: most of them say not to change texts."""
    trainer = model.trainer_spec
    trainer.model_type = trainer.UNIGRAM if listing.fewest else trainer.BPE
    trainer.vocab_size = len(rows)
    trainer.byte_fallback = True
    trainer.unk_id = next(id for id, row in enumerate(rows) if row.kind is Kind.UNKNOWN)
    trainer.unk_piece = rows[trainer.unk_id].text
    for role in ("bos", "eos", "pad"):
        id = listing.id_of(role)
        setattr(trainer, f"{role}_id", -1 if id is None else id)
        if id is not None:
            setattr(trainer, f"{role}_piece", rows[id].text)
    model.normalizer_spec.name = "identity"
    model.normalizer_spec.add_dummy_prefix = listing.prefix
    model.normalizer_spec.remove_extra_whitespaces = False
    model.normalizer_spec.escape_whitespaces = True

"""Everything that an encoding says, to be compared."""

from __future__ import annotations

import json
from typing import Any

_COLUMNS = (
    "ids", "type_ids", "offsets", "attention_mask", "special_tokens_mask", "n_sequences", "tokens",
    "word_ids", "sequence_ids",
)  # fmt: skip


def facts(encoding: Any) -> dict[str, Any]:
    """All columns, those first that a lazy encoding makes by itself, and the answers of all methods
    at all places."""
    found = {"length": len(encoding)} | {name: getattr(encoding, name) for name in _COLUMNS}
    found["overflowing"] = list(map(facts, encoding.overflowing))
    places = range(len(encoding) + 1)
    for name in ("token_to_sequence", "token_to_chars", "token_to_word"):
        found[name] = [getattr(encoding, name)(place) for place in places]
    for name in ("char_to_token", "char_to_word", "word_to_tokens", "word_to_chars"):
        ask = getattr(encoding, name)
        found[name] = [ask(place, number) for number in (0, 1) for place in range(12)]
    state = json.loads(encoding.__reduce_ex__(2)[2])
    found["state"] = state
    return found


def columns(batch: Any) -> dict[str, Any]:
    """The data of a BatchEncoding as plain lists."""
    return {
        name: value.tolist() if hasattr(value, "tolist") else value for name, value in batch.items()
    }


def outcome(call: Any, *args: Any, **options: Any) -> Any:
    """What a call returns, or the error that it raises."""
    try:
        batch = call(*args, **options)
    except BaseException as error:  # the crate's panics are no Exceptions
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return type(error).__name__, str(error)
    if isinstance(batch, list):
        return list(map(facts, batch))
    return columns(batch), list(map(facts, batch.encodings))

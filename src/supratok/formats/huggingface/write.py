"""Write a Hugging Face folder: `tokenizer.json` and `tokenizer_config.json`, which `AutoTokenizer`,
vLLM and others open without custom code.

Tokens hold plain spaces, not U+2581, so every text comes back unchanged, even a literal U+2581.
There is no normalizer and, with one exception, no pre-tokenizer.

merges: a `BPE` with byte fallback and one merge a token, which is enough (see `Tokenizer.merges`).

fewest: a `Unigram` in which all tokens have the same score. Its best path is then the one with the
fewest tokens and, among equals, the longest last token, as in our rule. A Unigram finds every entry
in a text, even the names of bytes and special tokens. These score so low that their characters
always win. A character of a name that is outside the alphabet would count as unknown, so a
pre-tokenizer (the exception) cuts it out first; it becomes bytes in any case.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ...tokenizer import Tokenizer
from ..listing import Kind, Listing

_SCORE = -1.0
_NAME_SCORE = -1000.0  # below the sum of any name's characters


def write(folder: Path, tokenizer: Tokenizer, listing: Listing) -> None:
    """Write both files into the folder."""
    if listing.prefix and any(row.kind is Kind.USER_DEFINED for row in listing.rows):
        raise ValueError(
            "this tokenizer puts a space before each text and cuts some texts out; tokenizers would"
            " also put a space after each of them; export the format sentencepiece"
        )
    document = tokenizer_json(tokenizer, listing)
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    (folder / "tokenizer.json").write_text(text, encoding="utf-8")
    text = json.dumps(_config(listing), ensure_ascii=False, indent=2) + "\n"
    (folder / "tokenizer_config.json").write_text(text, encoding="utf-8")


def tokenizer_json(tokenizer: Tokenizer, listing: Listing) -> dict[str, Any]:
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": id, **token} for id, token in _added_tokens(listing).items()],
        "normalizer": {"type": "Prepend", "prepend": " "} if listing.prefix else None,
        "pre_tokenizer": _cutting(listing) if listing.fewest else None,
        "post_processor": _around(listing),
        "decoder": {"type": "Sequence", "decoders": _decoders(listing)},
        "model": _unigram(listing) if listing.fewest else _bpe(tokenizer, listing),
    }


# --- The model -------------------------------------------------------------------------------


def _bpe(tokenizer: Tokenizer, listing: Listing) -> dict[str, Any]:
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": listing.roles.unk,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": True,
        "ignore_merges": False,
        "vocab": {row.text: id for id, row in enumerate(listing.rows)},
        "merges": tokenizer.merges(),
    }


def _unigram(listing: Listing) -> dict[str, Any]:
    # A Unigram must name an unknown token. With byte fallback none occurs, so any will do.
    first_byte = next(id for id, row in enumerate(listing.rows) if row.kind is Kind.BYTE)
    unknown = listing.id_of("unk")
    scores = {True: _SCORE, False: _NAME_SCORE}
    return {
        "type": "Unigram",
        "unk_id": first_byte if unknown is None else unknown,
        "vocab": [[row.text, scores[row.kind is Kind.NORMAL]] for row in listing.rows],
        "byte_fallback": True,
    }


def _cutting(listing: Listing) -> dict[str, Any] | None:
    """A step that cuts out the characters of names that are outside the alphabet."""
    alphabet = {row.text for row in listing.rows if row.kind is Kind.NORMAL}
    names = (row.text for row in listing.rows if row.kind is not Kind.NORMAL)
    foreign = sorted(set("".join(names)) - alphabet)
    if not foreign:
        return None
    pattern = "|".join(map(re.escape, foreign))
    return {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated",
        "invert": False,
    }


def _decoders(listing: Listing) -> list[dict[str, Any]]:
    decoders: list[dict[str, Any]] = [{"type": "ByteFallback"}, {"type": "Fuse"}]
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    return [*decoders, strip] if listing.prefix else decoders


# --- Around it -------------------------------------------------------------------------------


def _added_tokens(listing: Listing) -> dict[int, dict[str, Any]]:
    """Special tokens, and texts that are cut out of every text."""
    special = set(listing.ids.values())
    return {
        id: {
            "content": row.text,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": id in special,
        }
        for id, row in enumerate(listing.rows)
        if id in special or row.kind is Kind.USER_DEFINED
    }


def _around(listing: Listing) -> dict[str, Any] | None:
    """The step that puts special tokens before and after each text."""
    before, after = listing.roles.around()
    if not before and not after:
        return None

    def part(name: str, number: int) -> dict[str, Any]:
        kind = "Sequence" if name in ("A", "B") else "SpecialToken"
        return {kind: {"id": name, "type_id": number}}

    def whole(sequence: str, number: int) -> list[dict[str, Any]]:
        return [part(name, number) for name in (*before, sequence, *after)]

    return {
        "type": "TemplateProcessing",
        "single": whole("A", 0),
        "pair": whole("A", 0) + whole("B", 1),
        "special_tokens": {
            name: {"id": name, "ids": [listing.ids[name]], "tokens": [name]}
            for name in dict.fromkeys(before + after)
        },
    }


def _config(listing: Listing) -> dict[str, Any]:
    """`add_prefix_space` is for llama.cpp's converter, the rest for transformers."""
    roles = listing.roles
    template = {} if roles.chat_template is None else {"chat_template": roles.chat_template}
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "added_tokens_decoder": {str(id): token for id, token in _added_tokens(listing).items()},
        **{f"{role}_token": text for role, text in roles.given().items()},
        "add_bos_token": roles.add_bos,
        "add_eos_token": roles.add_eos,
        "add_prefix_space": False,
        "clean_up_tokenization_spaces": False,
        "model_max_length": 10**30,  # how transformers writes "no limit"
        **template,
    }

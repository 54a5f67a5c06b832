"""Hugging Face's `tokenizer.json`: BPE and Unigram with byte fallback, as in Llama 2 and Gemma, and
what SupraTok itself writes.

Its BPE joins listed pairs, ours joins by the joined text; see `assemble`. Its Unigram with equal
scores is our rule `fewest`. Added tokens that are marked as special become special tokens; others
are cut out of every text first. What a post-processor adds around a text is no part of `encode`.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
from dataclasses import dataclass, field
from typing import Any

from ...common.reserved import BYTE_NAMES
from ...tokenizer import Tokenizer
from ..assemble import (
    AS_IT_IS,
    LITERAL_SPACE,
    SPACE_FIRST,
    Found,
    by_fewest,
    by_merges,
    one_score,
)
from ..check import check_ids, read_inside
from ..listing import SPACE, swap_spaces

Json = dict[str, Any]


@dataclass
class _Before:
    """What happens to a text before the model sees it."""

    replaces: bool = False  # spaces become U+2581
    prefix: bool = False
    cuts_words: bool = False  # before each space
    isolated: set[str] = field(default_factory=set)  # characters that stand alone

    def text(self, piece: str) -> str:
        return swap_spaces(piece) if self.replaces else piece


def read_huggingface(path: str | os.PathLike[str]) -> Tokenizer:
    """The tokenizer of a `tokenizer.json`, or of a folder that holds one."""
    file, data = read_inside(path, "tokenizer.json")
    document = _parse(str(file), data)
    found = Found(file.name, "huggingface")
    model = document["model"]
    before = _before(found, document)
    found.prefix = before.prefix
    if before.replaces:
        found.differences.append(LITERAL_SPACE)
    if model.get("type", "BPE") == "BPE":
        tokenizer = _read_bpe(found, document, before)
    elif model["type"] == "Unigram":
        tokenizer = _read_unigram(found, document, before)
    else:
        raise found.refuse(f"its model is {model['type']}, and here are BPE and Unigram", AS_IT_IS)
    _refuse_cuts(found, tokenizer, before)
    if importlib.util.find_spec("tokenizers"):
        _check(tokenizer, found, data)
    return tokenizer


def _parse(name: str, data: bytes) -> Json:
    try:
        document = json.loads(data)
    except ValueError as error:
        raise ValueError(f"{name}: not a tokenizer.json ({error}); fetch it again") from error
    if not isinstance(document, dict) or not isinstance(document.get("model"), dict):
        raise ValueError(f"{name}: not a tokenizer.json, it has no model; pass one that has")
    return document


def _check(tokenizer: Tokenizer, found: Found, data: bytes) -> None:
    from tokenizers import Tokenizer as Theirs

    theirs = Theirs.from_str(data.decode())
    theirs.encode_special_tokens = True  # as text
    theirs.no_truncation()
    theirs.no_padding()
    for text, id in tokenizer.special_tokens.items():
        if theirs.token_to_id(text) != id:
            raise found.refuse(
                f"its special token {text!r} is said to have the id {id}, but tokenizers gives it"
                f" the id {theirs.token_to_id(text)}",
                "correct its added_tokens",
            )

    def encode(text: str) -> list[int]:
        return list(theirs.encode(text, add_special_tokens=False).ids)

    check_ids(tokenizer, found, encode, "tokenizers")


# --- Before the model ------------------------------------------------------------------------


def _before(found: Found, document: Json) -> _Before:
    before = _Before()
    for step in _steps(document.get("normalizer"), "normalizers"):
        _normalizer(found, step, before)
    for step in _steps(document.get("pre_tokenizer"), "pretokenizers"):
        _pre_tokenizer(found, step, before)
    return before


def _steps(step: Json | None, inner: str) -> list[Json]:
    if step is None:
        return []
    if step["type"] == "Sequence":
        return [one for some in step[inner] for one in _steps(some, inner)]
    return [step]


def _normalizer(found: Found, step: Json, before: _Before) -> None:
    kind = step["type"]
    if kind == "Replace" and step["pattern"] == {"String": " "} and step["content"] == SPACE:
        before.replaces = True
    elif kind == "Prepend" and step["prepend"] in (SPACE, " ") and not before.prefix:
        before.prefix = True
    else:
        raise found.refuse(
            f"it changes text before encoding (normalizer {kind}), so that what it changes does not"
            " come back",
            AS_IT_IS,
        )


def _pre_tokenizer(found: Found, step: Json, before: _Before) -> None:
    kind, pattern = step["type"], step.get("pattern", {})
    if kind == "Metaspace" and step["replacement"] == SPACE and not before.prefix:
        _metaspace(found, step, before)
    elif kind == "Split" and pattern.get("String") == " " and before.replaces:
        pass  # there are no spaces any more
    elif kind == "Split" and step["behavior"] == "Isolated" and _characters(pattern):
        before.isolated |= _characters(pattern)
    else:
        raise found.refuse(
            f"it cuts text by a pattern before encoding (pre-tokenizer {kind}), and the rules here"
            " have none",
            AS_IT_IS,
        )


def _metaspace(found: Found, step: Json, before: _Before) -> None:
    adds = step.get("prepend_scheme", "always" if step.get("add_prefix_space", True) else "never")
    if adds != "never":
        before.prefix = True
        found.differences.append(SPACE_FIRST)
    before.replaces = True
    before.cuts_words |= step.get("split", True)


def _characters(pattern: Json) -> set[str]:
    """The characters that a pattern stands for: one, or several with bars between them."""
    if "String" in pattern:
        return set(pattern["String"]) if len(pattern["String"]) == 1 else set()
    one = r"(?:\\[^0-9A-Za-z]|[^\\.^$*+?{}\[\]()|])"
    if not re.fullmatch(rf"{one}(?:\|{one})*", pattern.get("Regex", ""), re.DOTALL):
        return set()
    return {char[-1] for char in re.findall(one, pattern["Regex"], re.DOTALL)}


def _refuse_cuts(found: Found, tokenizer: Tokenizer, before: _Before) -> None:
    """Cutting does no harm where no token crosses the cut."""
    for text in tokenizer.texts:
        if before.cuts_words and " " in text[1:]:
            raise found.refuse(
                f"it cuts text before each space (Metaspace with split), so that its token {text!r}"
                " is never made",
                "set split to false if it was trained so, or use it with `supratok compare`",
            )
        if not before.isolated.isdisjoint(text):
            raise found.refuse(
                "it cuts out characters before encoding (pre-tokenizer Split), and its token"
                f" {text!r} holds one",
                AS_IT_IS,
            )


# --- Added tokens ----------------------------------------------------------------------------


def _take_added(found: Found, document: Json, before: _Before, ids: dict[str, int]) -> None:
    for token in document.get("added_tokens") or []:
        text, id = token["content"], token["id"]
        if ids.get(text, id) != id:
            raise found.refuse(
                f"its token {text!r} has the ids {id} and {ids[text]}", "correct its added_tokens"
            )
        if token["special"]:
            found.special[text] = id
        elif before.replaces and SPACE in text and not token["normalized"]:
            continue  # only found where U+2581 is written in the text
        else:
            found.always[_cut_out(found, token, before)] = id


def _cut_out(found: Found, token: Json, before: _Before) -> str:
    options = [name for name in ("single_word", "lstrip", "rstrip") if token[name]]
    if options:
        raise found.refuse(
            f"its added token {token['content']!r} depends on what stands beside it"
            f" ({', '.join(options)})",
            "set this to false, or mark the token as special",
        )
    if before.prefix:
        raise found.refuse(
            "it puts a space before each stretch of text beside its added token"
            f" {token['content']!r}, so that this space cannot be told from others",
            "import its tokenizer.model with from_sentencepiece, or mark the token as special",
        )
    text = str(token["content"])
    return text.replace(SPACE, " ") if before.replaces else text


# --- The models ------------------------------------------------------------------------------


def _take_vocabulary(found: Found, document: Json, before: _Before, ids: dict[str, int]) -> None:
    """Bytes, special tokens and what is cut out; the rest are pieces."""
    if not document["model"].get("byte_fallback"):
        raise found.refuse(
            "it has no byte fallback, so that rare characters are lost",
            "only tokenizers with byte_fallback can be imported",
        )
    found.take_bytes(ids)
    _take_added(found, document, before, ids)
    unknown = document["model"].get("unk_token")
    if unknown in ids and unknown not in found.always and unknown not in BYTE_NAMES:
        found.special.setdefault(unknown, ids[unknown])
    taken = {*found.special.values(), *found.always.values(), *found.bytes}
    for text, id in ids.items():
        if id not in taken:
            found.pieces[before.text(text)] = id


def _read_bpe(found: Found, document: Json, before: _Before) -> Tokenizer:
    model = document["model"]
    for option in ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "ignore_merges"):
        if model.get(option):
            raise found.refuse(f"its BPE has {option}={model[option]!r}", AS_IT_IS)
    _take_vocabulary(found, document, before, model["vocab"])
    places: dict[tuple[str, str], int] = {}
    for place, merge in enumerate(model["merges"]):
        left, right = _pair(found, merge)
        if not BYTE_NAMES.isdisjoint((left, right, left + right)):
            raise found.refuse(f"its merge of {left!r} and {right!r} joins bytes", AS_IT_IS)
        places[before.text(left), before.text(right)] = place
    _refuse_made_names(found, places)
    return by_merges(found, lambda left, right: places.get((left, right), math.inf))


def _pair(found: Found, merge: str | list[str]) -> tuple[str, str]:
    parts = merge.split(" ") if isinstance(merge, str) else merge
    if len(parts) != 2:
        raise found.refuse(f"its merge {merge!r} is not of two tokens", "write it as an array")
    return parts[0], parts[1]


def _refuse_made_names(found: Found, places: dict[tuple[str, str], int]) -> None:
    """A special token that merges make would be made from ordinary text."""
    for left, right in places:
        if left + right in found.special or left in found.special or right in found.special:
            raise found.refuse(
                f"its merge of {left!r} and {right!r} makes or holds a special token, and here none"
                " is ever made from ordinary text",
                AS_IT_IS,
            )


def _read_unigram(found: Found, document: Json, before: _Before) -> Tokenizer:
    model = document["model"]
    rows = [(text, float(score)) for text, score in model["vocab"]]
    ids = {text: id for id, (text, _) in enumerate(rows)}
    unknown = model.get("unk_id")
    if unknown is not None:
        model = model | {"unk_token": rows[unknown][0]}
    _take_vocabulary(found, document | {"model": model}, before, ids)
    scores = {before.text(text): score for text, score in rows}
    score = one_score(found, {text: scores[text] for text in found.pieces})
    _refuse_likely(found, scores, score, before)
    return by_fewest(found)


def _refuse_likely(found: Found, scores: dict[str, float], score: float, before: _Before) -> None:
    """The names of bytes and special tokens are pieces there like any others. They must be worse
    than their characters one by one, or have one that stands alone; else text would be taken for
    them."""
    for text in scores:
        if text in found.pieces or text in found.always:
            continue
        plain = all(char in found.pieces for char in text)
        if before.isolated.isdisjoint(text) and not (plain and scores[text] < score * len(text)):
            raise found.refuse(
                f"it may take the text {text!r} for the token of this name, which here is made of"
                " no text",
                f"give that token a score below {score * len(text):g}, and its characters tokens",
            )

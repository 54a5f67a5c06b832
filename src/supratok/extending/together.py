"""Stop a tokenizer from cutting text between words, so that phrases can form, with the same ids.

- A tokenizer that cuts nothing (SentencePiece-shaped, or one of supratok's) stays the same.
- Metaspace that cuts before each word stops cutting, if no token of the base crosses a cut.
- Byte-level tokenizers cut by a regular expression, which first matches runs of words (glue.py).

All others are refused.
"""

from __future__ import annotations

import json

from ..formats.huggingface.document import (
    Document,
    bare,
    byte_of_letter,
    bytes_of_letters,
    encode_spelled,
    is_byte_level,
    load,
    steps_of,
)
from . import glue

_WORDS = "ab cd ef"  # a tokenizer that cuts words apart cuts this text


def without_cuts(document: Document) -> tuple[Document, str | None]:
    """The document without cuts between words, and the run that prevents them (glue.py)."""
    if not _cuts_words(document):
        return document, None
    if is_byte_level(document):
        return _glued(document)
    steps = steps_of(document["pre_tokenizer"])
    if [step["type"] for step in steps] == ["Metaspace"]:
        return _without_split(document, steps[0]), None
    names = ", ".join(step["type"] for step in steps)
    raise ValueError(
        f"its pre-tokenizer ({names}) cuts text into words; supratok extends byte-level tokenizers"
        " and those that write spaces as ▁ (Metaspace)"
    )


def _cuts_words(document: Document) -> bool:
    normalizer = load(_without_model(document)).normalizer
    return bool(_cutter(document)(normalizer.normalize_str(_WORDS) if normalizer else _WORDS))


def _without_model(document: Document) -> Document:
    model = {"type": "BPE", "vocab": {}, "merges": []}
    return document | {"model": model, "added_tokens": [], "post_processor": None}


def _cutter(document: Document) -> glue.Cut:
    """A function that finds where the pre-tokenizer cuts a normalised text."""
    pre_tokenizer = load(_without_model(document)).pre_tokenizer
    if pre_tokenizer is None:
        return lambda text: set()

    def cut(text: str) -> set[int]:
        ends = (end for _, (_, end) in pre_tokenizer.pre_tokenize_str(text))
        return {end for end in ends if end < len(text)}

    return cut


def _glued(document: Document) -> tuple[Document, str]:
    steps = steps_of(document["pre_tokenizer"])
    place = _cutting_step(document, steps)

    def with_run(run: str) -> Document:
        changed = [*steps[:place], *glue.glued(steps[place], run), *steps[place + 1 :]]
        return _prefixed(document, steps) | {
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": changed}
        }

    _check_crossing(document)
    plain = {"type": "Sequence", "pretokenizers": list(map(_unprefixed, steps))}
    before = _cutter(document | {"pre_tokenizer": plain})
    run = glue.find_run(before, lambda run: _cutter(with_run(run)), _unmade_words(document))
    if run is None:
        raise ValueError(
            f"its pre-tokenizer cuts by {glue.pattern_of(steps[place])!r}, which does not keep"
            " plain words whole; it cannot be extended so that old text encodes as before"
        )
    return with_run(run), run


def _cutting_step(document: Document, steps: list[Document]) -> int:
    """The place of the one step that cuts words apart."""
    cutting = [
        place
        for place, step in enumerate(steps)
        if _cutter(document | {"pre_tokenizer": _unprefixed(step)})(_WORDS)
    ]
    if len(cutting) != 1 or glue.pattern_of(steps[cutting[0]]) is None:
        cuts = json.dumps([steps[place] for place in cutting])
        raise ValueError(
            f"its pre-tokenizer cuts words apart in a way that supratok does not know: {cuts}; it"
            " knows one regular expression (Split, or ByteLevel itself)"
        )
    return cutting[0]


def _unprefixed(step: Document) -> Document:
    return step | {"add_prefix_space": False} if "add_prefix_space" in step else step


def _prefixed(document: Document, steps: list[Document]) -> Document:
    """If ByteLevel puts a space before the text, a normalizer must do so instead: ByteLevel now
    comes after the cuts, and would put a space before every piece."""
    if not any(step.get("add_prefix_space", False) for step in steps):
        return document
    if len(steps) > 1 or any(token["normalized"] for token in document["added_tokens"]):
        raise ValueError(
            "its pre-tokenizer puts a space before text (add_prefix_space), among other steps or"
            " added tokens; extend one with add_prefix_space=false"
        )
    normalizers = [
        *([document["normalizer"]] if document["normalizer"] else []),
        {"type": "Prepend", "prepend": " "},
        {
            "type": "Replace",
            "pattern": {"Regex": r"\A  "},
            "content": " ",
        },  # it had one
    ]
    return document | {"normalizer": {"type": "Sequence", "normalizers": normalizers}}


def _bytes_of_tokens(document: Document) -> dict[str, bytes]:
    """The bytes of each token, without added tokens."""
    letters = byte_of_letter().keys()
    added = {token["content"] for token in document["added_tokens"]}
    return {
        token: bytes_of_letters(token)
        for token in document["model"]["vocab"]
        if token not in added and letters >= set(token)
    }


def _check_crossing(document: Document) -> None:
    if crossing := glue.crossing_token(_bytes_of_tokens(document).values()):
        raise ValueError(
            f"its token {crossing.decode(errors='replace')!r} crosses words, though its"
            " pre-tokenizer cuts there: text would now encode to it that did not before"
        )


def _unmade_words(document: Document) -> list[str]:
    """The words that are tokens only by ignore_merges, since no merges make them. Inside a run
    merges must make a word, so these stay out of runs."""
    vocab = document["model"]["vocab"]
    if not document["model"].get("ignore_merges"):
        return []
    texts = {
        token: text
        for token, data in _bytes_of_tokens(document).items()
        if glue.may_be_word(text := data.decode(errors="replace"))
    }
    ids = encode_spelled(bare(document), list(texts))
    return [texts[token] for token, made in zip(texts, ids, strict=True) if made != [vocab[token]]]


def _without_split(document: Document, metaspace: Document) -> Document:
    """Metaspace that writes spaces as ▁ and cuts nothing."""
    if document["model"].get("ignore_merges"):
        raise ValueError(
            "its words are tokens even if no merges make them (ignore_merges), which does not work"
            " in text without cuts; extend one without ignore_merges"
        )
    space = metaspace["replacement"]
    for token in document["model"]["vocab"]:
        if space in token[1:]:
            raise ValueError(
                f"its token {token!r} crosses words, though its pre-tokenizer cuts there: text"
                " would now encode to it that did not before"
            )
    return document | {"pre_tokenizer": metaspace | {"split": False}}

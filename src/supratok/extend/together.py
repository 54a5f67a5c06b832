"""A tokenizer whose text is cut into words is made one whose text is not, so that phrases can form.

- One that cuts nothing (SentencePiece-shaped, or one of supratok's) stays as it is.
- Metaspace that cuts before each word stops cutting, if no token of the base lies across a cut.
- Byte-level tokenizers cut by a regular expression, which is told to keep words together (glue.py).

What else there is, is refused. In all three the tokenizer gives the ids it gave before.
"""

from __future__ import annotations

import json

from ..formats.huggingface.document import (
    Document,
    bare,
    encode_spelled,
    is_byte_level,
    letter_of_byte,
    load,
    steps_of,
)
from . import glue

_WORDS = "ab cd ef"  # a text that is cut, if words are


def opened(document: Document) -> tuple[Document, str | None]:
    """The document with words kept together, and the run that keeps them so."""
    if not _cuts_words(document):
        return document, None
    if is_byte_level(document):
        return _glued(document)
    stages = steps_of(document["pre_tokenizer"])
    if [stage["type"] for stage in stages] == ["Metaspace"]:
        return _without_split(document, stages[0]), None
    names = ", ".join(stage["type"] for stage in stages)
    raise ValueError(
        f"its pre-tokenizer ({names}) cuts text into words; known are byte-level tokenizers and"
        " those that write spaces as ▁ (Metaspace)"
    )


def _cuts_words(document: Document) -> bool:
    normalizer = load(_without_model(document)).normalizer
    return bool(_cutter(document)(normalizer.normalize_str(_WORDS) if normalizer else _WORDS))


def _without_model(document: Document) -> Document:
    model = {"type": "BPE", "vocab": {}, "merges": []}
    return document | {"model": model, "added_tokens": [], "post_processor": None}


def _cutter(document: Document) -> glue.Cut:
    """Where the pre-tokenizer cuts a text, which is normalised already."""
    pre_tokenizer = load(_without_model(document)).pre_tokenizer
    if pre_tokenizer is None:
        return lambda text: set()

    def cut(text: str) -> set[int]:
        ends = (end for _, (_, end) in pre_tokenizer.pre_tokenize_str(text))
        return {end for end in ends if end < len(text)}

    return cut


def _glued(document: Document) -> tuple[Document, str]:
    stages = steps_of(document["pre_tokenizer"])
    place = _cutting_stage(document, stages)

    def with_run(run: str) -> Document:
        changed = [*stages[:place], *glue.glued(stages[place], run), *stages[place + 1 :]]
        return _prefixed(document, stages) | {
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": changed}
        }

    _check_crossing(document)
    plain = {"type": "Sequence", "pretokenizers": list(map(_unprefixed, stages))}
    before = _cutter(document | {"pre_tokenizer": plain})
    run = glue.find_run(before, lambda run: _cutter(with_run(run)), _unmade_words(document))
    if run is None:
        raise ValueError(
            f"its pre-tokenizer cuts by {glue.pattern_of(stages[place])!r}, in which plain words"
            " are not kept whole; it cannot be extended so that old text encodes as before"
        )
    return with_run(run), run


def _cutting_stage(document: Document, stages: list[Document]) -> int:
    """The one step that cuts words apart."""
    cutting = [
        place
        for place, stage in enumerate(stages)
        if _cutter(document | {"pre_tokenizer": _unprefixed(stage)})(_WORDS)
    ]
    if len(cutting) != 1 or glue.pattern_of(stages[cutting[0]]) is None:
        steps = [stages[place] for place in cutting]
        raise ValueError(
            f"its pre-tokenizer cuts words apart in a way that is not known: {json.dumps(steps)};"
            " known is one regular expression (Split, or ByteLevel itself)"
        )
    return cutting[0]


def _unprefixed(stage: Document) -> Document:
    return stage | {"add_prefix_space": False} if "add_prefix_space" in stage else stage


def _prefixed(document: Document, stages: list[Document]) -> Document:
    """Where ByteLevel puts a space before the text, a normaliser must do it now: after the cutting
    it would be put before every piece."""
    if not any(stage.get("add_prefix_space", False) for stage in stages):
        return document
    if len(stages) > 1 or any(token["normalized"] for token in document["added_tokens"]):
        raise ValueError(
            "its pre-tokenizer puts a space before text (add_prefix_space), among other steps or"
            " added tokens; extend one with add_prefix_space=false"
        )
    steps = [
        *([document["normalizer"]] if document["normalizer"] else []),
        {"type": "Prepend", "prepend": " "},
        {"type": "Replace", "pattern": {"Regex": r"\A  "}, "content": " "},  # if it was there
    ]
    return document | {"normalizer": {"type": "Sequence", "normalizers": steps}}


def _bytes_of_tokens(document: Document) -> dict[str, bytes]:
    """The tokens that stand for bytes: not those that were added."""
    byte_of = {letter: byte for byte, letter in enumerate(letter_of_byte())}
    added = {token["content"] for token in document["added_tokens"]}
    return {
        token: bytes(byte_of[letter] for letter in token)
        for token in document["model"]["vocab"]
        if token not in added and all(letter in byte_of for letter in token)
    }


def _check_crossing(document: Document) -> None:
    if crossing := glue.crossing_token(_bytes_of_tokens(document).values()):
        raise ValueError(
            f"its token {crossing.decode(errors='replace')!r} lies across words, though its"
            " pre-tokenizer cuts there: text would encode to it that never did before"
        )


def _unmade_words(document: Document) -> list[str]:
    """With ignore_merges a word that is a token is that token, even if its merges do not make it.
    Inside a run they would have to, so such words stay out of runs."""
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
    """Metaspace that writes spaces as ▁ and leaves the text whole."""
    if document["model"].get("ignore_merges"):
        raise ValueError(
            "its words are tokens whether merges make them or not (ignore_merges), which text that"
            " is not cut cannot say; extend one without"
        )
    space = metaspace["replacement"]
    for token in document["model"]["vocab"]:
        if space in token[1:]:
            raise ValueError(
                f"its token {token!r} lies across words, though its pre-tokenizer cuts there: text"
                " would encode to it that never did before"
            )
    return document | {"pre_tokenizer": metaspace | {"split": False}}

"""What is extended: a Hugging Face tokenizer, and whether it can be extended exactly.

    base = open_base("gpt2-folder")          # or a tokenizer.json, or a supratok file
    base.is_token(" the")                    # one of its tokens?
    base.with_merges([(" in", " the")])      # the document of the longer tokenizer.json

New tokens are joined by merges after all the base's own: when the first of them may act, the base's
pieces of the text are complete. So, for every text, the new ids with each new token written as what
it replaces are the base's ids. That needs text that is not cut where words meet:

- a tokenizer that cuts nothing (SentencePiece-shaped, or one of supratok's) has such text already;
- Metaspace that cuts before each word stops cutting, if no token of the base lies across a cut;
- byte-level tokenizers cut by a regular expression, which is told to keep words together (glue).

What else there is, is refused.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..export.huggingface import tokenizer_json
from ..export.listing import listing_of
from ..packages import package
from ..tokenizer import FORMAT, Tokenizer
from . import glue

Document = dict[str, Any]  # a tokenizer.json

_SPACE = "▁"  # how SentencePiece writes a space
_WORDS = "ab cd ef"  # a text that is cut, if words are


@dataclass(frozen=True)
class Base:
    """A tokenizer that can be extended: `document` is its file, `open` the same with words kept
    together, `run` what keeps them so, if anything must."""

    name: str
    folder: Path | None  # where its other files lie
    document: Document
    open: Document
    run: str | None

    @functools.cached_property
    def tokenizer(self) -> Any:
        return load(self.document)

    @functools.cached_property
    def _vocab(self) -> dict[str, int]:
        vocab: dict[str, int] = self.document["model"]["vocab"]
        return vocab

    @functools.cached_property
    def first_new_id(self) -> int:
        """Behind every id there is, those of added tokens included."""
        return 1 + max([*self._vocab.values(), *self._added.values()])

    @functools.cached_property
    def _added(self) -> dict[str, int]:
        """Added tokens by the ids they have: the file may say others, which are passed over."""
        names = [token["content"] for token in self.document["added_tokens"]]
        return {name: self.tokenizer.token_to_id(name) for name in names}

    def spell(self, text: str) -> str:
        """A text as the vocabulary writes it."""
        return self._spelling(text)

    @functools.cached_property
    def _spelling(self) -> Callable[[str], str]:
        if _is_byte_level(self.document):
            return lambda text: "".join(map(_letter_of_byte().__getitem__, text.encode()))
        if _writes_spaces(self.document):
            return lambda text: text.replace(" ", _SPACE)
        return lambda text: text

    def units(self, words: list[str]) -> list[str]:
        """Those of the words that may be part of a phrase: they are plain words or punctuation, and
        one token of the base, made by its merges."""
        known = [
            word
            for word in words
            if glue.is_unit(self.run, word) and self.spell(word) in self._vocab
        ]
        ids = encode_spelled(bare(self.open), [self.spell(word) for word in known])
        return [
            word
            for word, made in zip(known, ids, strict=True)
            if made == [self._vocab[self.spell(word)]]
        ]

    def with_merges(self, merges: list[tuple[str, str]]) -> Document:
        """The document with these merges, of texts, after its own. A text that two merges make is
        one token."""
        # Added tokens that the model does not know would be numbered behind the new ones.
        vocab = self._added | self._vocab
        pairs = [_as_pair(merge) for merge in self.document["model"]["merges"]]
        next_id = self.first_new_id
        for left, right in merges:
            pairs.append([self.spell(left), self.spell(right)])
            if self.spell(left + right) not in vocab:
                vocab[self.spell(left + right)] = next_id
                next_id += 1
        added = [
            token | {"id": self._added[token["content"]]} for token in self.open["added_tokens"]
        ]
        model = self.open["model"] | {"vocab": vocab, "merges": pairs}
        return self.open | {"model": model, "added_tokens": added}


def _as_pair(merge: str | list[str]) -> list[str]:
    return merge.split(" ") if isinstance(merge, str) else merge


def load(document: Document) -> Any:
    """A `tokenizers.Tokenizer` that cuts off and fills up nothing."""
    tokenizer = package("tokenizers", "export").Tokenizer.from_str(json.dumps(document))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def bare(document: Document) -> Document:
    """The model alone: it takes text as the vocabulary writes it, and only joins."""
    model = document["model"] | {"ignore_merges": False}
    return {"version": "1.0", "added_tokens": [], "model": model} | dict.fromkeys(
        ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder")
    )


def encode_spelled(document: Document, texts: list[str]) -> list[list[int]]:
    return [one.ids for one in load(document).encode_batch(texts, add_special_tokens=False)]


# --- Reading ---------------------------------------------------------------------------------


def open_base(path: str | os.PathLike[str]) -> Base:
    """A folder with a tokenizer.json, such a file, or a supratok file."""
    path = Path(path)
    file = path / "tokenizer.json" if path.is_dir() else path
    if path.is_dir() and not file.exists():
        raise ValueError(
            f"{path}: no tokenizer.json in this folder; open it with AutoTokenizer and save it"
            " again with save_pretrained, which writes one"
        )
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file}: not a tokenizer.json ({error})") from error
    if isinstance(document, dict) and document.get("format") == FORMAT:
        tokenizer = Tokenizer.load(file)
        document = tokenizer_json(tokenizer, listing_of(tokenizer))
    if not isinstance(document, dict) or "model" not in document:
        raise ValueError(f"{file}: not a tokenizer.json; it has no model")
    try:
        _check_model(document)
        opened, run = _opened(document)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error
    return Base(str(path), path if path.is_dir() else None, document, opened, run)


def _check_model(document: Document) -> None:
    model = document["model"]
    kind = model.get("type", "BPE" if "merges" in model else "unknown")
    if kind != "BPE":
        raise ValueError(
            f"its model is {kind}; only BPE is extended: in others the best pieces of a text depend"
            " on the scores of all, so new tokens would change the old ones around them"
        )
    for option in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(option):
            raise ValueError(
                f"its model has {option}={model[option]!r}, which new merges would not go with;"
                " extend one without"
            )
    known = model["vocab"]
    single = [
        token["content"]
        for token in document["added_tokens"]
        if len(token["content"]) == 1 and token["content"] not in known
    ]
    if single:
        raise ValueError(
            f"its added token {single[0]!r} is one character and not in the model's vocabulary, to"
            " which it would have to be added, and change how text is encoded"
        )


# --- Keeping words together ------------------------------------------------------------------


def _opened(document: Document) -> tuple[Document, str | None]:
    """The document with words kept together, and the run that keeps them so."""
    if not _cuts_words(document):
        return document, None
    if _is_byte_level(document):
        return _glued(document)
    stages = glue.stages(document["pre_tokenizer"])
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
    stages = glue.stages(document["pre_tokenizer"])
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
    byte_of = {letter: byte for byte, letter in enumerate(_letter_of_byte())}
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
    space = metaspace["replacement"]
    for token in document["model"]["vocab"]:
        if space in token[1:]:
            raise ValueError(
                f"its token {token!r} lies across words, though its pre-tokenizer cuts there: text"
                " would encode to it that never did before"
            )
    return document | {"pre_tokenizer": metaspace | {"split": False}}


# --- How the vocabulary writes text ----------------------------------------------------------


def _is_byte_level(document: Document) -> bool:
    return any(stage["type"] == "ByteLevel" for stage in glue.stages(document["pre_tokenizer"]))


def _writes_spaces(document: Document) -> bool:
    steps = json.dumps([document["normalizer"], document["pre_tokenizer"]], ensure_ascii=False)
    return f'"{_SPACE}"' in steps


@functools.cache
def _letter_of_byte() -> list[str]:
    """Byte-level vocabularies write a byte as a visible letter: itself, where it is one in Latin-1,
    and the others from U+0100 on."""
    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in visible else next(others)) for byte in range(256)]

"""The base, the tokenizer to extend: a Hugging Face tokenizer with a BPE model.

    base = open_base("gpt2-folder")          # or a tokenizer.json, or a supratok file
    base.units([" the", " zyzzyva"])         # [" the"]: words that may be part of a phrase
    base.with_merges([(" in", " the")])      # the document of the longer tokenizer.json

The new merges come after all of the base's: when the first of them acts, the base's tokens of the
text are complete. So expand each new id and you get the base's encoding, for any text. This works
only if the tokenizer does not cut text between words (together.py).
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..formats.huggingface.document import (
    Document,
    bare,
    check_document,
    encode_all,
    encode_spelled,
    load,
    model_type,
    pair_of,
    spelling,
    whole,
)
from ..formats.huggingface.write import tokenizer_json
from ..formats.listing import listing_of
from ..tokenizer import Tokenizer
from ..tokenizer.file import FORMAT
from ..tokenizer.inputs import naming, parse_object, read_file
from . import glue
from .together import without_cuts


@dataclass(frozen=True)
class Base:
    """A tokenizer that can be extended: `document` is its file, `open` the same without cuts
    between words, `run` the expression that prevents the cuts, if any is needed (glue.py)."""

    name: str
    folder: Path | None  # with its other files
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
        """One more than the last id, those of added tokens included."""
        return 1 + max([*self._vocab.values(), *self._added.values()])

    @functools.cached_property
    def _added(self) -> dict[str, int]:
        """Added tokens with the ids that `tokenizers` gives them; it ignores those of the file."""
        names = [token["content"] for token in self.document["added_tokens"]]
        return {name: self.tokenizer.token_to_id(name) for name in names}

    @functools.cached_property
    def spell(self) -> Callable[[str], str]:
        """A function that spells a text as the vocabulary does."""
        return spelling(self.document)

    def units(self, words: list[str]) -> list[str]:
        """The words that may be part of a phrase: plain words and punctuation, each one token that
        the base's merges make."""
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
        """The document with these merges of texts after its own. A text that two merges make is one
        token."""
        # tokenizers would number added tokens that the model does not know after the new ones.
        vocab = self._added | self._vocab
        pairs = [list(pair_of(merge)) for merge in self.document["model"]["merges"]]
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


# --- Reading ---------------------------------------------------------------------------------


def open_base(path: str | os.PathLike[str]) -> Base:
    """A folder with a tokenizer.json, such a file, or a supratok file."""
    path = Path(path)
    file = path / "tokenizer.json" if path.is_dir() else path
    if path.is_dir() and not file.exists():
        raise ValueError(
            f"{path}: no tokenizer.json in this folder; open it with AutoTokenizer and save it"
            " with save_pretrained, which writes one"
        )
    with naming(file):
        document = whole(_document(file))
        _check_model(document)
        uncut, run = without_cuts(document)
        base = Base(str(path), path if path.is_dir() else None, document, uncut, run)
        _check_ids(base)
    return base


def _document(file: Path) -> Document:
    try:
        document = parse_object(read_file(file))
    except ValueError as error:
        raise ValueError(f"not a tokenizer.json ({error})") from error
    if document.get("format") == FORMAT:
        tokenizer = Tokenizer.load(file)
        return tokenizer_json(tokenizer, listing_of(tokenizer))
    if document.get("model") is None:
        raise ValueError("not a tokenizer.json; it has no model")
    check_document(document)
    return document


def _check_ids(base: Base) -> None:
    """The whole file opens in `tokenizers`, and no two of its tokens share an id."""
    vocab = base.document["model"]["vocab"]
    if len(set(vocab.values())) < len(vocab):
        raise ValueError("two of its tokens have the same id; correct its vocabulary")
    if not vocab:
        raise ValueError("it has no tokens")
    for merge in base.document["model"]["merges"]:
        pair_of(merge)
    encode_all(base.tokenizer, ["a text"])


def _check_model(document: Document) -> None:
    model = document["model"]
    kind = model_type(document)
    if kind != "BPE":
        raise ValueError(
            f"its model is {kind}; only BPE can be extended: in others the scores of all pieces"
            " decide together, so new tokens would change the old ones around them; of supratok"
            " tokenizers, extend one with segmentation='merges'"
        )
    if "ByteLevel" in json.dumps(document["normalizer"]):
        raise ValueError("its normalizer spells text as bytes, which supratok does not know")
    for option in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(option):
            raise ValueError(
                f"its model has {option}={model[option]!r}, which new merges would not respect;"
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
            f"its added token {single[0]!r} is one character outside the model's vocabulary; adding"
            " it there would change how text is encoded"
        )

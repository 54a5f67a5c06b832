"""The thing that is learnt and used: `Token`, `Tokenizer`.

A tokenizer is an alphabet and an ordered list of tokens, with one of two rules (see `Recipe`).
Ids: special tokens, then the 256 bytes, then the alphabet, then the tokens in rank order; or, in a
tokenizer that came from elsewhere, whatever its `Layout` says.

Promises, whatever the text: `decode(encode(text)) == text`; time linear in its length; each token
encodes to itself; the same ids in every process and thread.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from ..common import _core
from ..common.reserved import byte_name
from ..recipe import Recipe
from .file import Birth, Row, read_document, write_document
from .ids import BYTES as BYTES
from .ids import Cutting, Layout, house_layout

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..formats.export import Exported

    Ids = Sequence[int] | NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Token:
    """What is learnt: a text, how often it was seen when it was made, and the pass it was born in.
    Its place in the list is its rank."""

    text: str
    count: int
    born: Birth


@dataclass(frozen=True)
class Piece:
    """One token of an explained text."""

    id: int
    text: str  # a byte symbol is written <0xE2>
    born: str  # the pass, or "byte"; see Tokenizer.birth
    start: int  # in characters
    end: int
    parts: tuple[str, ...]  # the two tokens it is joined from, under the merges rule


def encoder_of(texts: list[str], fewest: bool, counts: list[int] | None = None) -> _core.Encoder:
    """An encoder of bare entries, in rank order, the alphabet first; ids: the bytes, the entries.
    `counts` say how often each is expected, which matters for speed alone."""
    return _core.Encoder(texts, counts or [1] * len(texts), fewest=fewest, first_id=0)


def encoder_of_tokens(tokens: list[Token], fewest: bool) -> _core.Encoder:
    return encoder_of([token.text for token in tokens], fewest, [token.count for token in tokens])


def alphabet_size(tokens: Iterable[Token]) -> int:
    """How many tokens, the first ones, are single characters."""
    return sum(token.born == "alphabet" for token in tokens)


class Tokenizer:
    """Encodes and decodes. Made by `supratok.train` or `Tokenizer.load`, or brought from elsewhere
    by `from_huggingface` and `from_sentencepiece`; there is no untrained one.

    It does not change, so any number of threads may use it at once.
    """

    def __init__(
        self,
        vocabulary: Iterable[Token],
        recipe: Recipe,
        report: dict[str, Any] | None = None,
        layout: Layout | None = None,
    ) -> None:
        rows = [(token.text, token.count, token.born) for token in vocabulary]
        self._set_up(rows, recipe, report, layout)

    def _set_up(
        self,
        rows: list[Row],
        recipe: Recipe,
        report: dict[str, Any] | None,
        layout: Layout | None,
    ) -> None:
        # Columns, not objects: a hundred thousand objects would slow down every round of Python's
        # garbage collection.
        self._texts = [text for text, _, _ in rows]
        self._counts = [count for _, count, _ in rows]
        self._births: list[Birth] = [born for _, _, born in rows]
        self.recipe = recipe
        self.report = report or {}
        self.layout = layout  # None: the house order
        if layout:
            layout.check(len(recipe.special_tokens), len(rows))
        self._ids = layout or house_layout(len(recipe.special_tokens), len(rows))
        self.special_tokens = dict(zip(recipe.special_tokens, self._ids.special, strict=True))
        self._prefix = " " if self._ids.prefix else ""
        self._core = self._encoder()
        self._refuse_bad_entries()

    def _encoder(self) -> _core.Encoder | Cutting:
        # Where nobody has counted, the tokens that were learnt first are the most frequent.
        counts = self._counts if any(self._counts) else range(len(self._counts), 0, -1)
        core = _core.Encoder(
            self._texts,
            list(counts),
            fewest=self.recipe.segmentation == "fewest",
            first_id=len(self.special_tokens),
            ids=[*self.layout.bytes, *self.layout.entries] if self.layout else [],
            tied=self._ids.tied,
        )
        return Cutting(core, self._ids.always) if self._ids.always else core

    def _refuse_bad_entries(self) -> None:
        for place, state in enumerate(self._core.states().tolist()):
            if state:
                why = (
                    "its text encodes to other tokens" if state == 1 else "its parts rank after it"
                )
                raise ValueError(f"token {place} ({self._texts[place]!r}) can never be used: {why}")

    # --- Encoding

    @overload
    def encode(
        self, text: str, *, allow_special: bool = ..., numpy: Literal[False] = ...
    ) -> list[int]: ...
    @overload
    def encode(
        self, text: str, *, allow_special: bool = ..., numpy: Literal[True]
    ) -> NDArray[np.uint32]: ...
    def encode(
        self, text: str, *, allow_special: bool = False, numpy: bool = False
    ) -> list[int] | NDArray[np.uint32]:
        """The ids of a text. With `allow_special`, special tokens written in it become their ids;
        without, they are text like any other."""
        try:
            if allow_special and self.special_tokens:
                ids = self._encode_special(text)
                return _to_array(ids) if numpy else ids
            whole = self._prefixed(text)
            return self._core.encode_array(whole) if numpy else self._core.encode(whole)
        except UnicodeEncodeError as error:
            raise _surrogate_error(text) from error

    def _prefixed(self, text: str) -> str:
        return self._prefix + text if text else text

    def _encode_special(self, text: str) -> list[int]:
        """The first stretch that is no special token gets the prefix, if there is one."""
        ids: list[int] = []
        prefix = self._prefix
        for place, part in enumerate(self._specials.split(text)):
            if place % 2:
                ids.append(self.special_tokens[part])
            elif part:
                ids += self._core.encode(prefix + part)
                prefix = ""
        return ids

    @functools.cached_property
    def _specials(self) -> re.Pattern[str]:
        longest_first = sorted(self.special_tokens, key=len, reverse=True)
        return re.compile("(" + "|".join(map(re.escape, longest_first)) + ")")

    @overload
    def encode_batch(
        self, texts: Iterable[str], threads: int | None = ..., *, numpy: Literal[False] = ...
    ) -> list[list[int]]: ...
    @overload
    def encode_batch(
        self, texts: Iterable[str], threads: int | None = ..., *, numpy: Literal[True]
    ) -> list[NDArray[np.uint32]]: ...
    def encode_batch(
        self, texts: Iterable[str], threads: int | None = None, *, numpy: bool = False
    ) -> list[list[int]] | list[NDArray[np.uint32]]:
        """The ids of each text, on as many threads as there are cores unless said otherwise."""
        if isinstance(texts, str):
            raise TypeError("encode_batch takes a list of texts; use encode for one text")
        texts = list(texts)
        try:
            whole = list(map(self._prefixed, texts)) if self._prefix else texts
            return self._core.encode_batch(whole, usable_threads(threads), numpy)
        except UnicodeEncodeError as error:
            raise _surrogate_error(*texts) from error

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """The ids, and for each the characters it stands for: text[start:end].

        The bytes of one character outside the alphabet all have that character's offsets."""
        try:
            ids, offsets = self._core.encode_with_offsets(self._prefixed(text))
        except UnicodeEncodeError as error:
            raise _surrogate_error(text) from error
        if self._prefix:  # which is no part of the text
            offsets = [(max(0, start - 1), end - 1) for start, end in offsets]
        return ids, offsets

    def count(self, text: str) -> int:
        """The number of tokens of a text, without making the list."""
        try:
            return self._core.count(self._prefixed(text))
        except UnicodeEncodeError as error:
            raise _surrogate_error(text) from error

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text as strings; a byte symbol is written <0xE2>.

        >>> tokenizer.tokens("in New York")      # doctest: +SKIP
        ['in', ' New York']
        """
        return [self.token_text(id) for id in self.encode(text)]

    def explain(self, text: str) -> list[Piece]:
        """Each token of a text with its place, the pass it was born in and what it is made of."""
        ids, offsets = self.encode_with_offsets(text)
        return [self._piece(id, *span) for id, span in zip(ids, offsets, strict=True)]

    def _piece(self, id: int, start: int, end: int) -> Piece:
        entry = self._entries.get(id)
        parts = () if entry is None else self._core.parts(entry) or ()
        texts = tuple(self._texts[part] for part in parts)
        return Piece(id, self.token_text(id), self.birth(id), start, end, texts)

    # --- Decoding

    def decode(self, ids: Ids) -> str:
        """The text of these ids. Bytes that are no UTF-8, as in half a character, become U+FFFD.

        Where the layout puts a space before each text, one at the beginning is taken off."""
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    def decode_bytes(self, ids: Ids) -> bytes:
        """The same as bytes, exactly."""
        ids = [int(id) for id in ids]
        if self._others.keys().isdisjoint(ids):
            data = self._decode_ordinary(ids)
        else:
            data = b"".join(
                b"".join(self._others[id] for id in some) if other else self._decode_ordinary(some)
                for other, some in itertools.groupby(ids, self._others.__contains__)
            )
        if not self._prefix:
            return data
        special = itertools.takewhile(set(self._ids.special).__contains__, ids)
        begin = sum(len(self._others[id]) for id in special)
        return data[:begin] + data[begin:].removeprefix(b" ")

    @functools.cached_property
    def _others(self) -> dict[int, bytes]:
        """What the core does not know, by id."""
        texts = {**self.special_tokens, **self._ids.always, **self._ids.spare}
        return {id: text.encode() for text, id in texts.items()}

    def _decode_ordinary(self, ids: Iterable[int]) -> bytes:
        ids = list(ids)
        wrong = next((id for id in ids if not 0 <= id < self.vocab_size), None)
        if wrong is not None:
            raise self._unknown(wrong)
        try:
            return self._core.decode(ids)
        except IndexError as error:  # a hole between the ids
            raise self._unknown(next(id for id in ids if id not in self._names)) from error

    def _unknown(self, id: int) -> ValueError:
        return ValueError(f"no token has the id {id}; ids go from 0 to {self.vocab_size - 1}")

    # --- The vocabulary

    @functools.cached_property
    def vocabulary(self) -> tuple[Token, ...]:
        """The alphabet and the tokens, in rank order."""
        return tuple(map(Token, self._texts, self._counts, self._births))

    @property
    def texts(self) -> list[str]:
        """Of the alphabet and the tokens, in rank order."""
        return list(self._texts)

    def merges(self) -> list[tuple[str, str]]:
        """What each token is joined from under the merges rule, in rank order. There is one such
        pair, whatever stands around the token: until it is joined, only joins inside it happen, and
        in the same order as if it stood alone.

        Tied tokens come longest first, which is how runs of spaces are made from the left where
        each pair has a rank of its own."""
        ranks = self._ids.ranks()
        order = sorted(range(len(ranks)), key=lambda entry: (ranks[entry], -entry))
        pairs = filter(None, map(self._core.parts, order))
        return [(self._texts[left], self._texts[right]) for left, right in pairs]

    @property
    def vocab_size(self) -> int:
        """Special tokens, bytes, alphabet and tokens together: ids are below this."""
        return self._ids.size

    def token_text(self, id: int) -> str:
        """The text of one id; a byte symbol is written <0xE2>."""
        text = self._names.get(id)
        if text is None:
            raise self._unknown(id)
        return text

    @property
    def ids(self) -> list[int]:
        """Every id that has a token; in the house order there are no others below vocab_size."""
        return sorted(self._names)

    @property
    def entry_ids(self) -> list[int]:
        """Of the vocabulary, in rank order."""
        return list(self._ids.entries)

    @functools.cached_property
    def _names(self) -> dict[int, str]:
        """By id."""
        names = dict(zip(self._ids.entries, self._texts, strict=True))
        names |= {id: byte_name(byte) for byte, id in enumerate(self._ids.bytes)}
        others = (self.special_tokens, self._ids.always, self._ids.spare)
        return names | {id: text for some in others for text, id in some.items()}

    @functools.cached_property
    def _entries(self) -> dict[int, int]:
        """Places in the vocabulary, by id."""
        return {id: entry for entry, id in enumerate(self._ids.entries)}

    def birth(self, id: int) -> str:
        """Where an id comes from: the pass of training, "byte", "special"; in tokenizers from
        elsewhere also "imported", "always" (cut out first), "spare" (never made)."""
        entry = self._entries.get(id)
        if entry is not None:
            return self._births[entry]
        return self._other_births.get(id, "byte")

    @functools.cached_property
    def _other_births(self) -> dict[int, str]:
        kinds = {"always": self._ids.always, "spare": self._ids.spare}
        kinds["special"] = self.special_tokens
        return {id: kind for kind, some in kinds.items() for id in some.values()}

    def usage(self, texts: Iterable[str], threads: int | None = None) -> NDArray[np.int64]:
        """How often each id occurs in the encodings of the texts: an array of vocab_size."""
        import numpy as np

        used = self._core.usage(list(map(self._prefixed, texts)), usable_threads(threads))
        return np.pad(used, (0, self.vocab_size - len(used)))

    def with_special_tokens(self, texts: Iterable[str]) -> Tokenizer:
        """The same tokenizer with these special tokens too. Ids that were given out stay as they
        are: the new ones come after them, from `vocab_size` on."""
        texts = list(texts)
        taken = set(self._names.values())
        for text in texts:
            if text in taken:
                raise ValueError(f"{text!r} is a token already; choose a text that is none")
        if not texts:
            return self
        size = self.vocab_size + len(texts)
        layout = self._ids.with_special(range(self.vocab_size, size))
        special = (*self.recipe.special_tokens, *texts)
        recipe = replace(self.recipe, special_tokens=special, vocab_size=size)
        return type(self)._of_rows(self._rows(), recipe, self.report, layout)

    # --- Files

    @classmethod
    def from_huggingface(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """The tokenizer of a Hugging Face `tokenizer.json`, or of a folder that holds one, with its
        ids; what these rules cannot represent is refused. See `supratok.imports.huggingface`."""
        from ..formats.huggingface.read import read_huggingface

        return read_huggingface(path)

    @classmethod
    def from_sentencepiece(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """The tokenizer of a SentencePiece `tokenizer.model`, or of a folder that holds one, with
        its ids; what these rules cannot represent is refused. See
        `supratok.imports.sentencepiece`."""
        from ..formats.sentencepiece.read import read_sentencepiece

        return read_sentencepiece(path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one JSON file that holds everything. It appears whole or not at all."""
        write_document(Path(path), self._rows(), self.recipe, self.report, self.layout)

    def export(
        self,
        folder: str | os.PathLike[str],
        formats: Iterable[str] | None = None,
        **roles: Any,
    ) -> Exported:
        """Write a folder for other programs: `formats` of "huggingface", "sentencepiece", "gguf",
        or all that apply. `roles` are those of `export.listing.Roles`: bos, eos, pad and unk name
        special tokens, add_bos and add_eos put them around each text, chat_template is Jinja.

        Every runtime that is installed then reads the folder again; if one disagrees, nothing is
        written.

        >>> tokenizer.export("my-model", eos="</s>", pad="<pad>")      # doctest: +SKIP
        """
        from ..formats.export import export
        from ..formats.listing import Roles

        return export(self, folder, formats, Roles(**roles))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """Read a file that `save` wrote; one that is damaged or of a later version is refused."""
        return cls._of_rows(*read_document(Path(path)))

    @classmethod
    def _of_rows(
        cls,
        rows: list[Row],
        recipe: Recipe,
        report: dict[str, Any],
        layout: Layout | None = None,
    ) -> Tokenizer:
        tokenizer = cls.__new__(cls)
        tokenizer._set_up(rows, recipe, report, layout)
        return tokenizer

    def _rows(self) -> list[Row]:
        return list(zip(self._texts, self._counts, self._births, strict=True))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self)._of_rows, (self._rows(), self.recipe, self.report, self.layout))

    def __repr__(self) -> str:
        return f"Tokenizer(vocab_size={self.vocab_size}, segmentation={self.recipe.segmentation!r})"


def usable_threads(threads: int | None) -> int:
    """As many as asked for; without a wish, as many as this process may use."""
    if threads is None:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    if threads < 1:
        raise ValueError(f"threads={threads}: must be at least 1")
    return threads


def _to_array(ids: list[int]) -> NDArray[np.uint32]:
    import numpy as np

    return np.array(ids, dtype=np.uint32)


def _surrogate_error(*texts: str) -> ValueError:
    found = next(filter(None, (re.search("[\ud800-\udfff]", text) for text in texts)))
    return ValueError(
        f"the text has a lone surrogate ({found[0]!r} at character {found.start()}),"
        " which is half a character and no Unicode text; repair it, for instance with"
        " text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')"
    )

"""`Tokenizer`: an alphabet and an ordered list of tokens, with one of two rules (see `Recipe`).

Ids: special tokens, then the 256 bytes, then the alphabet, then the tokens in rank order. A
tokenizer of another program has the ids that its `Layout` lists.

Promises for any text: `decode(encode(text)) == text`; time linear in its length; each token encodes
to itself; the same ids in every process and thread.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, overload

from ..common import _core
from ..common.threads import usable_threads
from ..recipe import Recipe
from .arguments import list_of_ids, list_of_texts, wrong_text, wrong_texts
from .boundaries import AtBoundaries
from .file import FILE, read_document, read_written, write_document
from .ids import Layout
from .inputs import find_file, naming, read_file
from .token import Birth, Columns, Piece, Token, columns_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..formats.export import Exported
    from .boundaries import Coder, Ids
    from .display import Shown
    from .stream import DecodeStream


class Tokenizer(AtBoundaries):
    """Encodes and decodes. `supratok.train` and `Tokenizer.load` make one, `from_huggingface` and
    `from_sentencepiece` read those of other programs; there is no untrained one.

    It does not change, so any number of threads may use it at once.
    """

    def __init__(
        self,
        vocabulary: Iterable[Token],
        recipe: Recipe,
        report: dict[str, Any] | None = None,
        layout: Layout | None = None,
    ) -> None:
        columns = columns_of((token.text, token.count, token.born) for token in vocabulary)
        self._set_up(columns, recipe, report, layout)

    def _set_up(
        self,
        columns: Columns,
        recipe: Recipe,
        report: dict[str, Any] | None,
        layout: Layout | None,
    ) -> None:
        super().__init__(columns, recipe, layout)
        self.report = report or {}
        self._core = self._encoder()
        self._both_coders = self._coders(self._core)
        self._coder, self._special_coder = self._both_coders
        self._encode = self._coder.encode
        self._decoder = self._decoder_of_all(self._ids.prefix)
        self._refuse_bad_entries()

    def _encoder(self) -> _core.Encoder:
        return _core.Encoder(
            self._texts,
            self._weights(),
            fewest=self.recipe.segmentation == "fewest",
            first_id=len(self.special_tokens),
            ids=[*self.layout.bytes, *self.layout.entries] if self.layout else [],
            tied=self._ids.tied,
        )

    def _weights(self) -> Sequence[int]:
        """How often each entry is expected. Without counts, the first tokens are the most
        frequent."""
        return self._counts if any(self._counts) else range(len(self._counts), 0, -1)

    def _coders(self, core: _core.Encoder) -> tuple[Coder, Coder]:
        """What encodes ordinary text, and text in which special tokens are written."""
        prefix = " " if self._ids.prefix else ""

        def cutting(ids: Mapping[str, int], prefix: str, rest: Any) -> _core.Cutting:
            return _core.Cutting(core, rest, list(ids), list(ids.values()), prefix)

        always = cutting(self._ids.always, "", None) if self._ids.always else None
        plain = cutting({}, prefix, always) if prefix else always or core
        special = self.special_tokens
        return plain, cutting(special, prefix, always) if special else plain

    @functools.cached_property
    def _word_coders(self) -> tuple[Coder, Coder]:
        """The same with the entries of one word alone; made when it is first needed."""
        whole = _core.are_words(self._texts, self.recipe.scripts is not None)
        places = [place for place, is_word in enumerate(whole) if is_word]
        ranks, weights, ids = self._ids.ranks(), self._weights(), self._ids.entries
        pairs = enumerate(itertools.pairwise(ranks[place] for place in places), start=1)
        core = _core.Encoder(
            [self._texts[place] for place in places],
            [weights[place] for place in places],
            fewest=self.recipe.segmentation == "fewest",
            first_id=0,
            ids=[*self._ids.bytes, *(ids[place] for place in places)],
            tied=[place for place, (before, rank) in pairs if before == rank],
        )
        return self._coders(core)

    def _decoder_of_all(self, prefixed: bool) -> _core.Decoder:
        others, special = self._names.unencoded(), len(self.special_tokens)
        texts = list(others.values())
        return _core.Decoder(self._core, list(others), texts, special, prefixed)

    def _refuse_bad_entries(self) -> None:
        place = self._core.first_bad()
        if place is None:
            return
        unmade = self._core.states()[place] == 1
        why = "its text encodes to other tokens" if unmade else "its parts rank after it"
        raise ValueError(f"token {place} ({self._texts[place]!r}) can never be used: {why}")

    # --- Encoding

    @overload
    def encode(
        self,
        text: str,
        *,
        allow_special: bool = ...,
        words_only: bool = ...,
        dropout: float = ...,
        seed: int | None = ...,
        numpy: Literal[False] = ...,
    ) -> list[int]: ...
    @overload
    def encode(
        self,
        text: str,
        *,
        allow_special: bool = ...,
        words_only: bool = ...,
        dropout: float = ...,
        seed: int | None = ...,
        numpy: Literal[True],
    ) -> NDArray[np.int64]: ...
    def encode(
        self,
        text: str,
        *,
        allow_special: bool = False,
        words_only: bool = False,
        dropout: float = 0.0,
        seed: int | None = None,
        numpy: bool = False,
    ) -> list[int] | NDArray[np.int64]:
        """The ids of a text. With `allow_special`, special tokens written in it become their ids;
        without it they are ordinary text.

        With `words_only` no token has several words: the encoding by the tokens of one word alone.
        With `dropout=0.1` each phrase is written so with probability 0.1, by itself, together with
        those tokens beside it that the words would cut elsewhere; 0 is `encode`, 1 `words_only`.
        The same text and `seed` give the same ids; without a seed they differ from call to call.

        With `numpy` the ids are an int64 array: the one type that torch takes as it is, both in
        `nn.Embedding` and as the target of `cross_entropy`."""
        try:
            if not (allow_special or numpy or words_only or dropout):
                return self._encode(text)
            if dropout and not words_only:
                (ids,) = self._dropped([text], 1, allow_special, numpy, dropout, seed)
                return ids  # type: ignore[no-any-return]
            coder = (self._word_coders if words_only else self._both_coders)[allow_special]
            return coder.encode_array(text) if numpy else coder.encode(text)
        except (TypeError, UnicodeEncodeError) as error:
            raise wrong_text(text, error) from error

    @overload
    def encode_batch(
        self,
        texts: Iterable[str],
        threads: int | None = ...,
        *,
        allow_special: bool = ...,
        words_only: bool = ...,
        dropout: float = ...,
        seed: int | None = ...,
        numpy: Literal[False] = ...,
    ) -> list[list[int]]: ...
    @overload
    def encode_batch(
        self,
        texts: Iterable[str],
        threads: int | None = ...,
        *,
        allow_special: bool = ...,
        words_only: bool = ...,
        dropout: float = ...,
        seed: int | None = ...,
        numpy: Literal[True],
    ) -> list[NDArray[np.int64]]: ...
    def encode_batch(
        self,
        texts: Iterable[str],
        threads: int | None = None,
        *,
        allow_special: bool = False,
        words_only: bool = False,
        dropout: float = 0.0,
        seed: int | None = None,
        numpy: bool = False,
    ) -> list[list[int]] | list[NDArray[np.int64]]:
        """The ids of each text; the options are those of `encode`. `threads`: default all cores.

        With `dropout`, the place of a text in the batch and the seed decide, not the threads."""
        texts, workers = list_of_texts(texts, "encode_batch"), usable_threads(threads)
        try:
            if dropout and not words_only:
                return self._dropped(texts, workers, allow_special, numpy, dropout, seed)
            coder = (self._word_coders if words_only else self._both_coders)[allow_special]
            return coder.encode_batch(texts, workers, numpy)
        except (TypeError, UnicodeEncodeError) as error:
            raise wrong_texts(texts, error) from error

    def _dropped(
        self,
        texts: list[str],
        threads: int,
        allow_special: bool,
        numpy: bool,
        dropout: float,
        seed: int | None,
    ) -> list[Any]:
        if not 0 <= dropout <= 1:
            raise ValueError(f"dropout={dropout}: a probability is between 0 and 1")
        if not isinstance(seed, SupportsIndex | None):
            raise TypeError(f"seed={seed!r}: must be a whole number or None")
        row = int.from_bytes(os.urandom(8)) if seed is None else operator.index(seed) % (1 << 64)
        coder: Any = self._both_coders[allow_special]
        words = self._word_coders[allow_special]
        found: list[Any] = coder.encode_dropout(words, texts, threads, numpy, dropout, row)
        return found

    def _encode_lines(
        self, data: bytes, key: str, longest: int, end: int | None, threads: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]] | None:
        """For `supratok.tokenize`: the ids of the texts in whole lines of JSON, each with `end`
        behind it, and how many each has; None if the core cannot read them all."""
        return self._coder.encode_lines(data, key, longest, end, threads)

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """The ids, and the characters that each covers: text[start:end].

        The bytes of one character outside the alphabet all have that character's offsets."""
        try:
            return self._coder.encode_with_offsets(text)
        except (TypeError, UnicodeEncodeError) as error:
            raise wrong_text(text, error) from error

    def count(self, text: str) -> int:
        """The number of tokens of a text, without making the list."""
        try:
            return self._coder.count(text)
        except (TypeError, UnicodeEncodeError) as error:
            raise wrong_text(text, error) from error

    def usage(self, texts: Iterable[str], threads: int | None = None) -> NDArray[np.int64]:
        """How often each id occurs in the encodings of the texts: an array of vocab_size."""
        import numpy as np

        texts, workers = list_of_texts(texts, "usage"), usable_threads(threads)
        try:
            used = self._coder.usage(texts, workers)
        except (TypeError, UnicodeEncodeError) as error:
            raise wrong_texts(texts, error) from error
        return np.pad(used, (0, self.vocab_size - len(used)))

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text as strings; a byte symbol is written <0xE2>.

        >>> tokenizer.tokens("in New York")      # doctest: +SKIP
        ['in', ' New York']
        """
        return [self.token_text(id) for id in self.encode(text)]

    def explain(self, text: str) -> list[Piece]:
        """Each token of a text with its place, the pass that made it and its parts."""
        ids, offsets = self.encode_with_offsets(text)
        return [self._piece(id, *span) for id, span in zip(ids, offsets, strict=True)]

    def _piece(self, id: int, start: int, end: int) -> Piece:
        entry = self._names.entries.get(id)
        parts = () if entry is None else self._core.parts(entry) or ()
        texts = tuple(self._texts[part] for part in parts)
        return Piece(id, self.token_text(id), self.birth(id), start, end, texts)

    def show(self, text: str) -> Shown:
        """The tokens of a text to look at: coloured in a notebook, with bars between in print."""
        from .display import Shown  # here, since only people need it

        return Shown(self.explain(text))

    def merges(self) -> list[tuple[str, str]]:
        """The two parts of each token under the merges rule, in rank order. A token has the same
        parts in any text: until it is joined, only joins inside it happen, in the same order as if
        it were the whole text.

        Tied tokens come longest first: where each pair has a rank of its own, that makes runs of
        spaces from the left."""
        ranks = self._ids.ranks()
        order = sorted(range(len(ranks)), key=lambda entry: (ranks[entry], -entry))
        pairs = filter(None, map(self._core.parts, order))
        return [(self._texts[left], self._texts[right]) for left, right in pairs]

    # --- Decoding

    def decode(self, ids: Ids, *, skip_special_tokens: bool = False) -> str:
        """The text of these ids. Bytes that are no UTF-8, as in half a character, become U+FFFD.

        Takes off the leading space that the layout puts before each text."""
        text: str = self._decoded([ids], skip_special_tokens, True)[0]
        return text

    def decode_batch(self, batch: Iterable[Ids], *, skip_special_tokens: bool = False) -> list[str]:
        """The text of each sequence of ids."""
        return self._decoded(list(batch), skip_special_tokens, True)

    def decode_bytes(self, ids: Ids, *, skip_special_tokens: bool = False) -> bytes:
        """The same as `decode` as bytes, exactly."""
        data: bytes = self._decoded([ids], skip_special_tokens, False)[0]
        return data

    def decode_stream(self, *, skip_special_tokens: bool = False) -> DecodeStream:
        """Decode ids as they come: `step` returns the text that is complete, `finish` the rest.

        >>> stream = tokenizer.decode_stream()      # doctest: +SKIP
        >>> text = "".join(map(stream.step, ids)) + stream.finish()      # doctest: +SKIP
        """
        from .stream import DecodeStream  # here, since only models that generate need it

        decoder = self._decoder_of_all(prefixed=False) if self._ids.prefix else self._decoder

        def bytes_of(id: int) -> bytes:
            try:
                data: bytes = decoder.decode_batch([[id]], False, False)[0]
            except (LookupError, OverflowError, TypeError) as error:
                raise self._unknown(id) from error
            return data

        special, prefix = frozenset(self._ids.special), b" " * self._ids.prefix
        return DecodeStream(bytes_of, special, skip_special_tokens, prefix)

    def _decoded(self, batch: list[Any], skip_special: bool, text: bool) -> list[Any]:
        """Each sequence of ids as a str or as bytes."""
        try:
            return self._decoder.decode_batch(batch, skip_special, text)
        except (TypeError, LookupError, OverflowError):
            batch = list(map(list_of_ids, batch))
        try:
            return self._decoder.decode_batch(batch, skip_special, text)
        except (LookupError, OverflowError) as error:
            known = self._names.texts
            wrong = next(id for ids in batch for id in ids if id not in known)
            raise self._unknown(wrong) from error

    def with_special_tokens(self, texts: Iterable[str]) -> Tokenizer:
        """The same tokenizer with more special tokens. Its ids stay; the new ones start at
        `vocab_size`."""
        texts = list(texts)
        for text in texts:
            if text in self:
                raise ValueError(f"{text!r} is a token already; choose a text that is none")
        if not texts:
            return self
        size = self.vocab_size + len(texts)
        layout = self._ids.with_special(range(self.vocab_size, size))
        special = (*self.recipe.special_tokens, *texts)
        recipe = replace(self.recipe, special_tokens=special, vocab_size=size)
        return type(self)._of_columns(self._columns, recipe, self.report, layout)

    # --- Files

    @classmethod
    def from_huggingface(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """Read a Hugging Face `tokenizer.json`, or a folder that holds one; ids stay the same.
        Refuses what the two rules cannot represent. See `formats.huggingface.read`."""
        from ..formats.huggingface.read import read_huggingface

        return read_huggingface(path)

    @classmethod
    def from_sentencepiece(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """Read a SentencePiece `tokenizer.model`, or a folder that holds one; ids stay the same.
        Refuses what the two rules cannot represent. See `formats.sentencepiece.read`."""
        from ..formats.sentencepiece.read import read_sentencepiece

        return read_sentencepiece(path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one JSON file that holds everything, whole or not at all."""
        write_document(Path(path), self._columns, self.recipe, self.report, self.layout)

    def export(
        self,
        folder: str | os.PathLike[str],
        formats: Iterable[str] | None = None,
        **roles: Any,
    ) -> Exported:
        """Write a folder for other programs: `formats` of "huggingface", "sentencepiece", "gguf",
        or all that apply. `roles` are those of `formats.listing.Roles`: bos, eos, pad and unk name
        special tokens, which are added after the last id if they are missing; add_bos and add_eos
        put them around each text, chat_template is Jinja.

        Every installed runtime then reads the folder; if one disagrees, nothing is written.

        >>> tokenizer.export("my-model", eos="</s>", pad="<pad>")      # doctest: +SKIP
        """
        from ..formats.export import export
        from ..formats.listing import Roles

        return export(self, folder, formats, Roles(**roles))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """Read a file that `save` wrote, or a folder that `export` wrote. Refuses a damaged file
        and one of a later version."""
        with naming(path):
            data = read_file(find_file(path, FILE))
            with contextlib.suppress(ValueError):  # `read_document` says what is wrong
                if written := read_written(data):
                    return cls._of_columns(*written)
            return cls._of_columns(*read_document(data))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """The same as `load`, under the name that it has in `tokenizers`."""
        return cls.load(path)

    @classmethod
    def _of_columns(
        cls,
        columns: Columns,
        recipe: Recipe,
        report: dict[str, Any],
        layout: Layout | None = None,
    ) -> Tokenizer:
        tokenizer = cls.__new__(cls)
        tokenizer._set_up(columns, recipe, report, layout)
        return tokenizer

    @classmethod
    def _of_rows(cls, rows: list[tuple[str, int, Birth]], *rest: Any) -> Tokenizer:
        """Older pickles call this."""
        return cls._of_columns(columns_of(rows), *rest)

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self)._of_columns, (self._columns, self.recipe, self.report, self.layout))

    def __repr__(self) -> str:
        return f"Tokenizer(vocab_size={self.vocab_size}, segmentation={self.recipe.segmentation!r})"

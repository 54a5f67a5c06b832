"""The thing that is learnt and used: `Token`, `Tokenizer`.

A tokenizer is an alphabet and an ordered list of tokens, with one of two rules (see `Recipe`).
Ids: special tokens, then the 256 bytes, then the alphabet, then the tokens in rank order.

Promises, whatever the text: `decode(encode(text)) == text`; time linear in its length; each token
encodes to itself; the same ids in every process and thread.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, overload

from . import _core
from .recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .export import Exported

    Ids = Sequence[int] | NDArray[np.integer[Any]]

FORMAT = "supratok"
VERSION = 1
BYTES = 256

Birth = Literal["alphabet", "traditional", "multiword", "expression", "refined"]
Row = tuple[str, int, Birth]  # a token in a file


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
    born: str  # the pass, or "byte"
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
    """Encodes and decodes. Made by `supratok.train` or `Tokenizer.load`; there is no untrained one.

    It does not change, so any number of threads may use it at once.
    """

    def __init__(
        self, vocabulary: Iterable[Token], recipe: Recipe, report: dict[str, Any] | None = None
    ) -> None:
        rows = [(token.text, token.count, token.born) for token in vocabulary]
        self._set_up(rows, recipe, report)

    def _set_up(self, rows: list[Row], recipe: Recipe, report: dict[str, Any] | None) -> None:
        # Columns, not objects: a hundred thousand objects would slow down every round of Python's
        # garbage collection.
        self._texts = [text for text, _, _ in rows]
        self._counts = [count for _, count, _ in rows]
        self._births: list[Birth] = [born for _, _, born in rows]
        self.recipe = recipe
        self.report = report or {}
        self.special_tokens = {text: id for id, text in enumerate(recipe.special_tokens)}
        self._first_id = len(self.special_tokens)
        self._core = _core.Encoder(
            self._texts,
            self._counts,
            fewest=recipe.segmentation == "fewest",
            first_id=self._first_id,
        )
        self._refuse_bad_entries()

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
            return self._core.encode_array(text) if numpy else self._core.encode(text)
        except UnicodeEncodeError as error:
            raise _surrogate_error(error) from error

    def _encode_special(self, text: str) -> list[int]:
        longest_first = sorted(self.special_tokens, key=len, reverse=True)
        ids: list[int] = []
        for part in re.split("(" + "|".join(map(re.escape, longest_first)) + ")", text):
            special = self.special_tokens.get(part)
            ids += self._core.encode(part) if special is None else [special]
        return ids

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
        try:
            return self._core.encode_batch(list(texts), usable_threads(threads), numpy)
        except UnicodeEncodeError as error:
            raise _surrogate_error(error) from error

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """The ids, and for each the characters it stands for: text[start:end].

        The bytes of one character outside the alphabet all have that character's offsets."""
        try:
            return self._core.encode_with_offsets(text)
        except UnicodeEncodeError as error:
            raise _surrogate_error(error) from error

    def count(self, text: str) -> int:
        """The number of tokens of a text, without making the list."""
        try:
            return self._core.count(text)
        except UnicodeEncodeError as error:
            raise _surrogate_error(error) from error

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
        entry = id - self._first_id - BYTES
        if entry < 0:
            return Piece(id, self.token_text(id), "byte", start, end, ())
        parts = tuple(self._texts[part] for part in self._core.parts(entry) or ())
        return Piece(id, self._texts[entry], self._births[entry], start, end, parts)

    # --- Decoding

    def decode(self, ids: Ids) -> str:
        """The text of these ids. Bytes that are no UTF-8, as in half a character, become U+FFFD."""
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    def decode_bytes(self, ids: Ids) -> bytes:
        """The same as bytes, exactly."""
        ids = [int(id) for id in ids]
        if not self.special_tokens:
            return self._decode_ordinary(ids)
        return b"".join(
            self.recipe.special_tokens[id].encode()
            if 0 <= id < self._first_id
            else self._decode_ordinary([id])
            for id in ids
        )

    def _decode_ordinary(self, ids: list[int]) -> bytes:
        wrong = next((id for id in ids if not 0 <= id < self.vocab_size), None)
        if wrong is not None:
            raise ValueError(f"no token has the id {wrong}; ids go from 0 to {self.vocab_size - 1}")
        return self._core.decode(ids)

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
        in the same order as if it stood alone."""
        pairs = filter(None, map(self._core.parts, range(len(self._texts))))
        return [(self._texts[left], self._texts[right]) for left, right in pairs]

    @property
    def vocab_size(self) -> int:
        """Special tokens, bytes, alphabet and tokens together: ids are below this."""
        return self._first_id + BYTES + len(self._texts)

    def token_text(self, id: int) -> str:
        """The text of one id; a byte symbol is written <0xE2>."""
        if not 0 <= id < self.vocab_size:
            raise ValueError(f"no token has the id {id}; ids go from 0 to {self.vocab_size - 1}")
        if id < self._first_id:
            return self.recipe.special_tokens[id]
        entry = id - self._first_id - BYTES
        return self._texts[entry] if entry >= 0 else f"<0x{entry + BYTES:02X}>"

    def usage(self, texts: Iterable[str], threads: int | None = None) -> NDArray[np.int64]:
        """How often each id occurs in the encodings of the texts: an array of vocab_size."""
        return self._core.usage(list(texts), usable_threads(threads))

    # --- Files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one JSON file that holds everything. It appears whole or not at all."""
        body = self._body()
        document = {"format": FORMAT, "version": VERSION, "sha256": _checksum(body), **body}
        tokens = document.pop("tokens")
        head = json.dumps(document, ensure_ascii=False, indent=1)
        lines = ",\n".join(json.dumps(token, ensure_ascii=False) for token in tokens)
        write_whole(Path(path), f'{head[:-2]},\n "tokens": [\n{lines}\n]}}\n')

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
        from .export import export
        from .export.listing import Roles

        return export(self, folder, formats, Roles(**roles))

    def _body(self) -> dict[str, Any]:
        return {
            "recipe": self.recipe.to_dict(),
            "report": self.report,
            "tokens": [list(row) for row in self._rows()],
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """Read a file that `save` wrote; one that is damaged or of a later version is refused."""
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path}: not a supratok tokenizer ({error})") from error
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError(f"{path}: not a supratok tokenizer; train one with `supratok train`")
        if document.get("version") != VERSION:
            raise ValueError(
                f"{path}: format version {document.get('version')}, this supratok reads {VERSION};"
                " install the supratok that wrote it, or a later one"
            )
        body = {name: document.get(name) for name in ("recipe", "report", "tokens")}
        if document.get("sha256") != _checksum(body):
            raise ValueError(
                f"{path}: the checksum does not match, the file was changed or damaged"
            )
        recipe = Recipe.from_dict(document["recipe"])
        return cls._of_rows(document["tokens"], recipe, document["report"])

    @classmethod
    def _of_rows(cls, rows: list[Row], recipe: Recipe, report: dict[str, Any]) -> Tokenizer:
        tokenizer = cls.__new__(cls)
        tokenizer._set_up(rows, recipe, report)
        return tokenizer

    def _rows(self) -> list[Row]:
        return list(zip(self._texts, self._counts, self._births, strict=True))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self)._of_rows, (self._rows(), self.recipe, self.report))

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


def write_whole(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Written beside the file and then put in its place, so that no half-written one is seen."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _checksum(body: dict[str, Any]) -> str:
    canonical = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _to_array(ids: list[int]) -> NDArray[np.uint32]:
    import numpy as np

    return np.array(ids, dtype=np.uint32)


def _surrogate_error(error: UnicodeEncodeError) -> ValueError:
    return ValueError(
        f"the text has a lone surrogate ({error.object[error.start]!r} at character {error.start}),"
        " which is half a character and no Unicode text; repair it, for instance with"
        " text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')"
    )

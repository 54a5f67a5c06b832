"""Write the tokenizer of a GGUF file, for llama.cpp.

    graft("model.gguf", "mine.gguf", listing)      # a converted model, with our tokenizer
    add_tokenizer(writer, listing)                 # or into any gguf.GGUFWriter

`merges` is llama.cpp's tokenizer "llama", which joins by the score of the joined text; we write
minus the rank as score. All ids are the same. `fewest` is its tokenizer "t5" with equal scores.
That one knows no bytes; `characters.py` adds them, with one limit: llama.cpp prints a byte that a
model generates as a private character. So `export` writes it only if you name the format.

How to convert a model with llama.cpp's convert_hf_to_gguf.py:

- Llama-class: the converter reads `tokenizer.model` from the folder and writes our ids, if the
  folder's tokenizer_config.json has `"add_prefix_space": false`. Without that setting or that file,
  it silently writes wrong ids: then `graft` our tokenizer into the result.
- GPT-2-class, and all others whose converter reads `tokenizer.json` alone: the converter knows
  pre-tokenizers by a checksum, and stops ("BPE pre-tokenizer was not recognized"). Replace its
  tokenizer in the same Python before you run it (config.json of GPT-2 also needs "n_ctx"):

      from conversion.base import TextModel
      TextModel.set_vocab = lambda self: add_tokenizer(self.gguf_writer, listing)

llama.cpp always reads U+2581 in a text as a space, and takes some tokens for the end of a turn
because of their text. `add_tokenizer` refuses vocabularies that this would harm.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...common.files import move_whole
from ...common.packages import package
from ...common.reserved import CONTROL_NAMES
from ..listing import Kind, Listing, Row, swap_spaces
from .characters import byte_spellings, character_map
from .fields import Field, read_header

if TYPE_CHECKING:
    import gguf


class Entry(NamedTuple):
    """One id, in the form that the file holds."""

    text: str
    score: float
    kind: int


def add_tokenizer(writer: gguf.GGUFWriter, listing: Listing, size: int | None = None) -> None:
    """Add the tokenizer to an open writer. `size` is the number of rows of the model's embedding
    table; default: one a token."""
    entries = _entries(listing)
    _refuse_misreadings(listing, entries)
    entries += [_spare(id) for id in range(len(entries), size or 0)]
    writer.add_tokenizer_model("t5" if listing.fewest else "llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([entry.text for entry in entries])
    writer.add_token_scores([entry.score for entry in entries])
    writer.add_token_types([entry.kind for entry in entries])
    writer.add_add_space_prefix(listing.prefix)
    writer.add_remove_extra_whitespaces(False)
    if listing.fewest:
        writer.add_precompiled_charsmap(character_map(listing))
    _add_roles(writer, listing)
    if listing.roles.chat_template is not None:
        writer.add_chat_template(listing.roles.chat_template)


def write_vocabulary(path: str | Path, listing: Listing) -> None:
    """Write a file with the tokenizer and no model."""
    with _whole(Path(path)) as part:
        writer = package("gguf", "export").GGUFWriter(part, "llama")
        add_tokenizer(writer, listing)
        _write(writer)


def graft(model: str | Path, path: str | Path, listing: Listing) -> None:
    """Copy a model's file, and replace its tokenizer by ours. Copies the tensors byte for byte, one
    at a time; the file appears whole or not at all."""
    reader = _opened(model)
    size = _rows(reader, model)
    if size < len(listing.rows):
        raise ValueError(
            f"{model}: its embedding table has {size} rows, too few for the {len(listing.rows)}"
            " tokens of this tokenizer; graft the tokenizer that the model was trained with"
        )
    with _whole(Path(path)) as part:
        writer = package("gguf", "export").GGUFWriter(
            part, reader.get_field("general.architecture").contents(), endianess=reader.endianess
        )
        writer.data_alignment = reader.alignment
        copy_fields(
            read_header(model).fields, writer, lambda name: not name.startswith("tokenizer.")
        )
        add_tokenizer(writer, listing, size)
        for tensor in reader.tensors:
            data = tensor.data
            writer.add_tensor_info(
                tensor.name, data.shape, data.dtype, data.nbytes, tensor.tensor_type
            )
        _write(writer, reader.tensors)


def copy_fields(
    fields: dict[str, Field], writer: gguf.GGUFWriter, wanted: Callable[[str], bool]
) -> None:
    """Copy the metadata whose names are wanted, with their types."""
    types = package("gguf", "export").GGUFValueType
    for name, field in fields.items():
        if wanted(name) and name != "general.architecture":  # the writer writes that itself
            inner = None if field.inner is None else types(field.inner)
            writer.add_key_value(name, field.value, types(field.type), sub_type=inner)


# --- The entries -----------------------------------------------------------------------------


def _entries(listing: Listing) -> list[Entry]:
    if not listing.fewest:
        return [_entry(id, row, float(-row.rank)) for id, row in enumerate(listing.rows)]
    spellings = byte_spellings(listing)
    return [
        Entry(spellings[row.text], -1.0, Kind.NORMAL.value)
        if row.kind is Kind.BYTE and row.text in spellings
        else _entry(id, row, -1.0)
        for id, row in enumerate(listing.rows)
    ]


def _entry(id: int, row: Row, score: float) -> Entry:
    """llama.cpp searches special tokens in the original text, all others after it has replaced
    spaces by U+2581. It ignores the type UNUSED, so such a token needs a text that none holds."""
    if row.kind is Kind.NORMAL:
        return Entry(swap_spaces(row.text), score, row.kind.value)
    return _spare(id) if row.kind is Kind.UNUSED else Entry(row.text, 0.0, row.kind.value)


def _spare(id: int) -> Entry:
    """A row that no text reaches: it holds a space, and llama.cpp replaces those of texts."""
    return Entry(f"unused {id}", 0.0, Kind.UNUSED.value)


def _add_roles(writer: gguf.GGUFWriter, listing: Listing) -> None:
    """For a missing role llama.cpp has a default id, and no way to say "none". The byte 0xFF is in
    no UTF-8 text, so no model generates it: it takes the missing roles.

    Under `fewest` llama.cpp makes the unknown token of a NUL, which no character map can hold, and
    of nothing else: so the unknown token is the byte 0x00, even if `Roles.unk` is given."""
    nul, nothing = (_id_of(listing, name) for name in ("<0x00>", "<0xFF>"))
    default = {"bos": nothing, "eos": nothing, "unk": nothing}
    given = {role: listing.id_of(role) for role in listing.roles.given()}
    ids = default | given
    if listing.fewest:
        ids = {"pad": nothing} | ids | {"unk": nul}
    for role, id in ids.items():
        getattr(writer, f"add_{role}_token_id")(id)
    writer.add_add_bos_token(listing.roles.add_bos)
    writer.add_add_eos_token(listing.roles.add_eos)


def _id_of(listing: Listing, byte: str) -> int:
    return next(id for id, row in enumerate(listing.rows) if row.text == byte)


# --- What llama.cpp would misread ------------------------------------------------------------


def _refuse_misreadings(listing: Listing, entries: list[Entry]) -> None:
    ids: dict[str, int] = {}
    for id, entry in enumerate(entries):
        if "\0" in entry.text:
            raise ValueError(
                f"token {id} ({entry.text!r}) has a NUL character, at which llama.cpp ends every"
                " token's text; train again: training no longer puts NUL into an alphabet"
            )
        if entry.kind == Kind.NORMAL.value and entry.text in CONTROL_NAMES:
            raise ValueError(
                f"token {id} is ordinary text that reads {entry.text!r}, which llama.cpp takes for"
                " a control token: it would hide text, or stop generation; train again (training no"
                " longer learns such texts), or drop it with `supratok prune`"
            )
        if ids.setdefault(entry.text, id) != id:
            raise ValueError(
                f"tokens {ids[entry.text]} and {id} are both written {entry.text!r} in GGUF, which"
                " swaps spaces and U+2581; train without one of them"
            )
    if not listing.fewest:
        _refuse_joints(entries)


def _refuse_joints(entries: list[Entry]) -> None:
    """llama.cpp's tokenizer "llama" joins two neighbours into any token that has their joined text,
    even a special token or the name of a byte."""
    ordinary = {entry.text for entry in entries if entry.kind == Kind.NORMAL.value}
    for id, entry in enumerate(entries):
        parts = None if entry.text in ordinary else _parts(entry.text, ordinary)
        if parts is not None:
            raise ValueError(
                f"token {id} reads {entry.text!r}, which llama.cpp would also make of the text"
                f" {' + '.join(map(repr, parts))}; train with it among the special tokens, or with"
                " a longer one, or drop a part with `supratok prune`"
            )


def _parts(name: str, ordinary: set[str]) -> tuple[str, ...] | None:
    """One or two pieces, tokens or any single characters, that make up this name and that a text
    may be cut into. A space is never such a piece: in a text it is U+2581."""
    if len(name) == 1:
        return None if name == " " else (name,)
    for cut in range(1, len(name)):
        parts = (name[:cut], name[cut:])
        if all(part in ordinary or (len(part) == 1 and part != " ") for part in parts):
            return parts
    return None


# --- Files -----------------------------------------------------------------------------------


def _opened(model: str | Path) -> gguf.GGUFReader:
    """The model's file. We read its fields first: the package trusts their sizes."""
    if "general.architecture" not in read_header(model).fields:
        raise ValueError(f"{model}: a GGUF file without an architecture; convert it again")
    try:
        return package("gguf", "export").GGUFReader(model)
    except Exception as error:  # the package passes on whatever a damaged file leads to
        raise ValueError(f"{model}: a damaged GGUF file ({error}); convert it again") from error


def _rows(reader: gguf.GGUFReader, model: str | Path) -> int:
    for tensor in reader.tensors:
        if tensor.name == "token_embd.weight":
            return int(tensor.shape[1])
    raise ValueError(
        f"{model}: no tensor 'token_embd.weight'; pass a whole language model, its parts merged"
        " with llama-gguf-split --merge"
    )


def _write(writer: gguf.GGUFWriter, tensors: list[gguf.ReaderTensor] | None = None) -> None:
    try:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
        for tensor in tensors or []:
            writer.write_tensor_data(tensor.data, tensor_endianess=writer.endianess)
    finally:
        writer.close()


@contextlib.contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A path to write to, in a folder beside the file; at the end it replaces the file."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        part = Path(folder) / path.name
        yield part
        move_whole(part, path)

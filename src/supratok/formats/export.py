"""Write a tokenizer for other programs.

    tokenizer.export("my-model", eos="</s>")    # or: supratok export my.json my-model --eos '</s>'

writes the files that `transformers`, vLLM, SentencePiece and llama.cpp open, and `supratok.json`,
which loses nothing. `export` first writes them to another folder, where every installed runtime
reads them (`verify`). It moves them into place only if all ids agree and all texts come back.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..common.files import move_whole, refuse_unwritable, sync_folder
from ..common.packages import package
from ..tokenizer import Tokenizer
from ..tokenizer.file import FILE
from .gguf import write as gguf
from .huggingface import write as huggingface
from .listing import Listing, Roles, listing_of
from .sentencepiece import write as sentencepiece
from .verify import Verification, verify

# The files of each format, and the module that writes them.
FORMATS: dict[str, tuple[tuple[str, ...], str | None]] = {
    "huggingface": (("tokenizer.json", "tokenizer_config.json"), None),
    "sentencepiece": (("tokenizer.model",), "sentencepiece.sentencepiece_model_pb2"),
    "gguf": (("tokenizer.gguf",), "gguf"),
}
NO_BYTES = (
    "under the rule `fewest`, llama.cpp prints the bytes that a model generates as private"
    " characters; name the format gguf to write it anyway"
)
NO_PAD = (
    "it has no padding token, so padding=True fails in transformers: pass --pad '<pad>' (in Python"
    " pad='<pad>'), or set tokenizer.pad_token = tokenizer.eos_token there"
)


@dataclass
class Exported:
    folder: Path
    files: list[str]
    added: dict[str, int]  # special tokens that the tokenizer did not have, with their ids
    left_out: dict[str, str]  # formats not written, with the reason
    pads: bool  # whether a special token has this role
    verification: Verification

    def notes(self) -> list[str]:
        """Remarks on the folder, one a line."""
        said = [
            f"added {text} as id {id:,}: the tokenizer did not have it, and no other id changes"
            for text, id in self.added.items()
        ]
        said += [f"{name} was left out: {reason}" for name, reason in self.left_out.items()]
        return said if self.pads or "tokenizer.json" not in self.files else [*said, NO_PAD]


def export(
    tokenizer: Tokenizer,
    folder: str | os.PathLike[str],
    formats: Iterable[str] | None = None,
    roles: Roles | None = None,
) -> Exported:
    """Write these formats, or all that fit this tokenizer; see `Tokenizer.export`."""
    target, roles = Path(folder), roles or Roles()
    _refuse_folder(target)
    chosen, left_out = _choose(tokenizer, formats)
    tokenizer, added = _with_roles(tokenizer, roles)
    listing = listing_of(tokenizer, roles)
    with _folder_beside(target) as made:
        tokenizer.save(made / FILE)
        for name in list(chosen):
            try:
                _write(name, made, tokenizer, listing)
            except ValueError as error:  # this format cannot hold the vocabulary
                if formats is not None:
                    raise
                left_out[name] = str(error)
                chosen.remove(name)
        files = _files(chosen)
        _refuse_stale(target, files)
        verification = _verified(made, folder)
        _move(made, target, files)
    return Exported(target, files, added, left_out, roles.pad is not None, verification)


def _choose(
    tokenizer: Tokenizer, formats: Iterable[str] | None
) -> tuple[list[str], dict[str, str]]:
    """The formats to write, and those left out with the reason."""
    chosen = FORMATS if formats is None else [formats] if isinstance(formats, str) else formats
    left_out: dict[str, str] = {}
    for name in chosen:
        if name not in FORMATS:
            raise ValueError(f"format {name!r}: not one of {', '.join(FORMATS)}")
        try:
            if module := FORMATS[name][1]:
                package(module, "export")
        except ImportError as error:
            if formats is not None:
                raise
            left_out[name] = str(error)
    if formats is None and tokenizer.recipe.segmentation == "fewest":
        left_out["gguf"] = NO_BYTES
    return [name for name in dict.fromkeys(chosen) if name not in left_out], left_out


def _with_roles(tokenizer: Tokenizer, roles: Roles) -> tuple[Tokenizer, dict[str, int]]:
    """The tokenizer with a special token for each role, and those that it did not have."""
    given, known = roles.given(), tokenizer.special_tokens
    missing = [text for text in dict.fromkeys(given.values()) if text not in known]
    for role, text in given.items():
        if text in missing and text in tokenizer:
            id = tokenizer.token_to_id(text)
            raise ValueError(
                f"{role}={text!r} is an ordinary token of this tokenizer, with the id {id};"
                " choose a text that is none, such as '</s>' or '<|endoftext|>'"
            )
    longer = tokenizer.with_special_tokens(missing)
    return longer, {text: longer.special_tokens[text] for text in missing}


def _files(formats: list[str]) -> list[str]:
    return [FILE, *(file for name in formats for file in FORMATS[name][0])]


def _refuse_stale(folder: Path, files: list[str]) -> None:
    """Refuse to leave a file of an earlier export, which would give other ids, and to replace what
    is no file."""
    for file in files:
        if os.path.lexists(folder / file) and (
            (folder / file).is_symlink() or not (folder / file).is_file()
        ):
            raise ValueError(f"{folder / file}: exists and is no plain file; remove it first")
    for name, (theirs, _) in FORMATS.items():
        stale = next((file for file in theirs if (folder / file).exists()), None)
        if stale is not None and stale not in files:
            raise ValueError(
                f"{folder / stale} exists and would disagree with this export; remove it, or"
                f" export the format {name} as well"
            )


def _write(name: str, folder: Path, tokenizer: Tokenizer, listing: Listing) -> None:
    if name == "huggingface":
        huggingface.write(folder, tokenizer, listing)
    elif name == "sentencepiece":
        sentencepiece.write(folder / "tokenizer.model", listing)
    else:
        gguf.write_vocabulary(folder / "tokenizer.gguf", listing)


# --- The folder ------------------------------------------------------------------------------


def _refuse_folder(target: Path) -> None:
    """Refuse what cannot become the folder, before any work."""
    if target.exists() and not target.is_dir():
        raise ValueError(f"{target}: a file, and export writes a folder; name a new or another one")
    if target.is_symlink() and not target.exists():
        raise ValueError(f"{target}: a link to nothing; remove it, or name another folder")
    there = next(path for path in (target, *target.absolute().parents) if path.exists())
    if not there.is_dir():
        raise ValueError(f"{target}: {there} is a file, so no folder can be in it")
    refuse_unwritable(there / "any", str(target))


@contextlib.contextmanager
def _folder_beside(target: Path) -> Iterator[Path]:
    """A temporary folder on the same disk. An error of the system names the target instead."""
    try:
        place = target if target.exists() else target.parent
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place, prefix=f".{target.name}.") as beside:
            made = Path(beside, "folder")
            made.mkdir()
            yield made
    except OSError as error:
        why = f"{error.strerror or error}; nothing was written"
        raise OSError(error.errno, why, str(target)) from error


def _verified(made: Path, folder: str | os.PathLike[str]) -> Verification:
    try:
        verification = verify(made)
    except (ValueError, OSError) as error:
        why = str(error).replace(str(made), os.fspath(folder))
        raise ValueError(f"{folder} was not written: {why}") from error
    if not verification.good:
        raise ValueError(
            f"{folder} was not written, because a runtime disagrees: {verification.problem()};"
            " please report this, with the tokenizer and these versions"
        )
    verification.folder = str(folder)
    return verification


def _move(made: Path, target: Path, files: list[str]) -> None:
    """A new folder appears at once; in an old one each file is replaced whole."""
    if target.exists():
        for file in files:
            move_whole(made / file, target / file)
        return
    sync_folder(made)
    made.rename(target)
